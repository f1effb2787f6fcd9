"""Tables on a terminal: lines break between words, wherever the words fit."""

from collections.abc import Sequence
from io import StringIO

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.text import Text

from spanjury.orchestration.report.terminal import FittedColumn, FittedTable

WORDS = st.text("abcdefghij", min_size=1, max_size=9)


def shown(columns: Sequence[FittedColumn], *, width: int) -> list[str]:
    """Return the lines of the table, without its frame."""
    rows = len(columns[0].cells)
    file = StringIO()
    fitted = FittedTable(columns=columns, styles=[""] * rows, ruled=[False] * rows)
    Console(width=width, file=file, force_terminal=False).print(fitted)
    lines = file.getvalue().splitlines()
    assert all(len(line) <= width for line in lines)
    return [line for line in lines if line[0] in "┃│"]


def words_in(lines: Sequence[str]) -> set[str]:
    return {word for line in lines for word in line.replace("┃", "│").replace("│", " ").split()}


def column(heading: str, *cells: str, **options: object) -> FittedColumn:
    fields = {"heading": Text(heading), "cells": [*map(Text, cells)], **options}
    return FittedColumn(**fields)  # type: ignore[arg-type]  # the fields of each test


def test_narrow_columns_keep_their_words_whole() -> None:
    columns = [
        column("condition", "a long account of what was done to the text", max_width=17),
        *(column("separated by", "no") for _ in range(3)),
        column("difference", "+1.667 [+0.561, +2.773]", justify="right"),
        column("people and judges", "4.73 [4.50, 4.90]", justify="right", wraps=False),
    ]
    found = words_in(shown(columns, width=80))
    assert {"condition", "separated", "difference", "account", "people"} <= found
    assert any("4.73 [4.50, 4.90]" in line for line in shown(columns, width=80))


def test_a_name_that_is_too_long_breaks_at_its_hyphens() -> None:
    columns = [column("condition", "rewriting-and-insertion-minor"), column("hits", "none at all")]
    assert "rewriting-and-insertion-minor" in words_in(shown(columns, width=44))
    assert {"rewriting-", "and-", "insertion-", "minor"} <= words_in(shown(columns, width=20))


def test_a_name_with_a_tab_breaks_at_its_hyphens_too() -> None:
    name = "alpha\tsystem-one-with-a-long-hyphenated-name"
    lines = shown([column("system", name), column("n", "1")], width=30)
    pieces = [line.strip("┃│ ").removesuffix("1").rstrip("┃│ ") for line in lines[1:]]
    assert "".join(pieces).replace(" ", "") == name.replace("\t", "")
    assert all(piece.endswith(("-", "alpha", "name")) for piece in pieces)


def test_words_that_fit_nowhere_are_broken_and_lose_nothing() -> None:
    lines = shown([column("heading", "incomprehensibilities")], width=12)
    assert "".join(line.strip("│ ") for line in lines if "│" in line) == "incomprehensibilities"


def test_a_long_name_without_hyphens_is_broken_before_numbers_are() -> None:
    columns = [
        column("judge", "hosted_vllm/organisation/model_of_many_parameters"),
        *(column(name, "0.123", justify="right") for name in ("precision", "recall", "F1")),
    ]
    lines = shown(columns, width=44)
    assert {"precision", "recall", "F1", "0.123"} <= words_in(lines)
    pieces = [line.strip("│").split("│")[0].strip() for line in lines[1:]]
    assert "".join(pieces) == "hosted_vllm/organisation/model_of_many_parameters"
    assert len(pieces[0]) >= 12


def test_rows_are_lists_where_no_column_can_hold_its_words() -> None:
    columns = [
        column("scorer", "grounding", "annotator"),
        column("aspect", "consistency", "fluency"),
        column("difference", "+0.250", "", justify="right"),
    ]
    assert "difference" in words_in(shown(columns, width=40))
    lines = [[*map(str.strip, line.split("│"))] for line in shown(columns, width=30)]
    assert [line[1:3] for line in lines] == [
        ["scorer", "grounding"],
        ["aspect", "consistency"],
        ["difference", "+0.250"],
        ["scorer", "annotator"],
        ["aspect", "fluency"],
    ]


@given(st.lists(st.lists(WORDS, min_size=1, max_size=5), min_size=2, max_size=4))
def test_no_word_is_broken_where_all_fit(cells: list[list[str]]) -> None:
    columns = [column("x", " ".join(words)) for words in cells]
    assert {word for words in cells for word in words} <= words_in(shown(columns, width=50))
