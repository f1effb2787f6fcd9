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
    r"\w{2,}ed|fed|led|won"
    r"|\w+(?:ade|aid|eard|eld|en|et|ght|lt|nt|old|one|ost|ot|ound|pt|uck|un|ung|ut|wn)"
)
"""The endings of regular and most irregular participles; few adjectives have them."""
_NEXT_VERB = re.compile(
    rf",? (?:and|but|or|then) (?:later |then )?(?![A-Z])(?=(?:{_PARTICIPLE.pattern})\b)"
    rf"|, (?![A-Z])(?=(?:{_PARTICIPLE.pattern}) by\b)"
)
"""Seams before a further participle: ``designed by Hall, built by Moss and then sold``."""


def restatements(sentence: str, *, is_source: bool = False) -> Iterator[str]:
    """Yield other word orders of a sentence.

    A passive clause without an agent has no subject in the active voice, so it is not a restatement
    of a source. Only a source may say more than the other sentence: each verb of ``was designed by
    Hall and built by Moss`` then has a restatement of its own.

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
        yield from _active(form, is_source=is_source)


def unfronted(sentence: str) -> str:
    """Return a sentence with its first phrase or clause at the end; unchanged without one."""
    match = _FRONTED.fullmatch(sentence.strip())
    if not match or _SEAM.search(match["rest"]):
        return sentence
    front = match["phrase"]
    return f"{match['rest']} {front[0].lower()}{front[1:]}{match['stop']}"


def is_participle(word: str) -> bool:
    """Return whether a word has the ending of a past participle."""
    return _PARTICIPLE.fullmatch(word.lower()) is not None


def _active(sentence: str, *, is_source: bool) -> Iterator[str]:
    """Yield a passive sentence in the active voice, with each phrase that may be its agent."""
    match = _PASSIVE.fullmatch(sentence.strip())
    if not match or not is_participle(match["verb"]):
        return
    auxiliary = " ".join(filter(None, (match["modal"], match["adverb"].strip())))
    patient = _DETERMINER.sub(lambda word: word.group().lower(), match["patient"])
    predicates = _NEXT_VERB.split(f"{match['verb']}{match['rest']}")
    if len(predicates) > 1 and not is_source:
        return
    for predicate in predicates:
        verb, space, rest = predicate.partition(" ")
        rest = space + rest
        active = f"{auxiliary} {verb} {patient}".lstrip()
        agent = None
        for agent in _AGENT.finditer(rest):
            others = rest[: agent.start()] + rest[agent.end() :]
            yield f"{agent['agent']} {active}{others}{match['stop']}"
        if agent is None and not is_source:
            yield f"{active}{rest}{match['stop']}"
