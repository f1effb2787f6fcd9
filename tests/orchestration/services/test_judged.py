"""Results of a run, read once: who marked errors, and the scores of the panel and its seats."""

from dataclasses import replace
from pathlib import Path

import pytest
from fakes.result_files import USAGE, result, write_results

from spanjury.judges.core import DataError, ErrorSpan, PanelReport, Report, SeatReport, Segment
from spanjury.orchestration.services.judging.scorers import read_scorers
from spanjury.orchestration.services.people.agreement import read_judged
from spanjury.orchestration.studies.sources import TextIds

IDS = TextIds(Segment(segment_id=name, system="bart", output="") for name in "ab")
OMISSION = ErrorSpan(text="", explanation="The date is missing.", severity=2)


def panel(scores: tuple[float, ...]) -> PanelReport:
    seats = tuple(
        SeatReport(
            seat=f"seat {number}",
            signature="s",
            seconds=2.0,
            report=Report(score=score, spans=(OMISSION,) if score < 5 else (), usage=USAGE),
        )
        for number, score in enumerate(scores)
    )
    return PanelReport(score=sum(scores) / len(scores), signature="p", spans=(), seats=seats)


@pytest.fixture
def results(tmp_path: Path) -> Path:
    path = tmp_path / "results.jsonl"
    reports = {"a": panel((5, 3)), "b": panel((2, 2))}
    write_results(path, [replace(result(name), report=one) for name, one in reports.items()])
    return path


def test_scorers_of_a_run_that_was_read_need_its_file_no_more(results: Path) -> None:
    alone = read_scorers([results], ids=IDS)
    judged = read_judged([results], ids=IDS)
    results.unlink()
    assert read_scorers([results], ids=IDS, judges=judged.scorers) == alone
    assert {(one.name, tuple(one.scores.items())) for one in alone} == {
        ("panel", (("a", 4.0), ("b", 2.0))),
        ("seat 0", (("a", 5.0), ("b", 2.0))),
        ("seat 1", (("a", 3.0), ("b", 2.0))),
    }


def test_annotators_are_the_panel_and_its_seats_with_what_a_text_took(results: Path) -> None:
    found = {one.name: one for one in read_judged([results], ids=IDS).annotators}
    assert [*found] == ["panel", "seat 0", "seat 1"]
    assert [found[name].marks for name in found] == [False, True, True]
    assert found["seat 0"].spans == {"a": (), "b": (OMISSION,)}
    assert [found[name].seconds for name in found] == [4.0, 2.0, 2.0]


@pytest.mark.parametrize(("own", "names"), [(5.0, ["seat 0"]), (4.0, ["panel", "seat 0"])])
def test_a_judge_stands_for_its_run_if_the_scores_of_the_run_are_its_own(
    tmp_path: Path, own: float, names: list[str]
) -> None:
    path = tmp_path / "results.jsonl"
    write_results(path, [replace(result("a"), report=replace(panel((5,)), score=own))])
    scorers = read_scorers([path], ids=IDS)
    assert [one.name for one in scorers] == names
    assert [one.scores["a"] for one in scorers if one.is_own] == [own]
    assert [one.name for one in read_judged([path], ids=IDS).annotators] == names


def test_a_judge_stands_for_its_run_beside_a_rubric_that_it_does_not_score(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    rubric = replace(
        result("a", aspect="rubric: shop"), report=replace(panel((4,)), seats=(), signature="r")
    )
    write_results(path, [replace(result("a"), report=panel((5,))), rubric])
    names = [("seat 0", "consistency"), ("panel", "rubric: shop")]
    scorers = read_scorers([path], ids=IDS)
    assert [(each.name, each.aspect) for each in scorers if each.is_own] == names
    assert len(scorers) == len(names)


def test_texts_on_which_a_cascade_asked_one_judge_count_for_the_panel(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    reports = {"a": panel((5,)), "b": panel((2, 4))}
    write_results(path, [replace(result(name), report=one) for name, one in reports.items()])
    whole = next(one for one in read_scorers([path], ids=IDS) if one.is_own)
    assert (whole.name, whole.scores) == ("panel", {"a": 5.0, "b": 3.0})


def test_a_file_that_is_named_twice_is_two_runs_of_the_same_scores(results: Path) -> None:
    twice = [results, results]
    judged = read_judged(twice, ids=IDS)
    assert len(judged.annotators) == 6
    assert read_scorers(twice, ids=IDS, judges=judged.scorers) == read_scorers(twice, ids=IDS)


def test_scores_of_metrics_are_left_to_the_scorers(results: Path) -> None:
    scores = results.with_name("scores.jsonl")
    scores.write_text(
        '{"format": "spanjury metric scores 1", "spanjury": "0", "rows": 1, "metrics": '
        '{"bleu": {"signature": "b", "better": "higher", "corpus": null}}}\n'
        '{"id": "a", "scores": {"bleu": 0.5}}\n'
    )
    judged = read_judged([scores, results], ids=IDS)
    assert [*judged.scorers] == [results]
    found = read_scorers([scores, results], ids=IDS, judges=judged.scorers)
    assert [one.name for one in found] == ["bleu", "panel", "seat 0", "seat 1"]


def test_a_results_file_without_a_score_says_so(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text("")
    with pytest.raises(DataError, match="there is no score in"):
        read_scorers([path], ids=IDS, judges=read_judged([path], ids=IDS).scorers)


def test_results_join_their_texts_by_system_in_whatever_order_a_file_has_them(
    tmp_path: Path,
) -> None:
    path = tmp_path / "results.jsonl"
    ids = {"t": ("old", 5.0), "t/new": ("new", 2.0)}
    rows = [
        replace(result(name, system=system), report=panel((score, score)))
        for name, (system, score) in ids.items()
    ]
    write_results(path, rows)
    texts = [
        Segment(segment_id="t", system="new", output=""),
        Segment(segment_id="t/old", system="old", output=""),
    ]
    judged = read_judged([path], ids=TextIds(texts))
    assert judged.scorers[path][0].scores == {"t": 2.0, "t/old": 5.0}
    assert judged.annotators[1].spans == {"t": (OMISSION,), "t/old": ()}


def test_two_results_for_one_text_and_aspect_are_an_error(results: Path) -> None:
    results.write_text(results.read_text() * 2)
    with pytest.raises(DataError, match="two results for 'a' on"):
        read_judged([results], ids=IDS)
