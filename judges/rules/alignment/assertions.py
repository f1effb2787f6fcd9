"""Statements of the source that it does not assert.

The source attributes them to someone, denies, doubts or asks them, calls them possible or intended,
or states them only under a condition.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType

from spanjury.judges.rules.alignment.aligner import compare
from spanjury.judges.rules.alignment.lexicon import BE, LIGHT, PARTIAL
from spanjury.judges.rules.alignment.tokens import Lexeme, Phrase, Token, lexemes
from spanjury.judges.text.lexicon import IRREGULAR
from spanjury.judges.text.numbers import begins_number

_ASKED = "The source asks this and does not state it."

_GROUPS = {
    "The source attributes this to someone ({!r}) and does not state it as fact.": """
        according accuse accused accuses allegation allegations allege alleged allegedly alleges
        alleging announced argue argued argues ask asked asks believe believed believes claim
        claimed claiming claims contend contended contends imagined implied insist insisted insists
        maintain maintained maintains purported purportedly report reported reportedly reports
        rumor rumored rumors rumour rumoured rumours said say saying says suggest suggested suggests
        tell tells think thinks thought told warn warned warns""",
    "The source denies or doubts this ({!r}).": """
        denied denies deny denying dismissed dispute disputed disputes doubt doubted doubts
        doubtful false falsely incorrect myth refuted reject rejected rejects unclear unlikely
        unproven untrue wrongly hardly barely rarely seldom avoid forbidden""",
    "The source says this only under a condition ({!r}).": "if provided unless whether",
    "The source calls this possible or intended ({!r}), not a fact.": """
        assume assumed assumes consider considered considering considers demanded expect expected
        expects estimate estimated fear feared fears forecast hope hoped hopes intend intended
        intends likely maybe perhaps plan planned plans possible possibly predict predicted predicts
        presumably probable probably promise promised promises proposal proposals propose proposed
        proposes speculated speculation supposed supposedly suspect suspected suspects unconfirmed
        want wanted wants""",
    "The source says this with a reservation ({!r}).": "almost could may might nearly should",
    "The source says this of a part or of another ({!r}).": " ".join(sorted(PARTIAL)),
}
_WORDINGS: Mapping[str, str] = MappingProxyType(
    {word: wording for wording, words in _GROUPS.items() for word in words.split()}
)
"""Word that keeps a clause from being asserted -> the reason as a sentence."""

_INTENDED = _WORDINGS["planned"]

_NOUNS = frozenset(
    """claim claims estimate fear fears forecast hope hopes plan plans promise promises proposal
    proposals report reports""".split()  # noqa: SIM905
)
"""Such words that may also name something: ``The Basic plan includes support.``"""

_NEARLY = frozenset(("almost", "nearly"))
"""Such words that may also round a number."""

_AFTER_NOUNS = BE | frozenset(
    "and at by has have had in into on or under will with would".split()  # noqa: SIM905
)

_BEHIND = re.compile(
    r"[\s,;]*\b(?P<condition>if|unless|provided|according)\b"
    r"|[,\"'”’]+\s*(?:(?!and\b|but\b|who\b|which\b)[\w.'’-]+\s+){0,6}?"
    r"(?P<speech>said|says|claims|claimed|alleges|alleged|argues|argued|reports|reported|believes"
    r"|believed|insists|insisted|suggests|suggested)\b",
    re.IGNORECASE,
)
"""Words after a clause that is not asserted: a condition, or its speaker."""

SEAM = re.compile(r"[;:]|,? (?:and|but|while|whereas|although|though|yet|so)\b(?! that\b)")
"""Seams after which a clause no longer depends on a word before them."""

_NO_PROOF = re.compile(
    r"\b(?:no|not|never|without)(?: \w+)? (?:case|certain|clear|confirmed|evidence|indication|known"
    r"|proof|proven|sign|sure|true) (?:that|whether)\b",
    re.IGNORECASE,
)
_ANAPHORIC = re.compile(
    r"\b(?:(?:above|below|beyond|over|under|until|outside|without|within) (?:that|this|those|these"
    r"|which|then)|otherwise|if (?:so|not)|in (?:that|this|these|those|such|which)(?: an?)?"
    r" (?:case|event|situation)s?|under (?:these|those|such) (?:circumstances|conditions"
    r"|terms))\b",
    re.IGNORECASE,
)
"""Conditions and limits that an earlier sentence or clause states: ``Above that``."""


def unasserting(sentence: Phrase, source: Phrase) -> str:
    """Return why `source`, which has all words of `sentence`, does not assert them, or empty.

    A word of the same kind in the sentence itself may express this.
    """
    comparison = compare(sentence, source)
    linked = [source.tokens[link.right] for link in comparison.links if link.same]
    if len(linked) < len(sentence.tokens):
        return ""
    if source.question:
        return _ASKED
    kept = {_WORDINGS[written.lower()] for written in governors(sentence.text).values()}
    for written in _governing(source, linked):
        wording = _WORDINGS[written.lower()]
        if wording not in kept:
            return wording.format(written)
    limit = _limit(source, linked)
    if limit and not _ANAPHORIC.search(sentence.text):
        return _WORDINGS["if"].format(limit)
    proof = _NO_PROOF.search(source.text, 0, linked[0].start)
    return _WORDINGS["doubt"].format(proof.group()) if proof and not sentence.denies else ""


def is_intended(sentence: Phrase, end: int) -> bool:
    """Return whether `sentence` only proposes or expects what it says up to offset `end`."""
    begin = max((seam.end() for seam in SEAM.finditer(sentence.text, 0, end)), default=0)
    return any(
        begin <= at < end and _WORDINGS[written.lower()] == _INTENDED
        for at, written in governors(sentence.text).items()
    )


def _governing(source: Phrase, linked: Sequence[Token]) -> Iterator[str]:
    """Yield the words of `source` that keep it from asserting the tokens `linked`."""
    text, start, end = source.text, linked[0].start, linked[-1].end
    begin = max((seam.end() for seam in SEAM.finditer(text, 0, start)), default=0)
    governing = governors(text)
    before = [written for at, written in governing.items() if begin <= at < start]
    yield from reversed(before)
    read = [word for word in lexemes(text) if start < word[0] < end]
    yield from _governing_within(read, linked, governors=governing)
    behind = _BEHIND.match(text, end)
    if behind:
        yield behind["condition"] or behind["speech"]


def _limit(source: Phrase, linked: Sequence[Token]) -> str:
    """Return the words of the clause with the tokens `linked` that refer to a condition before it.

    Empty if there are none.
    """
    text, start, end = source.text, linked[0].start, linked[-1].end
    for limit in _ANAPHORIC.finditer(text):
        between = (limit.end(), start) if limit.end() <= start else (end, limit.start())
        if not SEAM.search(text, *between):
            return limit.group()
    return ""


def _governing_within(
    read: Sequence[Lexeme], linked: Sequence[Token], *, governors: Collection[int]
) -> Iterator[str]:
    """Yield such words among `read` that precede one of `linked`, ignoring light words."""
    ends = {token.end for token in linked}
    last = ""
    for start, end, written, folded in read:
        if end in ends and last:
            yield last
        if start in governors:
            last = written
        elif end in ends or folded not in LIGHT:
            last = ""


def governors(text: str) -> dict[int, str]:
    """Return the words of `text` that keep a clause from being asserted, by their offsets."""
    read = lexemes(text)
    following = [folded for *_, folded in read[1:]]
    return {
        start: written
        for (start, _, written, folded), after in zip(read, [*following, "."], strict=True)
        if folded in _WORDINGS and written != "May"
        if folded not in _NOUNS or not _follows_noun(after)
        if folded not in _NEARLY or not begins_number(after)
    }


def _follows_noun(word: str) -> bool:
    """Return whether the word before `word` is rather a noun: ``the plan includes``."""
    is_verb = word.endswith(("ed", "s")) or word in IRREGULAR
    return is_verb or word in _AFTER_NOUNS or not word[0].isalnum()
