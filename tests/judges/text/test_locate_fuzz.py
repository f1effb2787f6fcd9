"""Whatever the text and the quote: no exception, and no offset that misses its text."""

import os
import unicodedata

from hypothesis import given, settings
from hypothesis import strategies as st

from spanjury.judges.core import Located
from spanjury.judges.text import Locator, fold

EXAMPLES = int(os.environ.get("SPANJURY_FUZZ_EXAMPLES", "150"))
fuzz = settings(max_examples=EXAMPLES)

QUOTATION_MARKS = "'\"`‘’“”«»"
DASHES = "-‐–—−"
SPACES = " \t\n\u00a0\u2003"
ALPHABET = st.one_of(
    st.sampled_from("abc ABC"),
    st.sampled_from("aé ßİıﬁΣς.…,'\"“”-–—\n\u00a0\u0301\u0323\u200d\ufe0f가각😀\0\ud800"),
    st.characters(),
)
TEXTS = st.one_of(
    st.text(ALPHABET, max_size=80),
    st.text("ab ", max_size=200),
    st.lists(
        st.sampled_from(
            ["the", "The", "council", "“no”", "don’t", "Straße", "...", "e\u0301t", "-"]
        ),
        max_size=40,
    ).map(" ".join),
)


@st.composite
def texts_with_parts(draw: st.DrawFn) -> tuple[str, str]:
    """Draw a text and a part of it that is not blank."""
    text = draw(TEXTS.filter(str.strip))
    visible = [index for index, character in enumerate(text) if not character.isspace()]
    inside = draw(st.sampled_from(visible))
    start = draw(st.integers(0, inside))
    end = draw(st.integers(inside + 1, len(text)))
    return text, text[start:end]


@st.composite
def respelled(draw: st.DrawFn, part: str) -> str:
    """Draw another spelling of `part`: case, marks, white space, composition."""
    spelled = draw(
        st.sampled_from([part, part.upper(), part.lower(), part.swapcase(), part.casefold()])
    )
    forms = [
        spelled,
        unicodedata.normalize("NFC", spelled),
        unicodedata.normalize("NFD", spelled),
        unicodedata.normalize("NFKC", spelled),
        unicodedata.normalize("NFKD", spelled),
    ]
    spelled = draw(st.sampled_from(forms))
    for alike in (QUOTATION_MARKS, DASHES, SPACES):
        other = draw(st.sampled_from(alike))
        spelled = spelled.translate(dict.fromkeys(map(ord, alike), other))
    return spelled


@st.composite
def damaged(draw: st.DrawFn, part: str) -> str:
    """Draw `part` with a few characters left out, put in or replaced."""
    letters = list(part)
    for _ in range(draw(st.integers(1, 5))):
        index = draw(st.integers(0, len(letters)))
        width = draw(st.integers(0, 2))
        letters[index : index + width] = draw(st.text(ALPHABET, max_size=2))
    return "".join(letters)


def check(text: str, quote: str, locator: Locator) -> None:
    span = locator.span(quote=quote, explanation="", severity=None)
    if span.located is Located.UNLOCATED:
        assert span.text == ("" if quote.isspace() else quote)
        return
    assert span.start is not None
    assert span.end is not None
    assert 0 <= span.start < span.end <= len(text)
    assert text[span.start : span.end] == span.text
    if span.located is Located.EXACT:
        assert span.text == quote


@fuzz
@given(TEXTS, st.lists(TEXTS, min_size=1, max_size=4))
def test_any_quotes_in_any_text_have_offsets_of_their_text(text: str, quotes: list[str]) -> None:
    locator = Locator(text)
    for quote in quotes:
        check(text, quote, locator)


@fuzz
@given(texts_with_parts())
def test_a_quote_cut_from_the_text_is_always_exact(cut: tuple[str, str]) -> None:
    text, part = cut
    for _ in range(3):
        passage = Locator(text).find(part)
        assert passage is not None
        assert passage.located is Located.EXACT
        assert text[passage.start : passage.end] == part


@fuzz
@given(texts_with_parts(), st.data())
def test_a_respelled_quote_is_found_by_its_fold(cut: tuple[str, str], data: st.DataObject) -> None:
    text, part = cut
    quote = data.draw(respelled(part))
    passage = Locator(text).find(quote)
    if passage is not None and passage.located is Located.EXACT:
        assert text[passage.start : passage.end] == quote
        return
    start = text.index(part)
    whole = all(edge_is_clean(text, index) for index in (start, start + len(part)))
    if fold(quote) and fold(quote) == fold(part) and whole:
        assert passage is not None
        assert passage.located is Located.NORMALISED
        assert fold(text[passage.start : passage.end]) == fold(quote)


def edge_is_clean(text: str, index: int) -> bool:
    """Say whether a cut at `index` goes between letters, as folding sees them."""
    if index in {0, len(text)}:
        return True
    return not any(
        unicodedata.category(character)[0] in "MC" for character in text[index - 1 : index + 1]
    )


@fuzz
@given(texts_with_parts(), st.data())
def test_a_damaged_quote_has_offsets_of_its_text(cut: tuple[str, str], data: st.DataObject) -> None:
    text, part = cut
    locator = Locator(text)
    for quote in (data.draw(damaged(part)), data.draw(damaged(part * 3))):
        check(text, quote, locator)


@fuzz
@given(st.lists(st.sampled_from("abcdefgh"), min_size=4), st.integers(0, 3), st.data())
def test_a_long_damaged_quote_gives_offsets_that_hit_their_text(
    words: list[str], more: int, data: st.DataObject
) -> None:
    text = " ".join(word * (2 + index % 5) for index, word in enumerate(words * (4 + more)))
    part = text[len(text) // 5 : -len(text) // 4]
    locator = Locator(text)
    for quote in (data.draw(damaged(part)), data.draw(damaged(part)).upper()):
        check(text, quote, locator)


@fuzz
@given(texts_with_parts(), st.integers(1, 6))
def test_occurrences_are_given_out_once_each_and_in_order(cut: tuple[str, str], times: int) -> None:
    text, part = cut
    locator = Locator(text)
    passages = [locator.find(part) for _ in range(times)]
    starts = [passage.start for passage in passages if passage is not None]
    assert len(starts) == times
    distinct = list(dict.fromkeys(starts))
    assert starts == distinct + distinct[-1:] * (times - len(distinct))
