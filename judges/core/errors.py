"""Every error that spanjury raises on purpose.

::

    EvaluationError
    |-- ConfigError             what was asked for does not exist or does not fit
    |   |-- PluginError         a plugin is unknown, doubled, broken or of the wrong shape
    |   `-- ClosedModelError    a model is asked after it was closed, or from another event loop
    |-- DataError               a row or a file cannot be read; names the place
    |-- StoreError              a result cannot be written
    |-- ServiceError            a service cannot begin: its address is taken, its folder in use
    |-- SinkError               a service did not take scores; sending them again may help
    |   `-- SinkRefusedError    it refuses these scores, and may take others
    |-- PerturbationError       a text cannot be damaged
    |-- MetricError             a metric cannot measure what it is given
    |-- RunStoppedError         a run stopped before its end, on request or at a limit
    |   |-- OverBudgetError     a call does not fit into what is left of a budget
    |   `-- DeferredError       a request waits for the reply of a batch
    |-- RunFailedError          a run cannot go on, because a model answers nothing at all
    |-- ModelError              a model gave no usable reply
    |   |-- TransientModelError     trying again may help
    |   |   |-- ModelTimeoutError       no reply within the time limit
    |   |   `-- OverloadedModelError    the server has more to do than it takes on
    |   |       `-- RateLimitedModelError   we ask it more often than it allows
    |   `-- PermanentModelError     trying again will not help: this request fails
    |       |-- ModelRefusedError       the provider's policy forbids a reply to it
    |       |-- FormRefusedError        the server may not take the form that the reply is to have
    |       |-- LogprobsRefusedError    the server may not give log-probabilities
    |       `-- UnusableModelError      every request fails: key, name or address are wrong
    `-- JudgeError              a judge could not assess this segment
        `-- ParseError          its reply cannot be read; keeps the reply

A `ModelError` or `JudgeError` costs one seat of a panel one report; ``outcome`` says
what becomes of that report. The errors in `RUN_ENDING` cost the whole run, whichever judge
meets them: judges do not handle them. No error is ever turned into a score.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import ClassVar


class Outcome(StrEnum):
    """The closed set of ends that an assessment can come to."""

    SCORED = "scored"
    """There is a score."""
    ABSTAINED = "abstained"
    """The judge does not judge this aspect, or has nothing to judge it by."""
    UNPARSEABLE = "unparseable"
    """There is a reply, but no report can be read from it."""
    TRUNCATED = "truncated"
    """The reply broke off at the token limit, before the score."""
    REFUSED = "refused"
    """The model or its provider declined."""
    TIMED_OUT = "timed_out"
    """No complete reply within the time limit."""
    BACKEND_FAILED = "backend_failed"
    """A server, a network or a judge's own code failed."""


USABLE = frozenset({Outcome.SCORED, Outcome.ABSTAINED})
"""There is an answer; with every other outcome a judge has failed."""
UNANSWERED = frozenset({Outcome.TIMED_OUT, Outcome.BACKEND_FAILED})
"""No model and no judge answered: to ask again pays nothing twice."""


class EvaluationError(Exception):
    """The root of the tree: catch it to catch everything that spanjury raises."""


class ConfigError(EvaluationError):
    """The requested thing does not exist, or the settings do not fit together."""


class PluginError(ConfigError):
    """A plugin is unknown, claimed twice, cannot be loaded, or has the wrong shape."""


class ClosedModelError(ConfigError):
    """A model is asked after its panel was closed, or from another event loop than the panel's.

    The caller's program must change: no further call can succeed.
    """


class DataError(EvaluationError):
    """A row or a file cannot be read; the message names the file and the line."""


class StoreError(EvaluationError):
    """A result cannot be written."""


class ServiceError(EvaluationError):
    """A service cannot begin: its address is taken, or its folder is in use."""


class SinkError(EvaluationError):
    """A service did not take scores: it was not reached, is busy or did not accept our key.

    Parameters
    ----------
    message
        What happened, without keys.
    retry_after
        Seconds that the service asked us to wait, or None where it did not say.
    """

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class SinkRefusedError(SinkError):
    """A service refuses these scores, and may take others: a trace of them is unknown to it."""


class PerturbationError(EvaluationError):
    """A perturbation cannot damage a text, or its rule failed."""


class MetricError(EvaluationError):
    """A metric cannot measure a text or a corpus: something that it needs is missing."""


class RunStoppedError(EvaluationError):
    """A run ended before its end, by a limit or by its user; what was done is kept."""


class OverBudgetError(RunStoppedError):
    """A call is not sent, since it does not fit into what is left of a budget.

    A cascade goes on without its reply; elsewhere it ends the run as any limit does.
    """


class DeferredError(RunStoppedError):
    """A request is to be answered by a batch, and its reply is not there yet.

    ``is_written`` says whether all such requests are in a file for the user to send.
    """

    is_written: bool = False


class RunFailedError(EvaluationError):
    """A run cannot go on, because a model cannot be used or does not answer; what was done is kept.

    Replies that the run still waited for do not count as failures of its rows: a resume asks again.
    """


class ModelError(EvaluationError):
    """A model gave no usable reply.

    ``status`` is the HTTP status that its server gave, where it did: logs name it in place
    of the message, in which a server may repeat what it was sent. ``was_sent`` says whether the
    request may have reached it, and have been paid.
    """

    outcome: ClassVar[Outcome] = Outcome.BACKEND_FAILED
    status: int | None = None
    was_sent: bool = True


class TransientModelError(ModelError):
    """A failure that another try may cure.

    Parameters
    ----------
    message
        What happened, without keys or prompts.
    retry_after
        Seconds that the server asked us to wait, or None where it did not say.
    """

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ModelTimeoutError(TransientModelError):
    """No complete reply came within the time limit of one attempt."""

    outcome = Outcome.TIMED_OUT


class OverloadedModelError(TransientModelError):
    """The server has more to do than it takes on: fewer calls at once would help."""


class RateLimitedModelError(OverloadedModelError):
    """The server is well, but we ask it more often than it allows."""


class PermanentModelError(ModelError):
    """A failure that will repeat: the request asks what the model cannot do or may not answer."""


class ModelRefusedError(PermanentModelError):
    """The provider declined to answer as a matter of policy."""

    outcome = Outcome.REFUSED


class FormRefusedError(PermanentModelError):
    """The server refuses a request that asks for a JSON schema or a grammar.

    It may be for the schema, or for something else: the same request without it tells.
    """


class LogprobsRefusedError(PermanentModelError):
    """The server refuses a request that asks for log-probabilities.

    It may be for them, or for something else: the same request without them tells. ``names_them``
    says whether the server speaks of them.
    """

    names_them: bool = True


class UnusableModelError(PermanentModelError):
    """The model cannot be used with what was given, whatever it is asked.

    The key is missing or wrong, the model or its provider is unknown, the address is not its.
    """


class JudgeError(EvaluationError):
    """A judge could not assess this segment."""

    outcome: ClassVar[Outcome] = Outcome.BACKEND_FAILED


class ParseError(JudgeError):
    """A judge's reply cannot be read as a report.

    Parameters
    ----------
    message
        What was missing.
    reply
        The reply, word for word.
    """

    outcome = Outcome.UNPARSEABLE

    def __init__(self, message: str, *, reply: str) -> None:
        super().__init__(message)
        self.reply = reply


RUN_ENDING: tuple[type[EvaluationError], ...] = (
    StoreError,
    RunStoppedError,
    RunFailedError,
    ClosedModelError,
)
"""Errors that end the whole run: no border to foreign code may make one judge's failure of them."""


@contextmanager
def first_error_alone() -> Iterator[None]:
    """Raise the first error of a task group in place of the group.

    For a group whose tasks work on one thing: what follows the first error follows from it.
    """
    try:
        yield
    except ExceptionGroup as group:
        raise _first(group) from group


def _first(group: ExceptionGroup[Exception]) -> Exception:
    error = group.exceptions[0]
    return _first(error) if isinstance(error, ExceptionGroup) else error
