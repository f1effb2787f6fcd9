"""Texts that try to be more than text where they are shown."""

from hypothesis import strategies as st
from markdown_it import MarkdownIt

HOSTILE = (
    "\x1b]0;title\x07", "\x1b[2J\x1b[H", "\x1b]8;;http://evil\x1b\\click\x1b]8;;\x1b\\",
    "\x1b]52;c;aGk=\x07", "\x9b2J", "a\rb", "\x08\x08\x08", "x\u202egnp.exe", "\u2066y\u2069",
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "</td></table><b>x",
    "[click](javascript:alert(1))", "![x](http://evil/pixel.png)", "<http://evil>", "http://evil",
    "www.evil.org", "a | b | c", "**bold**", "`code`` <b>", "# head", "a\n\n# b", "a\n| b |", "\\",
    "\\|", "[x]: http://evil", "[x][y]", "~~gone~~", "&lt;b&gt;", "&#60;b&#62;", "$x$", "_y_",
)  # fmt: skip
anything = st.text(max_size=40) | st.sampled_from(HOSTILE) | st.text("<>[]()|`*_\\&#;:/!a \n")


def rendered(text: str) -> str:
    """Return `text` as HTML, as a reader of Markdown shows it."""
    page = MarkdownIt("commonmark", {"html": True, "linkify": False}).enable("table").render(text)
    return str(page)
