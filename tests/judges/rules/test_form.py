"""The form judge: its score, its limits, where it abstains."""

import threading
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanjury.judges.core import Aspect, Judge, Located, Outcome, Report, Segment, Task
from spanjury.judges.rules import form
from spanjury.judges.rules.form import FormJudge
from spanjury.judges.rules.form_text import FormText, read_form
from spanjury.judges.text.turns import LONG

TASK = Task(name="summarization", description="Summarize the article.")
FLUENCY = Aspect(name="fluency", task=TASK, definition="…", kind="form", inputs=())
PROSE = (
    "The council approved the plan on Monday, after a debate that lasted four hours. Residents "
    "of the old town, who had had no say in it, will protest: “We were never asked,” said "
    "Ann O'Neill (54), an architect. The U.S. firm behind it, Acme Inc., didn't comment... Its "
    "shares rose 3.5% to $1,200.50, more than a year after the firm's first offer.\n\n"
    "What happens next? A judge will hear the case in May; an hour is set aside for it."
)


def checked(text: str, *, max_spans: int = 8) -> Report:
    return FormJudge(max_spans=max_spans)._check(text, aspect=FLUENCY)


async def judged(text: str) -> Report:
    segment = Segment(segment_id="1", output=text, inputs={"Article": "not looked at"})
    return await FormJudge().assess(segment, FLUENCY)


def test_it_is_a_judge_with_a_signature() -> None:
    assert isinstance(FormJudge(), Judge)
    assert FormJudge(max_spans=3).signature.startswith("form|max_spans:3|costs:")


def test_a_negative_limit_is_refused() -> None:
    with pytest.raises(ValueError, match="-1"):
        FormJudge(max_spans=-1)


async def test_good_prose_has_no_error_and_the_best_score() -> None:
    report = await judged(PROSE)
    assert (report.spans, report.score, report.rationale) == ((), 5, "No error of form found.")


async def test_the_score_is_the_documented_formula() -> None:
    # A severity of 3 costs .5 and one of 4 costs 1; below the best eighth there are 3.5 points.
    report = await judged("He was on on the way. He went to the")
    assert [(span.text, span.severity) for span in report.spans] == [("on on", 3), ("the", 4)]
    assert report.score == pytest.approx(1 + 3.5 / (1 + 1.5))
    assert report.rationale == "2 errors of form in 10 words."


async def test_the_same_error_weighs_less_in_a_longer_text() -> None:
    short = await judged("He sat sat down.")
    long = await judged(f"{PROSE} He sat sat down.")
    assert short.score is not None
    assert long.score is not None
    assert short.score < long.score < 4.5


@pytest.mark.parametrize(
    ("text", "habit"),
    [
        ("He left , and she did n't . The man 's dog , a pug , stayed .", "Blanks stand before"),
        ("he left -lrb- early -rrb- , and she said `` no '' . it rained .", "in lower case"),
    ],
)
async def test_a_habit_kept_throughout_is_a_note_and_no_error(text: str, habit: str) -> None:
    report = await judged(text)
    assert (report.score, report.spans) == (5, ())
    assert "No error of form found." in report.rationale
    assert habit in report.rationale


async def test_blanks_before_some_marks_are_errors() -> None:
    report = await judged("He left , and she stayed. The dog, a pug, ran. It rained.")
    assert [span.text for span in report.spans] == [" ,"]
    assert report.score is not None
    assert report.score < 4.5


@pytest.mark.parametrize("clean", ["He left.", PROSE, f"He sat sat down. {PROSE} {PROSE}"])
async def test_an_error_more_never_wins_a_better_score(clean: str) -> None:
    before = (await judged(clean)).score
    for damaged in (
        f"{clean} So it it rained.",
        f"{clean} A apple fell.",
        f"{clean} {PROSE} {PROSE}",
    ):
        after = (await judged(damaged)).score
        assert before is not None
        assert after is not None
        assert after < before


@pytest.mark.parametrize("text", ["", " \n\t"])
async def test_an_empty_text_is_judged_the_worst(text: str) -> None:
    report = await judged(text)
    (span,) = report.spans
    assert (report.score, span.text, span.located, span.severity) == (1, "", Located.UNLOCATED, 5)


async def test_it_abstains_on_aspects_of_other_kinds() -> None:
    segment = Segment(segment_id="1", output="Text.")
    report = await FormJudge().assess(segment, replace(FLUENCY, name="coherence", kind="structure"))
    assert report.outcome is Outcome.ABSTAINED
    assert "coherence" in report.reason


def test_only_the_gravest_spans_are_kept_in_order_of_place() -> None:
    report = checked("He left , she sat sat down. It was it was the", max_spans=2)
    assert [span.text for span in report.spans] == ["sat sat", "the"]


def test_an_error_within_another_is_not_marked_twice() -> None:
    sentence = "The dog dog barked at him."
    report = checked(f"{sentence} He ran. {sentence}")
    assert [span.text for span in report.spans] == ["dog dog", "The dog dog barked at him"]


async def test_long_texts_are_judged_outside_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[int] = []

    def read(text: str, *, is_whole: bool) -> FormText:
        threads.append(threading.get_ident())
        return read_form(text, is_whole=is_whole)

    monkeypatch.setattr(form, "read_form", read)
    await judged(PROSE)
    await judged(PROSE * (LONG // len(PROSE) + 1))
    assert threads[0] == threading.get_ident()
    assert threads[1] != threading.get_ident()


PIECES = (
    *("the", "The", "dog", "dog.", "a", "apple", "i", "(", ")", '"', "“", ",", ".", " ,", ".."),
    *("\n\n", "\ud800", "&amp;", "AAAAAA", "BB", "of", "1", "- x", "é", "他。"),
)


@given(st.text(max_size=100) | st.lists(st.sampled_from(PIECES), max_size=40).map(" ".join))
def test_any_text_is_judged_within_the_scale(text: str) -> None:
    report = checked(text)
    assert report.score is not None
    assert report.score in FLUENCY.scale
    assert len(report.spans) <= 8
    starts = [span.start or 0 for span in report.spans]
    assert starts == sorted(starts)
    for span in report.spans:
        assert span.start is None or text[span.start : span.end] == span.text
    assert (report.score == FLUENCY.scale.high) == (not report.spans)
