"""Sources: the sentences of the inputs, and which of them share words with a claim."""

import heapq
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, log

from spanjury.judges.text.sentences import sentence_intervals
from spanjury.judges.text.tokens import Token

_RECORD_LINE = re.compile(r"[^|:\t,{}]{0,40}[|:\t,{}]")
"""Beginning of a row of a table, of a key with its value, or of a turn of a dialogue."""

_RECORD_LINES = 0.8
"""Share of such lines from which lines are passages, and not parts of wrapped prose."""

_RECORD_END = re.compile(r"\n|(?<=\}),?[^\S\n]*(?!\n)")
"""End of a line, or of an object in JSON that stands on one line with others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSentence:
    """A sentence of an input, a line of a dialogue, or a part of a long one.

    Parameters
    ----------
    input
        Header of the input.
    tokens
        Its words and marks, with offsets in that input.
    """

    input: str
    tokens: Sequence[Token]

    @property
    def start(self) -> int:
        """Its first code point in the input."""
        return self.tokens[0].start

    @property
    def end(self) -> int:
        """The code point behind it in the input."""
        return self.tokens[-1].end


@dataclass(frozen=True, slots=True, kw_only=True)
class StemIndex:
    """Stems of the content words in the parts of a source.

    Parameters
    ----------
    size
        Number of parts.
    where
        Stem -> the positions of the parts that hold it, ascending.
    """

    size: int
    where: Mapping[str, Sequence[int]]

    def weights(self, claim: Iterable[Token]) -> dict[str, float]:
        """Return the stems that a claim shares with the source, with a weight: high if rare."""
        return {
            token.stem: log(1 + self.size / len(self.where[token.stem]))
            for token in claim
            if token.is_content and token.stem in self.where
        }

    def likeliest(self, weights: Mapping[str, float], *, limit: int) -> dict[int, set[str]]:
        """Return the stems of each part that has any of `weights`; at most `limit` parts."""
        shared: dict[int, set[str]] = {}
        for stem in sorted(weights, key=lambda stem: (-weights[stem], stem)):
            for at in self.where[stem]:
                shared.setdefault(at, set()).add(stem)
        if len(shared) <= limit:
            return shared
        # Exact, so that the order of a set, another in each process, decides nothing.
        sums = {at: fsum(weights[stem] for stem in stems) for at, stems in shared.items()}
        likeliest = heapq.nlargest(limit, shared, key=lambda at: (sums[at], -at))
        return {at: shared[at] for at in likeliest}


def stem_index(parts: Sequence[Iterable[Token]]) -> StemIndex:
    """Index the tokens of each part of a source."""
    where: dict[str, list[int]] = {}
    for position, part in enumerate(parts):
        for token in part:
            if not token.is_content:
                continue
            positions = where.setdefault(token.stem, [])
            if not positions or positions[-1] != position:
                positions.append(position)
    return StemIndex(size=len(parts), where=where)


def source_intervals(text: str) -> Iterator[tuple[int, int]]:
    """Yield the sentences of a source; those of data and dialogues are records or lines."""
    lines = [line for line in text.splitlines() if line.strip()]
    records = sum(_RECORD_LINE.match(line.strip()) is not None for line in lines)
    if records < max(1, _RECORD_LINES * len(lines)) or (len(lines) == 1 and "}" not in text):
        yield from sentence_intervals(text)
        return
    start = 0
    for end in (*(match.start() for match in _RECORD_END.finditer(text)), len(text)):
        for first, last in sentence_intervals(text[start:end]):
            yield start + first, start + last
        start = end
