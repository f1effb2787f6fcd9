"""Damage to words, mostly of any language that separates them: deletion, repetition, order."""

import re
from itertools import pairwise

from numpy.random import Generator

from spanjury.judges.text import sentences
from spanjury.perturbations.edits import Edit
from spanjury.perturbations.perturbation import text_perturbation
from spanjury.perturbations.text.aspects import CONTENT, FORM, GROUNDING, OVERALL, STRUCTURE
from spanjury.perturbations.text.clusters import masked
from spanjury.perturbations.text.language import english_perturbation
from spanjury.perturbations.text.places import (
    WORD,
    Choice,
    cased_like,
    chosen,
    require_count,
    struck,
)
from spanjury.perturbations.text.wordlists import exchanges

_REPEATED_WORDS = frozenset(("had", "that", "very"))  # whose repetition is not always an error
_COULD_HAVE = re.compile(r"(?<=ould )have\b")


@text_perturbation(family="word-and-grammar", level="word", harms=FORM | STRUCTURE | OVERALL)
def delete_word_run(text: str, rng: Generator, *, k: int = 5) -> list[Edit]:
    """Delete `k` consecutive words, with what is between them; one edit."""
    require_count(k)
    words = [match.span() for match in WORD.finditer(masked(text))]
    runs = len(words) - k + 1 if len(words) > k else 0  # at least one word must stay
    first = int(chosen(runs, rng, k=1, what=f"runs of {k} words beside another word")[0])
    if first + k < len(words):
        return [Edit(start=words[first][0], end=words[first + k][0], text="")]
    return [Edit(start=words[first - 1][1], end=words[-1][1], text="")]


@text_perturbation(
    family="word-and-grammar", level="word", harms=FORM | STRUCTURE | OVERALL, spares={"coverage"}
)
def shuffle_words(text: str, rng: Generator, *, k: int = 5) -> list[Edit]:
    """Shuffle `k` consecutive words of one sentence, at least 2; one edit."""
    require_count(k, least=2)
    mask = masked(text)
    runs: list[list[tuple[int, int]]] = []
    for sentence in sentences(text):
        words = [match.span() for match in WORD.finditer(mask, sentence.start, sentence.end)]
        runs.extend(words[first : first + k] for first in range(len(words) - k + 1))
    runs = [run for run in runs if len({text[start:end] for start, end in run}) > 1]
    what = f"runs of {k} different words in a sentence"
    run = runs[int(chosen(len(runs), rng, k=1, what=what)[0])]
    before = [text[start:end] for start, end in run]
    after = before
    while after == before:
        after = [before[index] for index in rng.permutation(k).tolist()]
    gaps = [text[left[1] : right[0]] for left, right in pairwise(run)]
    new = "".join(word + gap for word, gap in zip(after, [*gaps, ""], strict=True))
    return [Edit(start=run[0][0], end=run[-1][1], text=new)]


@text_perturbation(
    family="word-and-grammar", level="word", harms=FORM | OVERALL, spares=GROUNDING | {"coverage"}
)
def repeat_word(text: str, rng: Generator, *, k: int = 1) -> list[Edit]:
    """Write `k` words twice, like a speaker who has lost the thread."""
    words = [match.span() for match in WORD.finditer(masked(text))]
    spoken = [text[start:end] for start, end in words]
    choices = [
        Choice(start, end, (f"{word} {word}",))
        for (start, end), word, after in zip(words, spoken, [*spoken[1:], ""], strict=False)
        if word.casefold() not in {after.casefold(), *_REPEATED_WORDS}
    ]
    return struck(choices, rng, k=k, what="words")


@english_perturbation(family="word-and-grammar", level="word", harms=FORM | OVERALL, spares=CONTENT)
def confuse_words(text: str, rng: Generator, *, k: int = 1) -> list[Edit]:
    """Replace `k` words by others that sound or look alike, such as ``their`` by ``there``."""
    mask = masked(text)
    choices = [Choice(*match.span(), ("of",)) for match in _COULD_HAVE.finditer(mask)]
    confusions = exchanges("confusions")
    for match in WORD.finditer(mask):
        word = match.group()
        others = confusions.get(word.lower().replace("’", "'"), ())
        if others:
            written = tuple(cased_like(other, word) for other in others)
            choices.append(Choice(*match.span(), written))
    choices.sort()
    return struck(choices, rng, k=k, what="words with one that sounds alike")
