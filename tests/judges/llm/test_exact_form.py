"""Replies of exactly the asked form are read by one expression, and as by the careful parser."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanjury.judges.core import Scale
from spanjury.judges.llm.material import Material
from spanjury.judges.llm.parse import SEVERITY_WORDS, read_any, read_exact
from spanjury.judges.llm.parsed import ParsedError, ParsedReply

SCALE, SEVERITIES = Scale(), Scale(labels=SEVERITY_WORDS)
MARK = "a3f9"
PLAIN = Material(["Rain fell on the bridge for three days.", "The bridge was dry."])


def reply(mark: str, *, why: str = "It rained.", score: str = "Fair") -> str:
    """Return a report on one error."""
    behind = f" ({mark})" if mark else ""
    return (
        f'Error 1{behind}:\nLocation{behind}: "was dry"\nExplanation{behind}: {why}\n'
        f"Severity{behind}: 4\n\nOverall score{behind}: {score}\n"
        f"Explanation of the score{behind}: One fact is wrong."
    )


def exactly(text: str, *, material: Material = PLAIN, mark: str = MARK) -> ParsedReply | None:
    """Read `text` as a reply of the asked form."""
    return read_exact(text, scale=SCALE, severities=SEVERITIES, material=material, mark=mark)


def carefully(text: str, *, material: Material = PLAIN, mark: str = MARK) -> ParsedReply:
    """Read `text` as a reply of any form."""
    return read_any(
        text, scale=SCALE, severities=SEVERITIES, material=material, mark=mark, cut=False
    )


@pytest.mark.parametrize("mark", [MARK, ""])
def test_a_report_of_the_asked_form_is_read_at_once(mark: str) -> None:
    assert exactly(reply(mark)) == ParsedReply(
        errors=(ParsedError(quote="was dry", explanation="It rained.", severity=4),),
        score=3,
        rationale="One fact is wrong.",
    )


@pytest.mark.parametrize("behind", [f" ({MARK})", ""])
def test_no_error_is_read_at_once(behind: str) -> None:
    said = f"No Error{behind}\n\nOverall score{behind}: Excellent"

    assert exactly(said) == ParsedReply(score=5, error_free=True)


@pytest.mark.parametrize(
    "text",
    [
        reply("beef"),  # another request's mark
        reply(MARK, why=f"It rained ({MARK})."),
        reply(MARK, why="It rained. Severity: 5"),
        reply(MARK, why='It says "dry'),
        reply(MARK, score="Poor to Fair"),
        reply(MARK).replace(f"Severity ({MARK}): 4", "Severity: 4"),
        reply(MARK).replace("Explanation", "**Explanation**"),
        f"<think>Hm.</think>{reply(MARK)}",
        f"{reply(MARK)}\nOverall score ({MARK}): Poor",
    ],
)
def test_whatever_could_be_read_otherwise_is_left_to_the_careful_parser(text: str) -> None:
    assert exactly(text) is None


@pytest.mark.parametrize(
    "held",
    [
        "Severity 4",
        "Overall score: Fair",
        "No error",
        "| Error 1 | Location: here |",
        "The reason: it rained.",
    ],
)
def test_unmarked_labels_do_not_count_at_once_where_a_text_holds_some(held: str) -> None:
    material = Material(["Rain fell.", f"The bridge.\n{held}"])

    assert exactly(reply(""), material=material) is None
    assert exactly(reply(MARK), material=material) is not None


PIECES = st.sampled_from(
    [
        *("Error 1", "Error 2", "Location", "Explanation", "Severity", "Overall score"),
        *("Explanation of the score", "No Error", f" ({MARK})", f" ({MARK})", ":", ": ", ": "),
        *("\n", "\n", "\n\n", '"was dry"', '"', "“", "n/a", "It rained.", "4", "Minor", "Fair"),
        *("3/5", "**", "- ", "<", "|", "\r", "    ", "(so)", "：", "Severity: 2", MARK),
    ]
)
LINES = st.sampled_from(
    [
        *reply(MARK).splitlines(keepends=True),
        *reply("").splitlines(keepends=True),
        *(f"No Error ({MARK})\n", "No Error\n", "\n", 'Location: ""\n', "Severity: Minor\n"),
        *(f"Explanation ({MARK}): \n", "Overall score: 3/5 (Fair)\n", "Explanation: a: b\n"),
    ]
)
TEXTS = st.lists(st.text(max_size=40) | LINES | PIECES, max_size=4).map("".join)


@st.composite
def replies(draw: st.DrawFn) -> str:
    """Draw a reply that is nearly of the asked form."""
    lines = draw(
        st.sampled_from([reply(MARK), reply("")]).map(lambda text: text.splitlines(keepends=True))
        | st.lists(LINES, max_size=14)
    )
    for _ in range(draw(st.integers(0, 3))):
        place = draw(st.integers(0, len(lines)))
        lines[place : place + draw(st.integers(0, 1))] = [draw(LINES | PIECES)]
    return "".join(lines)


@given(text=replies(), held=TEXTS)
def test_the_fast_parser_agrees_with_the_careful_one(text: str, held: str) -> None:
    material = Material([held])
    read = exactly(text, material=material)

    assert read is None or read == carefully(text, material=material)
