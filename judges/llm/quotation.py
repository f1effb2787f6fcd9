"""Take the quote out of what a model wrote as the location of an error.

Asked for words copied from the text, models write ``"words" (first sentence)``, several
quotations, words without quotation marks, or that there is no place to speak of.
"""

import re
from dataclasses import dataclass
from typing import NamedTuple

# What may end a quotation, by what began it: its counterpart, then what is taken for that.
_CLOSERS = {
    '"': '"”“',
    "“": '”"“',
    "”": '”"',
    "„": '“”"',
    "«": "»",
    "»": "«",
    "「": "」",
    "'": "'’",
    "‘": "’'",
    "`": "`'",
}
_PAIRS = (("“", "”"), ("«", "»"), ("「", "」"))
_DOUBLE = frozenset('"“”„«»「')
_NOWHERE = frozenset(
    {"", "n/a", "na", "none", "nowhere", "not applicable", "no location", "omission"}
)
_REMARK = r"(?:\([^()]*+(?:\([^()]*+\)[^()]*+)*+\)|\[[^\[\]]*+\])"
_BEFORE = re.compile(rf"(?:[-•]\s++)?(?:{_REMARK}[\s:-]*+)?(?=[\"“”„«»「'‘`])")
_REMARK_TO_THE_END = re.compile(rf"[ \t.,;:*_-]*+(?:{_REMARK}[ \t.,;:*_]*+)?(?:\n|$)")
_NEXT_QUOTATION = re.compile(rf"\s*+(?:[,;/+&]|and\b|or\b|{_REMARK})\s*+[\"“„«「]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotation:
    """Words from a location, and whether they stood in quotation marks."""

    words: str
    marked: bool


def quotation(location: str) -> Quotation:
    """Return the quote in `location`; without words if it says that there is no place.

    Of several quotations the first; without quotation marks, the location as it stands.

    Examples
    --------
    >>> quotation('"the us or qatar" (the repetition of "qatar")')
    Quotation(words='the us or qatar', marked=True)
    >>> quotation("N/A (omission)")
    Quotation(words='', marked=False)
    """
    text = location.replace('\\"', '"').strip("* \t\n")
    before = _BEFORE.match(text)
    text = text[before.end() :] if before else text
    if text[:1] not in _CLOSERS:
        return Quotation(words="" if _says_nowhere(text) else text, marked=False)
    text = _with_one_backtick(text)
    words = text[1 : _closing(text)].strip("*")
    return Quotation(words="" if words.casefold() == "n/a" else words, marked=True)


class Opening(NamedTuple):
    """A quotation that is not closed on its line.

    Parameters
    ----------
    opener
        The mark that opens another one, within prose; empty for a location, which is closed
        by a mark at the end of a line.
    """

    closers: str
    opener: str = ""


def unclosed(location: str) -> Opening | None:
    """Return the quotation that `location` is and that is not closed in it, if it is one."""
    text = _with_one_backtick(location.strip("* \t"))
    closers = _CLOSERS.get(text[:1], "")
    closed = not closers or any(closer in text[1:] for closer in closers)
    return None if closed else Opening(closers)


def left_open(prose: str) -> Opening | None:
    """Return the quotation that begins within `prose` and is not closed in it, if there is one.

    Examples
    --------
    >>> left_open('It ends: "Overall')
    Opening(closers='"', opener='"')
    """
    if prose.count('"') % 2:
        return Opening('"', '"')
    for opener, closer in _PAIRS:
        if prose.count(opener) > prose.count(closer):
            return Opening(closer, opener)
    return None


def closes(line: str, *, opening: Opening) -> bool:
    """Say whether a later line is the last one of a quotation."""
    if opening.opener == opening.closers:
        return line.count(opening.opener) % 2 == 1
    if opening.opener:
        return line.count(opening.closers) > line.count(opening.opener)
    last = max(line.rfind(closer) for closer in opening.closers)
    return last >= 0 and _REMARK_TO_THE_END.match(line, last + 1) is not None


def _closing(text: str) -> int:
    """Return where the quotation ends that `text` begins with; its end if nowhere.

    The first mark that only a remark, or a further quotation, follows; else the last:
    the marks before it belong to the words quoted.
    """
    closers = _CLOSERS[text[0]]
    closers = closers[0] if closers[0] in text[1:] else closers
    last = len(text)
    for index in range(1, len(text)):
        if text[index] not in closers:
            continue
        last = index
        if _REMARK_TO_THE_END.match(text, index + 1):
            break
        if text[0] in _DOUBLE and _NEXT_QUOTATION.match(text, index + 1):
            break
    return last


def _with_one_backtick(text: str) -> str:
    """Return `text` with one backtick where TeX's quotation mark begins it."""
    return text.removeprefix("`") if text.startswith("``") else text


def _says_nowhere(text: str) -> bool:
    """Say whether a location in no quotation marks means that there is none."""
    words = text.partition("(")[0] or text.strip("()")
    return words.strip(" .:-–—[]").casefold() in _NOWHERE
