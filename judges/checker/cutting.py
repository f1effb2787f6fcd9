"""Cut an output into claims and its source into passages, measured in a checker's tokens.

The sentences of a source are ranked by the words that they share with a claim.
"""

import heapq
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from math import fsum, log

from spanjury.judges.core import ClaimUnit
from spanjury.judges.text.sentences import sentence_intervals
from spanjury.judges.text.tokens import Token, tokens

_RECORD_LINE = re.compile(r"[^|:\t,{}]{0,40}[|:\t,{}]")
"""Beginning of a table row, of a key with its value, or of a turn of a dialogue."""

_RECORD_LINES = 0.8
"""Minimum share of such lines for lines to be passages rather than parts of wrapped prose."""

_RECORD_END = re.compile(r"\n|(?<=\}),?[^\S\n]*(?!\n)")
"""End of a line, or of a JSON object that shares its line with others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSentence:
    """A sentence of an input, a line of a dialogue, or a part of a long one.

    Parameters
    ----------
    input
        Header of the input.
    tokens
        Its words and punctuation marks, with offsets in that input.
    """

    input: str
    tokens: Sequence[Token]

    @property
    def start(self) -> int:
        """Offset of its first code point in the input."""
        return self.tokens[0].start

    @property
    def end(self) -> int:
        """Offset after its last code point in the input."""
        return self.tokens[-1].end


@dataclass(frozen=True, slots=True, kw_only=True)
class StemIndex:
    """Index of the content-word stems in the parts of a source.

    Parameters
    ----------
    size
        Number of parts.
    where
        Stem -> the positions of the parts that contain it, ascending.
    """

    size: int
    where: Mapping[str, Sequence[int]]

    def weights(self, claim: Iterable[Token]) -> dict[str, float]:
        """Return the stems that a claim shares with the source, with high weights if rare."""
        return {
            token.stem: log(1 + self.size / len(self.where[token.stem]))
            for token in claim
            if token.is_content and token.stem in self.where
        }

    def likeliest(self, weights: Mapping[str, float], *, limit: int) -> dict[int, set[str]]:
        """Return at most `limit` parts, with the stems of `weights` that each contains."""
        shared: dict[int, set[str]] = {}
        for stem in sorted(weights, key=lambda stem: (-weights[stem], stem)):
            for at in self.where[stem]:
                shared.setdefault(at, set()).add(stem)
        if len(shared) <= limit:
            return shared
        # `fsum` is exact, so the result does not depend on set order, which varies by process.
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
    """Yield the sentences of a source, or the records or lines of data and dialogues."""
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


Interval = tuple[int, int]
Counting = Callable[[Sequence[str]], list[int]]
"""Function that returns the number of tokens of each text."""

_WORD = re.compile(r"\w")
_PRONOUN = re.compile(
    r"\W*(?:he|she|it|they|this|these|those|that|such|his|her|hers|its|their|theirs)\b",
    re.IGNORECASE,
)
_CLAIM_SHARE = 2  # a claim takes at most one half of the room
_OVERLAP_SHARE = 4  # a sentence in two passages takes at most a quarter of the tokens of one


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimText:
    """Part of an output that a checker reads as one claim.

    Parameters
    ----------
    start, end
        Half-open offsets in code points of the output.
    claims
        The claims in it that are reported on, as intervals of the output. The text around them is
        context, for example to resolve a pronoun.
    """

    start: int
    end: int
    claims: tuple[Interval, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """Consecutive sentences of the inputs.

    Parameters
    ----------
    text
        Their text, with an empty line between sentences of different inputs.
    """

    sentences: Sequence[SourceSentence]
    text: str


def claim_texts(
    output: str, *, unit: ClaimUnit, room: int, count_tokens: Counting
) -> list[ClaimText]:
    """Cut `output` into the texts that a checker reads as claims, in order; none without a word.

    Each sentence with a word is a claim, and so is each part of a sentence that takes more than
    half of `room` tokens. If a sentence begins with a pronoun, a checker of sentences also reads
    the sentence before it. A checker of texts reads as many claims at once as fit into half of the
    room; a checker of answers reads them as one claim.
    """
    most = max(1, room // _CLAIM_SHARE)
    cut = _fitting(output, sentence_intervals(output), most=most, count_tokens=count_tokens)
    claims = [(start, end) for start, end in cut if _WORD.search(output[start:end])]
    sizes = count_tokens([output[start:end] for start, end in claims])
    if unit != "sentence":
        packed = [claims[first:stop] for first, stop in _packed(sizes, most=most, overlaps=False)]
        wholes = [(part[0][0], part[-1][1]) for part in packed]
        return [
            ClaimText(
                start=start, end=end, claims=tuple(part) if unit == "text" else ((start, end),)
            )
            for (start, end), part in zip(wholes, packed, strict=True)
        ]
    texts = []
    for at, (start, end) in enumerate(claims):
        leads = at > 0 and _PRONOUN.match(output, start, end) is not None
        with_context = leads and sizes[at - 1] + sizes[at] <= most
        first = claims[at - 1][0] if with_context else start
        texts.append(ClaimText(start=first, end=end, claims=((start, end),)))
    return texts


def claims_with_passages(
    output: str,
    inputs: Mapping[str, str],
    *,
    unit: ClaimUnit,
    room: int,
    count_tokens: Counting,
    limit: int = 0,
    passage_tokens: int = 0,
    passage_sentences: int = 0,
) -> list[tuple[ClaimText, list[Passage]]]:
    """Return the texts that a checker reads as claims, each with its best `limit` passages.

    `limit` is 0 for all passages. A passage has at most `passage_tokens` tokens, 0 for as many as
    the longest claim leaves room for, and at most `passage_sentences` sentences, 0 for no limit.
    """
    texts = claim_texts(output, unit=unit, room=room, count_tokens=count_tokens)
    if not texts:
        return []
    claims = [output[text.start : text.end] for text in texts]
    most = max(1, room - max(count_tokens(claims)))
    passages = passages_of(
        inputs,
        most=min(most, passage_tokens or most),
        count_tokens=count_tokens,
        most_sentences=passage_sentences,
    )
    return list(zip(texts, best_passages(claims, passages, limit=limit), strict=True))


def passages_of(
    inputs: Mapping[str, str], *, most: int, count_tokens: Counting, most_sentences: int = 0
) -> list[Passage]:
    """Cut the inputs into passages of at most `most` tokens, in order.

    A passage holds whole sentences, at most `most_sentences` unless that is 0. A sentence with more
    tokens is cut between words. The last sentence of a passage is the first of the next, unless it
    is the only one or takes more than a quarter of the tokens.
    """
    sentences = [
        SourceSentence(input=header, tokens=read)
        for header, text in inputs.items()
        for start, end in _fitting(
            text, source_intervals(text), most=most, count_tokens=count_tokens
        )
        if (read := tokens(text[start:end], offset=start))
    ]
    sizes = count_tokens([inputs[part.input][part.start : part.end] for part in sentences])
    return [
        _passage(sentences[first:stop], inputs)
        for first, stop in _packed(sizes, most=most, overlaps=True, members=most_sentences)
    ]


def best_passages(
    claims: Sequence[str], passages: Sequence[Passage], *, limit: int
) -> list[list[Passage]]:
    """Return for each claim the passages that share most words with it, weighted by rarity.

    There are at most `limit`, 0 for all, in the order of the source.
    """
    if not limit or len(passages) <= limit:
        return [list(passages) for _ in claims]
    parts = [[token for part in passage.sentences for token in part.tokens] for passage in passages]
    index = stem_index(parts)
    chosen = []
    for claim in claims:
        shared = index.likeliest(index.weights(tokens(claim)), limit=limit)
        rest = (at for at in range(len(passages)) if at not in shared)
        chosen.append(sorted((*shared, *islice(rest, limit - len(shared)))))
    return [[passages[at] for at in positions] for positions in chosen]


def phrases(text: str, claim: Interval) -> list[Interval]:
    """Return the parts that can be left out of a claim in `text`, shortest first.

    These are the content words and the runs of adjacent content words, except a run that has all
    content words of the claim.
    """
    start, end = claim
    content = [
        (token.start, token.end)
        for token in tokens(text[start:end], offset=start)
        if token.is_content
    ]
    if not content:
        return []
    runs = [content[0]]
    for word in content[1:]:
        if text[runs[-1][1] : word[0]].strip(" -\n\t"):
            runs.append(word)
        else:
            runs[-1] = runs[-1][0], word[1]
    whole = content[0][0], content[-1][1]
    intervals = {*content, *runs} - {whole}
    return sorted(intervals, key=lambda interval: (interval[1] - interval[0], interval))


def _passage(sentences: Sequence[SourceSentence], inputs: Mapping[str, str]) -> Passage:
    texts = []
    for header, group in groupby(sentences, key=lambda sentence: sentence.input):
        row = list(group)
        texts.append(inputs[header][row[0].start : row[-1].end])
    return Passage(sentences=sentences, text="\n\n".join(texts))


def _packed(
    sizes: Sequence[int], *, most: int, overlaps: bool, members: int = 0
) -> Iterator[Interval]:
    """Yield intervals of `sizes` whose sums are at most `most`, each as long as possible.

    An interval has at most `members` items, 0 for no limit.
    """
    first = 0
    while first < len(sizes):
        stop, size = first, 0
        end = min(len(sizes), first + (members or len(sizes)))
        while stop < end and (stop == first or size + sizes[stop] <= most):
            size += sizes[stop]
            stop += 1
        yield first, stop
        if stop == len(sizes):
            return
        last = sizes[stop - 1]
        is_small = last * _OVERLAP_SHARE <= most and last + sizes[stop] <= most
        first = stop - 1 if overlaps and is_small and stop - 1 > first else stop


def _fitting(
    text: str, intervals: Iterator[Interval], *, most: int, count_tokens: Counting
) -> Iterator[Interval]:
    """Yield `intervals` of `text`, splitting those of more than `most` tokens."""
    waiting = list(intervals)
    sizes = count_tokens([text[start:end] for start, end in waiting])
    for (start, end), size in zip(waiting, sizes, strict=True):
        if size <= most or end - start == 1:
            yield start, end
            continue
        middle = (start + end) // 2
        blank = text.rfind(" ", start, middle)
        halves = (start, blank), (blank + 1, end)
        if blank <= start:  # one long word, or a script without spaces
            halves = (start, middle), (middle, end)
        yield from _fitting(text, iter(halves), most=most, count_tokens=count_tokens)
