"""Sentences: where they begin and end in a text."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import takewhile

# A stop with what closes after it; one class of characters to begin with keeps it fast.
_STOP = re.compile(r"[.!?…。！？।\n]++['\"”’»)\]」』]*+")
_BREAK = re.compile(r"\n[^\S\n]*(?:\n|(?:[-*•]|\d{1,3}[.)])\s)")
_BLANKLESS = frozenset("。！？।")  # stops of scripts that put no blank after them
_ABBREVIATIONS = frozenset(
    """mr mrs ms dr prof st sr jr gen col sgt capt lt rev gov sen rep hon vs etc nos fig
    approx dept est inc ltd corp jan feb mar apr jun jul aug sept oct nov dec e.g i.e a.m p.m
    u.s u.k u.n al cf vol pp op""".split()  # noqa: SIM905 - a list this long reads best so
)
_LONGEST = max(map(len, _ABBREVIATIONS))
_WRAPPED = range(30, 121)
"""Code points of a line that an editor or a mail program may have ended."""
_WORD = re.compile(r"\s*(\S*)")
_REACH = 16  # code points before a full stop in which an abbreviation must lie
_CLOSED = frozenset(".!?…。！？।'\"”’»)]」』")
"""Marks that end a sentence, or close it behind its end."""
_FENCE = re.compile(r"(?:\A|\n)[^\S\n]*(`{3,}|~{3,})[^\n`]*\n")
_NUMBER = re.compile(r"\W*(?:\d{1,3}|[A-Za-z])[.)]\W*")
"""A sentence that is only the number of an item of a list."""
_PART = re.compile(r"\s+|\S+")
_LONGEST_SENTENCE = 2_000
"""Code points from which a sentence, or a block of code, is cut before its end has come."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A sentence, without the blanks around it.

    Parameters
    ----------
    start, end
        Half-open offsets in code points.
    is_code
        Whether it is a fenced block of code, which only a `GrowingText` tells apart.
    """

    start: int
    end: int
    text: str
    is_code: bool = False


def sentences(text: str) -> list[Sentence]:
    """Cut `text` into sentences.

    A full stop ends none after an abbreviation or an initial, or within a word or a
    number. An empty line, or a new line that starts an item of a list, always ends one;
    another new line does unless the next begins in lower case, or the line was full: shorter
    than 30 or longer than 120 code points, or with room for the next word, its author ended it.

    Returns
    -------
    list of Sentence
        In order, not overlapping; together they hold every character but blanks.

    Examples
    --------
    >>> [s.text for s in sentences("Dr. Ann paid $1.5 m. He left!")]
    ['Dr. Ann paid $1.5 m.', 'He left!']
    """
    return [
        Sentence(start=start, end=end, text=text[start:end])
        for start, end in sentence_intervals(text)
    ]


class GrowingText:
    """A text while it is written, which gives each sentence once, as soon as its end is certain.

    Its sentences are those of `sentences`, however the text comes in pieces, with four exceptions.
    The number of an item belongs to the sentence behind it. A fenced block of code, as in Markdown,
    is one sentence. What is longer than 2,000 code points is cut. And the lines before a new line,
    not those behind it, show how wide the author's lines are.

    Examples
    --------
    >>> text = GrowingText()
    >>> [[each.text for each in text.add(piece)] for piece in ("It cost 3.", "5 m. It", " was")]
    [[], ['It cost 3.5 m.'], []]
    >>> [each.text for each in text.end()]
    ['It was']
    """

    def __init__(self) -> None:
        self._open = ""
        """The text behind the last sentence that was given."""
        self._start = 0
        self._fence = ""
        """The marks that opened the block of code that `_open` is; empty outside of one."""
        self._line = self._width = 0

    def add(self, piece: str) -> list[Sentence]:
        """Take the next piece of the text, and return the sentences that have ended with it."""
        ended: list[Sentence] = []
        # Word by word, so that the sentences do not depend on the pieces.
        for part in _PART.findall(piece):
            self._open += part
            self._note_lines(part)
            if self._fence:
                ended += self._closed_block() if "\n" in part else ()
            elif part.isspace() or not _BLANKLESS.isdisjoint(part):
                ended += self._settled()
        return ended

    def pause(self) -> list[Sentence]:
        """Return the sentence that the text ends with, if it has its stop and no more is to come.

        Only what follows tells a full stop from the point of a number: call it if the text does not
        go on for a while.
        """
        bare = self._open.rstrip()
        if self._fence or bare[-1:] not in _CLOSED:
            return []
        ends = _ends_at(bare, width=self._width)
        return self._given(ends) if ends and ends[-1] == len(bare) else []

    def end(self) -> list[Sentence]:
        """Return the sentences that are left when the text has ended."""
        if self._fence:
            return self._given([len(self._open)], is_last=True, is_code=True)
        ends = _ends_at(self._open, width=self._width)
        return self._given([*ends, len(self._open)], is_last=True)

    def _note_lines(self, part: str) -> None:
        """Note the width of the lines that have ended."""
        *ended, last = part.split("\n")
        for line in ended:
            self._line += len(line)
            if self._line in _WRAPPED:
                self._width = max(self._width, self._line)
            self._line = 0
        self._line += len(last)

    def _settled(self) -> list[Sentence]:
        """Return the sentences that have ended, up to a block of code if one has begun."""
        text = self._open
        fence = _FENCE.search(text)
        if fence:
            before = fence.start()
            ends = _ends_at(text[:before], width=self._width)
            ended = self._given([*ends, before], is_last=True)
            self._fence = fence[1]
            return ended
        possible = _ends_at(text, width=self._width)
        ends = [*takewhile(partial(_is_certain, text), possible)]
        return self._given(ends or [len(text)] if len(text) > _LONGEST_SENTENCE else ends)

    def _closed_block(self) -> list[Sentence]:
        """Return the block of code if its last line has come, or it is long."""
        last = self._open.rstrip().rpartition("\n")[2].strip()
        closes = last.startswith(self._fence) and not last.strip(self._fence[0])
        is_closed = closes and "\n" in self._open.strip()
        if not is_closed and len(self._open) <= _LONGEST_SENTENCE:
            return []
        if is_closed:
            self._fence = ""
        return self._given([len(self._open)], is_last=True, is_code=True)

    def _given(
        self, ends: list[int], *, is_last: bool = False, is_code: bool = False
    ) -> list[Sentence]:
        """Return the sentences that end at `ends`; what is behind them stays open.

        `is_last` if what ends last cannot belong to what comes next.
        """
        given: list[Sentence] = []
        start = 0
        for end in ends:
            text = self._open[start:end]
            bare = text.strip()
            is_joined = not (is_last and end == ends[-1]) and _NUMBER.fullmatch(bare)
            if is_joined or not any(map(str.isalnum, bare)):
                continue
            first = self._start + start + len(text) - len(text.lstrip())
            given.append(Sentence(start=first, end=first + len(bare), text=bare, is_code=is_code))
            start = end
        if is_last and ends:
            start = ends[-1]
        self._open, self._start = self._open[start:], self._start + start
        return given


def _is_certain(text: str, end: int) -> bool:
    """Say whether a sentence ends at `end` whatever may follow `text`."""
    if end == len(text) and text[end - 1] != "\n":
        return False
    last = text[:end].rstrip("\n")
    if text[end - 1] != "\n" or last[-1:] in _CLOSED:
        return True
    word = _WORD.match(text, end)  # how a new line goes on decides whether it ends anything
    return word is not None and bool(word[1]) and word.end() < len(text)


def sentence_intervals(text: str) -> Iterator[tuple[int, int]]:
    """Yield ``(start, end)`` of each of the `sentences` of `text`, at less cost."""
    start = 0
    for end in (*_ends(text), len(text)):
        first, last = start, end
        while first < last and text[first].isspace():
            first += 1
        if first < last:
            while text[last - 1].isspace():
                last -= 1
            yield first, last
        start = end


def _ends(text: str) -> list[int]:
    """Find where sentences end."""
    width = max((len(line) for line in text.split("\n") if len(line) in _WRAPPED), default=0)
    return _ends_at(text, width=width)


def _ends_at(text: str, *, width: int) -> list[int]:
    """Find where sentences end in a text whose author breaks lines at `width`, 0 for nowhere."""
    ends = []
    for match in _STOP.finditer(text):
        start, end = match.span()
        if end - start > 1 or text[start] != ".":
            if _ends_here(text, match, width=width):
                ends.append(end)
        elif (end == len(text) or text[end].isspace()) and not _abbreviates(text, start):
            ends.append(end)
    return ends


def _ends_here(text: str, match: re.Match[str], *, width: int) -> bool:
    """Say whether what matched `_STOP`, and is not a full stop alone, ends a sentence."""
    stop, end = match.group(), match.end()
    if stop[0] == "\n":
        return (
            len(stop) > 1
            or bool(_BREAK.match(text, end - 1))
            or not _wraps(text, end - 1, width=width)
        )
    if stop[-1] in _BLANKLESS:
        return True
    return end == len(text) or stop[-1] == "\n" or text[end].isspace()


def _wraps(text: str, at: int, *, width: int) -> bool:
    """Say whether the new line at `at` stands within a sentence."""
    length = at - (text.rfind("\n", 0, at) + 1)
    word = _WORD.match(text, at + 1)
    assert word is not None  # it may be empty
    full = length in _WRAPPED and length + 1 + len(word[1]) > width
    return full or word[1][:1].islower()


def _abbreviates(text: str, stop: int) -> bool:
    """Say whether the full stop at `stop` belongs to an abbreviation or an initial."""
    before = text[max(0, stop - _REACH) : stop].split(None)
    word = before[-1] if before else ""
    if len(word) == 1:
        return (word.isupper() and word != "I") or word.lower() in _ABBREVIATIONS
    return len(word) <= _LONGEST and word.lower() in _ABBREVIATIONS
