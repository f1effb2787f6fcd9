"""Answers from the wrong part of the source, or in another role than the question asks for.

A sentence often answers a question for several subjects: ``Adults pay 8 euros, children 5 euros``.
An answer belongs to the question whose words its part of the sentence has. A later, shorter part
also takes over words of the part before it: children *pay* 5 euros.

``Who won?`` asks for the subject of a clause. The source may have the answer as an object, or as
the subject of the converse: who buys from a seller does not sell.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise
from types import MappingProxyType

from spanjury.judges.rules.alignment.aligner import Comparison, compare
from spanjury.judges.rules.alignment.continuations import values_in
from spanjury.judges.rules.alignment.doubts import doubts
from spanjury.judges.rules.alignment.exchanges import is_object
from spanjury.judges.rules.alignment.index import phrases
from spanjury.judges.rules.alignment.keys import key
from spanjury.judges.rules.alignment.lexicon import BE, DETERMINERS, MODALS, SUBJECTS
from spanjury.judges.rules.alignment.near_copies import forms_of
from spanjury.judges.rules.alignment.opposites import CONVERSES, OPPOSITES
from spanjury.judges.rules.alignment.tokens import VALUES, Phrase, Token, phrase
from spanjury.judges.text.restatements import is_participle

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
_SUBJECT = re.compile(
    r"\W*(?:[Ww]ho|[Ww]hich(?: of the)? \w+) (?!(?:are|is|was|were) (?:an?|his|her|its|my|our|the"
    r"|their|your|[A-Z]\w*)\b)(?!(?:can|could|did|do|does|had|has|have|may|might|must|shall|should"
    r"|will|would)\b)(?P<predicate>[^?]+)\?\s*"
)
"""A question about the subject of a clause: ``Who sold the boat?``"""
_UNDERGOING = re.compile(
    r"\W*(?:be(?:came|comes?)|die[ds]?|fell|gets?|got|joins?|joined|obtain(?:s|ed)?|receive[ds]?"
    r"|suffer(?:s|ed)?)\b"
)
"""A verb whose subject may be the object of another: who joins a team is hired by it."""
_LONGEST_SUBJECT = 3  # words
_PARALLEL = re.compile(r"[,;:]|\b(?:and|but|whereas|while)\b")
_STRANDED = re.compile(
    r"\b(?P<last>by|for|from|to|with)\?\s*$"
    r"|^\W*(?P<first>by|for|from|to|with) (?:how|what|where|which|whom)\b",
    re.IGNORECASE,
)
"""The preposition of what is asked: ``Where did it move to?``"""
_AGENT = re.compile(
    r"\W*who (?:is|was|were|are) the (?P<noun>\w+(?<!th|st|ht)ers?)\b[^?]*\?\s*", re.IGNORECASE
)
"""A question about the subject of the verb in an agent noun: ``murderer``, not ``mother``."""


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
    kinds, opened = values_in(answer.tokens), openings(answer.tokens[0])
    if kinds:
        compared: list[tuple[re.Pattern[str], _Likeness]] = [
            (_PART, lambda token: token.measure in kinds)
        ]
    else:
        compared = [(_PART, lambda token: not opened.isdisjoint(openings(token)))]
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


def has_other_role(
    sentence: Phrase, questions: Sequence[str], *, evidence: Mapping[str, str]
) -> bool:
    """Return whether the source does not say of a short answer what the question asks."""
    if not 0 < len(sentence.tokens) <= _LONGEST_SUBJECT:
        return False
    parts = [part for text in evidence.values() for _, part in phrases(text)]
    for question in questions:
        if subject := _SUBJECT.fullmatch(question):
            predicate = subject["predicate"]
            asked = phrase(predicate)
            if _is_passive(asked):
                is_other = _is_agent(sentence, asked.keys[0], parts)
            else:
                undergoes = _UNDERGOING.match(predicate) is not None
                is_other = _is_counterpart(sentence, asked.keys, parts, undergoes=undergoes)
            return is_other or _is_no_subject(sentence, predicate, parts, evidence=evidence)
        if agent := _AGENT.fullmatch(question):
            return _is_counterpart(sentence, [key(agent["noun"].lower())], parts)
        if stranded := _STRANDED.search(question):
            wanted = (stranded["last"] or stranded["first"]).lower()
            return _follows_other(sentence, wanted, parts)
    return False


def _is_no_subject(
    sentence: Phrase, predicate: str, parts: Iterable[Phrase], *, evidence: Mapping[str, str]
) -> bool:
    """Return whether the answer is not the subject of the words of the question.

    A sentence of the source with all these words must have those of the question in order, or the
    answer as an object, or the order says nothing. Parallel parts may omit their verb.
    """
    statement = phrase(f"{sentence.text.strip().rstrip('.!')} {predicate}.")
    keys, asked = frozenset(statement.keys), phrase(predicate)
    holding = [part for part in parts if keys.issubset(part.keys)]
    simple = [part for part in holding if not _PARALLEL.search(part.text)]
    forms = [form for part in simple for form in forms_of(part, is_source=True)]
    is_clear = any(
        compare(asked, form).equal() == len(asked.tokens) or _follows_verb(sentence, asked, form)
        for form in forms
    )
    if any(_is_compared(compare(statement, part)) for part in simple):
        return False
    return (is_clear or not holding) and any(doubts(statement.text, evidence))


def _is_compared(comparison: Comparison) -> bool:
    """Return whether the output only lacks what its subject is compared with: than Lee."""
    linked = [link.right for link in comparison.links if link.same]
    if len(linked) < len(comparison.output.tokens) or linked[-1] - linked[0] >= len(linked):
        return False
    behind = comparison.source.tokens[linked[-1] + 1 :]
    return bool(behind) and "than" in behind[0].before


def _is_passive(asked: Phrase) -> bool:
    """Return whether the words after "who" begin with a passive: was bought."""
    return any(
        not BE.isdisjoint(verb.before) and is_participle(asked.written(verb))
        for verb in asked.tokens[:1]
    )


def _is_agent(answer: Phrase, asked: str, parts: Iterable[Phrase]) -> bool:
    """Return whether the answer only does to others what is done to the one that is asked for."""
    first, last = answer.tokens[0].key, answer.tokens[-1].key
    roles = {
        (subject.key == last, after.key == first)
        for part in parts
        for subject, verb, after in _clauses(part)
        if verb.key == asked and BE.isdisjoint(verb.before) and _is_second(verb, after)
    }
    return (True, False) in roles and (False, True) not in roles


def _is_counterpart(
    answer: Phrase, asked: Sequence[str], parts: Iterable[Phrase], *, undergoes: bool = False
) -> bool:
    """Return whether the source has the answer only in the other role of what is asked.

    It is the subject of the converse of the question's verb or, unless one `undergoes` what that
    verb says, the object of another verb.
    """
    keys = frozenset(answer.keys)
    holding = [part for part in parts if keys.issubset(part.keys)]
    return bool(holding) and all(
        any(_has_counterpart(answer, asked[0], part, undergoes=undergoes))
        for part in holding
        if asked
    )


def _has_counterpart(
    answer: Phrase, asked: str, part: Phrase, *, undergoes: bool
) -> Iterator[bool]:
    """Yield whether the answer is the wrong one of two names around each verb of `part`."""
    first, last = answer.tokens[0].key, answer.tokens[-1].key
    for subject, verb, after in _clauses(part):
        if asked in part.keys and asked != verb.key:
            continue
        # Two words are opposites, or the same event with its roles exchanged.
        words = CONVERSES if asked in CONVERSES and verb.key in CONVERSES else OPPOSITES
        if asked in words.get(verb.key, ()):
            yield subject.key == last and any(
                token.kind == "name" and token.key not in answer.keys for token in part.tokens
            )
        else:
            yield not undergoes and after.key == first and _is_second(verb, after)


def _clauses(part: Phrase) -> Iterator[tuple[Token, Token, Token]]:
    """Yield each name with the verb and the token after it."""
    for subject, verb, after in zip(part.tokens, part.tokens[1:], part.tokens[2:], strict=False):
        if subject.kind == "name" and verb.kind == "word" and all(map(str.isalpha, verb.before)):
            yield subject, verb, after


def _is_second(verb: Token, after: Token) -> bool:
    """Return whether a name is the object of a verb, or what something is compared with."""
    return after.kind == "name" and (is_object(verb, after) or "than" in after.before)


def _follows_verb(answer: Phrase, asked: Phrase, source: Phrase) -> bool:
    """Return whether the answer directly follows the active verb of the question in the source."""
    sought = [asked.keys[0], answer.keys[0]] if asked.keys else []
    return any(
        [verb.key, after.key] == sought and is_object(verb, after)
        for verb, after in pairwise(source.tokens)
    )


def _follows_other(sentence: Phrase, wanted: str, parts: Iterable[Phrase]) -> bool:
    """Return whether other words than the answer's follow the preposition `wanted`."""
    keys = frozenset(sentence.keys)
    following = [
        {token.key for token in part.tokens if wanted in token.before}
        for part in parts
        if keys.issubset(part.keys)
    ]
    return bool(following) and all(held and keys.isdisjoint(held) for held in following)
