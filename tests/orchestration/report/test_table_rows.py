"""Tables of a report as rows for programs, and the report as a part of a page."""

import math
import re

from spanjury.orchestration.report import (
    Bullets,
    Cell,
    Column,
    Report,
    Section,
    numeric,
    row,
    table,
)
from spanjury.orchestration.report.document import tables_of
from spanjury.orchestration.report.html import report_fragment, report_html
from spanjury.orchestration.report.tables import numbered

TABLE = table(
    [
        "judge",
        *numeric("mean", "mean"),
        Column("note", only="page"),
        Column("short", only="terminal"),
    ],
    [
        ["form", Cell(1 / 3, ".2f", interval=(0.0, 1.0), mark="bad"), 2, "<b>", "s"],
        row("grounding", math.nan, math.inf, None, "t", faint=True),
    ],
)


def test_a_row_holds_numbers_with_all_digits_and_nothing_that_is_not_defined() -> None:
    assert TABLE.to_dicts() == [
        {"judge": "form", "mean": 1 / 3, "mean (2)": 2, "note": "<b>"},
        {"judge": "grounding", "mean": None, "mean (2)": None, "note": None},
    ]


def test_names_are_numbered_from_the_second_on() -> None:
    assert numbered(["a", "b", "a", "a"]) == ["a", "b", "a (2)", "a (3)"]
    assert numbered([]) == []


def test_the_tables_of_a_page_are_named_by_their_sections_in_order() -> None:
    report = Report(
        title="An exam",
        sections=[
            TABLE,
            Section("Outer", [Bullets(["x"]), Section("Inner", [TABLE, TABLE])]),
            Section("Terminal", [TABLE], only="terminal"),
            Section("Empty", [table(["a"], [])]),
            Section("Inner", [TABLE]),
        ],
    )
    assert [*tables_of(report)] == ["An exam", "Inner", "Inner (2)", "Inner (3)"]
    assert all(one is TABLE for one in tables_of(report).values())


def test_a_fragment_has_what_the_page_has_and_no_style_of_its_own() -> None:
    report = Report(title="<i>", facts=["a fact"], sections=[Section("One", [TABLE])])
    fragment, page = report_fragment(report), report_html(report)
    inner = fragment.removeprefix("<article>\n").removesuffix("\n</article>")
    assert inner in re.sub(r'<section id="[^"]*">', "<section>", page)  # a notebook has its own ids
    assert "<style" not in fragment
    assert "&lt;i&gt;" in fragment
    assert "&lt;b&gt;" in fragment
    assert "a fact" in fragment
