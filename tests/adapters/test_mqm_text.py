"""Cells and marks of MQM tables: what goes in comes out."""

from hypothesis import given
from hypothesis import strategies as st

from spanjury.adapters.files.annotations.mqm import escaped, mark, unescaped, unmark
from spanjury.judges.core import DataError

TEXT = st.text(max_size=12) | st.sampled_from(["a\tb", "\r\n", "\\n", "\\", "C:\\temp", "\u2028"])


@given(TEXT)
def test_a_cell_stands_for_its_text(text: str) -> None:
    assert not {"\t", "\n", "\r"} & {*escaped(text)}
    assert unescaped(escaped(text)) == text


@given(st.text("ab<>/v", max_size=10), st.lists(st.integers(0, 10), max_size=4, unique=True))
def test_marks_come_out_as_they_went_in(text: str, edges: list[int]) -> None:
    within = sorted(edge for edge in edges if edge <= len(text))
    intervals = tuple(zip(within[::2], within[1::2], strict=False))
    try:
        marked = mark(text, intervals)
    except DataError:
        assert "<v>" in text or "</v>" in text
    else:
        assert unmark(marked) == (text, intervals)


def test_a_backslash_before_anything_else_stands_for_itself() -> None:
    assert unescaped(r"C:\docs \o/") == r"C:\docs \o/"
