"""What comes from outside is shown as text: on a terminal, in JSON, in Markdown."""

import json
import re
import unicodedata

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from spanjury.judges.core import code_span, markdown, one_line, shown, shown_json
from spanjury.orchestration.studies.markdown_rows import head, row

HOSTILE = (
    "\x1b]0;title\x07", "\x1b[2J\x1b[H", "\x1b]8;;http://evil\x1b\\click\x1b]8;;\x1b\\",
    "\x1b]52;c;aGk=\x07", "\x9b2J", "a\rb", "\x08\x08\x08", "x\u202egnp.exe", "\u2066y\u2069",
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "</td></table><b>x",
    "[click](javascript:alert(1))", "![x](http://evil/pixel.png)", "<http://evil>", "http://evil",
    "www.evil.org", "a | b | c", "**bold**", "`code`` <b>", "# head", "a\n\n# b", "a\n| b |", "\\",
    "\\|", "[x]: http://evil", "[x][y]", "~~gone~~", "&lt;b&gt;", "&#60;b&#62;", "$x$", "_y_",
)  # fmt: skip
anything = st.text(max_size=40) | st.sampled_from(HOSTILE) | st.text("<>[]()|`*_\\&#;:/!a \n")


def steers(text: str) -> bool:
    """Say whether a terminal would do anything else than show `text`."""
    return any(
        unicodedata.category(letter)
        in {"Cc", "Cs", "Zl", "Zp"} - ({"Cc"} if letter in "\n\t" else set())
        or letter in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
        for letter in text.replace("\r\n", "\n")
    )


def rendered(text: str) -> str:
    page = MarkdownIt("commonmark", {"html": True, "linkify": False}).enable("table").render(text)
    return str(page)


@given(anything)
def test_nothing_that_is_shown_steers_a_terminal(text: str) -> None:
    assert not steers(shown(text))
    assert not steers(one_line(text))
    assert "\n" not in one_line(text)
    assert len(shown(text)) == len(text)


@given(anything)
def test_json_that_is_shown_holds_the_same(text: str) -> None:
    written = shown_json({"id": text})
    assert json.loads(written) == {"id": text}
    assert not steers(written)


@given(anything, anything)
def test_a_cell_is_the_text_and_nothing_else(first: str, second: str) -> None:
    page = rendered("\n".join([*head("a", "b"), row(first, second)]))
    cells = re.findall(r"<td>(.*?)</td>", page, re.DOTALL)
    assert len(cells) == 2
    for cell, text in zip(cells, (first, second), strict=True):
        assert "<" not in cell.replace("<code>", "").replace("</code>", "")
        plain = re.sub("</?code>", "`", cell)
        for entity, letter in (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&amp;", "&")):
            plain = plain.replace(entity, letter)
        assert plain.strip() == one_line(text).strip()


@given(anything)
def test_code_is_the_text_and_ends_nowhere_within(text: str) -> None:
    page = rendered(f"Data: {code_span(text)}. More.")
    assert page.count("<code>") == 1
    assert page.endswith("</code>. More.</p>\n")


@given(anything)
def test_no_address_is_left_that_readers_of_markdown_would_link(text: str) -> None:
    assert not re.search(r"(?<!\\)://|\bwww\.|(?<!\\)@", markdown(text))
