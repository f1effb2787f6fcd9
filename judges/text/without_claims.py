"""Parts of an output that claim nothing which a source could support."""

import re
from collections.abc import Iterable

from spanjury.judges.text.sentences import sentence_intervals

_MARKS = re.compile(
    # citations: [1], [2, 3], 【4†source】, (Context [1]), (source: manual, p. 3)
    r"\(?(?:\b(?:context|document|passage|source)\s)?\[\d{1,3}(?:\s?[,;–-]\s?\d{1,3})*\]\)?"
    r"|【[^】\n]{0,60}】"
    r"|\((?:source|sources|see|ref)\b[^()\n]{0,60}\)"
    # numbers of list items and steps: 1. (1) **Step 1:**
    r"|^[ \t]*(?:(?:\d{1,3}|[A-Za-z])[.)]|\(\d{1,3}\))(?=\s)"
    r"|^[ \t]*[#*_]{0,4}[ \t]?step\s\d{1,2}[*_]{0,2}\s?[:.)–-][*_]{0,2}(?=\s)"
    # answers before a sentence that states them
    r"|(?:\A|(?<=[.!?\n]))\s*(?:yes|no|sure|certainly|of course|correct|okay|ok)\s?[,.!:](?=\s+\S)"
    # greetings before the name of a reader
    r"|(?:\A|(?<=[.!?\n]))\s*(?:dear|greetings|hello|hey|hi|good (?:morning|afternoon|evening|day)"
    r"|thanks|thank you)(?=,?(?: (?-i:[A-Z])[\w.'’-]*){1,4} ?[,!:\n])",
    re.IGNORECASE | re.MULTILINE,
)

_SOURCE = (
    r"(?:contexts?|documents?|documentation|passages?|manuals?|sources?|texts?|articles?|excerpts?"
    r"|snippets?|materials?|information|knowledge base|search results|pages?|guides?)"
)
_SAYING = (
    r"(?:mention|say|state|contain|describe|specify|include|provide|cover|address|give|list|explain"
    r"|tell|indicate|discuss|answer|have|disclose|clarify)"
)
_STATED = (
    r"(?:mentioned|said|stated|contained|described|specified|included|provided|covered|addressed"
    r"|given|listed|explained|found|discussed|available)"
)
_LACKING = re.compile(
    rf"\b{_SOURCE}\b[^.!?]{{0,60}}?\b(?:do|does|did)(?: not|n['’]t) (?:\w+ ){{0,2}}?{_SAYING}"
    rf"|\bnot (?:\w+ )?{_STATED} (?:in|by) (?:the|this|these|any|your)\b[^.!?]*?{_SOURCE}"
    r"|\bno (?:information|mention|details?|data|reference) (?:about|on|of|to|regarding|is|was)\b"
    r"|\b(?:can(?:not| not|['’]t)|could(?: not|n['’]t)|unable to|not able to) (?:answer|find"
    r"|determine|locate|say|tell)\b"
    r"|\bi (?:do not|don['’]t) (?:know|have)\b",
    re.IGNORECASE,
)


def without_marks(output: str) -> str:
    """Return `output` with blanks for what claims nothing.

    This means citations, numbers of list items, "Yes." before more, and "Hello" before a name.

    Examples
    --------
    >>> without_marks("Yes. It lasts two years [1].")
    '     It lasts two years    .'
    """
    return _MARKS.sub(lambda mark: " " * len(mark.group()), output)


def absences(output: str) -> list[tuple[int, int]]:
    """Return the sentences that say what a source lacks, as half-open offsets.

    Examples
    --------
    >>> text = "The manual does not mention a VPN. Press the button."
    >>> [text[start:end] for start, end in absences(text)]
    ['The manual does not mention a VPN.']
    """
    return [
        (start, end)
        for start, end in sentence_intervals(output)
        if _LACKING.search(output[start:end])
    ]


def blanked(text: str, intervals: Iterable[tuple[int, int]]) -> str:
    """Return `text` with blanks for these intervals."""
    for start, end in intervals:
        text = text[:start] + " " * (end - start) + text[end:]
    return text
