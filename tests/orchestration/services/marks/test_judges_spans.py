"""People's verdicts on judges' spans, counted from real marks beside results."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import pytest
from fakes.command import call
from fakes.judges import located
from fakes.marked_runs import put_marks
from fakes.result_files import result, write_results
from fakes.rows import summary

from spanjury.judges.core import ErrorSpan
from spanjury.orchestration.services.people.marks.mark import Mark, MarkedSpan, Origin
from spanjury.orchestration.services.people.marks.marked_run import MarkedRun, judges_spans

OUTPUT = "The mill burnt down on Friday."
PLACES = {"mill": (4, 8), "down": (15, 19), "Friday": (23, 29)}
ASPECT = "consistency"


def found(word: str, *judges: str) -> ErrorSpan:
    return located(word, PLACES[word][0], explanation="", found_by=judges)


SPANS = (found("mill", "s1"), found("down", "s2"), found("Friday", "s1", "s2"))


def taken(
    word: str, number: int, verdict: Literal["accepted", "edited"] = "accepted", *, run: int = 0
) -> MarkedSpan:
    """Return the span of a number, accepted or edited."""
    start, end = PLACES[word]
    origin = Origin(run=run, span=number)
    return MarkedSpan(start=start, end=end, text=word, verdict=verdict, origin=origin)


def origins(*numbers: int) -> tuple[Origin, ...]:
    return tuple(Origin(run=0, span=number) for number in numbers)


@pytest.fixture
def run(tmp_path: Path) -> MarkedRun:
    """Write four texts for two articles, in each of which judges marked three spans."""
    rows = [
        summary(f"text-{number}", OUTPUT, article=f"Article {number // 2}.", system="bart")
        for number in range(4)
    ]
    data = tmp_path / "texts.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    results = [result(f"text-{number}", scores=(3, 2), spans=SPANS) for number in range(4)]
    return MarkedRun(write_results(tmp_path / "results.jsonl", results), data=data)


def counts(run: MarkedRun) -> Mapping[str, tuple[int, int, int, int]]:
    """Return judge -> spans, accepted, edited, rejected."""
    return {
        one.judge: (one.spans, one.accepted, one.edited, one.rejected)
        for one in judges_spans(run).judges
    }


def done(*spans: MarkedSpan, rejected: tuple[Origin, ...] = ()) -> Mark:
    return Mark(is_done=True, spans=spans, rejected=rejected)


def test_each_judge_has_the_verdicts_on_the_spans_that_it_found(run: MarkedRun) -> None:
    put_marks(
        run,
        {
            ("anna", 0, ASPECT): done(taken("Friday", 2), rejected=origins(0, 1)),
            ("ben", 0, ASPECT): done(taken("Friday", 2, "edited")),
            ("anna", 1, ASPECT): done(rejected=origins(0)),
        },
    )
    assert counts(run) == {"s1": (6, 1, 1, 2), "s2": (6, 1, 1, 1)}


def test_marks_that_are_not_done_or_hold_scores_alone_say_nothing_of_spans(run: MarkedRun) -> None:
    verdict = done(rejected=origins(0))
    put_marks(
        run,
        {
            ("anna", 0, ASPECT): verdict,
            ("anna", 1, ASPECT): Mark(rejected=origins(0)),
            ("anna", 2, ASPECT): Mark(score=3, is_done=True, scores_only=True),
        },
    )
    assert counts(run) == {"s1": (2, 0, 0, 1), "s2": (2, 0, 0, 0)}


def test_a_span_of_a_run_beside_it_counts_where_both_are_at_one_place(run: MarkedRun) -> None:
    elsewhere = Origin(run=1, span=0)
    mark = done(taken("Friday", 5, run=1), rejected=(elsewhere, *origins(1)))
    put_marks(run, {("anna", 0, ASPECT): mark})
    assert counts(run) == {"s1": (2, 1, 0, 0), "s2": (2, 1, 0, 1)}


@pytest.mark.parametrize(
    "mark",
    [done(taken("mill", 1)), done(rejected=origins(3))],
    ids=["another span", "no such span"],
)
def test_verdicts_on_other_results_are_left_out_and_counted(run: MarkedRun, mark: Mark) -> None:
    put_marks(run, {("anna", 0, ASPECT): mark, ("anna", 1, ASPECT): done(rejected=origins(0))})
    assert judges_spans(run).stale == 1
    assert counts(run) == {"s1": (2, 0, 0, 1), "s2": (2, 0, 0, 0)}


def test_marks_without_a_verdict_give_no_share(run: MarkedRun) -> None:
    put_marks(run, {("anna", 0, ASPECT): done()})
    assert judges_spans(run) == ((), 0)


def test_the_command_prints_the_share_with_an_interval(tmp_path: Path, run: MarkedRun) -> None:
    put_marks(
        run,
        {
            ("anna", number, ASPECT): done(
                taken("Friday", 2), rejected=origins(0, 1) if number == 3 else ()
            )
            for number in range(4)
        },
    )
    command = ("marks", "agreement", "results.jsonl", "--data", "texts.jsonl")
    shown = call(tmp_path, *command, "--json")
    first, second = json.loads(shown.stdout)["judges"]
    assert first.pop("kept") == pytest.approx(second.pop("kept"))
    assert first == {
        "aspect": ASPECT,
        "judge": "s1",
        "spans": 8,
        "judged": 5,
        "accepted": 4,
        "edited": 0,
        "rejected": 1,
        "sources": 2,
    }
    assert second["judge"] == "s2"

    table = call(tmp_path, *command)
    assert "Judges' spans that people keep" in table.stdout
    assert ".80" in table.stdout
    assert max(map(len, table.stdout.splitlines())) <= 80
    assert "agreement needs two annotators" in table.stderr
