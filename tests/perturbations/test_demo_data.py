"""The texts that come with the exams are whole, as long as they should be, and all different."""

import re
from collections.abc import Callable
from difflib import SequenceMatcher
from functools import cache
from importlib.resources import files
from itertools import combinations, pairwise
from pathlib import Path

import pytest

from spanjury.adapters.files.reading.sources import read_jsonl
from spanjury.judges.core import DataError, Segment
from spanjury.judges.tasks import Catalogue
from spanjury.judges.text import folded_words, sentences

DEMO = Path(str(files("spanjury.perturbations").joinpath("demo")))
TASKS = {
    "summarization": "summarization",
    "story-completion": "story",
    "question-answering": "question-answering",
    "translation": "translation",
}
ROWS = 100
MOST_SHARED = 0.35
NUMERAL = re.compile(r"\d+(?:[.,:]\d+)*")
CAPITAL_AMID_WORDS = re.compile(r"(?<=[a-z,] )[^\W\d_a-z]\w*")

TWIN_KINDS = {"negation", "wrong-number", "wrong-entity", "role-swap", "time-order", "cause"}

every_file = pytest.mark.parametrize("name", TASKS)


@cache
def segments(name: str) -> list[Segment]:
    rows = []
    for row in read_jsonl(DEMO / f"{name}.jsonl"):
        assert not isinstance(row, DataError), row
        rows.append(row)
    return rows


def outside(name: str, measure: Callable[[Segment], int], low: int, high: int) -> list[str]:
    """Name the rows whose measure is not in the range, with the measure."""
    measured = ((segment.segment_id, measure(segment)) for segment in segments(name))
    return [f"{identity}: {value}" for identity, value in measured if not low <= value <= high]


def trigrams(segment: Segment) -> set[tuple[str, str, str]]:
    texts = folded_words(" ".join((*segment.inputs.values(), segment.output)))
    return {(a, b, c) for (a, b), (_, c) in pairwise(pairwise(texts))}


@every_file
def test_each_file_has_its_rows_of_one_task_by_one_system(name: str) -> None:
    rows = segments(name)
    assert (len(rows), len({row.segment_id for row in rows})) == (ROWS, ROWS)
    assert {row.task for row in rows} == {TASKS[name]}
    assert {row.system for row in rows} == {"reference"}


@every_file
def test_inputs_have_the_headers_of_their_task_and_no_text_is_empty(name: str) -> None:
    headers = set(Catalogue.load().task(TASKS[name]).input_headers)
    for row in segments(name):
        assert set(row.inputs) <= headers
        assert all(text.strip() == text != "" for text in (*row.inputs.values(), row.output))


@every_file
def test_no_two_rows_share_much_of_their_wording(name: str) -> None:
    for left, other in combinations([trigrams(row) for row in segments(name)], 2):
        assert len(left & other) <= MOST_SHARED * min(len(left), len(other))


@every_file
def test_no_text_stands_there_twice(name: str) -> None:
    rows = segments(name)
    assert len({row.output for row in rows}) == ROWS
    assert len({tuple(row.inputs.values()) for row in rows}) == ROWS


def test_texts_are_as_long_as_the_damage_needs() -> None:
    for name, measure, low, high in [
        ("summarization", lambda row: len(row.inputs["Article"].split()), 120, 180),
        ("summarization", lambda row: len(row.output.split()), 50, 65),
        ("summarization", lambda row: len(row.output), 300, 380),
        ("summarization", lambda row: len(sentences(row.output)), 4, 4),
        ("story-completion", lambda row: len(sentences(row.inputs["Beginning"])), 4, 4),
        ("story-completion", lambda row: len(sentences(row.output)), 1, 1),
        ("story-completion", lambda row: len(row.output), 35, 90),
        ("story-completion", lambda row: len(str(row.meta["wrong"])), 35, 90),
        ("question-answering", lambda row: len(row.inputs["Context"].split()), 60, 100),
        ("question-answering", lambda row: row.inputs["Question"].count("?"), 1, 1),
        ("question-answering", lambda row: len(row.output), 150, 250),
        ("translation", lambda row: len(row.output), 300, 420),
        ("translation", lambda row: len(sentences(row.output)), 3, 4),
    ]:
        assert outside(name, measure, low, high) == [], (name, measure, low, high)


@pytest.mark.parametrize("name", ["summarization", "question-answering"])
def test_every_number_of_an_output_stands_in_its_input(name: str) -> None:
    for row in segments(name):
        given = set(NUMERAL.findall(" ".join(row.inputs.values())))
        assert set(NUMERAL.findall(row.output)) <= given, row.segment_id


def test_every_name_of_a_summary_stands_in_its_article() -> None:
    for row in segments("summarization"):
        for name in CAPITAL_AMID_WORDS.findall(row.output):
            assert name in row.inputs["Article"], row.segment_id


def test_a_summary_has_two_names_and_two_numbers_to_be_damaged() -> None:
    for row in segments("summarization"):
        assert len(CAPITAL_AMID_WORDS.findall(row.output)) >= 2, row.segment_id
        assert len(set(NUMERAL.findall(row.output))) >= 2, row.segment_id


def test_the_wrong_ending_is_one_sentence_unlike_the_right_one() -> None:
    for row in segments("story-completion"):
        wrong = row.meta["wrong"]
        assert isinstance(wrong, str)
        assert len(sentences(wrong)) == 1
        assert wrong != row.output


def test_twins_are_right_and_wrong_sentences_of_six_kinds_on_passages_of_their_own() -> None:
    rows = segments("twins")
    assert len(rows) == len({row.segment_id for row in rows}) == 180
    assert len({row.inputs["Article"] for row in rows}) == 60
    kinds = [str(row.meta["wrong_kind"]) for row in rows]
    assert {kind: kinds.count(kind) for kind in TWIN_KINDS} == dict.fromkeys(TWIN_KINDS, 30)
    other = [trigrams(left) for left in segments("summarization")]
    copied = []
    for row in rows:
        wrong = str(row.meta["wrong"])
        assert wrong != row.output
        words = row.output.split(), wrong.split()
        changes = SequenceMatcher(None, *words, autojunk=False).get_opcodes()
        assert sum(end - at for tag, _, _, at, end in changes if tag != "equal") <= 8
        folded = folded_words(row.output)
        runs = {*zip(folded, folded[1:], folded[2:], strict=False)}
        given = folded_words(row.inputs["Article"])
        copied.append(len(runs & {*zip(given, given[1:], given[2:], strict=False)}) / len(runs))
    # They reword: few runs of three words stand in the passage. Summaries of the rules copy most.
    assert sum(copied) / len(copied) <= 0.15
    assert max(copied) <= 0.5
    for mine in {frozenset(trigrams(row)) for row in rows}:
        assert all(len(mine & left) <= MOST_SHARED * min(len(mine), len(left)) for left in other)


def test_translations_are_from_three_languages() -> None:
    assert {row.meta["language"] for row in segments("translation")} == {"de", "es", "fr"}
