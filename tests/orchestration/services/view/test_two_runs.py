"""Two runs beside each other: rows paired by name, texts that both judged, and their comparison."""

import json
from itertools import islice
from pathlib import Path

import msgspec
import pytest
from fakes.viewed_runs import ROWS, judge, open_run, results, write_rows

from spanjury import Segment, exams, read_segments
from spanjury.judges.core import DataError
from spanjury.orchestration.services.exams import study_report
from spanjury.orchestration.services.exams.comparisons import compare
from spanjury.orchestration.services.viewing.sources import find_runs
from spanjury.orchestration.services.viewing.view import View

ARTICLE = {"Article": "The bridge was opened in 1932 by the premier."}
GOLD = {
    "start": 0,
    "end": 10,
    "text": "The bridge",
    "severity": 3,
    "explanation": "It was a ferry.",
}
RECIPE = """
task = "summarization"
aspects = ["consistency"]

[[items]]
name = "change-number"
perturbation = "change-number"
level = "word"

[[items]]
name = "whitespace"
perturbation = "whitespace"
level = "character"
"""


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


def test_texts_of_systems_with_one_id_are_paired_by_system_in_whatever_order_they_come(
    tmp_path: Path,
) -> None:
    rows = [{**row, "id": "bridge"} for row in ROWS[:2]]
    write_rows(tmp_path / "rows.jsonl", rows)
    write_rows(tmp_path / "back.jsonl", rows[::-1])
    first = judge(tmp_path)
    with open_run(first, judge(tmp_path, run="second", data="back.jsonl")) as view:
        details = json.loads(msgspec.json.encode(view.details(range(view.rows))))
    assert [[one["score"] for one in row["results"]] for row in details["rows"]] == [
        [row["score"]] * 2 for row in results(first)
    ]


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


def test_different_texts_about_one_source_are_one_observation(tmp_path: Path) -> None:
    write_rows(tmp_path / "before.jsonl")
    write_rows(tmp_path / "after.jsonl", [{**row, "output": "It rained."} for row in ROWS])
    before, after = (
        judge(tmp_path, run=f"run-{it}", data=f"{it}.jsonl") for it in ("before", "after")
    )
    expected = [
        each for each in compare(before, after).result.differences if each.scorer == "panel"
    ]
    with open_run(before, after) as view:
        compared = json.loads(msgspec.json.encode(view.comparison("run:0", "run:1")))
    intervals = {row["aspect"]: (row["low"], row["high"]) for row in compared["rows"]}
    assert intervals == {each.aspect: (each.low, each.high) for each in expected}


def test_bare_results_name_their_inputs_with_data(runs: tuple[Path, Path], tmp_path: Path) -> None:
    bare = [tmp_path / f"{number}.jsonl" for number in (1, 2)]
    for run, file in zip(runs, bare, strict=True):
        file.write_bytes((run / "results.jsonl").read_bytes())
    alone, named = compare(*bare), compare(*bare, data=tmp_path / "rows.jsonl")
    assert "4 texts: they have no input id" in alone.to_markdown()
    assert "no input id" not in named.to_markdown()
    assert [each.result.differences[0].sources for each in (alone, named)] == [3, 2]
    assert named.result.differences[0] == compare(*runs).result.differences[0]


@pytest.mark.parametrize(
    "other", [{"output": "It rained."}, {"inputs": {"Article": "The bridge opened in 1930."}}]
)
def test_both_texts_are_shown_if_two_runs_judged_different_ones(
    tmp_path: Path, other: dict[str, object]
) -> None:
    rows = [*ROWS[:1], {**ROWS[1], **other}]
    write_rows(tmp_path / "before.jsonl", ROWS[:2])
    write_rows(tmp_path / "after.jsonl", rows)
    runs = [
        judge(tmp_path, run=f"run-{name}", data=f"{name}.jsonl") for name in ("before", "after")
    ]
    with open_run(*runs) as view:
        details = json.loads(msgspec.json.encode(view.details(range(4))))
    same, different = details["rows"][0], details["rows"][2]
    assert (same["text"] is None, same["texts"]) == (False, [])
    assert different["text"] is None
    both = [details["texts"][index] for index in different["texts"]]
    assert [text["output"] for text in both] == [ROWS[1]["output"], rows[1]["output"]]
    assert [text["inputs"] for text in both] == [ROWS[1]["inputs"], rows[1]["inputs"]]


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


def column(view: View, name: str) -> list[object]:
    """Return a column of the rows, with values in place of numbers."""
    columns = json.loads(msgspec.json.encode(view.columns(0)))
    if name == "condition":
        return [columns["names"]["conditions"][number] for number in columns[name]]
    values: list[object] = columns["runs"][0][name]
    return values


def test_an_exam_of_discernment_shows_what_it_counted(tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(RECIPE)
    texts: list[Segment] = [*islice(read_segments(exams.DEMO), 3)]
    report = exams.discernment(texts, judges="grounding", recipe=str(recipe))
    study_report.exam_report(  # without the pictures, which take seconds
        "discernment",
        report.result,
        examinee=None,
        data="",
        document=lambda _: report.document,
        values={},
        measures=(),
        judged=report.result.judged,
    ).save(tmp_path / "exam")
    with open_run(tmp_path / "exam") as view:
        conditions, caught = column(view, "condition"), column(view, "caught")
        columns = json.loads(msgspec.json.encode(view.columns(0)))
        details = json.loads(msgspec.json.encode(view.details(range(view.rows))))
        assert "condition" not in view.columns(0, is_blind=True)
    assert conditions[:4] == ["clean"] * 3 + ["change-number"]
    assert caught[:3] == [None] * 3
    assert {caught[at] for at, name in enumerate(conditions) if name == "whitespace"} == {None}
    for index, clean_id in columns["clean"].items():
        assert columns["id"][int(index)] == f"{clean_id}#{conditions[int(index)]}"
    assert all(text["gold"] for text in details["texts"] if "#" in text["id"])
    decided = {row["condition"]: row for row in json.loads(report.to_json())["decisions"]}
    numbers = [
        number
        for number, condition in enumerate(conditions)
        if condition == "change-number" and caught[number] is not None
    ]
    hits = sum(caught[number] == 2 for number in numbers) / len(numbers)
    assert decided["change-number"]["hits"] == pytest.approx(hits)


def test_a_span_that_people_marked_is_caught_by_one_that_overlaps_it(tmp_path: Path) -> None:
    output = "The bridge was opened in 1935 by the premier."
    wrong = {**GOLD, "start": 25, "end": 29, "text": "1935"}
    common = {"task": "summarization", "inputs": ARTICLE, "output": output}
    rows = [
        {**common, "id": name, "spans": spans}
        for name, spans in {"all": [wrong], "some": [GOLD, wrong], "none": [GOLD]}.items()
    ]
    write_rows(tmp_path / "rows.jsonl", [*rows, {**common, "id": "unmarked"}])
    with open_run(judge(tmp_path, "--aspect", "consistency")) as view:
        assert column(view, "caught")[::2] == [2, 1, 0, None]


def test_an_exam_of_an_earlier_release_says_how_to_make_it_viewable(tmp_path: Path) -> None:
    (tmp_path / "findings.json").write_text("{}")
    with pytest.raises(DataError, match="run the exam again with the same command"):
        find_runs([tmp_path])
