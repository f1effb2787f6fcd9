"""Sentences in the source's own words that no sentence of the source asserts.

There are three kinds. A sentence joins words of different sentences or clauses of the source, such
as the subject of one and the predicate of another; it asserts something that the source only
reports, denies, doubts or makes conditional; or it omits words of a source sentence that affect the
sense of those around them, such as "half" or "but". None shows an error: the joined words may be
about the same topic, and the report may be right. But then the fact that its words are in the
source is no reason to vouch for it.

A sentence with a word that the source lacks is not doubted here.
"""

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from types import MappingProxyType

from spanjury.judges.core import Unverified
from spanjury.judges.rules.alignment.aligner import Comparison, compare
from spanjury.judges.rules.alignment.exchanges import other_person
from spanjury.judges.rules.alignment.index import Search, searched
from spanjury.judges.rules.alignment.lexicon import BE, DETERMINERS, LIGHT, PARTIAL, PREPOSITIONS
from spanjury.judges.rules.alignment.near_copies import (
    MILD,
    first_clauses,
    forms_of,
    keeps_sense,
    last_clauses,
)
from spanjury.judges.rules.alignment.opposites import OPPOSITES
from spanjury.judges.rules.alignment.tokens import Lexeme, Phrase, Token, lexemes, phrase
from spanjury.judges.text.lexicon import IRREGULAR
from spanjury.judges.text.numbers import begins_number
from spanjury.judges.text.restatements import is_participle

_JOINED = "It combines parts of different source sentences."
_MIXED = "It combines words of the source's sentence differently."
_CUT = "It omits, adds or replaces words that may change the sense of the source's sentence."
_OTHER_PERSON = "The source says this of another person ({!r}, not {!r})."
_ASKED = "The source asks this and does not state it."
_NONE: frozenset[str] = frozenset()
_CANDIDATES = 8  # sentences of an input that a sentence is compared with
_LEAST = 2  # minimum words of a sentence to be doubted
_DOUBTED = 0.3
"""Probability of an error in a sentence that joins or asserts more than the source.

One in two of such twins written for training is wrong, and one in seven of such news summaries."""

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

_SEAM = re.compile(r"[;:]|,? (?:and|but|while|whereas|although|though|yet|so)\b(?! that\b)")
"""Seams after which a clause no longer depends on a word before them."""

_BORDER = re.compile(rf"{_SEAM.pattern}|,")
"""Borders after which a clause may have a subject of its own."""

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
_PRONOUNS = frozenset("he she it they we i you this these those who which that there".split())  # noqa: SIM905
"""Subjects that refer to another sentence."""

SUBJECTS = frozenset("he she it they we i you".split())  # noqa: SIM905
"""Pronouns that are the subject of a clause of their own."""

_PERSONS = SUBJECTS - {"it", "you"}
"""Those that are no objects."""

_RELATIVES = frozenset(("that", "which", "who", "whom"))

_ADVERBIAL = PREPOSITIONS - {"of", "to"}
_JOINING = frozenset(("and", "but", "or", "while", "whereas", "because", "since", ";"))
_CONDITIONS = frozenset(("after", "before", "if", "once", "unless", "until", "when"))


def doubts(output: str, inputs: Mapping[str, str]) -> Iterator[Unverified]:
    """Yield the doubtful sentences of `output`, in order.

    Examples
    --------
    >>> source = {"News": "The report alleges that the mayor took bribes. Nobody was hurt."}
    >>> [doubt.reason for doubt in doubts("The mayor took bribes.", source)]
    ["The source attributes this to someone ('alleges') and does not state it as fact."]
    >>> [doubt.reason for doubt in doubts("The mayor was hurt.", source)]
    ['It combines parts of different source sentences.']
    >>> source = {"Leaflet": "You may drive, but stop if you feel dizzy."}
    >>> [doubt.reason for doubt in doubts("You may drive if you feel dizzy.", source)]
    ["It omits, adds or replaces words that may change the sense of the source's sentence."]
    """
    own, searches = searched(output, inputs)
    for start, sentence in own.items():
        if reason := _reason(sentence, [*searches.values()]):
            yield doubt(sentence.text, start, reason)


def doubt(text: str, start: int, reason: str, *, probability: float = _DOUBTED) -> Unverified:
    """Return the sentence `text` at the offset `start` as doubtful."""
    return Unverified(
        start=start,
        end=start + len(text),
        text=text,
        probability=probability,
        reason=reason,
        is_binding=True,
    )


def _reason(sentence: Phrase, searches: Sequence[Search]) -> str:
    """Return why a sentence is doubtful; empty if it is not."""
    if len(sentence.tokens) < _LEAST or sentence.question:
        return ""
    keys = frozenset(sentence.keys)
    near = [*_nearest(sentence, searches)]
    holding = [source for source in near if keys.issubset(source.keys)]
    if not holding:
        return _JOINED if _is_joined(sentence, near) else ""
    forms = forms_of(sentence)
    reasons = [
        next(filter(None, (_unasserting(form, source) for form in forms)), "") for source in holding
    ]
    if "" not in reasons:
        return reasons[0]
    compared = [*_comparisons(forms, holding)]
    persons = [other_person(comparison) for comparison in compared]
    if all(persons):
        return _OTHER_PERSON.format(*persons[0])
    clean = [each for each in compared if not _is_mixed(each.output, each.source)]
    if not clean:
        return _MIXED
    ordered = [each for each in clean if each.equal() == len(sentence.tokens)]
    is_cut = ordered and not any(keeps_sense(each, ignored=MILD) for each in ordered)
    return _CUT if is_cut else ""


def _comparisons(forms: Sequence[Phrase], holding: Sequence[Phrase]) -> Iterator[Comparison]:
    """Yield comparisons with sentences of the source and with their ends, in all word orders."""
    for form in forms:
        for source in holding:
            given = (
                source,
                first_clauses(form, source),
                last_clauses(form, source),
                *forms_of(source, is_source=True)[1:],
            )
            yield from (
                compare(form, each) for each in {each.text: each for each in given}.values()
            )


def _is_mixed(sentence: Phrase, source: Phrase) -> bool:
    """Return whether a clause of `sentence` joins words of `source` that do not belong together."""
    seams = [*_SEAM.finditer(sentence.text)]
    starts = [0, *(seam.end() for seam in seams)]
    ends = [*(seam.start() for seam in seams), len(sentence.text)]
    clauses = (phrase(sentence.text[start:end]) for start, end in zip(starts, ends, strict=True))
    return any(
        _is_reordered(comparison)
        or _takes_predicate(comparison)
        or _takes_adverbial(comparison)
        or _takes_opening(comparison)
        or _turns_voice(comparison)
        or other_person(comparison)
        for comparison in (compare(clause, source) for clause in clauses if clause.tokens)
    )


def _is_reordered(comparison: Comparison) -> bool:
    keys = [key for key, _ in groupby(comparison.output.keys)]  # a word may be repeated by mistake
    return comparison.equal() < len(keys)


def _turns_voice(comparison: Comparison) -> bool:
    """Return whether a verb is passive in one sentence only, with the same words around it."""
    pairs = [*map(comparison.token, range(len(comparison.links)))]
    return any(
        ("by" in behind.before) != ("by" in given.before)
        and BE.isdisjoint(verb.before) != BE.isdisjoint(other.before)
        for (verb, other), (behind, given) in pairwise(pairs)
    ) or any(_takes_object(comparison, at) for at in range(1, len(pairs)))


def _takes_object(comparison: Comparison, at: int) -> bool:
    """Return whether a participle of the output is a verb with an object in the source.

    So it is if ``Ann was hired`` comes from ``Ann hired Tom``.
    """
    verb, other = comparison.token(at)
    source, after = comparison.source, comparison.links[at].right + 1
    return (
        not BE.isdisjoint(verb.before)
        and is_participle(comparison.output.text[verb.start : verb.end])
        and BE.isdisjoint(other.before)
        and comparison.links[at - 1].right == after - 2
        and after < len(source.tokens)
        and DETERMINERS.issuperset(source.tokens[after].before)
    )


def _takes_predicate(comparison: Comparison) -> bool:
    """Return whether the words go on with the predicate of a clause with another subject.

    So does ``Anna writes novels`` for ``Anna paints portraits and Ben writes novels``, or for
    ``Hi Anna, I write novels``.
    """
    text, tokens = comparison.source.text, comparison.source.tokens
    own = {word for token in comparison.output.tokens for word in token.before}
    for before, after in pairwise(comparison.links):
        skipped = tokens[before.right + 1 : after.right]
        if not skipped:
            between = {*tokens[after.right].before}
            if _PERSONS & between and not (_PERSONS & own | _RELATIVES) & between:
                return True
            continue
        if _begins_relative(skipped, tokens[after.right]) and "who" not in own:
            return True
        # A list goes on directly after the token: the old and the new library.
        seams = [*_BORDER.finditer(text, skipped[0].end, tokens[after.right].start)]
        subject = [token for token in skipped if seams and token.start >= seams[-1].end()]
        if not subject:
            continue
        words = DETERMINERS.union(SUBJECTS - own)
        if subject[0].kind == "name" or not words.isdisjoint(subject[0].before):
            return True
    return False


def _begins_relative(skipped: Sequence[Token], verb: Token) -> bool:
    """Return whether `verb` is said of a skipped noun: Ann trained *Ben, who trained* Carl.

    A noun in apposition is the same as the one before it.
    """
    return "," not in skipped[0].before and any(
        "who" in token.before for token in (*skipped[1:], verb)
    )


def _takes_adverbial(comparison: Comparison) -> bool:
    """Return whether a clause's own adverbial was replaced by that of another clause.

    ``In 2019 the firm cut jobs`` replaces that of ``In 2019 the firm opened a plant, and it cut
    jobs in 2021``. An adverbial from a later clause must be all that the output has of it.
    """
    clauses, linked = _clauses(comparison.source), {link.right for link in comparison.links}
    for link in comparison.links:
        opener = _ADVERBIAL.intersection(comparison.output.tokens[link.left].before)
        home = next(clause for clause in clauses if link.right in clause)
        for clause in clauses:
            inside, lost = linked.intersection(clause), set(clause) - linked
            if clause is home or not opener or not inside:
                continue
            tokens = (comparison.source.tokens[at] for at in lost)
            if any(not opener.isdisjoint(token.before) for token in tokens) and (
                clause.start > home.start
                or (linked.intersection(home) == {link.right} and len(home) > 1)
            ):
                return True
    return False


def _takes_opening(comparison: Comparison) -> bool:
    """Return whether a clause has the adverbial with which the next begins.

    So has ``It rained after noon`` for ``It rained; after noon it was dry``.
    """
    return any(
        ";" in theirs.before
        and ";" not in own.before
        and not (_ADVERBIAL | _CONDITIONS).isdisjoint((*own.before, own.key))
        for own, theirs in (comparison.token(at) for at in range(1, len(comparison.links)))
    )


def _clauses(source: Phrase) -> Sequence[range]:
    """Return the positions of the tokens of each clause."""
    ends = [seam.end() for seam in _SEAM.finditer(source.text)]
    starts = [token.start for token in source.tokens]
    cuts = [0, *dict.fromkeys(bisect_left(starts, end) for end in ends), len(starts)]
    return [range(first, last) for first, last in pairwise(cuts) if first < last]


def _nearest(sentence: Phrase, searches: Sequence[Search]) -> Iterator[Phrase]:
    """Yield the sentences of the source that share most words with `sentence`.

    There are none if a word of it occurs nowhere in the source.
    """
    words = (token.key for token in sentence.tokens if token.kind not in {"number", "month"})
    keys = list(dict.fromkeys(words))  # an index has no numbers, and not the month "May"
    if not all(any(key in search.where for search in searches) for key in keys):
        return
    for search in searches:
        yield from (near for _, near in search.nearest(keys, least=1, limit=_CANDIDATES))


def _is_joined(sentence: Phrase, near: Sequence[Phrase]) -> bool:
    """Return whether a beginning and an end of `sentence` are in different sentences of the source.

    An end that continues the topic of the beginning does not count, nor does a separate clause.
    """
    keys = sentence.keys
    seams = []
    for at in range(1, len(keys)):
        first, last = frozenset(keys[:at]), frozenset(keys[at:])
        beginning = [source for source in near if first.issubset(source.keys)]
        ending = [source for source in near if last.issubset(source.keys)]
        if beginning and ending:
            seams.append((at, beginning, ending))
    if not seams:
        return False
    at, _, ending = seams[0]
    if not _JOINING.isdisjoint(sentence.tokens[at].before):
        return False
    if not any(_continues(sentence, source, at=at) for source in ending):
        return True
    at, beginning, _ = seams[-1]
    return all(_loses_adverbial(sentence, source, at=at) for source in beginning)


def _loses_adverbial(sentence: Phrase, source: Phrase, *, at: int) -> bool:
    """Return whether `source`, with the beginning, has another adverbial like that at token `at`.

    So has ``Anna works in Oslo`` for ``Anna works in Bergen``.
    """
    opener = _ADVERBIAL.intersection(sentence.tokens[at].before)
    return any(
        token.key not in sentence.keys and not opener.isdisjoint(token.before)
        for token in source.tokens
    )


def _continues(sentence: Phrase, source: Phrase, *, at: int) -> bool:
    """Return whether `source` may say the end of `sentence`, from token `at`, of the same subject.

    This is possible if its own subject is a pronoun and it has no opposite of a word of the
    sentence, or if its subject has no word that the sentence lacks. A condition is of its own
    sentence.
    """
    if not _CONDITIONS.isdisjoint(sentence.tokens[at].before):
        return False
    ending = frozenset(sentence.keys[at:])
    begin = next(number for number, key in enumerate(source.keys) if key in ending)
    subject, token = source.tokens[:begin], source.tokens[begin]
    governors = (written for at, written in _governors(source.text).items() if at < token.start)
    if any(written.lower() not in sentence.text.lower() for written in governors):
        return False
    leading = (folded for start, _, _, folded in lexemes(source.text) if start < token.start)
    if not _PRONOUNS.isdisjoint(leading):
        return all(OPPOSITES.get(key, _NONE).isdisjoint(sentence.keys) for key in source.keys)
    return token.denied == sentence.tokens[at].denied and {part.key for part in subject}.issubset(
        sentence.keys
    )


def is_intended(sentence: Phrase, end: int) -> bool:
    """Return whether `sentence` only proposes or expects what it says up to offset `end`."""
    begin = max((seam.end() for seam in _SEAM.finditer(sentence.text, 0, end)), default=0)
    return any(
        begin <= at < end and _WORDINGS[written.lower()] == _INTENDED
        for at, written in _governors(sentence.text).items()
    )


def _unasserting(sentence: Phrase, source: Phrase) -> str:
    """Return why `source`, which has all words of `sentence`, does not assert them, or empty.

    A word of the same kind in the sentence itself may express this.
    """
    comparison = compare(sentence, source)
    linked = [source.tokens[link.right] for link in comparison.links if link.same]
    if len(linked) < len(sentence.tokens):
        return ""
    if source.question:
        return _ASKED
    kept = {_WORDINGS[written.lower()] for written in _governors(sentence.text).values()}
    for written in _governing(source, linked):
        wording = _WORDINGS[written.lower()]
        if wording not in kept:
            return wording.format(written)
    limit = _limit(source, linked)
    if limit and not _ANAPHORIC.search(sentence.text):
        return _WORDINGS["if"].format(limit)
    proof = _NO_PROOF.search(source.text, 0, linked[0].start)
    return _WORDINGS["doubt"].format(proof.group()) if proof and not sentence.denies else ""


def _governing(source: Phrase, linked: Sequence[Token]) -> Iterator[str]:
    """Yield the words of `source` that keep it from asserting the tokens `linked`."""
    text, start, end = source.text, linked[0].start, linked[-1].end
    begin = max((seam.end() for seam in _SEAM.finditer(text, 0, start)), default=0)
    governors = _governors(text)
    before = [written for at, written in governors.items() if begin <= at < start]
    yield from reversed(before)
    read = [word for word in lexemes(text) if start < word[0] < end]
    yield from _governing_within(read, linked, governors=governors)
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
        if not _SEAM.search(text, *between):
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


def _governors(text: str) -> dict[int, str]:
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
