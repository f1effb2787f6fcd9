"""English verbs: their forms, and the finite ones of a sentence."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Literal, NamedTuple

from spanjury.perturbations.text.clusters import masked
from spanjury.perturbations.text.places import WORD
from spanjury.perturbations.text.wordlists import lines, table

BE = frozenset(("am", "is", "are", "was", "were", "be", "been", "being"))
HAVE = frozenset(("has", "have", "had", "having"))
MODALS = frozenset(
    ("can", "could", "may", "might", "must", "shall", "should", "will", "would", "to")
)
PLURAL_SUBJECTS = frozenset(("i", "they", "we", "you"))
"""Subjects of verb forms without an ``s``."""

_SINGULAR_SUBJECTS = frozenset(("he", "she", "it", "who", "which"))
_BEFORE_NOUNS = frozenset(table("function_words")["before_nouns"])
_AFTER_PARTICIPLES = frozenset(table("function_words")["after_participles"])
_DO = frozenset(("do", "does", "did", "get", "gets", "got"))
_REACH = 3  # words before a participle that may be its auxiliary


class Verb(NamedTuple):
    """The forms of a verb; `nounlike` if its base and its ``s`` form may also be nouns."""

    base: str
    past: str
    participle: str
    third: str
    nounlike: bool


class Token(NamedTuple):
    """A word of a text: half-open offsets, as written, in lower case, and the words before it.

    The words before are those of the same clause, up to the nearest punctuation.
    """

    start: int
    end: int
    text: str
    lower: str
    before: tuple[str, ...]


class FiniteVerb(NamedTuple):
    """A finite form of a full verb: the index of its token, the verb and the tense."""

    position: int
    verb: Verb
    tense: Literal["past", "present"]


@lru_cache(maxsize=16)  # a few texts, which many rules use
def tokens(text: str) -> tuple[Token, ...]:
    """Return the words of `text`, each with up to three preceding ones, the nearest last."""
    read: list[Token] = []
    for match in WORD.finditer(masked(text)):
        before: tuple[str, ...] = ()
        if read and text[read[-1].end : match.start()].isspace():
            before = (*read[-1].before, read[-1].lower)[-_REACH:]
        word = match.group().replace("’", "'")
        read.append(Token(match.start(), match.end(), match.group(), word.lower(), before))
    return tuple(read)


@cache
def verbs(form: Literal["base", "past", "third", "participle"]) -> Mapping[str, Verb]:
    """Return `form` of each known verb -> the verb."""
    paradigms = [_verb(line.split()) for line in lines("verbs")]
    return MappingProxyType({getattr(verb, form): verb for verb in reversed(paradigms)})


def finite_verbs(words: Sequence[Token]) -> Iterator[FiniteVerb]:
    """Find forms that are certainly finite verbs, and certainly not participles.

    In doubt, a form is omitted: past forms that are also participles are returned only if no
    auxiliary precedes and no preposition follows, and nouns such as ``reports`` only after a
    pronoun.
    """
    past, third = verbs("past"), verbs("third")
    for index, word in enumerate(words):
        after = words[index + 1].lower if index + 1 < len(words) else ""
        if word.lower in third and _is_present(word, third[word.lower]):
            yield FiniteVerb(index, third[word.lower], "present")
        elif word.lower in past and _is_past(word, past[word.lower], after=after):
            yield FiniteVerb(index, past[word.lower], "past")


def _is_present(word: Token, verb: Verb) -> bool:
    if not word.before:
        return False
    subject = word.before[-1]
    return subject in _SINGULAR_SUBJECTS or not (verb.nounlike or subject in _BEFORE_NOUNS)


def _is_past(word: Token, verb: Verb, *, after: str) -> bool:
    if not word.before or verb.past == verb.base or word.before[-1] in _BEFORE_NOUNS:
        return False
    if verb.past != verb.participle:
        return word.before[-1] not in BE | HAVE
    subject = word.before[-1]
    if subject in _SINGULAR_SUBJECTS | PLURAL_SUBJECTS:
        return True
    helped = not (BE | HAVE | MODALS | _DO).isdisjoint(word.before)
    return not helped and subject[-2:] != "ly" and after not in _AFTER_PARTICIPLES


def _verb(forms: Sequence[str]) -> Verb:
    base = forms[0].removeprefix("~")
    past, participle = forms[1:] if len(forms) > 1 else (_regular_past(base),) * 2
    return Verb(base, past, participle, _third(base), forms[0].startswith("~"))


def _regular_past(base: str) -> str:
    if base.endswith("e"):
        return base + "d"
    return f"{base[:-1]}ied" if _ends_in_soft_y(base) else f"{base}ed"


def _third(base: str) -> str:
    if base.endswith(("s", "x", "z", "ch", "sh", "o")):
        return base + "es"
    return f"{base[:-1]}ies" if _ends_in_soft_y(base) else f"{base}s"


def _ends_in_soft_y(base: str) -> bool:
    return base.endswith("y") and base[-2] not in "aeiou"
