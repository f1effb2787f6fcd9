"""Runs: neighbouring words that are likely wrong become one finding."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from spanjury.judges.core import Likelihoods
from spanjury.judges.text.tokens import Token, is_negation

CONTRADICTED, ABSENT, UNSUPPORTED = "contradicted", "not in the source", "not supported"
"""Categories of errors; the last where a model does not tell the first two apart."""

_ENDING = frozenset('.,;:!?…()[]{}|"“”«»—–')
"""Marks that end a run; others, as hyphens and signs of currencies, stand within names."""

_HYPHENS = frozenset("-‐‑")
_JOINED = 3  # tokens of two words with a hyphen between them
_LEAST_ABSENT = 0.8
"""Probability from which words are reported that the source says nothing of.

Below it people agree in less than half of the cases (CLIFF and SummEdits SciTLDR).
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Tokens `first` to `stop` of a claim, which are likely wrong.

    Parameters
    ----------
    probability
        That of the likeliest error among them.
    """

    first: int
    stop: int
    category: str
    probability: float


def runs(
    tokens: Sequence[Token], likelihoods: Sequence[Likelihoods], *, threshold: float
) -> Iterator[Run]:
    """Yield the stretches of words whose probability of an error is at least `threshold`.

    One word of grammar between two marked words is marked, too. Words of grammar at the ends are
    left out, negations excepted, unless there are no others. No word with hyphens is cut. Where the
    source only says nothing of them, one word's probability must be .8.
    """
    marked = [
        token.is_word and 1.0 - likely.supported >= threshold
        for token, likely in zip(tokens, likelihoods, strict=True)
    ]
    _mark_whole(tokens, marked)
    for stretch in _stretches(tokens, marked):
        first, stop = _trimmed(tokens, *stretch)
        if not any(marked[first:stop]):  # a negation that was not marked, between words that were
            first, stop = stretch
        inside = [likelihoods[at] for at in range(first, stop) if marked[at]]
        contradicted = sum(likely.contradicted for likely in inside)
        absent = sum(likely.absent for likely in inside)
        category = CONTRADICTED if contradicted >= absent else ABSENT
        probability = min(1.0, max(1.0 - likely.supported for likely in inside))
        if category == CONTRADICTED or probability >= _LEAST_ABSENT:
            yield Run(first=first, stop=stop, category=category, probability=probability)


def _stretches(tokens: Sequence[Token], marked: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """Yield where marked words stand that nothing but one token of grammar divides."""
    first = stop = -1
    for at in (at for at, bad in enumerate(marked) if bad):
        between = tokens[stop:at]
        if first >= 0 and (not between or (len(between) == 1 and _bridges(between[0]))):
            stop = at + 1
            continue
        if first >= 0:
            yield first, stop
        first, stop = at, at + 1
    if first >= 0:
        yield first, stop


def _bridges(token: Token) -> bool:
    return not token.is_content and token.text not in _ENDING


def _trimmed(tokens: Sequence[Token], first: int, stop: int) -> tuple[int, int]:
    kept = [at for at in range(first, stop) if _carries(tokens[at])]
    if kept:
        first, stop = kept[0], kept[-1] + 1
    while _hyphened(tokens[max(0, first - 2) : first + 1]):
        first -= 2
    while _hyphened(tokens[stop - 1 : stop + 2]):
        stop += 2
    return first, stop


def _mark_whole(tokens: Sequence[Token], marked: list[bool]) -> None:
    """Mark all parts of a word with hyphens of which one is marked."""
    joints = [at for at in range(1, len(tokens) - 1) if _hyphened(tokens[at - 1 : at + 2])]
    for at in (*joints, *reversed(joints)):  # from either end, so that it reaches the other
        if marked[at - 1] or marked[at + 1]:
            marked[at - 1] = marked[at] = marked[at + 1] = True


def _hyphened(tokens: Sequence[Token]) -> bool:
    """Say whether these are two words that a hyphen joins."""
    return (
        len(tokens) == _JOINED
        and tokens[1].text in _HYPHENS
        and tokens[0].end == tokens[1].start
        and tokens[1].end == tokens[2].start
    )


def _carries(token: Token) -> bool:
    return token.is_content or is_negation(token)
