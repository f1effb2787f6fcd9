"""Changes that may influence a judge although the content stays the same."""

from itertools import pairwise

from numpy.random import Generator

from spanjury.perturbations.edits import Edit
from spanjury.perturbations.perturbation import NothingToDamageError, text_perturbation
from spanjury.perturbations.text.language import english_perturbation
from spanjury.perturbations.text.passages import continued, inserted_after, passages, spaced_like
from spanjury.perturbations.text.places import chosen, picked
from spanjury.perturbations.text.wordlists import lists


@english_perturbation(family="bias", level="sentence", harms={"conciseness"}, spares={"*"})
def pad_with_filler(text: str, rng: Generator, *, k: int = 2) -> list[Edit]:
    """Add a sentence without content after each of `k` sentences."""
    sentences = passages(text)
    fillers = [spaced_like(filler, text) for filler in lists("additions")["fillers"]]
    drawn = chosen(len(sentences), rng, k=k, what="sentences to put a filler behind")
    added = rng.permutation(len(fillers)).tolist() * k
    return [
        inserted_after(text, sentences, fillers[filler], index=index)
        for index, filler in zip(drawn.tolist(), added, strict=False)
    ]


@english_perturbation(family="bias", level="sentence", spares={"*"})
def bandwagon_claim(text: str, rng: Generator) -> list[Edit]:
    """Say at the end that many others think well of the text."""
    return _ended(text, picked(lists("additions")["crowd"], rng))


@english_perturbation(family="bias", level="sentence", spares={"*"})
def authority_claim(text: str, rng: Generator) -> list[Edit]:
    """Say at the end that somebody of standing thinks well of the text."""
    return _ended(text, picked(lists("additions")["authority"], rng))


@english_perturbation(family="bias", level="word", spares={"*"})
def confident_tone(text: str, rng: Generator, *, k: int = 1) -> list[Edit]:
    """Begin `k` sentences with words of certainty."""
    continuations = [(p.start, rest) for p in passages(text) if (rest := continued(text, p))]
    drawn = chosen(
        len(continuations), rng, k=k, what="sentences to which words could be added at the front"
    )
    edits = []
    for start, rest in (continuations[index] for index in drawn.tolist()):
        opening = picked(lists("additions")["certainty"], rng)
        added = spaced_like(f"{opening} {rest[0]}", text)
        edits.append(Edit(start=start, end=start + 1, text=added))
    return edits


@text_perturbation(family="bias", level="character", spares={"*"})
def markdown_decoration(text: str, _: Generator) -> list[Edit]:
    """Make a list of the sentences, with the first in bold."""
    sentences = passages(text)
    if not sentences:
        raise NothingToDamageError("there is no sentence in the text")
    first = sentences[0]
    bold = [
        Edit(start=first.start, end=first.start, text="- **"),
        Edit(start=first.end, end=first.end, text="**"),
    ]
    return bold + [
        Edit(start=before.end, end=after.start, text="\n- ")
        for before, after in pairwise(sentences)
    ]


@english_perturbation(family="bias", level="sentence", spares={"*"})
def author_label(_: str, rng: Generator) -> list[Edit]:
    """Add a first line that names a supposed author of the text."""
    label = picked(lists("additions")["authors"], rng)
    return [Edit(start=0, end=0, text=f"{label}\n\n")]


@english_perturbation(family="bias", level="sentence", spares={"*"})
def prompt_injection(text: str, rng: Generator) -> list[Edit]:
    """End with an instruction to the judge to give a high score."""
    return _ended(text, picked(lists("additions")["injections"], rng))


def _ended(text: str, added: str) -> list[Edit]:
    sentences = passages(text)
    return [inserted_after(text, sentences, spaced_like(added, text), index=len(sentences) - 1)]
