"""Words in place of others: another name, another word of a kind, another speaker of a quote."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import chain, pairwise, product

from spanjury.judges.rules.alignment.aligner import Comparison
from spanjury.judges.rules.alignment.contradiction import (
    Difference,
    difference,
    is_only_difference,
)
from spanjury.judges.rules.alignment.index import Search, Sentences, wording
from spanjury.judges.rules.alignment.lexicon import DETERMINERS, REPORTING
from spanjury.judges.rules.alignment.opposites import KINDS
from spanjury.judges.rules.alignment.tokens import Phrase, Token
from spanjury.judges.rules.names import COUNTRIES

_SPEAKER = 5  # severities
_NAME = _KIND = 4
_FEWEST = 3  # tokens of a sentence, of which all but one are the source's
_WORDS = 2  # minimum words of a full name
_WITNESSES = 3  # minimum equal tokens near a name
_MOST = 0.7  # minimum share of a quote that must be equal
_QUOTED = 3  # minimum tokens of a quote that must be equal
_CLOSING = frozenset("”\"’'")
_LIKE = 0.6  # likeness from which two names may be spellings of one
_REGIONS = frozenset(
    """europe european asia asian africa african america american americas western westerner
    middle east north south west northern southern eastern scandinavia scandinavian latin
    britain british briton""".split()  # noqa: SIM905
)
"""Names that may include others."""


def _is_enclosed(comparison: Comparison, at: int) -> bool:
    """Return whether the words next to the link `at` are the same on both sides."""
    link = comparison.links[at]
    output, source = comparison.output, comparison.source
    if (link.left == 0) != (link.right == 0):
        return False
    if link.left and output.keys[link.left - 1] != source.keys[link.right - 1]:
        return False
    if not _same_words(output.tokens[link.left].before, source.tokens[link.right].before):
        return False
    if link.left + 1 == len(output.tokens):
        return True
    if link.right + 1 == len(source.tokens):
        return False
    behind, other = output.tokens[link.left + 1], source.tokens[link.right + 1]
    return behind.key == other.key and _same_words(behind.before, other.before)


def _same_words(left: Sequence[str], right: Sequence[str]) -> bool:
    """Return whether two sequences of light words are equal except for articles."""
    return {*left} ^ {*right} <= DETERMINERS


def _is_name(word: str, text: str) -> bool:
    """Return whether a word is also capitalized within a sentence."""
    return bool(re.search(rf"[a-z,] {re.escape(word)}\b", text))


def other_names(comparison: Comparison, sources: Collection[str]) -> Iterator[Difference]:
    """Yield a name that the inputs do not hold, in a near copy of a sentence with another name.

    A region that may include what the source names, and another spelling of it, are no other name.
    """
    for at, link in enumerate(comparison.links):
        claimed, given = comparison.token(at)
        if (
            not link.same
            and claimed.kind == given.kind == "name"
            and is_only_difference(comparison, at)
            and _is_enclosed(comparison, at)
            and not _is_part(comparison.output.tokens, link.left)
            and _are_two(comparison, claimed, given, sources=sources)
        ):
            yield difference([claimed], [given], category="other name", severity=_NAME)


def other_full_names(comparison: Comparison, sources: Collection[str]) -> Iterator[Difference]:
    """Yield a name of several words that the inputs do not hold, in place of another such name.

    All other words of the two sentences are the same.
    """
    output, source = comparison.output, comparison.source
    unlike = [link for link in comparison.links if not link.same]
    count = len(unlike)
    if count < _WORDS or not len(output.tokens) == len(source.tokens) == comparison.equal() + count:
        return
    first, last = unlike[0], unlike[-1]
    claimed = output.tokens[first.left : last.left + 1]
    given = source.tokens[first.right : last.right + 1]
    if not len(claimed) == len(given) == count or comparison.equal() < _WITNESSES:
        return
    if any(token.kind != "name" for token in (*claimed, *given)) or any(
        token.before for token in (*claimed[1:], *given[1:])
    ):
        return
    if not _same_words(claimed[0].before, given[0].before):
        return
    words = map(output.written, claimed)
    if not any(word in text.lower() for word in words for text in sources):
        yield difference(claimed, given, category="other name", severity=_NAME)


def other_kinds(comparison: Comparison, searches: Collection[Search]) -> Iterator[Difference]:
    """Yield a word that the inputs do not hold, in a near copy of a sentence with one it excludes.

    All other tokens of the output are the source's, in its order: *red* where it has *blue*.
    """
    equal = {link.left: link.right for link in comparison.links if link.same}
    tokens = comparison.output.tokens
    if not _FEWEST <= len(tokens) == len(equal) + 1:
        return
    (at,) = set(range(len(tokens))).difference(equal)
    word, excluded = tokens[at], KINDS.get(tokens[at].key)
    if not excluded or word.denied or any(search.states(word) for search in searches):
        return
    for other in _beside(comparison, equal, at):
        if other.key in excluded and not other.denied:
            yield difference([word], [other], category="other kind", severity=_KIND)
            return


def _beside(comparison: Comparison, equal: Mapping[int, int], at: int) -> Iterator[Token]:
    """Yield the tokens of the source next to those around the output's token `at`."""
    tokens = comparison.source.tokens
    if at - 1 in equal and equal[at - 1] + 1 < len(tokens):
        yield tokens[equal[at - 1] + 1]
    if equal.get(at + 1, 0):
        yield tokens[equal[at + 1] - 1]


def whole_name(sentence: Phrase, start: int, end: int) -> tuple[int, int]:
    """Widen the offsets of a name to those of the longer name that it is part of.

    A title in capitals is no name.

    Examples
    --------
    >>> from spanjury.judges.rules.alignment.tokens import phrase
    >>> text = "It rained in East Africa."
    >>> text[slice(*whole_name(phrase(text), 13, 17))]
    'East Africa'
    """
    tokens = sentence.tokens
    inside = [at for at, token in enumerate(tokens) if start <= token.start < end]
    if not inside or all(token.kind != "word" for token in tokens):
        return start, end
    name = _whole(tokens, inside[0], inside[-1])
    return min(start, name[0].start), max(end, name[-1].end)


def _whole(tokens: Sequence[Token], first: int, last: int) -> Sequence[Token]:
    """Return the name of which the tokens from `first` to `last` are parts."""
    while first and _is_one(tokens[first - 1], tokens[first]):
        first -= 1
    while last + 1 < len(tokens) and _is_one(tokens[last], tokens[last + 1]):
        last += 1
    return tokens[first : last + 1]


def _is_one(token: Token, behind: Token) -> bool:
    """Return whether two adjacent words are parts of one name."""
    return token.kind == behind.kind == "name" and not behind.before


def _is_part(tokens: Sequence[Token], at: int) -> bool:
    """Return whether a name stands beside another, as given name and surname do."""
    return any(
        token.kind == "name" for token in (*tokens[max(0, at - 1) : at], *tokens[at + 1 : at + 2])
    )


def _are_two(
    comparison: Comparison, claimed: Token, given: Token, *, sources: Collection[str]
) -> bool:
    """Return whether two names cannot mean the same, and the inputs lack the first."""
    name = comparison.output.text[claimed.start : claimed.end]
    other = comparison.source.text[given.start : given.end]
    written, theirs = name.lower(), other.lower()
    if not claimed.start or any(written in source.lower() for source in sources):
        return False  # a word may owe its capital to the sentence that it begins
    if not given.start and not any(_is_name(other, source) for source in sources):
        return False
    if SequenceMatcher(None, written, theirs).ratio() > _LIKE:
        return False
    is_country = written in COUNTRIES
    return written not in _REGIONS and (
        theirs not in COUNTRIES.get(written, ()) and is_country <= (theirs in COUNTRIES)
    )


def speakers(comparison: Comparison, source: Sentences) -> Iterator[Difference]:
    """Yield the speaker of a quote that the source attributes to another one."""
    claimed = _speaker(comparison.output)
    given = _speaker(comparison.source) if claimed else ()
    if not given or not {token.key for token in claimed}.isdisjoint(token.key for token in given):
        return
    quoted = len(comparison.output.tokens) - len(claimed)
    equal = comparison.equal()
    if equal < max(_QUOTED, _MOST * quoted) and not 1 < equal == quoted:
        return
    names = [comparison.output.text[token.start : token.end] for token in claimed]
    others = [comparison.source.text[token.start : token.end] for token in given]
    pairs = chain(product(names, others), product(others, names))
    if any(wording(" ".join(pair)) in source.wording for pair in pairs):
        return  # adjacent anywhere, as the names of one person may be
    script = comparison.source.text[given[-1].end :].lstrip().startswith(":")
    if script and not re.search(rf"\b{re.escape(names[-1])}\s*:", source.text):
        return  # without two speakers, the words before a colon may be a heading
    yield difference(claimed, given, category="speaker", severity=_SPEAKER)


def _speaker(sentence: Phrase) -> Sequence[Token]:
    """Return the name of the only speaker that a sentence quotes; empty if that is not sure."""
    tokens = sentence.tokens
    if "name" not in sentence.kinds:
        return ()
    indices = [
        at
        for at, token in enumerate(tokens)
        if token.kind == "name" and (_says(sentence, at) or _is_attributed(token))
    ]
    if not indices or indices[-1] - indices[0] != len(indices) - 1 or _is_torn(sentence):
        return ()
    return _whole(tokens, indices[0], indices[-1])


def _is_torn(sentence: Phrase) -> bool:
    """Return whether a sentence consists of turns of several speakers."""
    return any(
        token.kind == "name" and behind.before[:1] == (":",)
        for token, behind in pairwise(sentence.tokens[1:])
    )


def _says(sentence: Phrase, at: int) -> bool:
    """Return whether the token is followed by a verb of speech or, in a script, by a colon."""
    last = at + 1 == len(sentence.tokens)
    follows = sentence.after if last else sentence.tokens[at + 1].before
    return bool(follows) and (follows[0] in REPORTING or (at == 0 and follows[0] == ":"))


def _is_attributed(token: Token) -> bool:
    """Return whether a quote ends before the token, followed by a verb of speech."""
    before = token.before
    return len(before) > 1 and before[-1] in REPORTING and before[-2] in _CLOSING
