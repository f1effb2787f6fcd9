"""Replies of four real judges are read as those who collected them read them, and located.

Bars: every label; 99 % of the location lines; 97 % of the quotes up to spelling for the
three judges that quote (Nemotron also describes: "Omission of ...", "Entire summary").
"""

import gzip
import hashlib
import json
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean

import pytest
from pydantic import TypeAdapter
from scipy.stats import spearmanr

from spanjury.judges.core import Located, Scale
from spanjury.judges.llm.json_form import read_report
from spanjury.judges.llm.material import Material
from spanjury.judges.llm.parse import parse
from spanjury.judges.llm.parsed import ParsedReply
from spanjury.judges.text import Locator, field_mark

pytestmark = pytest.mark.shared_data

JUDGES = ("gemma-2-27b", "mistral-large-2", "nemotron-70b", "qwen-2.5-72b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    output: str
    human: float
    scores: dict[str, int | None]
    raw: dict[str, str]
    input: dict[str, str]


@pytest.fixture(scope="module")
def rows(shared_data: Path) -> list[Row]:
    path = shared_data / "judgements" / "qags_four_judges.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [TypeAdapter(Row).validate_json(line) for line in lines]


@pytest.fixture(scope="module")
def reads(rows: list[Row]) -> list[dict[str, ParsedReply]]:
    return [
        {judge: parse(reply, scale=Scale()) for judge, reply in row.raw.items()} for row in rows
    ]


def located(
    judge: str, rows: list[Row], reads: list[dict[str, ParsedReply]], *, quoted: bool
) -> Counter[Located]:
    """Count how the judge's errors are located: all of them, or those it quotes."""
    ways: Counter[Located] = Counter()
    for row, read in zip(rows, reads, strict=True):
        locator = Locator(row.output)
        for error in read[judge].errors:
            span = locator.span(quote=error.quote, explanation="", severity=error.severity)
            assert span.start is None or row.output[span.start : span.end] == span.text
            if error.quoted or not quoted:
                ways[span.located] += 1
    return ways


def test_no_reply_in_lines_is_taken_for_an_object(rows: list[Row]) -> None:
    replies = [(row, reply) for row in rows for reply in row.raw.values()]
    assert len(replies) > 1_800
    for row, reply in replies:
        texts = [*row.input.values(), row.output]
        read = read_report(
            reply,
            scale=Scale(),
            material=Material(texts),
            mark=field_mark(texts),
        )
        assert read is None


def test_every_label_is_read_and_so_are_the_two_that_were_not(
    rows: list[Row], reads: list[dict[str, ParsedReply]]
) -> None:
    known = [
        (read[judge].score, row.scores.get(judge))
        for row, read in zip(rows, reads, strict=True)
        for judge in row.raw
    ]
    labelled = [(score, label) for score, label in known if label is not None]
    assert len(labelled) == 1894
    assert [pair for pair in labelled if pair[0] != pair[1]] == []
    assert [score for score, label in known if label is None] == [5, 5]


def test_every_field_of_every_reply_is_read_as_before_there_was_material(
    rows: list[Row], reads: list[dict[str, ParsedReply]]
) -> None:
    result = [asdict(reply) for read in reads for reply in read.values()]
    for fields in result:
        assert fields.pop("faulty") is None  # nor was a verdict
    for error in (error for reply in result for error in reply["errors"]):
        assert error.pop("evidence") == ()  # which was not asked for
    digest = hashlib.sha256(json.dumps(result, sort_keys=True).encode()).hexdigest()
    assert (len(result), digest[:16]) == (1896, "fe39897f0a4b7c5a")  # as recorded with version 1
    for row, read in zip(rows, reads, strict=True):
        material = Material([*row.input.values(), row.output])
        mark = field_mark([*row.input.values(), row.output])
        for judge, reply in row.raw.items():
            known = parse(reply, scale=Scale(), material=material, mark=mark)
            assert known == read[judge]


def test_nearly_every_location_line_gives_an_error_with_a_quote(
    rows: list[Row], reads: list[dict[str, ParsedReply]]
) -> None:
    lines = [line for row in rows for reply in row.raw.values() for line in reply.splitlines()]
    locations = sum(line.startswith("Location") for line in lines)
    errors = [error for read in reads for reply in read.values() for error in reply.errors]
    assert len([error for error in errors if error.quote]) >= 0.99 * locations
    assert len(errors) <= locations


def test_every_reply_has_errors_or_says_that_there_are_none(
    reads: list[dict[str, ParsedReply]],
) -> None:
    assert all(reply.error_free != bool(reply.errors) for read in reads for reply in read.values())
    assert all(reply.rationale for read in reads for reply in read.values())


@pytest.mark.parametrize("judge", [judge for judge in JUDGES if judge != "nemotron-70b"])
def test_quotes_of_judges_that_quote_are_found(
    judge: str, rows: list[Row], reads: list[dict[str, ParsedReply]]
) -> None:
    places = located(judge, rows, reads, quoted=False)
    assert places[Located.EXACT] + places[Located.NORMALISED] >= 0.97 * places.total()
    assert places[Located.UNLOCATED] == 0


def test_quotations_by_nemotron_are_found(
    rows: list[Row], reads: list[dict[str, ParsedReply]]
) -> None:
    places = located("nemotron-70b", rows, reads, quoted=True)
    assert places[Located.EXACT] + places[Located.NORMALISED] >= 0.97 * places.total()
    assert places.total() >= 500


def test_the_mean_of_the_four_scores_agrees_with_people_as_published(
    rows: list[Row], reads: list[dict[str, ParsedReply]]
) -> None:
    means = [fmean(reply.score or 0 for reply in read.values()) for read in reads]
    human = [row.human for row in rows]
    assert float(spearmanr(means[:235], human[:235]).statistic) == pytest.approx(0.749, abs=5e-4)
    assert float(spearmanr(means[235:], human[235:]).statistic) == pytest.approx(0.60, abs=5e-3)
