"""Answers taken from the wrong part of a sentence.

A sentence often answers a question for several subjects: ``Adults pay 8 euros, children 5 euros``.
An answer belongs to the question whose words its part of the sentence has. A later, shorter part
also takes over words of the part before it: children *pay* 5 euros.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from types import MappingProxyType

from spanjury.judges.rules.alignment.continuations import values_in
from spanjury.judges.rules.alignment.lexicon import BE, DETERMINERS, MODALS, SUBJECTS
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
_ITEM = re.compile(r"[,;](?!\d)|^[^,:;]*:(?!.*:)|\band\b")
"""Seams of the items of a list: ``Roles: tea Anna, cake Ben``, with its heading."""
_PAIR = 3  # maximum words of an item without a verb
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
    if is_of_other_parallel(answer, asked, _parts(sentence, _ITEM)):
        return True
    return is_open and _is_beside_topic(answer, asked, _parts(sentence, _CLAUSE))


def _parts(sentence: Phrase, seam: re.Pattern[str]) -> list[Phrase]:
    """Return the parts of a sentence between seams; none if one is too long to be parallel."""
    parts = [part for part in map(phrase, seam.split(sentence.text)) if part.tokens]
    return parts if all(len(part.tokens) <= _LONGEST for part in parts) else []


def _like_value(answer: Phrase) -> _Likeness:
    """Return whether a token is a value of the kind of the answer's."""
    kinds = values_in(answer.tokens)
    return lambda token: token.measure in kinds


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


def statements(part: Phrase) -> Iterator[tuple[str, bool]]:
    """Yield the key of each word, and whether it is denied."""
    return ((token.key, token.denied) for token in part.tokens)


def openings(token: Token) -> AbstractSet[str]:
    """Return the prepositions with which a token that is no value begins an adverbial."""
    if token.kind in VALUES:
        return _NONE
    return {_PREPOSITIONS[word] for word in token.before if word in _PREPOSITIONS}


def _loses(
    answer: Phrase, asked: AbstractSet[str], parts: Sequence[Phrase], *, like: _Likeness
) -> bool:
    """Return whether each part with the answer fits the question less than one with another."""
    keys, stated = frozenset(answer.keys), frozenset(statements(answer))
    holding = [at for at, part in enumerate(parts) if stated.issubset(statements(part))]
    others = [
        at
        for at, part in enumerate(parts)
        if at not in holding
        and (
            keys.issubset(part.keys)  # one denies what the other states
            or any(like(token) and _is_other(token, asked, keys) for token in part.tokens)
        )
    ]
    return bool(holding) and all(
        any(_fits_better(asked, parts, other, than=at) for other in others) for at in holding
    )


def is_of_other_parallel(answer: Phrase, asked: AbstractSet[str], parts: Sequence[Phrase]) -> bool:
    """Return whether the question is about a part that is parallel to that of the answer.

    Parallel parts have equally many words, and at least half of them are equal unless both are
    items of a list. The parallel part has other words in the position of the answer, and more words
    of the question.
    """
    keys = frozenset(answer.keys)
    holding = [part for part in parts if keys < {*part.keys}]
    return bool(holding) and all(
        any(_answers_instead(other, own, keys=keys, asked=asked) for other in parts)
        for own in holding
    )


def _answers_instead(
    other: Phrase, own: Phrase, *, keys: AbstractSet[str], asked: AbstractSet[str]
) -> bool:
    """Return whether `other` is parallel to `own` and has more words of the question."""
    if len(other.keys) != len(own.keys) or not asked & {*own.keys} < asked & {*other.keys}:
        return False
    pairs = list(zip(other.keys, own.keys, strict=True))
    instead = {theirs for theirs, key in pairs if key in keys}
    equal = sum(theirs == key for theirs, key in pairs)
    are_items = len(pairs) <= _PAIR and _is_item(own) and _is_item(other)
    return instead.isdisjoint(asked | keys) and (are_items or 2 * equal >= len(pairs))


def _is_item(part: Phrase) -> bool:
    """Return whether only content words and articles follow the first content word of a part."""
    return all(DETERMINERS.issuperset(token.before) for token in part.tokens[1:])


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
