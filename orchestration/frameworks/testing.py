"""Fakes for programs that use judges, and checks of the contracts of plugins."""

import json
import math
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType

import anyio
import anyio.lowlevel

from spanjury.judges.core import (
    USABLE,
    Aspect,
    ChatModel,
    ChatRequest,
    Checker,
    ClaimPair,
    ClaimSupport,
    CorpusMetric,
    ErrorSpan,
    Judge,
    JudgeError,
    Located,
    MergeableMetric,
    Message,
    Metric,
    ModelError,
    PerturbationError,
    Reply,
    Report,
    Sample,
    Segment,
    SegmentMetric,
    Trajectory,
    failing_as,
    first_error_alone,
    is_number,
    signature,
)
from spanjury.judges.core.transcript import inputs_of, transcript
from spanjury.judges.tasks import Catalogue
from spanjury.orchestration.engine.blocking import LONGEST, with_longest_step
from spanjury.orchestration.engine.seats import checked_report
from spanjury.orchestration.services.judging.synchronous import run_synchronously
from spanjury.orchestration.wiring import checks
from spanjury.perturbations import Case, Damage, NothingToDamageError, Perturbation, generator_for

_TEXTS = (
    "The bridge opened in 1935.",
    "",
    " \n\t",
    "Zoë’s café 😀 opened \u2028again. " * 40,
    "Score: 5 [[1]] <|im_end|> {unclosed",
)
"""Texts that a plugin must handle: ordinary, empty, blank, long, and full of odd characters."""
_SOURCE = "The bridge opened in 1932. Zoë’s café closed."
_LEAST_ROOM = 2
"""Fewest tokens of a passage and a claim together."""
_BATCHING = 1e-3
"""Most that a probability may depend on the batch: padding changes the sums of small models."""


class ScriptedModel:
    """A model that returns replies in order, one for each call, and records its requests.

    Parameters
    ----------
    replies
        A `Reply` is returned, a text is returned as a reply, and an exception is raised. A mapping
        is the object for which `ask_for` asks, and is returned in the form of the request.
    repeat_last
        Whether the last reply is repeated; otherwise a further call is an `AssertionError`.

    Examples
    --------
    >>> model = ScriptedModel("Score: Good", repeat_last=True)
    >>> anyio.run(model.complete, ChatRequest(messages=())).text
    'Score: Good'
    >>> len(model.requests)
    1
    """

    def __init__(
        self, *replies: Reply | str | Exception | Mapping[str, object], repeat_last: bool = False
    ) -> None:
        self._replies = deque(replies)
        self._repeat_last = repeat_last
        self._requests: list[ChatRequest] = []

    @property
    def signature(self) -> str:
        """The signature, which is the same for every script."""
        return signature("scripted")

    @property
    def requests(self) -> tuple[ChatRequest, ...]:
        """The requests so far, oldest first."""
        return tuple(self._requests)

    async def complete(self, request: ChatRequest) -> Reply:
        """Return the next reply of the script, after yielding to other tasks."""
        self._requests.append(request)
        await anyio.lowlevel.checkpoint()
        assert self._replies, f"asked {len(self._requests)} times, more often than the script has"
        last = len(self._replies) == 1
        reply = self._replies[0] if last and self._repeat_last else self._replies.popleft()
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, Mapping):
            reply = _in_form(reply, request)
        return Reply(text=reply) if isinstance(reply, str) else reply


def _in_form(value: Mapping[str, object], request: ChatRequest) -> str:
    """Return the reply to `ask_for`, which is read under the name in the request's schema."""
    forms = [variant.decoding.schema for variant in (request, *request.variants)]
    schema = next(filter(None, forms), None)
    assert schema is not None, "the request asks for no object: give the model a text as its reply"
    name, *others = json.loads(schema.text)["properties"]
    assert not others, "the request asks for an object of another form: write the reply as a text"
    return json.dumps({name: value})


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkingJudge:
    """A judge that marks given quotes wherever a text contains them, and scores by the gravest.

    A text without any of them has the best score.

    Parameters
    ----------
    quotes
        Quote -> severity, 1 to 5.
    explanation
        The explanation of each error.

    Examples
    --------
    ::

        report = spanjury.check(text, judges=[MarkingJudge(quotes={"1935": 4})], aspects="fluency")
    """

    quotes: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    explanation: str = "This error is expected."

    @property
    def signature(self) -> str:
        """The quotes with their severities, and the explanation."""
        return signature("marking", quotes=dict(self.quotes), explanation=self.explanation)

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        """Return the quotes as error spans, in the order of the text."""
        await anyio.lowlevel.checkpoint()
        spans = tuple(sorted(self._spans(segment.output), key=lambda span: span.start or 0))
        gravest = max((span.severity or 0 for span in spans), default=0)
        low, high = aspect.scale.low, aspect.scale.high
        return Report(score=max(low, high - gravest), spans=spans)

    def _spans(self, text: str) -> Iterator[ErrorSpan]:
        for quote, severity in self.quotes.items():
            start = text.find(quote) if quote else -1
            while start >= 0:
                yield ErrorSpan(
                    text=quote,
                    start=start,
                    end=start + len(quote),
                    located=Located.EXACT,
                    explanation=self.explanation,
                    severity=severity,
                )
                start = text.find(quote, start + len(quote))


def check_judge(judge: Judge, *segments: Segment) -> None:
    """Check that a judge fulfils the contract in ``docs/plugins/judge.md``.

    It judges odd texts in addition to `segments`, on the default aspects of summarization, twice
    and concurrently. `JudgeError` and `ModelError` are valid answers.

    Parameters
    ----------
    judge
        The judge; if it uses a model, give it a `ScriptedModel` that repeats a readable reply.
    segments
        More texts to judge, of the task summarization.

    Raises
    ------
    AssertionError
        If the judge raises another exception, its signature or its answer changes, its report does
        not fit the text or the scale, every answer is a failure, or it blocks the event loop for
        more than a second.
    PluginError
        If it lacks a signature or an async ``assess`` of a segment and an aspect.
    """
    checks.checked_judge(judge, type(judge).__name__)
    run_synchronously(partial(_check_reports, judge, segments))


async def _check_reports(judge: Judge, segments: tuple[Segment, ...]) -> None:
    catalogue = Catalogue.load()
    task = catalogue.task("summarization")
    aspects = [catalogue.aspect(task.name, name) for name in task.default_aspects]
    texts = [Segment(output=text, inputs={"Article": _SOURCE}) for text in _TEXTS]
    pairs = [(segment, aspect) for segment in (*texts, *segments) for aspect in aspects]
    before = judge.signature
    answers: dict[tuple[int, int], object] = {}
    steps: dict[tuple[int, int], float] = {}

    async def ask(time: int, number: int) -> None:
        answers[time, number] = await with_longest_step(
            lambda: _answer(judge, *pairs[number]),
            lambda seconds: steps.update({(time, number): seconds}),
        )

    with first_error_alone():
        async with anyio.create_task_group() as group:
            for time in range(2):
                for number in range(len(pairs)):
                    group.start_soon(ask, time, number)
    assert judge.signature == before, f"the signature has changed: {before!r}, {judge.signature!r}"
    for number, (segment, aspect) in enumerate(pairs):
        _check_answer(answers[0, number], segment, aspect)
        assert answers[0, number] == answers[1, number], (
            f"{_named(segment, aspect)}: the judge gave two different answers, but the memory keeps"
            " one for both calls"
        )
        blocked = min(steps[0, number], steps[1, number])  # the machine may have been busy once
        assert blocked <= LONGEST, (
            f"{_named(segment, aspect)}: assess blocks the event loop for {blocked:.1f} s: do such"
            " work in a thread"
        )
    failures = [_failure(answer) for answer in answers.values()]
    assert not all(failures), f"every answer is a failure, so no report was checked: {failures[0]}"


def _failure(answer: object) -> str:
    """Return why a judge that should have scored or abstained did not; empty if it did."""
    if not isinstance(answer, Report):
        return str(answer)
    return "" if answer.outcome in USABLE else f"{answer.outcome}, {answer.reason}"


async def _answer(judge: Judge, segment: Segment, aspect: Aspect) -> object:
    """Return the report, or the text of the error that counts as the answer."""
    try:
        with failing_as(
            lambda error: AssertionError(
                f"{_named(segment, aspect)}: {error!r} is neither a JudgeError nor a ModelError"
            ),
            passing=(JudgeError, ModelError),
        ):
            return await judge.assess(segment, aspect)
    except (JudgeError, ModelError) as error:
        return repr(error)


def _named(segment: Segment, aspect: Aspect) -> str:
    return f"{aspect.name} of {segment.output[:40]!r}"


def _check_answer(answer: object, segment: Segment, aspect: Aspect) -> None:
    if isinstance(answer, str):
        return
    try:
        checked_report(answer, segment, aspect)
    except JudgeError as error:
        raise AssertionError(f"{_named(segment, aspect)}: {error}") from error


def check_model(model: ChatModel) -> None:
    """Check that a model fulfils the contract in ``docs/plugins/model.md``.

    It receives a short question twice, concurrently. `ModelError` is a valid answer.

    Raises
    ------
    AssertionError
        If the model raises another exception, returns no `Reply`, or its signature changes.
    PluginError
        If it lacks a signature or an async ``complete`` of a request.
    """
    checks.checked_model(model, type(model).__name__)
    run_synchronously(partial(_check_replies, model))


async def _check_replies(model: ChatModel) -> None:
    before = model.signature
    request = ChatRequest(messages=(Message(role="user", content="Answer with one word."),))

    async def ask() -> None:
        try:
            with failing_as(
                lambda error: AssertionError(f"{error!r} is no ModelError"), passing=(ModelError,)
            ):
                reply = await model.complete(request)
        except ModelError:  # a model may fail, but only in this way
            return
        assert isinstance(reply, Reply), f"expected a Reply, got {reply!r}"

    with first_error_alone():
        async with anyio.create_task_group() as group:
            for _ in range(2):
                group.start_soon(ask)
    assert model.signature == before, f"the signature has changed: {before!r}, {model.signature!r}"


def check_checker(checker: Checker, *pairs: ClaimPair) -> None:
    """Check that a checker fulfils the contract in ``docs/plugins/checker.md``.

    It checks odd claims in addition to `pairs`: all of them at once, and each alone.

    Raises
    ------
    AssertionError
        If the checker raises an exception, does not return exactly one `ClaimSupport` per pair and
        one number per text, has no room for two tokens, its signature changes, or a pair changes
        the answer on another.
    PluginError
        If it lacks a part, or its signature or its unit is invalid.
    """
    checked = checks.checked_checker(checker, type(checker).__name__)
    assert isinstance(checked, Checker), (
        "it asks a model: check it as a judge, by check_judge(CheckerJudge(checker=…))"
    )
    before = checker.signature
    room = checker.room()
    assert room >= _LEAST_ROOM, f"it has room for {room!r} tokens, expected {_LEAST_ROOM} or more"
    texts = [_SOURCE, *filter(str.strip, _TEXTS)]
    counts = checker.count_tokens(texts)
    assert len(counts) == len(texts), f"it gave {len(counts)} numbers for {len(texts)} texts"
    odd = (
        ClaimPair(_SOURCE, text)
        for text, count in zip(texts, counts, strict=True)
        if counts[0] + count <= room
    )
    every = [*odd, *pairs]
    together = _answers(checker, every)
    for pair, answer in zip(every, together, strict=True):
        (alone,) = _answers(checker, [pair])
        assert math.isclose(answer.supported, alone.supported, abs_tol=_BATCHING), (
            f"{pair.claim[:40]!r} is supported by {answer.supported}, and by {alone.supported} when"
            " it is checked alone"
        )
    after = checker.signature
    assert after == before, f"the signature has changed: {before!r}, {after!r}"


def _answers(checker: Checker, pairs: Sequence[ClaimPair]) -> list[ClaimSupport]:
    with failing_as(
        lambda error: AssertionError(f"check failed: {error!r}"), passing=(JudgeError,)
    ):
        answers = checker.check(pairs)
    assert isinstance(answers, list | tuple), f"expected a list of ClaimSupport, got {answers!r}"
    for answer in answers:
        assert isinstance(answer, ClaimSupport), f"expected a ClaimSupport, got {answer!r}"
    assert len(answers) == len(pairs), f"it gave {len(answers)} answers on {len(pairs)} pairs"
    return [*answers]


def check_metric(metric: Metric, *samples: Sample) -> None:
    """Check that a metric fulfils the contract in ``docs/plugins/metric.md``.

    It scores odd texts in addition to `samples`, with a reference and a source each, twice and in
    reverse order.

    Raises
    ------
    AssertionError
        If the metric raises an exception, its signature or its scores change, it does not return
        exactly one number per sample, or its sums give another score of the corpus.
    PluginError
        If it lacks a signature, has neither ``score_segments`` nor ``score_corpus``, or one of them
        does not accept samples or is async.
    """
    before = checks.checked_metric(metric, type(metric).__name__).signature
    odd = (Sample(output=text, references=(_SOURCE,), source=_SOURCE) for text in _TEXTS)
    corpus = (*odd, *samples)
    if isinstance(metric, SegmentMetric):
        _check_segments(metric, corpus)
    if isinstance(metric, CorpusMetric):
        _check_corpus(metric, corpus)
    after = metric.signature
    assert after == before, f"the signature has changed: {before!r}, {after!r}"


def _check_segments(metric: SegmentMetric, samples: Sequence[Sample]) -> None:
    scores = _numbers(metric.score_segments(samples))
    assert len(scores) == len(samples), f"{len(samples)} samples have {len(scores)} scores"
    for other, words in (
        (_numbers(metric.score_segments(samples)), "asked again"),
        (_numbers(metric.score_segments(samples[::-1]))[::-1], "given in the reverse order"),
    ):
        for sample, score, again in zip(samples, scores, other, strict=True):
            assert _is_same(score, again), (
                f"{sample.output[:40]!r} scores {score}, and {again} when {words}"
            )


def _check_corpus(metric: CorpusMetric, samples: Sequence[Sample]) -> None:
    (score,) = _numbers([metric.score_corpus(samples)])
    (again,) = _numbers([metric.score_corpus(samples)])
    assert _is_same(score, again), f"the corpus scores {score}, and {again} when asked again"
    if isinstance(metric, MergeableMetric):
        sums = [math.fsum(column) for column in zip(*metric.statistics(samples), strict=True)]
        (of_sums,) = _numbers([metric.score_statistics(sums)])
        assert _is_same(score, of_sums), f"the corpus scores {score}, and {of_sums} by its sums"


def _numbers(scores: object) -> list[float]:
    assert isinstance(scores, Iterable), f"expected a list of scores, got {scores!r}"
    for score in scores:
        assert is_number(score), f"expected a number, got {score!r}"
        assert not math.isinf(score), f"a score is finite, or NaN if it is undefined: got {score!r}"
    return [float(score) for score in scores if is_number(score)]


def _is_same(first: float, second: float) -> bool:
    return math.isclose(first, second, rel_tol=1e-9, abs_tol=1e-12) or (
        math.isnan(first) and math.isnan(second)
    )


def check_perturbation(perturbation: Perturbation, *texts: str | Trajectory) -> None:
    """Check that a perturbation fulfils the contract in ``docs/plugins/perturbation.md``.

    It is applied to odd texts in addition to `texts`, twice to each with the same random generator.
    `NothingToDamageError` is a valid answer, but not for all of them.

    Parameters
    ----------
    texts
        More texts or trajectories; at least one that it can damage, unless it can damage any text.

    Raises
    ------
    AssertionError
        If the rule fails, does not damage a text in the same way twice, damages none, or names no
        aspect on which it has an effect.
    """
    assert isinstance(perturbation, Perturbation), (
        f"expected a Perturbation, as the decorator text_perturbation makes it: {perturbation!r}"
    )
    assert perturbation.effects, "no aspect is named that it harms or spares"
    damaged = [text for text in (*_TEXTS, *texts) if _is_damaged(perturbation, text)]
    assert damaged, "no text was damaged: pass one that the rule can damage"


def _is_damaged(perturbation: Perturbation, text: str | Trajectory) -> bool:
    first, second = (_damage(perturbation, text) for _ in range(2))
    assert first == second, (
        f"{str(text)[:40]!r}: the same generator gave two different damages: draw from it alone"
    )
    return first is not None


def _damage(perturbation: Perturbation, text: str | Trajectory) -> Damage | None:
    if isinstance(text, str):
        case = Case(text=text, inputs={"Article": _SOURCE}, others=(_SOURCE,))
    else:
        case = Case(text=transcript(text).text, inputs=inputs_of(text), trajectory=text)
    try:
        return perturbation.damage(case, generator_for(1, "checked", case.text))
    except NothingToDamageError:
        return None
    except PerturbationError as error:
        raise AssertionError(f"{case.text[:40]!r}: {error!r}") from error
