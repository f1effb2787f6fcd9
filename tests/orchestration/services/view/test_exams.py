"""Exams to look at: what they leave for the page, and how it counts what was caught."""

import json
from itertools import islice
from pathlib import Path

import msgspec
import pytest
from fakes.viewed_runs import judge, open_run, write_rows

from spanjury import Segment, exams, read_segments
from spanjury.judges.core import DataError
from spanjury.orchestration.services.exams import study_report
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
