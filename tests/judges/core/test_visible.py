"""Outside text is shown as text: on a terminal, in JSON, in Markdown."""

import json
import re
import unicodedata

from fakes.hostile import anything, rendered
from hypothesis import given

from spanjury.judges.core import code_span, markdown, one_line, shown, shown_json


def steers(text: str) -> bool:
    """Say whether a terminal would do anything else than show `text`."""
    return any(
        unicodedata.category(letter)
        in {"Cc", "Cs", "Zl", "Zp"} - ({"Cc"} if letter in "\n\t" else set())
        or letter in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
        for letter in text.replace("\r\n", "\n")
    )


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


@given(anything)
def test_code_is_the_text_and_ends_nowhere_within(text: str) -> None:
    page = rendered(f"Data: {code_span(text)}. More.")
    assert page.count("<code>") == 1
    assert page.endswith("</code>. More.</p>\n")


@given(anything)
def test_no_address_is_left_that_readers_of_markdown_would_link(text: str) -> None:
    assert not re.search(r"(?<!\\)://|\bwww\.|(?<!\\)@", markdown(text))
