"""Split a text into sentences."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import takewhile

# A stop and the closing marks after it; beginning with one character class keeps it fast.
_STOP = re.compile(r"[.!?…。！？।\n]++['\"”’»)\]」』]*+")
_BREAK = re.compile(r"\n[^\S\n]*(?:\n|(?:[-*•]|\d{1,3}[.)])\s)")
_BLANKLESS = frozenset("。！？।")  # stops of scripts without a space after a stop
_ABBREVIATIONS = frozenset(
    """mr mrs ms dr prof st sr jr gen col sgt capt lt rev gov sen rep hon vs etc nos fig
    approx dept est inc ltd corp jan feb mar apr jun jul aug sept oct nov dec e.g i.e a.m p.m
    u.s u.k u.n al cf vol pp op""".split()  # noqa: SIM905 - a list this long reads best so
)
_LONGEST = max(map(len, _ABBREVIATIONS))
_SPACED = frozenset(("e", "i", "z"))  # first letters of "e. g.", "i. e." and "z. B."
_OPENING = "(['\"“‘«"
_LABEL = re.compile(
    r"""\b(?i:annex|appendix|arm|bag|block|box|building|category|chapter|choice|class|clause|cohort
    |column|compound|condition|diet|district|division|drug|factor|figure|gate|grade|group
    |hall|hepatitis|influenza|item|layer|level|line|list|model|option|package|panel|part|phase|plan
    |platform|point|product|protein|protocol|question|room|round|route|row|sample|scenario|schedule
    |section|sector|series|site|stage|step|strain|study|substance|subtype|table|task|team|terminal
    |tier|type|unit|variant|version|vial|vitamin|ward|wing|zone)s?
    \s(?:[A-Z],?\s(?:and|or|to)\s)?[A-Z]\Z""",
    re.VERBOSE,
)
"""A letter that is a label (``drug A``, ``groups A and B``), not an initial."""
_LABEL_REACH = 24  # code points before a full stop that are searched for a label
_WRAPPED = range(30, 121)
"""Lengths of lines, in code points, that an editor or a mail program may have wrapped."""
_WORD = re.compile(r"\s*(\S*)")
_REACH = 16  # code points before a full stop that are searched for an abbreviation
_CLOSED = frozenset(".!?…。！？।'\"”’»)]」』")
"""Marks that end a sentence, or follow its end."""
_FENCE = re.compile(r"(?:\A|\n)[^\S\n]*(`{3,}|~{3,})[^\n`]*\n")
_NUMBER = re.compile(r"\W*(?:\d{1,3}|[A-Za-z])[.)]\W*")
"""A sentence that is only the number of a list item."""
_PART = re.compile(r"\s+|\S+")
_LONGEST_SENTENCE = 2_000
"""Maximum length of a sentence or a block of code in code points; longer ones are cut."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A sentence, without surrounding white space.

    Parameters
    ----------
    start, end
        Half-open offsets in code points.
    is_code
        Whether it is a fenced block of code; only `GrowingText` recognises these.
    """

    start: int
    end: int
    text: str
    is_code: bool = False


def sentences(text: str) -> list[Sentence]:
    """Split `text` into sentences.

    A full stop does not end a sentence after an abbreviation or an initial, or within a word or a
    number. A letter after a noun such as ``drug`` or ``group`` is a label, not an initial, unless
    another initial or a word in lower case follows. An empty line, or a new line that starts a list
    item, always ends a sentence. Any other new line ends one too, unless the next line begins in
    lower case or the line was wrapped. A line counts as wrapped if it has 30 to 120 code points and
    no room for the next word.

    Returns
    -------
    list of Sentence
        In order, not overlapping; together they contain every character except white space.

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
    """A text in the process of being written, which returns each sentence once its end is certain.

    Its sentences are those of `sentences`, however the text is cut into pieces, with four
    exceptions. The number of a list item belongs to the sentence after it. A fenced block of code,
    as in Markdown, is one sentence. A sentence longer than 2,000 code points is cut. The width of
    the author's lines is known only from the lines before a new line, not from those after it.

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
        """The text after the last sentence returned."""
        self._start = 0
        self._fence = ""
        """The marks that opened the block of code in `_open`; empty outside of a block."""
        self._line = self._width = 0

    def add(self, piece: str) -> list[Sentence]:
        """Add the next piece of the text, and return the sentences that it completes."""
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
        """Return the last sentence if it has its stop, assuming that the text does not go on.

        Only the text after a full stop distinguishes it from a decimal point, so `add` waits for
        more. Call this when no more is expected soon.
        """
        bare = self._open.rstrip()
        if self._fence or bare[-1:] not in _CLOSED:
            return []
        ends = _ends_at(bare, width=self._width)
        return self._given(ends) if ends and ends[-1] == len(bare) else []

    def end(self) -> list[Sentence]:
        """Return the remaining sentences at the end of the text."""
        if self._fence:
            return self._given([len(self._open)], is_last=True, is_code=True)
        ends = _ends_at(self._open, width=self._width)
        return self._given([*ends, len(self._open)], is_last=True)

    def _note_lines(self, part: str) -> None:
        """Record the width of the completed lines."""
        *ended, last = part.split("\n")
        for line in ended:
            self._line += len(line)
            if self._line in _WRAPPED:
                self._width = max(self._width, self._line)
            self._line = 0
        self._line += len(last)

    def _settled(self) -> list[Sentence]:
        """Return the completed sentences, up to a block of code if one has begun."""
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
        """Return the block of code if it is complete, or too long to wait for its end."""
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
        """Return the sentences that end at `ends`; the text after them stays open.

        `is_last` says that the last of them cannot belong to the text that follows.
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
    """Return whether a sentence ends at `end`, whatever text may follow."""
    if end == len(text) and text[end - 1] != "\n":
        return False
    if _is_label(text, end - 1) and text[end:].isspace():
        return False  # the next word may continue the sentence
    last = text[:end].rstrip("\n")
    if text[end - 1] != "\n" or last[-1:] in _CLOSED:
        return True
    word = _WORD.match(text, end)  # the text after a new line decides whether it ends a sentence
    return word is not None and bool(word[1]) and word.end() < len(text)


def sentence_intervals(text: str) -> Iterator[tuple[int, int]]:
    """Yield ``(start, end)`` of each of the `sentences` of `text`, faster than `sentences`."""
    width = max((len(line) for line in text.split("\n") if len(line) in _WRAPPED), default=0)
    start = 0
    for end in (*_ends_at(text, width=width), len(text)):
        first, last = start, end
        while first < last and text[first].isspace():
            first += 1
        if first < last:
            while text[last - 1].isspace():
                last -= 1
            yield first, last
        start = end


def _ends_at(text: str, *, width: int) -> list[int]:
    """Return the ends of sentences in a text with lines wrapped at `width`, 0 for no wrapping."""
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
    """Return whether a match of `_STOP` other than a single full stop ends a sentence."""
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
    """Return whether the new line at `at` is within a sentence."""
    length = at - (text.rfind("\n", 0, at) + 1)
    word = _word_at(text, at + 1)
    full = length in _WRAPPED and length + 1 + len(word) > width
    return full or word[:1].islower()


def _abbreviates(text: str, stop: int) -> bool:
    """Return whether the full stop at `stop` belongs to an abbreviation or an initial."""
    before = text[max(0, stop - _REACH) : stop].split(None)
    word = before[-1].lstrip(_OPENING) if before else ""
    if word in _SPACED or (word == "g" and before[-2:-1] and before[-2].lstrip(_OPENING) == "e."):
        return True  # "i. e." and "e. g.", but not "200 g."
    if len(word) == 1 and word.isupper():
        return word != "I" and not (_is_label(text, stop) and _may_end(text, stop + 1))
    return len(word) <= _LONGEST and word.lower() in _ABBREVIATIONS


def _is_label(text: str, stop: int) -> bool:
    """Return whether a letter that is a label precedes the mark at `stop`."""
    return _LABEL.search(text, max(0, stop - _LABEL_REACH), stop) is not None


def _may_end(text: str, end: int) -> bool:
    """Return whether the word after `end` is neither in lower case nor an initial."""
    word = _word_at(text, end)
    return not word[:1].islower() and not (word[1:] == "." and word[0].isupper())


def _word_at(text: str, start: int) -> str:
    """Return the first word of ``text[start:]``; it may be empty."""
    word = _WORD.match(text, start)
    assert word is not None
    return word[1]
