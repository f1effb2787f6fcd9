"""Every error that spanjury raises on purpose.

::

    EvaluationError
    |-- ConfigError             something requested does not exist, or settings do not fit together
    |   |-- PluginError         a plugin is unknown, doubled, broken or of the wrong shape
    |   `-- ClosedModelError    a model is called after it was closed, or from another event loop
    |-- DataError               a row or a file cannot be read or used; names it
    |-- StoreError              a result cannot be written
    |-- ServiceError            a service cannot start: its address is taken, its folder in use
    |-- SinkError               a service did not take scores; sending them again may help
    |   `-- SinkRefusedError    it refuses these scores, but may take others
    |-- PerturbationError       a text cannot be damaged
    |-- MetricError             a metric cannot measure a text or a corpus
    |-- RunStoppedError         a run ended early, on request or at a limit
    |   |-- OverBudgetError     a call would exceed the rest of a budget
    |   `-- DeferredError       a request waits for the reply of a batch
    |-- RunFailedError          a run cannot go on, because a model is unusable or does not answer
    |-- ModelError              a model gave no usable reply
    |   |-- TransientModelError     trying again may help
    |   |   |-- ModelTimeoutError       no reply within the time limit
    |   |   `-- OverloadedModelError    the server is overloaded
    |   |       `-- RateLimitedModelError   we exceed its rate limit
    |   `-- PermanentModelError     trying again will not help: this request fails
    |       |-- ModelRefusedError       the provider's policy forbids a reply
    |       |-- FormRefusedError        the server may not support the requested form of the reply
    |       |-- LogprobsRefusedError    the server may not give log-probabilities
    |       `-- UnusableModelError      every request fails: key, name or address are wrong
    `-- JudgeError              a judge could not assess this segment
        `-- ParseError          its reply cannot be read; keeps the reply

A `ModelError` or `JudgeError` costs one seat of a panel one report, which gets the error's
``outcome``. The errors in `RUN_ENDING` end the whole run, whichever judge raises them: judges do
not catch them. No error is ever turned into a score.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from typing import ClassVar, Protocol, TypedDict


class Outcome(StrEnum):
    """The ways in which an assessment can end."""

    SCORED = "scored"
    """The report has a score."""
    ABSTAINED = "abstained"
    """The judge does not judge this aspect, or has nothing to judge it by."""
    UNPARSEABLE = "unparseable"
    """No report can be read from the reply."""
    TRUNCATED = "truncated"
    """The reply ended at the token limit, before the score."""
    REFUSED = "refused"
    """The model or its provider declined."""
    TIMED_OUT = "timed_out"
    """No complete reply within the time limit."""
    BACKEND_FAILED = "backend_failed"
    """A server, a network or a judge's own code failed."""


USABLE = frozenset({Outcome.SCORED, Outcome.ABSTAINED})
"""Outcomes in which the judge answered; every other outcome is a failure."""
UNANSWERED = frozenset({Outcome.TIMED_OUT, Outcome.BACKEND_FAILED})
"""Outcomes without any answer: asking again pays for nothing twice."""


class EvaluationError(Exception):
    """Root of the tree: catch it to catch any error of this module."""


class ConfigError(EvaluationError):
    """Something requested does not exist, or the settings do not fit together."""


class PluginError(ConfigError):
    """A plugin is unknown, claimed twice, cannot be loaded, or has the wrong shape."""


class ClosedModelError(ConfigError):
    """A model is called after its panel was closed, or from an event loop other than the panel's.

    The caller's program must change: no further call can succeed.
    """


class DataError(EvaluationError):
    """A row or a file cannot be read; the message names the file and the line."""


class StoreError(EvaluationError):
    """A result cannot be written."""


class ServiceError(EvaluationError):
    """A service cannot start: its address is taken, or its folder is in use."""


class SinkError(EvaluationError):
    """A service did not take scores: it was unreachable or busy, or it rejected our key.

    Parameters
    ----------
    message
        What happened, without keys.
    retry_after
        Seconds that the service asked us to wait, or None if it did not say.
    """

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class SinkRefusedError(SinkError):
    """A service refuses these scores, for example because it does not know their trace."""


class PerturbationError(EvaluationError):
    """A perturbation cannot damage a text, or its rule failed."""


class MetricError(EvaluationError):
    """A metric cannot measure a text or a corpus, because it lacks something that it needs."""


class RunStoppedError(EvaluationError):
    """A run ended early, at a limit or at its user's request; finished work is kept."""


class OverBudgetError(RunStoppedError):
    """A call is not sent because it would exceed the rest of a budget.

    A cascade goes on without the reply; elsewhere this ends the run, as any limit does.
    """


class DeferredError(RunStoppedError):
    """A request is to be answered by a batch whose reply has not arrived yet.

    ``is_written`` says whether all such requests are in a file for the user to send.
    """

    is_written: bool = False


class RunFailedError(EvaluationError):
    """A run cannot go on, because a model is unusable or does not answer; finished work is kept.

    Replies that the run still waited for do not count as failures of their rows: a resumed run asks
    for them again.
    """


class ModelError(EvaluationError):
    """A model gave no usable reply.

    ``status`` is the HTTP status that its server returned, if any. Logs name it instead of the
    message, in which a server may repeat the request, or ``unconnected``, which says why there was
    no connection and names no address. ``was_sent`` says whether the request may have reached the
    server and been charged.
    """

    outcome: ClassVar[Outcome] = Outcome.BACKEND_FAILED
    status: int | None = None
    unconnected: str = ""
    was_sent: bool = True


class TransientModelError(ModelError):
    """A failure that a retry may fix.

    Parameters
    ----------
    message
        What happened, without keys or prompts.
    retry_after
        Seconds that the server asked us to wait, or None if it did not say.
    """

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ModelTimeoutError(TransientModelError):
    """No complete reply came within the time limit of one attempt."""

    outcome = Outcome.TIMED_OUT


class OverloadedModelError(TransientModelError):
    """The server is overloaded: fewer concurrent calls would help."""


class RateLimitedModelError(OverloadedModelError):
    """The server works, but we exceed its rate limit."""


class PermanentModelError(ModelError):
    """A failure that will repeat: the model cannot fulfil the request, or may not answer it."""


class ModelRefusedError(PermanentModelError):
    """The provider's policy forbids an answer."""

    outcome = Outcome.REFUSED


class FormRefusedError(PermanentModelError):
    """The server refuses a request that asks for a JSON schema or a grammar.

    The schema need not be the cause: whether the same request without it succeeds shows this.
    """


class LogprobsRefusedError(PermanentModelError):
    """The server refuses a request that asks for log-probabilities.

    They need not be the cause: whether the same request without them succeeds shows this.
    ``names_them`` says whether the server's message mentions them.
    """

    names_them: bool = True


class UnusableModelError(PermanentModelError):
    """The model rejects every request with these settings.

    The key is missing or wrong, the model or provider is unknown, or the address is wrong.
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
"""Errors that end the whole run; they must never be turned into the failure of one judge."""


@contextmanager
def failing_as(
    failure: Callable[[BaseException], Exception],
    *,
    passing: tuple[type[Exception], ...] = (EvaluationError,),
) -> Iterator[None]:
    """Raise ``failure(error)`` for any error of other people's code, such as a plugin's.

    An error need not be an `Exception`: a `SystemExit` and a panic in Rust are none. The errors in
    `passing` are raised unchanged, and so is what ends the task that runs the code: a
    `KeyboardInterrupt`, a `GeneratorExit` and a cancellation of this task.

    Code that awaits a cancelled task of asyncio is cancelled, too, unless it catches that. Taken
    for a cancellation of our own, this would end a task without a result and without an error.
    """
    try:
        yield
    except passing:
        raise
    except BaseException as error:
        failed = _failure_in(error)
        if failed is None:
            raise
        raise failure(failed) from error


def _failure_in(error: BaseException) -> BaseException | None:
    """Return the failure of the code that raised `error`; None if it ends the task itself."""
    if isinstance(error, Exception):
        return error
    import asyncio  # noqa: PLC0415, TID251 - late: such an error is rare

    if isinstance(error, asyncio.CancelledError):
        return RuntimeError("it awaited a task that was cancelled") if _is_stray() else None
    if isinstance(error, BaseExceptionGroup):
        return None if None in map(_failure_in, error.exceptions) else error
    # The only such error of trio, which need not be installed, is a cancellation.
    ends_task = isinstance(error, KeyboardInterrupt | GeneratorExit)
    return None if ends_task or type(error).__module__.startswith("trio") else error


def _is_stray() -> bool:
    """Return whether a cancellation of asyncio is not one of the current task."""
    import asyncio  # noqa: PLC0415, TID251 - late: an error is rare, and trio has no such task

    try:
        task = asyncio.current_task()
    except RuntimeError:  # trio, which cancels by an exception of its own, or no event loop
        return True
    return task is not None and not task.cancelling()


@contextmanager
def first_error_alone() -> Iterator[None]:
    """Raise the first error of a task group instead of the group.

    Use it for a group whose tasks work on one result: later errors follow from the first.
    """
    try:
        yield
    except ExceptionGroup as group:
        raise _first(group) from group


def _first(group: ExceptionGroup[Exception]) -> Exception:
    error = group.exceptions[0]
    return _first(error) if isinstance(error, ExceptionGroup) else error


def reason_of(error: Exception) -> str:
    """Return the message of the operating system or of a library, without a path.

    Examples
    --------
    >>> reason_of(FileNotFoundError(2, "No such file or directory", "a.txt"))
    'No such file or directory'
    """
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


class Problem(TypedDict):
    """A problem of a value: the path to it, and a message."""

    loc: tuple[int | str, ...]
    msg: str


class InvalidValues(Protocol):
    """An error of pydantic, which lists the problems of values."""

    def errors(
        self, *, include_url: bool, include_context: bool, include_input: bool
    ) -> Sequence[Problem]:
        """Return the problems."""
        ...


def first_problem(error: InvalidValues) -> str:
    """Return the first problem of values that are invalid: the field, if there is one, and why."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}".removeprefix(": ")
