"""Two runs beside each other: rows paired by name, texts that both judged, and their comparison."""

import json
from pathlib import Path

import msgspec
import pytest
from fakes.viewed_runs import ROWS, judge, open_run, results, write_rows

from spanjury.judges.core import DataError
from spanjury.orchestration.services.exams.comparisons import compare
from spanjury.orchestration.services.viewing.sources import find_runs
from spanjury.orchestration.services.viewing.view import View


@pytest.fixture
def runs(tmp_path: Path) -> tuple[Path, Path]:
    """Return a run on all rows, and one of other scores on the last three, the other way round."""
    write_rows(tmp_path / "rows.jsonl")
    write_rows(tmp_path / "back.jsonl", [*reversed(ROWS[1:])])
    first = judge(tmp_path)
    return first, judge(tmp_path, "--score", "from-spans", run="second", data="back.jsonl")


def test_rows_are_one_where_their_names_are(runs: tuple[Path, Path]) -> None:
    with open_run(*runs) as view:
        columns = view.columns(0)
        details = json.loads(msgspec.json.encode(view.details(range(8))))
    by_name = [{(row["id"], row["aspect"]): row for row in results(run)} for run in runs]
    for row in details["rows"]:
        name = row["id"], row["aspect"]
        assert row["results"] == [of_run.get(name) for of_run in by_name]
    assert [row["results"][1] is None for row in details["rows"]] == [True, True, *[False] * 6]
    of_second = json.loads(msgspec.json.encode(columns))["runs"][1]
    assert (of_second["outcome"][:3], of_second["score"][:2]) == ([None, None, 0], [None, None])


def test_rows_of_the_second_run_alone_come_last(runs: tuple[Path, Path]) -> None:
    with open_run(*reversed(runs)) as view:
        assert view.columns(0)["id"][-2:] == ["bridge-bart", "bridge-bart"]  # type: ignore[index]  # a list
        details = json.loads(msgspec.json.encode(view.details([6, 7])))
    assert [row["results"][0] for row in details["rows"]] == [None, None]
    assert details["texts"][0]["output"] == ROWS[0]["output"]


def test_the_comparison_is_that_of_the_command(runs: tuple[Path, Path]) -> None:
    first, second = runs
    expected = {
        one.aspect: one
        for one in compare(first, second).result.differences
        if one.scorer == "panel"
    }
    with open_run(first, second) as view:
        compared = json.loads(msgspec.json.encode(view.comparison("run:0", "run:1")))
    assert {row["aspect"] for row in compared["rows"]} == set(expected)
    for row in compared["rows"]:
        same = expected[row["aspect"]]
        names = ("texts", "first", "second", "difference", "low", "high")
        assert [row[name] for name in names] == [getattr(same, name) for name in names]


def test_a_text_that_is_another_in_the_second_run_is_not_shown(runs: tuple[Path, Path]) -> None:
    first, second = runs
    rows = [dict(row) for row in ROWS[1:]]
    rows[0]["output"] = f"{rows[0]['output']} It rained."  # as judged: its quotes are in place
    write_rows(second.parent / "back.jsonl", rows)
    with open_run(first, second) as view:
        details = json.loads(msgspec.json.encode(view.details(range(8))))
    shown = [None if row["text"] is None else row["id"] for row in details["rows"]]
    assert shown == ["bridge-bart"] * 2 + [None] * 2 + ["harbour-bart"] * 2 + ["harbour-t5"] * 2


def test_runs_of_one_name_are_called_by_their_paths(tmp_path: Path) -> None:
    write_rows(tmp_path / "rows.jsonl")
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    paths = [judge(tmp_path, run=f"{folder}/run") for folder in "ab"]
    with open_run(*paths) as view:
        assert [run.name for run in view.runs] == [str(path) for path in paths]
    with open_run(paths[0], paths[0]) as view:
        assert len({run.name for run in view.runs}) == 2


def test_two_runs_with_nothing_in_common_are_refused(tmp_path: Path) -> None:
    write_rows(tmp_path / "rows.jsonl", ROWS[:2])
    write_rows(tmp_path / "others.jsonl", ROWS[2:])
    first, second = judge(tmp_path), judge(tmp_path, run="second", data="others.jsonl")
    with (
        pytest.raises(DataError, match="run and second have no row in common"),
        View(find_runs([first, second])),
    ):
        pass


def test_a_row_that_is_twice_in_the_second_run_is_shown_twice(runs: tuple[Path, Path]) -> None:
    first, second = runs
    path = second / "results.jsonl"
    path.write_bytes(path.read_bytes() + path.read_bytes().splitlines(keepends=True)[0])
    with open_run(first, second) as view:
        assert view.rows == 9
        assert view.columns(0)["id"][8] == "harbour-t5"  # type: ignore[index]  # a list
