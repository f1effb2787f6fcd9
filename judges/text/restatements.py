"""Restatements: other word orders in which a sentence says the same.

A passive clause becomes active, and a phrase or clause in front moves behind. No content word is
added or omitted, so a comparison word by word may use the restatement instead of the sentence.
"""

import re
from collections.abc import Iterator

_BEHIND = "|".join(
    """after at because before between by during for from if in near on once since unless until
    when while with""".split()  # noqa: SIM905
)
"""Words that begin an adverbial at the end of a clause."""

_FRONTED = re.compile(
    rf"(?P<phrase>(?:although|{_BEHIND})\b[^,;:]*(?=,)|in \d{{4}}),? (?P<rest>.*?)(?P<stop>[.!]?)",
    re.IGNORECASE,
)
_SEAM = re.compile(r"[;:,]|\b(?:and|but|because|or|since|so|while)\b")
_PASSIVE = re.compile(
    rf"(?!(?:although|{_BEHIND})\b)(?P<patient>[^,;:]+?)"
    r" (?:is|are|was|were|has been|have been|had been"
    r"|(?P<modal>(?:can|could|may|might|must|shall|should|will|would)(?: not)?) be)"
    r"(?P<adverb>(?: not)?(?: \w+ly)?) (?P<verb>[a-z]{3,})(?P<rest>[^;]*?)(?P<stop>[.!]?)",
    re.IGNORECASE,
)
_AGENT = re.compile(rf" by (?P<agent>[^,;:]+?)(?=(?: (?:{_BEHIND})\b[^,;:]*)?$)")
_DETERMINER = re.compile(r"(?:A|An|All|Both|Each|Every|His|Her|Its|No|Some|The|Their)\b")
_PARTICIPLE = re.compile(
    r"\w{2,}ed|\w+(?:ade|aid|eard|eld|en|et|ght|lt|nt|old|one|ost|ound|pt|un|ut|wn)"
)
"""The endings of regular and most irregular participles; few adjectives have them."""


def restatements(sentence: str, *, is_whole: bool = False) -> Iterator[str]:
    """Yield other word orders of a sentence.

    A passive clause without an agent has no subject in the active voice; `is_whole` leaves it out.

    Examples
    --------
    >>> [*restatements("On Mondays, it closes at 6 pm.")]
    ['it closes at 6 pm on Mondays.']
    >>> [*restatements("The gate was opened at noon by the guard.")]
    ['the guard opened the gate at noon.']
    >>> [*restatements("The gate was opened at noon.")]
    ['opened the gate at noon.']
    """
    behind = unfronted(sentence)
    forms = [sentence] if behind == sentence else [sentence, behind]
    yield from forms[1:]
    for form in forms:
        yield from _active(form, is_whole=is_whole)


def unfronted(sentence: str) -> str:
    """Return a sentence with its first phrase or clause at the end; unchanged without one.

    Examples
    --------
    >>> unfronted("If it rains, the match is off.")
    'the match is off if it rains.'
    """
    match = _FRONTED.fullmatch(sentence.strip())
    if not match or _SEAM.search(match["rest"]):
        return sentence
    front = match["phrase"]
    return f"{match['rest']} {front[0].lower()}{front[1:]}{match['stop']}"


def _active(sentence: str, *, is_whole: bool) -> Iterator[str]:
    """Yield a passive sentence in the active voice, with each phrase that may be its agent."""
    match = _PASSIVE.fullmatch(sentence.strip())
    if not match or not _PARTICIPLE.fullmatch(match["verb"].lower()):
        return
    verb = " ".join(filter(None, (match["modal"], match["adverb"].strip(), match["verb"])))
    patient = _DETERMINER.sub(lambda word: word.group().lower(), match["patient"])
    rest, stop = match["rest"], match["stop"]
    agent = None
    for agent in _AGENT.finditer(rest):
        others = rest[: agent.start()] + rest[agent.end() :]
        yield f"{agent['agent']} {verb} {patient}{others}{stop}"
    if agent is None and not is_whole:
        yield f"{verb} {patient}{rest}{stop}"
