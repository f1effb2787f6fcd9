"""Answers in another role than the question asks for: the loser of a match for the winner.

``Who won?`` asks for the subject of a clause. The source may have the answer as an object, or as
the subject of the converse: who buys from a seller does not sell.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from spanjury.judges.rules.alignment.aligner import Comparison, compare
from spanjury.judges.rules.alignment.doubts import doubts
from spanjury.judges.rules.alignment.index import pieces
from spanjury.judges.rules.alignment.keys import key
from spanjury.judges.rules.alignment.lexicon import BE, DETERMINERS
from spanjury.judges.rules.alignment.near_copies import forms_of
from spanjury.judges.rules.alignment.opposites import CONVERSES, OPPOSITES
from spanjury.judges.rules.alignment.tokens import Phrase, Token, phrase
from spanjury.judges.text.restatements import is_participle

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


def has_other_role(
    sentence: Phrase, questions: Sequence[str], *, evidence: Mapping[str, str]
) -> bool:
    """Return whether the source does not say of a short answer what the question asks."""
    if not 0 < len(sentence.tokens) <= _LONGEST_SUBJECT:
        return False
    parts = [phrase(text[start:end]) for text in evidence.values() for start, end in pieces(text)]
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
        compare(asked, form).equal() == len(asked.tokens) or _is_object(sentence, asked, form)
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
    verb = asked.tokens[0] if asked.tokens else None
    return (
        verb is not None
        and not BE.isdisjoint(verb.before)
        and is_participle(asked.text[verb.start : verb.end])
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
        if _is_converse(asked, verb.key):
            yield subject.key == last and _names_other(part, answer)
        else:
            yield not undergoes and after.key == first and _is_second(verb, after)


def _clauses(part: Phrase) -> Iterator[tuple[Token, Token, Token]]:
    """Yield each name with the verb and the token after it."""
    for subject, verb, after in zip(part.tokens, part.tokens[1:], part.tokens[2:], strict=False):
        if subject.kind == "name" and verb.kind == "word" and all(map(str.isalpha, verb.before)):
            yield subject, verb, after


def _is_converse(asked: str, verb: str) -> bool:
    """Return whether two words are opposites, or the same event with its roles exchanged."""
    words = CONVERSES if asked in CONVERSES and verb in CONVERSES else OPPOSITES
    return asked in words.get(verb, ())


def _names_other(part: Phrase, answer: Phrase) -> bool:
    return any(token.kind == "name" and token.key not in answer.keys for token in part.tokens)


def _is_second(verb: Token, after: Token) -> bool:
    """Return whether a name is the object of a verb, or what something is compared with."""
    is_object = BE.isdisjoint(verb.before) and DETERMINERS.issuperset(after.before)
    return after.kind == "name" and (is_object or "than" in after.before)


def _is_object(answer: Phrase, asked: Phrase, source: Phrase) -> bool:
    """Return whether the answer directly follows the active verb of the question in the source."""
    return bool(asked.tokens) and any(
        verb.key == asked.tokens[0].key
        and after.key == answer.tokens[0].key
        and BE.isdisjoint(verb.before)
        and DETERMINERS.issuperset(after.before)
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
