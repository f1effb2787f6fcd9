"""Exchanges: names or nouns that swapped positions around a verb, or a verb that changed voice."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple

from spanjury.judges.rules.alignment.aligner import Comparison, Link
from spanjury.judges.rules.alignment.contradiction import Difference, difference
from spanjury.judges.rules.alignment.lexicon import BE, DETERMINERS, JOINING, SYMMETRIC
from spanjury.judges.rules.alignment.tokens import Token
from spanjury.judges.text.restatements import is_participle

_SEVERITY = 5
_LONGEST = 4  # maximum tokens of an exchanged phrase
_LONG = 3  # minimum tokens between two names that do not form a list
_MOST = 0.7  # minimum share of the output's tokens in the source's sentence
_EXCHANGED = frozenset(("name", "word"))

_GENDERS = MappingProxyType(
    {"he": "m", "him": "m", "his": "m", "himself": "m"}
    | {"she": "f", "her": "f", "hers": "f", "herself": "f"}
)
"""Pronoun for a person -> gender."""


class _Turn(NamedTuple):
    """A run of equal tokens, the pivot, with the unequal ones before and after it."""

    before: Sequence[Token]
    pivot: Sequence[Token]
    behind: Sequence[Token]


def exchanges(comparison: Comparison) -> Iterator[Difference]:
    """Yield the words from one name to the other if subject and object were exchanged."""
    if comparison.cover() < _MOST:
        return
    for claim, given in _turns(comparison):
        if _exchanged(comparison, claim, given):
            sides = ([*turn.before, *turn.pivot, *turn.behind] for turn in (claim, given))
            yield difference(*sides, category="name order", severity=_SEVERITY)
    yield from _voices(comparison)


def other_person(comparison: Comparison) -> tuple[str, ...]:
    """Return the source's and the output's pronoun before the same word if their genders differ."""
    for at, link in enumerate(comparison.links):
        written, given = (
            [word for word in token.before if word in _GENDERS] for token in comparison.token(at)
        )
        for own, other in zip(written, given, strict=False) if link.same else ():
            if _GENDERS[own] != _GENDERS[other]:
                return other, own
    return ()


def _turns(comparison: Comparison) -> Iterator[tuple[_Turn, _Turn]]:
    """Yield each run of equal tokens with the tokens around it, in output and source."""
    output, source = comparison.output.tokens, comparison.source.tokens
    runs = list(_runs(comparison.links))
    ends = [Link(-1, -1, same=True), *(last for _, last in runs)]
    starts = [*(first for first, _ in runs[1:]), Link(len(output), len(source), same=True)]
    for before, (first, last), behind in zip(ends, runs, starts, strict=False):
        yield (
            _turn(output, before.left, first.left, last.left, behind.left),
            _turn(source, before.right, first.right, last.right, behind.right),
        )


def _turn(tokens: Sequence[Token], *ends: int) -> _Turn:
    """Return the turn with these positions: before it, its first and last token, and behind it."""
    before, first, last, behind = ends
    return _Turn(tokens[before + 1 : first], tokens[first : last + 1], tokens[last + 1 : behind])


def _runs(links: Sequence[Link]) -> Iterator[tuple[Link, Link]]:
    """Yield first and last link of each run of equal, consecutive tokens."""
    run: list[Link] = []
    for link in links:
        if run and (
            not link.same or (link.left, link.right) != (run[-1].left + 1, run[-1].right + 1)
        ):
            yield run[0], run[-1]
            run = []
        if link.same:
            run.append(link)
    if run:
        yield run[0], run[-1]


def _exchanged(comparison: Comparison, turn: _Turn, given: _Turn) -> bool:
    """Return whether two phrases have one order in one sentence, and the reverse in the other."""
    if not (_crossed(turn, given) and _matters(turn, given)):
        return False
    own = [*map(comparison.output.written, turn.pivot)]
    theirs = [*map(comparison.source.written, given.pivot)]
    whole = comparison.cover() == 1.0 and comparison.source_cover() >= _MOST
    sides = (turn.before, turn.behind, given.before, given.behind)
    return own == theirs and (whole or all(map(_is_phrase, sides)))


def _crossed(turn: _Turn, given: _Turn) -> bool:
    """Return whether the tokens on both sides were exchanged."""
    sides = (turn.before, turn.behind, given.before, given.behind)
    if not all(0 < len(side) <= _LONGEST for side in sides):
        return False
    if any(token.kind not in _EXCHANGED for side in sides for token in side):
        return False
    subject, other, agent, patient = ({token.key for token in side} for side in sides)
    apart = (subject | other) ^ (agent | patient)
    if any(token.key in apart and token.kind != "name" for side in sides for token in side):
        return False
    return (
        (subject <= patient or patient <= subject)
        and (other <= agent or agent <= other)
        and subject.isdisjoint(agent)
        and other.isdisjoint(patient)
    )


def _matters(turn: _Turn, given: _Turn) -> bool:
    """Return whether the order matters: not in lists, between equals, or in the passive."""
    if not SYMMETRIC.isdisjoint(token.key for token in turn.pivot):
        return False
    named = all(token.kind == "name" for token in (*turn.before, *turn.behind))
    if not (named and len(turn.pivot) >= _LONG):
        between = (*turn.pivot, turn.behind[0], given.behind[0])
        if any(not JOINING.isdisjoint(token.before) for token in between):
            return False
    claimed_words, given_words = turn.behind[0].before, given.behind[0].before
    inverted = not BE.isdisjoint(claimed_words + given_words)
    return not inverted and ("by" in claimed_words) == ("by" in given_words)


def _is_phrase(tokens: Sequence[Token]) -> bool:
    """Return whether tokens are a name, or follow an article or a possessive."""
    return all(token.kind == "name" for token in tokens) or (
        not DETERMINERS.isdisjoint(tokens[0].before[-1:])
    )


def _voices(comparison: Comparison) -> Iterator[Difference]:
    """Yield a name before and a name after a verb that is passive in one sentence only."""
    if not (comparison.output.passive or comparison.source.passive):
        return
    for first in range(len(comparison.links) - 2):
        claimed, given = zip(*(comparison.token(at) for at in range(first, first + 3)), strict=True)
        if _side_by_side(comparison.links[first : first + 3]) and claimed[1].kind == "word":
            passive = _is_passive(claimed)
            _, verb, behind = given if passive else claimed
            is_active = behind.kind == "name" and is_object(verb, behind)
            if passive != _is_passive(given) and is_active:
                yield difference(claimed, given, category="name order", severity=_SEVERITY)


def _side_by_side(links: Sequence[Link]) -> bool:
    """Return whether links are equal and consecutive in both sentences."""
    return all(link.same for link in links) and all(
        (other.left - before.left, other.right - before.right) == (1, 1)
        for before, other in pairwise(links)
    )


def _is_passive(tokens: Sequence[Token]) -> bool:
    """Return whether subject, verb and object are in the passive."""
    _, verb, behind = tokens
    return "by" in behind.before and not BE.isdisjoint(verb.before)


def is_object(verb: Token, after: Token) -> bool:
    """Return whether a noun directly follows an active verb, as its object does."""
    return BE.isdisjoint(verb.before) and DETERMINERS.issuperset(after.before)


def turns_voice(comparison: Comparison) -> bool:
    """Return whether a verb is passive in one sentence only, with the same words around it."""
    pairs = [*map(comparison.token, range(len(comparison.links)))]
    return any(
        ("by" in behind.before) != ("by" in given.before)
        and BE.isdisjoint(verb.before) != BE.isdisjoint(other.before)
        for (verb, other), (behind, given) in pairwise(pairs)
    ) or any(_takes_object(comparison, at) for at in range(1, len(pairs)))


def _takes_object(comparison: Comparison, at: int) -> bool:
    """Return whether a participle of the output is a verb with an object in the source.

    So it is if ``Ann was hired`` comes from ``Ann hired Tom``.
    """
    verb, other = comparison.token(at)
    source, after = comparison.source, comparison.links[at].right + 1
    return (
        not BE.isdisjoint(verb.before)
        and is_participle(comparison.output.written(verb))
        and comparison.links[at - 1].right == after - 2
        and after < len(source.tokens)
        and is_object(other, source.tokens[after])
    )
