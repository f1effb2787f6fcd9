"""Speakers: who says "I" in a dialogue or in a thread of mails."""

import re
from collections.abc import Iterator
from functools import lru_cache, partial
from types import MappingProxyType

from spanjury.judges.text.lexicon import IRREGULAR

_LABEL = re.compile(
    r"^(?P<label>[A-Z][\w.'’-]*(?: [A-Z][\w.'’-]*)?):[ \t]+(?P<rest>[^\n]*)", re.MULTILINE
)
_SENDER = "From"
_HEADERS = frozenset(("Cc", "Date", "Re", "Sent", "Subject", "To"))
_SENDER_NAME = re.compile(r"[A-Z][\w.'’-]*(?: [A-Z][\w.'’-]*)?")
_I = re.compile(r"(?<!: )\bI\b(?P<short>['’](?:m|ve|ll|d)\b)?(?: (?P<verb>[a-z]+)\b)?")
_GREETING = re.compile(r"\A(\s*(?:dear|hello|hey|hi|thanks|thank you)\b[^,.!?\n]*),", re.IGNORECASE)
_QUOTE = re.compile(r"[\"“”]")
_QUOTED_MAIL = re.compile(r"^(?:>|-{3,}|[^\n]*\b(?:wrote|writes):[ \t]*$)", re.MULTILINE)
_SHORT = MappingProxyType({"m": "is", "ve": "has", "ll": "will", "d": "would"})
_THIRD = MappingProxyType({"am": "is", "do": "does", "have": "has"})
_UNCHANGED = frozenset(
    """already also always can could cut did had hit just let may might must never often only put
    really set shall should still then was will would""".split()  # noqa: SIM905
)
"""Words after "I" that are not verbs in the present tense, or may be in the past tense."""
_LEAST = 2  # turns of a dialogue


@lru_cache(maxsize=16)
def spoken(text: str) -> str:
    r"""Return a dialogue or mails with the name of the speaker for each "I"; other texts unchanged.

    A turn with a quotation, an "I" after a colon and a quoted mail are unchanged.

    Examples
    --------
    >>> print(spoken("Ann: I'll bring tea.\nTom: I like tea."))
    Ann: Ann will bring tea.
    Tom: Tom likes tea.
    """
    turns = [*_turns(text)]
    if len(turns) < _LEAST:
        return text
    parts, reached = [], 0
    for start, end, speaker in turns:
        turn = _GREETING.sub(r"\1.", text[start:end])
        parts.append(text[reached:start])
        parts.append(
            turn if _QUOTE.search(turn) else _I.sub(partial(_third, speaker=speaker), turn)
        )
        reached = end
    return "".join((*parts, text[reached:]))


def _turns(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the offsets of the words of each turn, and its speaker."""
    labels = [*_LABEL.finditer(text)]
    ends = (*(label.start() for label in labels[1:]), len(text))
    sender = ""
    for label, end in zip(labels, ends, strict=False):
        if label["label"] == _SENDER:
            name = _SENDER_NAME.match(label["rest"])
            sender = name.group() if name else ""
        elif label["label"] not in _HEADERS:
            yield label.start("rest"), _before_quoted(text, label.end(), end), label["label"]
        elif sender:
            yield label.end(), _before_quoted(text, label.end(), end), sender


def _before_quoted(text: str, start: int, end: int) -> int:
    """Return the offset of the first line of a quoted mail; `end` without one."""
    quoted = _QUOTED_MAIL.search(text, start, end)
    return quoted.start() if quoted else end


def _third(match: re.Match[str], *, speaker: str) -> str:
    """Return "I" and the word after it in the third person."""
    verb = match["verb"]
    if match["short"]:
        return f"{speaker} {_SHORT[match['short'][1:]]}{f' {verb}' if verb else ''}"
    return f"{speaker} {_present(verb)}" if verb else speaker


def _present(verb: str) -> str:
    if verb in _THIRD:
        return _THIRD[verb]
    if verb in _UNCHANGED or verb in IRREGULAR or verb.endswith(("ed", "ly")):
        return verb
    if re.search(r"[^aeiou]y$", verb):
        return f"{verb[:-1]}ies"
    return verb + ("es" if verb.endswith(("ch", "o", "s", "sh", "x", "z")) else "s")
