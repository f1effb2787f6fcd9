"""Passages: the inputs of a segment, cut into what can stand beside a sentence as evidence."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from spanjury.judges.text.sentences import sentence_intervals
from spanjury.judges.text.tokens import Token, tokens

_LONGEST = 48
"""Tokens of a passage; a longer sentence, as in speech without full stops, makes several."""

_RECORD_LINE = re.compile(r"[^|:\t,{}]{0,40}[|:\t,{}]")
"""Beginning of a row of a table, of a key with its value, or of a turn of a dialogue."""

_RECORD_LINES = 0.8
"""Share of such lines from which lines are passages, and not parts of wrapped prose."""

_RECORD_END = re.compile(r"\n|(?<=\}),?[^\S\n]*(?!\n)")
"""End of a line, or of an object in JSON that stands on one line with others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
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
class Passages:
    """All passages of a segment's inputs, and where each stem stands.

    Parameters
    ----------
    where
        Stem of each content word -> the positions of the passages that hold it, ascending.
    """

    passages: Sequence[Passage]
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


def _cut(header: str, text: str) -> list[Passage]:
    cut = []
    for start, end in _pieces(text):
        read = tokens(text[start:end], offset=start)
        cut += [
            Passage(input=header, tokens=read[first : first + _LONGEST])
            for first in range(0, len(read), _LONGEST)
        ]
    return cut


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    """Yield the intervals of sentences; of data and dialogues those of records or lines."""
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
