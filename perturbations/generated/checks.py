"""Checks that a model did the damage that it was asked for, and nothing else.

Each returns what is wrong, as the model is given it, or an empty text.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import pairwise
from types import MappingProxyType

from spanjury.judges.text import folded_words
from spanjury.perturbations.edits import edits_between
from spanjury.perturbations.text.passages import passages

Check = Callable[[str, str, int], str]
"""``check(clean, damaged, k)``; `k` changes were asked for."""

_WORDS_A_CHANGE = 6  # a long name, or a clause bent by an error
_MOST_CHANGED = 0.5  # share of the words beyond which a text is another one
_NAME_INSIDE = re.compile(r"(?<=[\w,;] )[A-Z]\w+|\d[\d.,]*\d|\d")
_SHORTEST, _LONGEST = 0.4, 2.5  # times the words of a sentence said again


def check_entities(clean: str, damaged: str, k: int) -> str:
    """Check that up to `k` names or numbers, and no sentences, became others."""
    if problem := _extent(clean, damaged, k=2 * k):
        return problem
    if len(passages(clean)) != len(passages(damaged)):
        return "the number of sentences has changed"
    before, after = _words(clean), _words(damaged)
    if not any(map(_is_name, after - before)) and not any(map(_is_name, before - after)):
        return "no name, number or term has become another"
    return ""


def check_grammar(clean: str, damaged: str, k: int) -> str:
    """Check that there are `k` changes or more, and that names and numbers are as they were."""
    if problem := _extent(clean, damaged, k=k):
        return problem
    if len(edits_between(clean, damaged)) < k:
        return f"fewer than {k} places have changed"
    lost = Counter(_NAME_INSIDE.findall(clean)) - Counter(_NAME_INSIDE.findall(damaged))
    return f"{next(iter(lost))!r} is missing" if lost else ""


def check_insertion(clean: str, damaged: str, k: int) -> str:
    """Check that `k` sentences were added, each a new wording of the one before it."""
    before = [passage.text for passage in passages(clean)]
    after = [passage.text for passage in passages(damaged)]
    if len(after) != len(before) + k:
        return f"{len(after) - len(before)} sentences were added instead of {k}"
    kept = iter(after)
    if not all(sentence in kept for sentence in before):
        return "not all sentences of the text are there, word for word and in their order"
    spare = Counter(before)
    for original, added in pairwise(["", *after]):
        if spare[added] > 0:
            spare[added] -= 1
        elif problem := _wording(original, added):
            return problem
    return ""


CHECKS: Mapping[str, Check] = MappingProxyType(
    {
        "fictional-entities": check_entities,
        "grammatical-errors": check_grammar,
        "rewrite-and-insert": check_insertion,
    }
)
"""Kind of damage that a model can be asked for -> its check."""


def _extent(clean: str, damaged: str, *, k: int) -> str:
    """Say whether nothing, or more than `k` changes can take, is different."""
    before, after = _words(clean), _words(damaged)
    changed = max((before - after).total(), (after - before).total())
    if clean.split() == damaged.split():
        return "nothing has changed"
    if changed > max(k * _WORDS_A_CHANGE, 1) or changed > max(_MOST_CHANGED * before.total(), 2):
        return f"{changed} of {before.total()} words have changed, which is too much"
    return ""


def _wording(original: str, added: str) -> str:
    """Say what is wrong with a sentence that should say `original` in other words."""
    old, new = folded_words(original), folded_words(added)
    if old == new:
        return f"{added!r} repeats a sentence word for word"
    if not _SHORTEST * len(old) <= len(new) <= _LONGEST * len(old):
        return f"{added!r} is too short or too long for the sentence before it"
    if not {word for word in old if len(word) > 3} & set(new):  # noqa: PLR2004 - no function word
        return f"{added!r} has nothing to do with the sentence before it"
    return ""


def _words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+(?:[.,'’-]\w+)*", text))


def _is_name(word: str) -> bool:
    """Whether a word can be an entity: a number, a name, or a term of some length."""
    return word[0].isdigit() or word[0].isupper() or len(word) > 5  # noqa: PLR2004
