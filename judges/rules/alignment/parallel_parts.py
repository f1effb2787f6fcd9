"""Answers taken from the wrong part of a sentence.

A sentence often answers a question for several subjects: ``Adults pay 8 euros, children 5 euros``.
An answer belongs to the question whose words its part of the sentence has. A later, shorter part
also takes over words of the part before it: children *pay* 5 euros.
"""

import re
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from types import MappingProxyType

from spanjury.judges.rules.alignment.doubts import SUBJECTS
from spanjury.judges.rules.alignment.lexicon import BE, DETERMINERS, MODALS
from spanjury.judges.rules.alignment.tokens import VALUES, Phrase, Token, phrase

_PART = re.compile(r"[,;](?!\d)|\b(?:and|but|whereas|while)\b")
"""Seams of parts that may each have a value or an adverbial."""
_CONJUNCT = re.compile(r";|\b(?:and|but|whereas|while)\b")
"""Seams of parts that may each have a name; a name after a comma may be in apposition."""
_CLAUSE = re.compile(r";|, and\b|\b(?:but|whereas|while)\b")
"""Seams of clauses, each with a subject and a verb."""
_PREPOSITIONS = MappingProxyType(
    {word: word for word in "by for from to with".split()}  # noqa: SIM905
    | dict.fromkeys("at in into on onto".split(), "at")  # noqa: SIM905
)
"""Preposition of an adverbial -> one for all that begin the same kind of adverbial."""
_LONGEST = 12  # maximum words of a part
_NONE: AbstractSet[str] = frozenset()
_AUXILIARIES = BE | MODALS | {"can", "do", "does", "did", "had", "has", "have", "will"}

_Likeness = Callable[[Token], bool]
"""Return whether a token of another part may be an answer instead."""


def is_of_other_part(
    answer: Phrase, asked: AbstractSet[str], sentences: Sequence[Phrase], *, is_open: bool
) -> bool:
    """Return whether in each sentence with the answer another part fits the question better.

    Parameters
    ----------
    asked
        Keys of the words of the question that the answer lacks.
    is_open
        Whether the question asks for more than yes or no.

    Examples
    --------
    >>> source = [phrase("Adults pay 8 euros, children 5 euros.")]
    >>> is_of_other_part(phrase("5 euros"), {"adult", "pay"}, source, is_open=True)
    True
    """
    keys = frozenset(answer.keys)
    holding = [sentence for sentence in sentences if keys.issubset(sentence.keys)]
    return bool(holding) and all(
        _is_better_elsewhere(answer, asked, sentence, is_open=is_open) for sentence in holding
    )


def _is_better_elsewhere(
    answer: Phrase, asked: AbstractSet[str], sentence: Phrase, *, is_open: bool
) -> bool:
    """Return whether no part of `sentence` with the answer fits as well as the parts beside it."""
    if not VALUES.isdisjoint(answer.kinds):
        compared = [(_PART, _like_value(answer))]
    else:
        compared = [(_PART, _like_adverbial(answer))]
        if "name" in answer.kinds:
            compared.append((_CONJUNCT, _is_name))
            compared.append((_PART, _like_named(answer, sentence)))
    if any(_loses(answer, asked, _parts(sentence, seam), like=like) for seam, like in compared):
        return True
    return is_open and _is_beside_topic(answer, asked, _parts(sentence, _CLAUSE))


def _parts(sentence: Phrase, seam: re.Pattern[str]) -> list[Phrase]:
    """Return the parts of a sentence between seams; none if one is too long to be parallel."""
    parts = [part for part in map(phrase, seam.split(sentence.text)) if part.tokens]
    return parts if all(len(part.tokens) <= _LONGEST for part in parts) else []


def _like_value(answer: Phrase) -> _Likeness:
    """Return whether a token is a value of the kind of the answer's."""
    kinds = {_kind(token) for token in answer.tokens if token.kind in VALUES}
    return lambda token: _kind(token) in kinds


def _kind(token: Token) -> tuple[str, str]:
    """Return the kind of a value and, of a quantity, its dimension."""
    return token.kind, token.unit[0] if token.unit else ""


def _like_adverbial(answer: Phrase) -> _Likeness:
    """Return whether a token begins an adverbial with the preposition of the answer's."""
    opened = openings(answer.tokens[0])
    return lambda token: not opened.isdisjoint(openings(token))


def _like_named(answer: Phrase, sentence: Phrase) -> _Likeness:
    """Return whether a name follows the preposition that the answer's name follows in a sentence.

    A name in apposition follows none.
    """
    name = next(token for token in answer.tokens if token.kind == "name")
    opened = {
        word for token in sentence.tokens if token.key == name.key for word in openings(token)
    }
    return lambda token: _is_name(token) and not opened.isdisjoint(openings(token))


def _is_name(token: Token) -> bool:
    return token.kind == "name"


def openings(token: Token) -> AbstractSet[str]:
    """Return the prepositions with which a token that is no value begins an adverbial."""
    if token.kind in VALUES:
        return _NONE
    return {_PREPOSITIONS[word] for word in token.before if word in _PREPOSITIONS}


def _loses(
    answer: Phrase, asked: AbstractSet[str], parts: Sequence[Phrase], *, like: _Likeness
) -> bool:
    """Return whether each part with the answer fits the question less than one with another."""
    keys = frozenset(answer.keys)
    holding = [at for at, part in enumerate(parts) if keys.issubset(part.keys)]
    others = [
        at
        for at, part in enumerate(parts)
        if at not in holding
        and any(like(token) and _is_other(token, asked, keys) for token in part.tokens)
    ]
    return bool(holding) and all(
        any(_fits_better(asked, parts, other, than=at) for other in others) for at in holding
    )


def _is_other(token: Token, asked: AbstractSet[str], keys: AbstractSet[str]) -> bool:
    """Return whether a token of a part without the answer is in neither question nor answer.

    A number of the answer may have another unit there: three months, three years.
    """
    return token.key not in asked and (token.kind == "number" or token.key not in keys)


def _fits_better(
    asked: AbstractSet[str], parts: Sequence[Phrase], other: int, *, than: int
) -> bool:
    """Return whether a part has more of the question's words, its own and those taken over.

    A later part that is no longer takes over words of the part before it. So
    one word of its own is enough for it.
    """
    there, here = (asked & {*parts[at].keys} for at in (other, than))
    longer = len(parts[other].tokens) - len(parts[than].tokens)
    if other > than and longer <= 0:
        return not there <= here
    if other < than and longer > 0:
        return here < there
    return len(there) > len(here)


def _is_beside_topic(answer: Phrase, asked: AbstractSet[str], clauses: Sequence[Phrase]) -> bool:
    """Return whether the question is about another clause than that of the answer.

    The clause of the answer has a subject of its own and no word of the question.
    """
    keys = frozenset(answer.keys)
    holding = [clause for clause in clauses if keys.issubset(clause.keys)]
    topics = [asked & {*clause.keys} for clause in clauses]
    return (
        any(topics)
        and bool(holding)
        and all(asked.isdisjoint(clause.keys) and _has_subject(clause) for clause in holding)
    )


def _has_subject(clause: Phrase) -> bool:
    """Return whether a clause surely begins with a noun as its subject."""
    first = clause.tokens[0]
    if not SUBJECTS.isdisjoint(first.before):
        return False
    return (
        first.kind == "name"
        or not DETERMINERS.isdisjoint(first.before)
        or any(not _AUXILIARIES.isdisjoint(token.before) for token in clause.tokens[1:3])
    )
