"""Damage to the meaning of sentences that remain well formed."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from numpy.random import Generator

from spanjury.perturbations.edits import Edit
from spanjury.perturbations.text.aspects import FORM, GROUNDING, OVERALL
from spanjury.perturbations.text.clusters import masked
from spanjury.perturbations.text.language import english_perturbation
from spanjury.perturbations.text.places import WORD, Choice, cased_like, fitted, struck
from spanjury.perturbations.text.verbs import HAVE, MODALS, Token, finite_verbs, tokens, verbs
from spanjury.perturbations.text.wordlists import exchanges, table

_TAKE_NOT = frozenset(table("function_words")["take_not"])
_NEGATIONS = frozenset(("not", "n't", "never", "no", "hardly", "nor", "only"))
_CONTRACTED = {"can't": "can", "won't": "will", "cannot": "can"}
_DETERMINERS = frozenset("a an the his her its their our my your this that of".split())  # noqa: SIM905
_SUBJECTS = frozenset("i he she it they we you there".split())  # noqa: SIM905
_AFTER_OBJECTS = frozenset(table("function_words")["after_objects"])


@english_perturbation(family="meaning", level="word", harms=GROUNDING | OVERALL, spares=FORM)
def negate(text: str, rng: Generator, *, k: int = 1) -> list[Edit]:
    """Negate `k` statements, or remove their negation."""
    words = tokens(text)
    return struck(sorted((*_denied(words), *_affirmed(words))), rng, k=k, what="verbs to be denied")


@english_perturbation(family="meaning", level="word", harms=GROUNDING | OVERALL, spares=FORM)
def antonym(text: str, rng: Generator, *, k: int = 1) -> list[Edit]:
    """Replace `k` words by words that mean the opposite."""
    return struck(
        _replaced(text, exchanges("antonyms")), rng, k=k, what="words with a known opposite"
    )


@english_perturbation(
    family="meaning",
    level="word",
    harms={"accuracy", "informativeness", "meaning-preservation"},
    spares=FORM | {"consistency", "faithfulness", "factuality", "groundedness"},
)
def hypernym(text: str, rng: Generator, *, k: int = 1) -> list[Edit]:
    """Replace `k` words by more general ones, such as ``dog`` by ``animal``."""
    return struck(_replaced(text, table("hypernyms")), rng, k=k, what="words with a known hypernym")


@english_perturbation(family="meaning", level="word", harms=GROUNDING | OVERALL | {"coherence"})
def wrong_pronoun(text: str, rng: Generator, *, k: int = 1) -> list[Edit]:
    """Replace `k` pronouns by those of another person, such as ``he`` by ``she``."""
    choices = []
    words = tokens(text)
    for index, word in enumerate(words):
        others = table("persons").get(word.lower)
        if others and word.text != "US":
            after = words[index + 1] if index + 1 < len(words) else None
            owns = after and after.before and after.lower not in _AFTER_OBJECTS
            new = others[0] if owns else others[-1]
            choices.append(Choice(word.start, word.end, (cased_like(new, word.text),)))
    return struck(choices, rng, k=k, what="personal pronouns")


def _replaced(text: str, words: Mapping[str, tuple[str, ...]]) -> list[Choice]:
    """Find the words that have replacements in `words`; capitalized ones may be names."""
    return [
        fitted(text, Choice(*match.span(), words[match.group()]))
        for match in WORD.finditer(masked(text))
        if match.group() in words
    ]


def _denied(words: Sequence[Token]) -> Iterator[Choice]:
    """Yield the verbs that can be negated, with their negations."""
    for word, after in pairwise(words):
        if _takes_not(word, after):
            new = "cannot" if word.lower == "can" else f"{word.text} not"
            yield Choice(word.start, word.end, (new,))
    for index, verb, tense in finite_verbs(words):
        word = words[index]
        if _NEGATIONS.isdisjoint(word.before):
            helper = "did" if tense == "past" else "does"
            yield Choice(word.start, word.end, (f"{helper} not {verb.base}",))


def _takes_not(word: Token, after: Token) -> bool:
    if word.text not in _TAKE_NOT or not (word.before and after.before):
        return False
    if word.before[-1] in _DETERMINERS or after.lower in _NEGATIONS | _SUBJECTS:
        return False
    if word.lower in HAVE:
        perfect = after.lower in verbs("participle") or after.lower in {"been", "had"}
        return perfect and MODALS.isdisjoint(word.before)
    return True


def _affirmed(words: Sequence[Token]) -> Iterator[Choice]:
    """Yield the negations that can be removed, with what remains."""
    for word, after in pairwise(words):
        plain = word.text.replace("’", "'")
        if plain in _CONTRACTED or plain[1:].endswith("n't"):
            yield Choice(word.start, word.end, (_CONTRACTED.get(plain, plain[:-3]),))
        elif word.text == "not" and after.before and after.lower != "only":
            if word.before and word.before[-1] in _TAKE_NOT | {"can", "did", "does", "do"}:
                yield Choice(word.start, after.start, ("",))
        elif word.text == "never" and word.before and after.before:
            yield Choice(word.start, after.start, ("",))
