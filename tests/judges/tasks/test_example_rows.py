"""The example data sets: rows that are whole, and mean something to the catalogue."""

import json
from pathlib import Path
from typing import TypedDict

import pytest

from spanjury.judges.tasks import Catalogue

EXAMPLES = Path(__file__).parents[3] / "examples"
FILES = {
    "summaries.jsonl": "summarization",
    "data_to_text.jsonl": "data-to-text",
    "questions.jsonl": "question-answering",
}


class ExampleRow(TypedDict):
    """A row in the native format, all of its keys used."""

    id: str
    task: str
    inputs: dict[str, str]
    output: str
    system: str
    references: list[str]
    human: dict[str, float]


def rows(file: str) -> list[ExampleRow]:
    return [json.loads(line) for line in (EXAMPLES / file).read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("file", FILES)
def test_an_example_file_has_twelve_rows_or_more_with_ids_of_their_own(file: str) -> None:
    examples = rows(file)
    assert len(examples) >= 12
    assert len({row["id"] for row in examples}) == len(examples)


@pytest.mark.parametrize("file", FILES)
def test_every_example_row_is_complete(file: str) -> None:
    for row in rows(file):
        assert row.keys() == ExampleRow.__annotations__.keys()
        assert row["id"].endswith(f"/{row['system']}")
        assert row["output"].strip()
        assert row["references"]


@pytest.mark.parametrize("file", FILES)
def test_every_example_row_uses_the_words_of_the_catalogue(file: str) -> None:
    catalogue = Catalogue.load()
    task = catalogue.task(FILES[file])
    for row in rows(file):
        assert row["task"] == task.name
        assert row["inputs"].keys() <= task.input_headers.keys()
        assert row["human"].keys() <= {aspect.name for aspect in catalogue.aspects(task.name)}
        assert set(task.default_aspects) <= row["human"].keys()
        assert all(1 <= score <= 5 for score in row["human"].values())


@pytest.mark.parametrize("file", FILES)
def test_each_example_input_has_a_sound_output_and_a_flawed_one(file: str) -> None:
    defaults = Catalogue.load().task(FILES[file]).default_aspects
    worst: dict[str, list[float]] = {}
    for row in rows(file):
        item = row["id"].partition("/")[0]
        worst.setdefault(item, []).append(min(row["human"][name] for name in defaults))
    assert all(min(scores) < 3 < max(scores) for scores in worst.values())


def test_example_articles_have_the_length_of_news() -> None:
    lengths = {len(row["inputs"]["Article"].split()) for row in rows("summaries.jsonl")}
    assert 120 <= min(lengths) <= max(lengths) <= 220
