"""Texts of one source are kept together by the id of their document, or else by their inputs."""

from collections.abc import Mapping

import pytest

from spanjury.judges.core import Segment
from spanjury.orchestration.studies.sources import known_source_of, source_of


def text(number: int, meta: Mapping[str, object], **inputs: str) -> Segment:
    return Segment(segment_id=f"text-{number}", output="It is.", inputs=inputs, meta=meta)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (text(1, {"doc_id": 7}, Question="Who?"), text(2, {"doc_id": "7"}, Question="When?")),
        (text(1, {"input_id": "a"}, A="x"), text(2, {"input_id": "a"}, A="y")),
        (text(1, {}, A="x", B="y"), text(2, {}, B="y", A="x")),
        (text(1, {"doc_id": ""}, A="x"), text(2, {"doc_id": None}, A="x")),
    ],
)
def test_texts_of_one_document_or_with_equal_inputs_have_one_source(
    first: Segment, second: Segment
) -> None:
    assert source_of(first) == source_of(second) == known_source_of(first)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (text(1, {"doc_id": 7}, A="x"), text(2, {"doc_id": 8}, A="x")),
        (text(1, {}, A="x"), text(2, {}, A="y")),
        (text(1, {}, A="x"), text(2, {}, B="x")),
        (text(1, {"doc_id": ""}), text(2, {"doc_id": ""})),
    ],
)
def test_other_documents_and_other_inputs_are_other_sources(
    first: Segment, second: Segment
) -> None:
    assert source_of(first) != source_of(second)


def test_nothing_names_the_source_of_a_text_without_id_and_inputs() -> None:
    assert known_source_of(text(1, {})) is None
