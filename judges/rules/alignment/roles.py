"""Roles: names that changed places around a verb, and who is quoted."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from spanjury.judges.rules.alignment.aligner import Comparison
from spanjury.judges.rules.alignment.difference import Difference
from spanjury.judges.rules.alignment.lexicon import BE, REPORTING, SYMMETRIC
from spanjury.judges.rules.alignment.tokens import Phrase, Token

_SEVERITY = 5
_COORDINATORS = frozenset((*"and or with between versus vs v nor as while when because since if for where after before , plus & ; ( ) :".split(),))
_DETERMINERS = frozenset(("the", "a", "an", "his", "her", "its", "their"))
_LONGEST = 4  # tokens of a phrase that changes places
_MOST = 0.7  # share of the output's tokens that must stand in the source's sentence
_QUOTED = 3  # words that a quote must share to be the same
_EXCHANGED = frozenset(("name", "word"))
_CLOSING = frozenset(("”", '"', "’", "'"))


class _Side(NamedTuple):
    """The tokens between two runs of equal tokens, in output and source."""

    left: Sequence[Token]
    right: Sequence[Token]


def roles(comparison: Comparison) -> Iterator[Difference]:
    """Yield the first of two names that changed places, and voices that did."""
    yield from _exchanges(comparison)
    yield from _voices(comparison)


def _runs(comparison: Comparison) -> Iterator[tuple[int, int]]:
    """Yield half-open ranges of links whose tokens are equal and follow upon one another."""
    begin: int | None = None
    for at, link in enumerate(comparison.links):
        before = comparison.links[at - 1] if at else None
        follows = before is not None and (link.left, link.right) == (
            before.left + 1,
            before.right + 1,
        )
        if begin is not None and not (link.same and follows):
            yield begin, at
            begin = None
        if link.same and begin is None:
            begin = at
    if begin is not None:
        yield begin, len(comparison.links)


def _exchanges(comparison: Comparison) -> Iterator[Difference]:
    """Yield the words of the output from one name to the other where both changed places."""
    runs = list(_runs(comparison))
    for at, (begin, end) in enumerate(runs):
        first, last = comparison.links[begin], comparison.links[end - 1]
        earlier = comparison.links[runs[at - 1][1] - 1] if at else None
        later = comparison.links[runs[at + 1][0]] if at + 1 < len(runs) else None
        output, source = comparison.output.tokens, comparison.source.tokens
        before = _Side(
            output[earlier.left + 1 if earlier else 0 : first.left],
            source[earlier.right + 1 if earlier else 0 : first.right],
        )
        behind = _Side(
            output[last.left + 1 : later.left if later else len(output)],
            source[last.right + 1 : later.right if later else len(source)],
        )
        pivot = output[first.left : last.left + 1]
        turned = _crossed(before, behind) and _turns_on(pivot, behind)
        if turned and _literal(comparison, range(begin, end)) and _enough(comparison, before, behind):
            yield Difference(
                before.left[0].start,
                behind.left[-1].end,
                before.right[0].start,
                behind.right[-1].end,
                "name order",
                _SEVERITY,
            )


def _literal(comparison: Comparison, links: range) -> bool:
    """Whether the words of some links are the same to the letter."""
    for left, right in map(comparison.token, links):
        said = comparison.output.text[left.start : left.end]
        if said.lower() != comparison.source.text[right.start : right.end].lower():
            return False
    return True


def _crossed(before: _Side, behind: _Side) -> bool:
    """Whether what stands before in one sentence stands behind in the other, and the reverse."""
    if not all(0 < len(side) <= _LONGEST for side in (*before, *behind)):
        return False
    if any(token.kind not in _EXCHANGED for side in (*before, *behind) for token in side):
        return False
    subject, other = _keys(before.left), _keys(behind.left)
    given, taken = _keys(before.right), _keys(behind.right)
    return (
        (subject <= taken or taken <= subject)
        and (other <= given or given <= other)
        and subject.isdisjoint(given)
        and other.isdisjoint(taken)
    )


def _keys(tokens: Sequence[Token]) -> set[str]:
    return {token.key for token in tokens}


def _turns_on(pivot: Sequence[Token], behind: _Side) -> bool:
    """Whether what stands between makes a difference of the order."""
    if any(token.key in SYMMETRIC for token in pivot):
        return False
    between = {word for token in (*pivot, behind.left[0], behind.right[0]) for word in token.before}
    if not _COORDINATORS.isdisjoint(between) or not BE.isdisjoint(
        behind.left[0].before + behind.right[0].before
    ):
        return False
    return ("by" in behind.left[0].before) == ("by" in behind.right[0].before)


def _enough(comparison: Comparison, before: _Side, behind: _Side) -> bool:
    """Whether the sentences are so much alike that the phrases can only be its roles."""
    if comparison.cover() < _MOST:
        return False
    if comparison.cover() == 1.0 and comparison.source_cover() >= _MOST:
        return True
    return all(map(_is_phrase, (before.left, before.right, behind.left, behind.right)))


def _is_phrase(tokens: Sequence[Token]) -> bool:
    """Whether tokens are a name, or stand behind an article or a possessive."""
    return all(token.kind == "name" for token in tokens) or (
        not _DETERMINERS.isdisjoint(tokens[0].before[-1:])
    )


def _voices(comparison: Comparison) -> Iterator[Difference]:
    """Yield a name before and a name behind a verb that is passive in one sentence only."""
    for at in range(1, len(comparison.links) - 1):
        if not _adjacent(comparison, at):
            continue
        verb, original = comparison.token(at)
        behind, other = comparison.token(at + 1)
        if _is_passive(verb, behind) == _is_passive(original, other):
            continue
        active = (original, other) if _is_passive(verb, behind) else (verb, behind)
        if _is_active(*active) and behind.kind == other.kind == "name" and verb.kind == "word":
            subject, given = comparison.token(at - 1)
            yield Difference(
                subject.start, behind.end, given.start, other.end, "name order", _SEVERITY
            )


def _adjacent(comparison: Comparison, at: int) -> bool:
    """Whether the link `at` and its neighbours are equal and without tokens between."""
    near = comparison.links[at - 1 : at + 2]
    return all(link.same for link in near) and all(
        (other.left - one.left, other.right - one.right) == (1, 1)
        for one, other in zip(near, near[1:], strict=False)
    )


def _is_passive(verb: Token, behind: Token) -> bool:
    return "by" in behind.before and not BE.isdisjoint(verb.before)


def _is_active(verb: Token, behind: Token) -> bool:
    return BE.isdisjoint(verb.before) and _DETERMINERS.issuperset(behind.before)


def speakers(comparison: Comparison) -> tuple[Sequence[Token], Sequence[Token]] | None:
    """Return the names of the speakers of the same words, where they are not the same."""
    said, given = _speaker(comparison.output), _speaker(comparison.source)
    if not said or not given or not _keys(said).isdisjoint(_keys(given)):
        return None
    quoted = len(comparison.output.tokens) - len(said)
    same = comparison.equal()
    return (said, given) if same >= _QUOTED and same >= _MOST * quoted else None


def _speaker(sentence: Phrase) -> Sequence[Token]:
    """Return the name of the only one whom a sentence quotes; empty where it is not sure."""
    found = [
        at
        for at, token in enumerate(sentence.tokens)
        if token.kind == "name" and (_says(sentence, at) or _is_said(sentence, at))
    ]
    if not found or found[-1] - found[0] != len(found) - 1:
        return ()
    first, last = found[0], found[-1]
    while first and sentence.tokens[first - 1].kind == "name" and not sentence.tokens[first].before:
        first -= 1
    while (
        last + 1 < len(sentence.tokens)
        and sentence.tokens[last + 1].kind == "name"
        and not sentence.tokens[last + 1].before
    ):
        last += 1
    return sentence.tokens[first : last + 1]


def _says(sentence: Phrase, at: int) -> bool:
    """Whether a verb of speech, or in a script a colon, follows upon the token."""
    last = at + 1 == len(sentence.tokens)
    follows = sentence.after if last else sentence.tokens[at + 1].before
    return bool(follows) and (follows[0] in REPORTING or (at == 0 and follows[0] == ":"))


def _is_said(sentence: Phrase, at: int) -> bool:
    """Whether a verb of speech stands before the token."""
    before = sentence.tokens[at].before
    return len(before) > 1 and before[-1] in REPORTING and before[-2] in _CLOSING
