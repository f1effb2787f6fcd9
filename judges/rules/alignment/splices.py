"""Splices: sentences that join words of different sentences or clauses of the source.

Such a sentence has the subject of one clause and the predicate of another, or a clause's own
adverbial is replaced by that of another clause.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from itertools import groupby, pairwise

from spanjury.judges.rules.alignment.aligner import Comparison, compare
from spanjury.judges.rules.alignment.assertions import SEAM, governors
from spanjury.judges.rules.alignment.continuations import (
    continues,
    is_of_one_time,
    values_in,
)
from spanjury.judges.rules.alignment.exchanges import other_person, turns_voice
from spanjury.judges.rules.alignment.index import between
from spanjury.judges.rules.alignment.lexicon import DETERMINERS, PREPOSITIONS, SUBJECTS
from spanjury.judges.rules.alignment.opposites import OPPOSITES
from spanjury.judges.rules.alignment.tokens import VALUES, Phrase, Token, lexemes, phrase

_NONE: frozenset[str] = frozenset()
_BORDER = re.compile(rf"{SEAM.pattern}|,")
"""Borders after which a clause may have a subject of its own."""

_PRONOUNS = frozenset("he she it they we i you this these those who which that there".split())  # noqa: SIM905
"""Subjects that refer to another sentence."""

_PERSONS = SUBJECTS - {"it", "you"}
"""Those that are no objects."""

_INDEFINITE = frozenset("another each none one others some".split())  # noqa: SIM905
_MARKS = frozenset(((",",), (";",), ("and",), ("but",)))
"""Marks and words before such a pronoun as the subject of the next clause."""

_RELATIVES = frozenset(("that", "which", "who", "whom"))

_ADVERBIAL = PREPOSITIONS - {"of", "to"}
_JOINING = frozenset(("and", "but", "or", "while", "whereas", "because", "since", ";"))
_CONDITIONS = frozenset(("after", "before", "if", "once", "unless", "until", "when"))


def is_joined(sentence: Phrase, near: Sequence[Phrase]) -> bool:
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
    at, beginning, ending = seams[0]
    if not _JOINING.isdisjoint(sentence.tokens[at].before):
        return False
    if not any(
        _continues(sentence, source, at=at)
        and not _is_of_other_case(sentence, beginning, source, at=at)
        for source in ending
    ):
        return True
    at, beginning, ending = seams[-1]
    if any(continues(source) and is_of_one_time(sentence, source) for source in ending):
        beginning = [source for source in beginning if is_of_one_time(sentence, source)]
    return bool(beginning) and all(
        _loses_adverbial(sentence, source, at=at) for source in beginning
    )


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
    governing = (written for at, written in governors(source.text).items() if at < token.start)
    if any(written.lower() not in sentence.text.lower() for written in governing):
        return False
    leading = (folded for start, _, _, folded in lexemes(source.text) if start < token.start)
    if not _PRONOUNS.isdisjoint(leading):
        return all(OPPOSITES.get(key, _NONE).isdisjoint(sentence.keys) for key in source.keys)
    return token.denied == sentence.tokens[at].denied and {part.key for part in subject}.issubset(
        sentence.keys
    )


def _is_of_other_case(
    sentence: Phrase, beginning: Sequence[Phrase], ending: Phrase, *, at: int
) -> bool:
    """Return whether the beginning and the end of `sentence`, from token `at`, are of two cases.

    ``The exam is on 5 May. In 2023 it was on 6 June`` says nothing of an exam on 6 June without the
    year, nor of an exam on 5 May in 2023.
    """
    keys, last = frozenset(sentence.keys), sentence.tokens[at:]
    others = [token for token in ending.tokens if token.key not in keys]
    values, words = values_in(last), {token.key for token in last if token.kind not in VALUES}
    lacks_case = _has_adverbial(others) and all(
        words.issubset(source.keys)
        and not values.isdisjoint(
            values_in(token for token in source.tokens if token.key not in keys)
        )
        for source in beginning
    )
    own = values_in(token for token in sentence.tokens if token.key not in ending.keys)
    return lacks_case or (_has_adverbial(last) and not own.isdisjoint(values_in(others)))


def _has_adverbial(tokens: Sequence[Token]) -> bool:
    return any(not _ADVERBIAL.isdisjoint(token.before) for token in tokens)


def is_mixed(sentence: Phrase, source: Phrase) -> bool:
    """Return whether a clause of `sentence` joins words of `source` that do not belong together."""
    parts = between(sentence.text, SEAM)
    clauses = (phrase(sentence.text[start:end]) for start, end in parts)
    return any(
        comparison.equal() < len([*groupby(comparison.output.keys)])  # a word may be repeated
        or _takes_predicate(comparison)
        or _takes_adverbial(comparison)
        or _takes_opening(comparison)
        or turns_voice(comparison)
        or other_person(comparison)
        for comparison in (compare(clause, source) for clause in clauses if clause.tokens)
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
        opening = tokens[after.right].before
        if opening[:1] in _MARKS and not (_INDEFINITE - own).isdisjoint(opening[1:2]):
            return True
        if not skipped:
            between = {*opening}
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
        if _is_gapped(skipped, subject[0], tokens[after.right], seam=seams[-1].group()):
            return True
    return False


def _is_gapped(skipped: Sequence[Token], subject: Token, after: Token, *, seam: str) -> bool:
    """Return whether a skipped bare noun or number is the subject of a clause that omits its verb.

    So it is in ``Gold went to Chile, silver to Peru`` and in ``Two lifts are broken; one works``.
    """
    if not PREPOSITIONS.isdisjoint(subject.before):
        return False
    shared = PREPOSITIONS.intersection(skipped[0].before, after.before)
    return ";" in seam or bool(shared)


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
    ends = [seam.end() for seam in SEAM.finditer(source.text)]
    starts = [token.start for token in source.tokens]
    cuts = [0, *dict.fromkeys(bisect_left(starts, end) for end in ends), len(starts)]
    return [range(first, last) for first, last in pairwise(cuts) if first < last]
