"""The loop of a repair, with writers of whom it is known what they write."""

from dataclasses import replace

import pytest
from fakes.judges import ASPECT, FixedJudge, located, mark
from fakes.repairing import MarkingJudge, ScriptedWriter, panel_of
from hypothesis import given
from hypothesis import strategies as st

from spanjury.judges.core import (
    Aspect,
    ErrorSpan,
    ModelTimeoutError,
    Outcome,
    PanelReport,
    Report,
    Result,
    Segment,
    UnusableModelError,
    Usage,
)
from spanjury.orchestration.engine.metering import Limits
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.engine.text_repair.loop import Repaired, Stopped, repair
from spanjury.orchestration.engine.text_repair.places import (
    Marked,
    SpanEdit,
    edited,
    edits_of,
    passages_in,
)
from spanjury.orchestration.engine.text_repair.versions import Version, is_better

TEXT = "The bridge opened in 1935. It cost nothing. Ships liked it."
WRONG = MarkingJudge(severities={"1935": 4, "nothing": 2, "never": 5})


def of(text: str) -> Segment:
    return Segment(segment_id="s", output=text, inputs={"Article": "It opened in 1932."})


async def run(
    *answers: object,
    panel: Panel | None = None,
    text: str = TEXT,
    rounds: int = 3,
    aspects: tuple[Aspect, ...] = (ASPECT,),
    limits: Limits = Limits(),
) -> tuple[Repaired, ScriptedWriter]:
    writer = ScriptedWriter(list(answers))  # type: ignore[arg-type]  # the fake takes what it can
    panel = panel or panel_of(WRONG)
    done = await repair(of(text), aspects, panel=panel, writer=writer, rounds=rounds, limits=limits)
    return done, writer


async def test_a_replacement_stands_where_the_error_stood_and_all_else_is_as_it_was() -> None:
    done, _ = await run({1: "1932", 2: "much"})
    assert done.best.text == "The bridge opened in 1932. It cost much. Ships liked it."
    assert done.stopped is Stopped.NOTHING_MARKED
    edits = [(edit.start, edit.before, edit.after) for edit in done.edits]
    assert edits == [(21, "1935", "1932"), (35, "nothing", "much")]
    assert (done.edits[0].errors[0].span.explanation, done.left) == ("1935 is wrong", ())


async def test_an_empty_replacement_deletes() -> None:
    done, _ = await run({1: "", 2: ""})
    assert done.best.text == "The bridge opened in. It cost. Ships liked it."


async def test_a_worse_version_is_given_up_and_ends_the_repair() -> None:
    done, writer = await run({1: "never"}, {1: "1932"})
    assert done.best.text == TEXT
    assert done.stopped is Stopped.NO_BETTER
    assert [version.kept for version in done.versions] == [True, False]
    assert done.versions[1].text == "The bridge opened in never. It cost nothing. Ships liked it."
    assert (done.edits, len(writer.seen)) == ((), 1)


async def test_a_version_that_is_no_better_and_no_worse_is_given_up() -> None:
    panel = panel_of(MarkingJudge(severities={"1935": 4, "1936": 4}))
    done, _ = await run({1: "1936"}, panel=panel)
    assert (done.best.text, done.stopped) == (TEXT, Stopped.NO_BETTER)


async def test_each_round_goes_on_from_the_best_version() -> None:
    done, writer = await run({1: "1932"}, {1: "much"})
    assert [version.text for version in writer.seen] == [TEXT, TEXT.replace("1935", "1932")]
    assert [place.text for place in writer.seen[1].passages] == ["nothing"]
    assert done.best.text == "The bridge opened in 1932. It cost much. Ships liked it."


async def test_the_rounds_are_a_limit() -> None:
    done, writer = await run({1: "1932"}, {1: "much"}, rounds=1)
    assert (done.stopped, len(writer.seen)) == (Stopped.ROUNDS, 1)
    assert [error.span.text for error in done.left] == ["nothing"]


async def test_no_round_begins_beyond_a_limit() -> None:
    costly = replace(WRONG, usage=Usage(calls=1, prompt=90, completion=10))
    of_tokens = ((Limits(max_tokens=100), 0), (Limits(max_tokens=101), 1))
    of_calls = ((Limits(max_calls=1), 0), (Limits(max_calls=2), 1))
    for limits, asked in (*of_tokens, *of_calls):
        done, writer = await run({1: "1932"}, {1: "much"}, panel=panel_of(costly), limits=limits)
        assert (done.stopped, len(writer.seen)) == (Stopped.LIMIT, asked)
        assert "spent, and" in done.reason
    done, _ = await run(limits=Limits(max_seconds=1e-9))
    assert (done.stopped, done.best.text) == (Stopped.LIMIT, TEXT)


async def test_a_text_without_errors_costs_no_call() -> None:
    done, writer = await run(text="All is well.")
    assert (done.stopped, writer.seen) == (Stopped.NOTHING_MARKED, [])
    assert done.best.text == "All is well."


async def test_an_omission_is_not_edited_but_reported_as_left() -> None:
    panel = panel_of(MarkingJudge(severities={}, omission="the cost is missing"))
    done, writer = await run(panel=panel)
    assert (done.stopped, writer.seen) == (Stopped.NO_PLACE, [])
    assert [error.span.explanation for error in done.left] == ["the cost is missing"]


async def test_a_writer_that_changes_nothing_ends_it() -> None:
    for answer in ({}, {1: "1935", 2: "nothing"}, {7: "no such place"}):
        done, _ = await run(answer)
        assert (done.best.text, done.stopped) == (TEXT, Stopped.UNCHANGED)


async def test_a_failing_writer_leaves_the_best_version_and_says_why() -> None:
    done, _ = await run({1: "1932"}, ModelTimeoutError("no reply in 5 s"))
    assert done.best.text == TEXT.replace("1935", "1932")
    assert done.stopped is Stopped.WRITER_FAILED
    assert "no reply in 5 s" in done.reason


async def test_a_writer_with_a_wrong_key_is_an_error() -> None:
    with pytest.raises(UnusableModelError):
        await run(UnusableModelError("wrong key"))


async def test_a_text_that_the_panel_cannot_judge_is_left_alone() -> None:
    panel = panel_of(FixedJudge(says=ModelTimeoutError("the judge is away")))
    done, writer = await run(panel=panel)
    assert (done.stopped, writer.seen, done.best.text) == (Stopped.UNSCORED, [], TEXT)
    assert "the judge is away" in done.reason


class FailsOnSecond:
    """Marks the first text, and judges no other."""

    signature = "fails-on-second"

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        if segment.output == TEXT:
            return await WRONG.assess(segment, aspect)
        raise ModelTimeoutError("away")


async def test_an_unscored_version_is_never_better() -> None:
    done, _ = await run({1: "1932", 2: "much"}, panel=panel_of(FailsOnSecond()))
    assert (done.best.text, done.stopped) == (TEXT, Stopped.NO_BETTER)
    assert done.versions[1].unjudged


async def test_a_version_without_any_text_is_never_better() -> None:
    done, _ = await run({1: " "}, panel=panel_of(MarkingJudge(severities={"Bad": 5})), text="Bad")
    assert (done.best.text, done.stopped) == ("Bad", Stopped.NO_BETTER)


async def test_an_aspect_on_which_the_panel_abstains_does_not_stand_in_the_way() -> None:
    task = replace(ASPECT.task, input_headers={"Article": (), "Video": ()})
    needing = replace(ASPECT, name="cover", task=task, needs=("Video",))
    done, _ = await run({1: "1932", 2: "much"}, aspects=(ASPECT, needing))
    assert done.stopped is Stopped.NOTHING_MARKED
    assert done.best.results[1].report.outcome is Outcome.ABSTAINED


def version(score: float | None, *spans: ErrorSpan, text: str = TEXT) -> Version:
    outcome = Outcome.SCORED if score is not None else Outcome.TIMED_OUT
    report = PanelReport(score=score, spans=spans, outcome=outcome, reason="" if score else "away")
    segment = of(text)
    return Version(
        segment=segment, results=(Result(segment=segment, aspect=ASPECT, report=report),)
    )


def test_errors_count_by_severity_before_the_score_does() -> None:
    grave, slight = mark(TEXT, "1935", severity=4), mark(TEXT, "nothing", severity=1)
    assert is_better(version(2, slight, slight), version(4, grave))
    assert not is_better(version(4, grave), version(2, slight, slight))
    assert is_better(version(3, grave), version(2, grave))
    assert not is_better(version(2, grave), version(2, grave))
    assert not is_better(version(None), version(1, grave))


def span(start: int, end: int, text: str) -> ErrorSpan:
    return located(text[start:end], start)


def test_spans_that_overlap_are_one_place_and_spans_that_touch_are_two() -> None:
    text = "abcdefghij"
    found = [Marked("a", span(*ends, text)) for ends in ((4, 6), (0, 2), (1, 4), (8, 9))]
    places = passages_in(text, found)
    numbered = [(place.number, place.text, len(place.errors)) for place in places]
    assert numbered == [(1, "abcd", 2), (2, "ef", 1), (3, "i", 1)]


@st.composite
def marked_texts(draw: st.DrawFn) -> tuple[str, list[Marked], dict[int, str]]:
    text = draw(st.text(min_size=1, max_size=30))
    pairs = st.tuples(st.integers(0, len(text) - 1), st.integers(1, 8))
    ends = [(at, min(len(text), at + size)) for at, size in draw(st.lists(pairs, max_size=5))]
    texts = draw(st.dictionaries(st.integers(0, 6), st.text(max_size=6)))
    return text, [Marked("a", span(*end, text)) for end in ends], texts


@given(marked_texts())
def test_nothing_unmarked_ever_changes(case: tuple[str, list[Marked], dict[int, str]]) -> None:
    text, errors, texts = case
    places = passages_in(text, errors)
    marked = {n for error in errors for n in range(error.span.start or 0, error.span.end or 0)}
    assert {n for place in places for n in range(place.start, place.end)} == marked
    pieces: list[str] = []
    reached = 0
    for place in places:
        pieces += (text[reached : place.start], texts.get(place.number, place.text))
        reached = place.end
    whole = "".join((*pieces, text[reached:]))
    changed = edited(text, edits_of(text, places, texts))
    if all(texts.get(place.number, place.text) for place in places):
        assert changed == whole
    else:  # a deletion takes along what it would leave standing alone
        assert bare(changed) == bare(whole)


def bare(text: str) -> str:
    return text.translate({ord(mark): None for mark in " .!?…"})


@pytest.mark.parametrize(
    ("text", "gone", "left"),
    [
        ("It is red. It flies. It sings.", "It flies", "It is red. It sings."),
        ("It is red. It flies.", "It flies", "It is red."),
        ("It flies. It is red.", "It flies", "It is red."),
        ("It flies.", "It flies", ""),
        ("It is (very) red, very red.", ", very red", "It is (very) red."),
        ("It is the the one.", "the ", "It is the one."),
        ("It is (now) red.", "(", "It is now) red."),
        ("It is very red.", "very", "It is red."),
        ("It is 5.5 km.", "5.5 km", "It is."),
        ("A\n\nIt flies.\nB", "It flies", "A\n\n\nB"),
    ],
)
def test_a_deletion_leaves_no_lone_blank_or_full_stop(text: str, gone: str, left: str) -> None:
    places = passages_in(text, [Marked("consistency", mark(text, gone))])
    assert edited(text, edits_of(text, places, {1: ""})) == left


@pytest.mark.parametrize(
    ("text", "gone", "left"),
    [("Red blue", "Red blue", ""), ("Red blue, green", "Red blue", ", green")],
)
def test_deletions_side_by_side_take_the_blank_between_them_once(
    text: str, gone: str, left: str
) -> None:
    places = passages_in(text, [Marked("fluency", mark(text, word)) for word in gone.split()])
    assert edited(text, edits_of(text, places, {1: "", 2: ""})) == left


@pytest.mark.parametrize(
    "edits",
    [
        (SpanEdit(start=0, end=2, before="xx", after=""),),
        (
            SpanEdit(start=0, end=2, before="ab", after=""),
            SpanEdit(start=1, end=2, before="b", after=""),
        ),
    ],
)
def test_edits_of_another_text_or_over_each_other_are_refused(edits: tuple[SpanEdit, ...]) -> None:
    with pytest.raises(ValueError, match="does not fit this text"):
        edited("abc", edits)
