"""Directions: a text says that something rose and its source that it fell, or the reverse.

A sentence may join the subject of one clause with the verb of another, so that it nearly repeats
neither: ``Profit rose 4%`` compared with ``Revenue rose 4%, while profit fell``.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from spanjury.judges.rules.alignment.contradiction import Contradiction, contradiction
from spanjury.judges.rules.alignment.index import phrases
from spanjury.judges.rules.alignment.keys import keys_of
from spanjury.judges.rules.alignment.lexicon import PREPOSITIONS
from spanjury.judges.rules.alignment.tokens import Phrase, Token

_SEVERITY = 5
_RISING = """rise rises rose risen rising increase increased increasing increases climb climbed
grow grows grew grown growing growth soar soared surge surged jump jumped up"""
_FALLING = """fall falls fell fallen falling decrease decreased decreasing decreases decline
declined drop drops dropped shrink shrank plunge plunged slump slumped down"""
_PARTICLES = frozenset(("up", "down"))  # they indicate a direction after any verb
_UP, _DOWN = keys_of(_RISING), keys_of(_FALLING)
_MOVING = re.compile(rf"\b(?:{'|'.join(f'{_RISING} {_FALLING}'.split())})\b", re.IGNORECASE)
_MARKS = frozenset(',;:()"“”')
_AUXILIARIES = frozenset("has have had also was were is are been be".split())  # noqa: SIM905
_BEHIND = PREPOSITIONS | frozenset(
    "again as after before during since than when while and but although , ; percent".split()  # noqa: SIM905
)
"""Words after a verb without an object."""
_NOUNS = frozenset(("word", "name"))
_DATING = frozenset(("weekday", "month", "ordinal", "name"))


class _Movement(NamedTuple):
    """A noun next to a word that states the direction in which it moved.

    `modifier` is the key of the word directly before the noun, or empty. In a clause the noun is
    surely the subject of the verb, which has no object.
    """

    noun: Token
    modifier: str
    verb: Token
    rises: bool
    is_clause: bool


class _Sentence(NamedTuple):
    """A sentence of an input, which begins at `start`, with its movements."""

    name: str
    start: int
    phrase: Phrase
    movements: Sequence[_Movement]


def turned_directions(output: str, inputs: Mapping[str, str]) -> Iterator[Contradiction]:
    """Yield the verbs that say a noun rises where `inputs` say it falls, or the reverse.

    A noun that moves both ways in the inputs is ignored, as is a sentence with a date or a name
    that the sentence of the input lacks.

    Examples
    --------
    >>> source = {"News": "Revenue rose 4 percent, while profit fell by a tenth."}
    >>> [each.text for each in turned_directions("Profit rose 4 percent.", source)]
    ['rose']
    """
    claimed = [
        (start, sentence, movement)
        for start, sentence in _sentences(output)
        for movement in _movements(sentence)
        if movement.is_clause and not sentence.question
    ]
    if not claimed:
        return
    stated = [
        _Sentence(name, start, sentence, [*_movements(sentence)])
        for name, text in inputs.items()
        for start, sentence in _sentences(text)
    ]
    for start, sentence, movement in claimed:
        for other in _contrary(movement, stated):
            (theirs,) = [each for each in other.movements if _is_contrary(each, movement)][:1]
            dates = {token.key for token in sentence.tokens if token.kind in _DATING}
            if dates.issubset(other.phrase.keys):
                yield contradiction(
                    output,
                    (start + movement.verb.start, start + movement.verb.end),
                    category="antonym",
                    severity=_SEVERITY,
                    name=other.name,
                    source=inputs[other.name],
                    passage=(other.start + theirs.noun.start, other.start + theirs.verb.end),
                )
                break


def _sentences(text: str) -> Iterator[tuple[int, Phrase]]:
    """Yield the sentences that may contain a movement, with their offsets."""
    return ((start, each) for start, each in phrases(text) if _MOVING.search(each.text))


def _movements(sentence: Phrase) -> Iterator[_Movement]:
    """Yield the nouns next to each word of direction: the one before it, and the one after."""
    tokens = sentence.tokens
    for at, verb in enumerate(tokens):
        if verb.key not in _UP and verb.key not in _DOWN:
            continue
        rises = (verb.key in _UP) != verb.denied
        behind = tokens[at + 1] if at + 1 < len(tokens) else None
        if at and _MARKS.isdisjoint(verb.before):
            noun = tokens[at - 1]
            ahead = tokens[at - 2] if at > 1 and not noun.before else None
            modifier = ahead.key if ahead and ahead.kind in _NOUNS else ""
            is_clause = (
                verb.key not in _PARTICLES
                and not verb.denied
                and not noun.denied
                and noun.kind in _NOUNS
                and _AUXILIARIES.issuperset(verb.before)
                and (
                    behind is None
                    or behind.kind == "number"
                    or not _BEHIND.isdisjoint(behind.before)
                )
            )
            yield _Movement(noun, modifier, verb, rises, is_clause)
        if behind is not None and _MARKS.isdisjoint(behind.before):
            yield _Movement(behind, "", verb, rises, is_clause=False)


def _contrary(movement: _Movement, stated: Sequence[_Sentence]) -> Iterator[_Sentence]:
    """Yield the sentences in which a noun moves the other way; none if it ever moves the same way.

    A word of direction with an uncertain subject in such a sentence may refer to the same noun.
    """
    contrary = []
    for sentence in stated:
        opposed = any(_is_contrary(each, movement) for each in sentence.movements)
        same_way = [each for each in sentence.movements if each.rises == movement.rises]
        sure = {each.verb.start for each in same_way if each.is_clause}
        if any(each.noun.key == movement.noun.key for each in same_way) or (
            opposed and any(each.verb.start not in sure for each in same_way)
        ):
            return
        if opposed:
            contrary.append(sentence)
    yield from contrary


def _is_contrary(theirs: _Movement, movement: _Movement) -> bool:
    return (
        theirs.is_clause
        and theirs.rises != movement.rises
        and (theirs.noun.key, theirs.modifier) == (movement.noun.key, movement.modifier)
    )
