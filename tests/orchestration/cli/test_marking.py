from fakes.judges import located, mark
from hypothesis import given
from hypothesis import strategies as st

from spanjury.judges.core import ErrorSpan
from spanjury.orchestration.cli.segment_view import marked_text


def plain(output: str, *spans: ErrorSpan) -> str:
    return marked_text(output, dict(enumerate(spans, 1))).plain


def test_words_of_a_span_stand_in_brackets_before_their_number() -> None:
    text = "It opened in 1935."
    assert plain(text, mark(text, "1935")) == "It opened in [1935](1)."


def test_spans_inside_each_other_are_both_marked() -> None:
    text = "It opened in 1935."
    spans = mark(text, "opened in 1935"), mark(text, "1935")
    assert plain(text, *spans) in {"It [opened in [1935](1)](2).", "It [opened in [1935](2)](1)."}


def test_neighbours_close_before_they_open() -> None:
    assert plain("abcd", mark("abcd", "ab"), mark("abcd", "cd")) == "[ab](1)[cd](2)"


def test_spans_without_a_position_are_not_marked() -> None:
    assert plain("abc", ErrorSpan(text="gone", explanation="", severity=None)) == "abc"


def test_a_long_text_is_shown_around_its_spans() -> None:
    text = f"{'a' * 5000} WRONG {'b' * 5000}"
    shown = plain(text, mark(text, "WRONG"))
    assert "[WRONG](1)" in shown
    assert shown.startswith("… aaa")
    assert shown.endswith("bbb …\n")
    assert len(shown) < 300


def test_a_long_text_without_a_span_shows_its_beginning() -> None:
    assert plain("a" * 5000) == "a" * 120 + " …\n"


@given(st.text(alphabet="abc d", min_size=1, max_size=60), st.data())
def test_without_its_marks_a_marked_text_is_the_text(text: str, data: st.DataObject) -> None:
    spans = []
    for _ in range(data.draw(st.integers(0, 4))):
        start = data.draw(st.integers(0, len(text) - 1))
        end = data.draw(st.integers(start + 1, len(text)))
        spans.append(
            located(
                text[start:end],
                start,
                explanation="",
                severity=data.draw(st.none() | st.integers(1, 5)),
            )
        )
    shown = plain(text, *spans)
    assert shown.count("[") == len(spans)
    for number in range(1, len(spans) + 1):
        assert f"]({number})" in shown
        shown = shown.replace(f"]({number})", "")
    assert shown.replace("[", "") == text
