"""The fakes and the contract check that plugin authors use."""

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

import spanjury
from spanjury import Aspect, ErrorSpan, Located, Report, Segment
from spanjury.judges.core import JudgeError, PluginError
from spanjury.judges.llm.annotator import Annotator
from spanjury.judges.rules.form import FormJudge
from spanjury.judges.rules.grounding import GroundingJudge
from spanjury.testing import MarkingJudge, ScriptedModel, check_judge


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
    refusing = Annotator(model=ScriptedModel("No score.", repeat_last=True))
    for judge in (MarkingJudge(quotes={"1935": 4}), FormJudge(), GroundingJudge(), refusing):
        check_judge(judge, Segment(output="It it rains."))


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
        (_misplaced, r"\(0, 6\) of the output does not read 'bridge'"),
        (lambda text: Report(score=9), "score 9 is not within 1 to 5"),
        (lambda text: None, "returned None, not a Report"),
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


def test_a_class_that_is_no_judge_is_refused() -> None:
    with pytest.raises(PluginError, match="lacks signature or assess"):
        check_judge(object())  # type: ignore[arg-type]  # the point of it
