"""Passages: the inputs of a segment, cut into what can stand beside a sentence as evidence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from spanjury.judges.checker.cutting import source_intervals
from spanjury.judges.checker.evidence import SourceSentence
from spanjury.judges.text.tokens import tokens

_LONGEST = 48
"""Tokens of a passage; a longer sentence, as in speech without full stops, makes several."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passages:
    """All passages of a segment's inputs, and where each stem stands.

    Parameters
    ----------
    where
        Stem of each content word -> the positions of the passages that hold it, ascending.
    """

    passages: Sequence[SourceSentence]
    where: Mapping[str, Sequence[int]]


def passages_of(inputs: Mapping[str, str]) -> Passages:
    """Cut the inputs, in order; systems that share them share the work."""
    return _passages(tuple(inputs.items()))


@lru_cache(maxsize=8)  # the systems that share a source come one after another
def _passages(inputs: tuple[tuple[str, str], ...]) -> Passages:
    cut = [passage for header, text in inputs for passage in _cut(header, text)]
    where: dict[str, list[int]] = {}
    for position, passage in enumerate(cut):
        for token in passage.tokens:
            if not token.is_content:
                continue
            positions = where.setdefault(token.stem, [])
            if not positions or positions[-1] != position:
                positions.append(position)
    return Passages(passages=cut, where=where)


def _cut(header: str, text: str) -> list[SourceSentence]:
    cut = []
    for start, end in source_intervals(text):
        read = tokens(text[start:end], offset=start)
        cut += [
            SourceSentence(input=header, tokens=read[first : first + _LONGEST])
            for first in range(0, len(read), _LONGEST)
        ]
    return cut
