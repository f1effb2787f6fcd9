"""Parts of an output that claim nothing which a source could support."""

import re
from collections.abc import Iterable

from spanjury.judges.text.sentences import sentence_intervals

_ANSWERED = (
    r"(?:yes|no|yeah|yep|sure|certainly|of course|correct|okay|ok|oh|wow|well|hmm|absolutely"
    r"|exactly|definitely|indeed|great question)"
)
_ANNOUNCED = (
    r"(?:here (?:is|are)|here['’]s|below is) (?:a|an|the|your) (?:\w+ ){0,2}(?:summary|answer"
    r"|overview|list|breakdown|outline|explanation)\b(?-i:[^.;:\n\dA-Z]{0,40})"
)
_MARKS = re.compile(
    # citations: [1], [2, 3], 【4†source】, (Context [1]), (source: manual, p. 3)
    r"\(?(?:\b(?:context|document|passage|source)\s)?\[\d{1,3}(?:\s?[,;–-]\s?\d{1,3})*\]\)?"
    r"|【[^】\n]{0,60}】"
    r"|\((?:source|sources|see|ref)\b[^()\n]{0,60}\)"
    # numbers of list items and steps: 1. (1) **Step 1:**
    r"|^[ \t]*(?:(?:\d{1,3}|[A-Za-z])[.)]|\(\d{1,3}\))(?=\s)"
    r"|^[ \t]*[#*_]{0,4}[ \t]?step\s\d{1,2}[*_]{0,2}\s?[:.)–-][*_]{0,2}(?=\s)"
    # answers, exclamations and announcements before a sentence
    rf"|(?:\A|(?<=[.!?\n]))\s*(?:{_ANSWERED}\s?[,.!:]\s+)?{_ANNOUNCED}:(?=\s*\S)"
    rf"|(?:\A|(?<=[.!?\n]))\s*{_ANSWERED}\s?[,.!:](?=\s+\S)"
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

_EXCLAIMED = (
    r"(?:oh|wow|ah|aww?|ha(?:ha)*|hm+|mm+|uh|um|well|yeah|yep|nope|sure(?: thing)?|ok(?:ay)?|right"
    r"|exactly|absolutely|definitely|certainly|indeed|of course|(?:very |so )?true|fair enough"
    r"|i (?:totally |completely |fully |quite )?agree|i see|me too|same here|got it|understood"
    r"|(?:good|great|excellent) (?:question|point|luck|idea)|great|awesome|cool|nice|amazing"
    r"|interesting|wonderful|perfect|no (?:problem|worries)|hello|hi|hey|bye|cheers"
    r"|congratulations|(?:many )?thanks(?: again| a lot)?|thank you(?: very much| so much)?"
    r"|you(?: a|['’])re (?:very |most )?welcome)"
)
_REMARKS = re.compile(
    rf"(?:yes |no )?{_EXCLAIMED}(?:[\s,!.…-]+{_EXCLAIMED})*"
    # "That sounds great"
    r"|(?:(?:oh|wow|well|yeah|yes)[\s,!.]+)?that(?: i|['’])?(?:s| was| sounds| would be| must be)"
    r" (?:(?:so|very|really|pretty|quite|such|just|truly|a|an) )*(?:interesting|amazing|awesome"
    r"|great|cool|nice|lovely|wonderful|fascinating|fun|funny|impressive|incredible|exciting|sad"
    r"|(?:good|great|excellent|interesting) (?:question|point|idea))(?: to (?:hear|know|see))?"
    # thanks, offers and wishes to the reader
    r"|(?:thanks|thank you) for (?:asking|sharing|your question|the question|reaching out)"
    r"|i (?:do |really )?hope (?:this|that|it)(?: answer| explanation| information| summary)?"
    r" (?:helps|is (?:helpful|useful)|answers|clarifies)\b[^,;:]*"
    r"|(?:please )?(?:let me know|feel free to (?:ask|reach out|let me know)|(?:do not|don['’]t)"
    r" hesitate to (?:ask|reach out|contact me))\b[^;:]*"
    r"|(?:i['’]?(?: a)?m |i would be |i['’]d be )?(?:always )?(?:happy|glad|here) to"
    r" (?:help|assist)\b[^,;:]*"
    r"|(?:have|enjoy) (?:a|your) (?:nice |great |good |lovely |wonderful )?(?:day|evening|weekend)",
    re.IGNORECASE,
)
_ASKING = re.compile(r"\b(?:you|your)\b", re.IGNORECASE)
_TELLING = re.compile(
    r"\byou (?:\w+ )?(?:know|knew|hear|aware|realis|realiz|remember|notice)"
    r"|\A(?:why|when)\b|n['’]t\b|\b(?:not|since|because|although|that|which|who)\b",
    re.IGNORECASE,
)
_FACT = re.compile(r"\d|(?<=\w )[A-Z]\w")  # a number, or a name that is not the first word
_ENDS = " \t\n.!…:-"


def without_marks(output: str) -> str:
    """Return `output` with blanks for what claims nothing within or beside sentences that do.

    This means citations, numbers of list items, "Yes." before more, "Hello" before a name, and
    sentences that only greet, thank, exclaim, offer help or ask the reader something. An output
    of nothing but such sentences keeps them, since they are then the answer.

    Examples
    --------
    >>> without_marks("Yes. It lasts two years [1].")
    '     It lasts two years    .'
    >>> without_marks("It lasts two years. What do you think?")
    'It lasts two years.                   '
    """
    marked = _MARKS.sub(lambda mark: " " * len(mark.group()), output)
    claimed = blanked(marked, _remarks(marked))
    return claimed if claimed.strip(_ENDS) else marked


def _remarks(output: str) -> list[tuple[int, int]]:
    return [
        (start, end)
        for start, end in sentence_intervals(output)
        if _is_remark(output[start:end].strip())
    ]


def _is_remark(sentence: str) -> bool:
    if sentence.endswith("?"):
        is_asking = _ASKING.search(sentence) and not _TELLING.search(sentence)
        return bool(is_asking) and not any(character.isdigit() for character in sentence)
    return _REMARKS.fullmatch(sentence.rstrip(_ENDS)) is not None and not _FACT.search(sentence)


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
