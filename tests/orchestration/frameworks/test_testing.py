"""The fakes and the contract check that plugin authors use."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import count

import anyio
import pytest
from numpy.random import Generator

import spanjury
from spanjury import Aspect, ErrorSpan, Located, Report, Segment
from spanjury.judges.core import (
    ChatModel,
    ChatRequest,
    ClaimPair,
    ClaimSupport,
    ClaimUnit,
    Decoding,
    JudgeError,
    Message,
    PermanentModelError,
    PluginError,
    ReplySchema,
    Sample,
    ToolCall,
    Trajectory,
    Turn,
)
from spanjury.judges.llm.annotator import Annotator
from spanjury.judges.llm.typed_reply import ask_for
from spanjury.judges.rules.form import FormJudge
from spanjury.judges.rules.grounding import GroundingJudge
from spanjury.orchestration.engine import blocking
from spanjury.orchestration.wiring.metrics import open_metric
from spanjury.perturbations import (
    DamagedTrajectory,
    Fault,
    text_perturbation,
    trajectory_perturbation,
)
from spanjury.testing import (
    MarkingJudge,
    ScriptedModel,
    check_checker,
    check_judge,
    check_metric,
    check_model,
    check_perturbation,
)


def test_a_marking_judge_marks_each_place_of_its_quotes() -> None:
    judge = MarkingJudge(quotes={"cat": 2, "a": 4})
    report = spanjury.check("A cat and a cat.", judges=[judge], aspects="fluency")
    assert [(span.start, span.text) for span in report.spans if span.text == "cat"] == [
        (2, "cat"),
        (12, "cat"),
    ]
    assert report.scores == {"fluency": 1.0}
    assert spanjury.check("Dog.", judges=[judge], aspects="fluency").scores == {"fluency": 5.0}


def test_judges_of_ours_keep_the_promises() -> None:
    reading = Annotator(model=ScriptedModel("No Error\n\nOverall score: Good", repeat_last=True))
    for judge in (MarkingJudge(quotes={"1935": 4}), FormJudge(), GroundingJudge(), reading):
        check_judge(judge, Segment(output="It it rains."))


def test_a_judge_that_fails_on_every_text_was_not_checked() -> None:
    failing = Annotator(model=ScriptedModel("No score.", repeat_last=True))
    with pytest.raises(AssertionError, match="every answer is a failure.*unparseable, there is no"):
        check_judge(failing)


@dataclass(kw_only=True)
class Doubts:
    """Words that weaken a claim."""

    quotes: list[str]


@dataclass(kw_only=True)
class AskingJudge:
    """Asks a model for an object of its own type."""

    model: ChatModel
    signature: str = "asking"

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        asked = [Message(role="user", content=segment.output)]
        reply = await ask_for(Doubts, model=self.model, messages=asked)
        return reply.unscored if reply.value is None else Report(score=4 - len(reply.value.quotes))


def test_a_scripted_model_answers_a_judge_that_asks_for_an_object() -> None:
    check_judge(AskingJudge(model=ScriptedModel({"quotes": []}, repeat_last=True)))
    judge = AskingJudge(model=ScriptedModel({"quotes": ["may"]}))
    assert spanjury.check("It may rain.", judges=[judge], aspects="fluency").scores == {
        "fluency": 3
    }
    with pytest.raises(AssertionError, match="every answer is a failure.*quotes"):
        check_judge(AskingJudge(model=ScriptedModel({"words": []}, repeat_last=True)))


def test_an_object_that_ask_for_did_not_request_is_refused_with_advice() -> None:
    schema = ReplySchema(name="Answer", text='{"properties": {"edits": {}, "mark": {}}}')
    request = ChatRequest(messages=(), decoding=Decoding(schema=schema))
    with pytest.raises(AssertionError, match="write the reply as a text"):
        anyio.run(ScriptedModel({"edits": []}).complete, request)


@dataclass(kw_only=True)
class OwnJudge:
    """Answers as each test says."""

    answer: Callable[[str], Report]
    signature: str = "own"
    seen: list[str] = field(default_factory=list)

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        self.seen.append(segment.output)
        return self.answer(segment.output)


def _misplaced(text: str) -> Report:
    span = ErrorSpan(
        text="bridge", start=0, end=6, located=Located.EXACT, explanation="e", severity=3
    )
    return Report(score=3, spans=(span,) if "bridge" in text else ())


def _failing(text: str) -> Report:
    if not text:
        raise JudgeError("an empty text")
    return Report(score=float(text[0] == "T") / len(text.strip()) + 4)


@pytest.mark.parametrize(
    ("answer", "broken"),
    [
        (_misplaced, r"\(0, 6\) of the output is not 'bridge'"),
        (lambda text: Report(score=9), "score 9 is not within 1 to 5"),
        (lambda text: None, "returned None, not a Report"),
        (
            lambda text: Report(outcome="abstained", reason="x"),  # type: ignore[arg-type]  # wrong on purpose
            "outcome must be an Outcome.*neither a JudgeError nor a ModelError",
        ),
        (_failing, "ZeroDivisionError.*neither a JudgeError nor a ModelError"),
    ],
)
def test_a_broken_promise_is_an_assertion_that_names_the_text(
    answer: Callable[[str], Report], broken: str
) -> None:
    with pytest.raises(AssertionError, match=rf"^(consistency|fluency) of '.*{broken}"):
        check_judge(OwnJudge(answer=answer))


def test_an_answer_that_changes_breaks_a_promise() -> None:
    judge = OwnJudge(answer=lambda text: Report(score=1 + len(judge.seen) % 5))
    with pytest.raises(AssertionError, match="two different answers"):
        check_judge(judge, Segment(output="One more text."))


def test_blocking_the_event_loop_breaks_a_promise(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(blocking, "perf_counter", lambda: now[0])

    def slow(text: str) -> Report:
        now[0] += 8.0 if text.startswith("The bridge") else 0.0
        return Report(score=3)

    with pytest.raises(AssertionError, match="assess blocks the event loop for 8.0 s"):
        check_judge(OwnJudge(answer=slow))


def test_a_class_that_is_no_judge_is_refused() -> None:
    with pytest.raises(PluginError, match="lacks a signature"):
        check_judge(object())  # type: ignore[arg-type]  # the point of it


@dataclass(kw_only=True)
class OwnMetric:
    """Scores texts as each test says."""

    score: Callable[[str], float]
    signature: str = "own"

    def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
        return [self.score(sample.output) for sample in samples]


CALLS = count()
"""Numbers that no two calls share."""


Answering = Callable[[Sequence[ClaimPair]], list[ClaimSupport]]


def by_length(pairs: Sequence[ClaimPair]) -> list[ClaimSupport]:
    return [ClaimSupport(supported=1 / (1 + len(pair.claim))) for pair in pairs]


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnChecker:
    """A checker whose answers are those of a function."""

    answers: Answering = by_length
    most: int = 60
    unit: ClaimUnit = "sentence"
    signature: str = "own|1"

    def room(self) -> int:
        return self.most

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]

    def check(self, pairs: Sequence[ClaimPair]) -> list[ClaimSupport]:
        return self.answers(pairs)


def test_a_checker_keeps_the_promises() -> None:
    asked: list[str] = []

    def answers(pairs: Sequence[ClaimPair]) -> list[ClaimSupport]:
        asked.extend(pair.claim for pair in pairs)
        return by_length(pairs)

    check_checker(OwnChecker(answers=answers), ClaimPair("It rained.", "It was wet."))
    assert "It was wet." in asked
    assert max(len(claim.split()) for claim in asked) < 60  # no longer than there is room


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        (lambda pairs: by_length(pairs[:1]), "1 answers on 5 pairs"),
        (lambda pairs: [0.5 for _ in pairs], "expected a ClaimSupport, got 0.5"),
        (lambda _: None, "expected a list of ClaimSupport, got None"),
        (lambda _: [ClaimSupport(supported=1 / 0)], "check failed: ZeroDivisionError"),
        (lambda pairs: [ClaimSupport(supported=1 / len(pairs)) for _ in pairs], "checked alone"),
    ],
)
def test_a_checker_that_breaks_a_promise_is_named(answers: Answering, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        check_checker(OwnChecker(answers=answers), *[ClaimPair("It rained.", "It was wet.")] * 2)


def test_a_checker_without_room_or_with_another_unit_is_refused() -> None:
    with pytest.raises(AssertionError, match="room for 1 tokens, expected 2 or more"):
        check_checker(OwnChecker(most=1))
    with pytest.raises(PluginError, match="its unit must be one of sentence, text, answer"):
        check_checker(OwnChecker(unit="word"))  # type: ignore[arg-type]  # the mistake


def test_metrics_of_ours_keep_the_promises() -> None:
    check_metric(OwnMetric(score=len))
    check_metric(open_metric("f1").metric, Sample(output="It rains.", references=("It rained.",)))


@pytest.mark.parametrize(
    ("score", "message"),
    [
        (lambda text: text or "none", "expected a number"),
        (lambda _: math.inf, "a score is finite"),
        (lambda _: next(CALLS), "when asked again"),
    ],
)
def test_a_metric_that_breaks_a_promise_is_named(
    score: Callable[[str], float], message: str
) -> None:
    with pytest.raises(AssertionError, match=message):
        check_metric(OwnMetric(score=score))


def test_what_is_no_metric_is_refused() -> None:
    with pytest.raises(PluginError, match="neither score_segments nor score_corpus"):
        check_metric(ScriptedModel("x"))


def test_a_model_answers_or_raises_one_of_our_errors() -> None:
    check_model(ScriptedModel("Yes.", repeat_last=True))
    check_model(ScriptedModel(PermanentModelError("no"), repeat_last=True))
    with pytest.raises(AssertionError, match="KeyError"):
        check_model(ScriptedModel(KeyError("x"), repeat_last=True))


def test_perturbations_keep_their_promises_or_are_named() -> None:
    @text_perturbation(family="case", level="character", harms={"fluency"})
    def shout(text: str, rng: Generator) -> str:
        del rng
        return text.upper()

    @text_perturbation(family="case", level="character", harms={"fluency"})
    def forgetful(text: str, rng: Generator) -> str:
        del rng
        return f"{text} {next(CALLS)}"

    @text_perturbation(family="case", level="character", harms={"fluency"})
    def idle(text: str, rng: Generator) -> str:
        del rng
        return text

    @trajectory_perturbation(family="calls", level="word", harms={"calls"})
    def nameless(trajectory: Trajectory, rng: Generator) -> DamagedTrajectory:
        del rng
        call = ToolCall(call_id="", name="nothing", arguments="{}")
        turn = Turn(role="assistant", calls=(call,))
        fault = Fault(turn=len(trajectory.turns) + 1, call=1, explanation="There is no such tool.")
        damaged = replace(trajectory, turns=(*trajectory.turns, turn))
        return DamagedTrajectory(trajectory=damaged, faults=(fault,))

    check_perturbation(shout)
    with pytest.raises(AssertionError, match="expected a Perturbation"):
        check_perturbation(str.upper)  # type: ignore[arg-type]  # the decorator is missing
    check_perturbation(nameless, Trajectory(turns=(Turn(role="assistant", text="Yes."),)))
    with pytest.raises(AssertionError, match="no text was damaged"):
        check_perturbation(nameless)
    with pytest.raises(AssertionError, match="two different damages"):
        check_perturbation(forgetful)
    with pytest.raises(AssertionError, match="no text was damaged"):
        check_perturbation(idle)
