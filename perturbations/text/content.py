"""Damage to the content: a sentence omitted, a detail added, an end too early or too late."""

from numpy.random import Generator

from spanjury.judges.core import PerturbationError
from spanjury.perturbations.edits import Edit
from spanjury.perturbations.perturbation import NothingToDamageError, text_perturbation
from spanjury.perturbations.text.aspects import FORM, GROUNDING, OVERALL
from spanjury.perturbations.text.clusters import masked
from spanjury.perturbations.text.language import english_perturbation
from spanjury.perturbations.text.passages import Passage, inserted_after, passages, spaced_like
from spanjury.perturbations.text.places import WORD, chosen, too_few
from spanjury.perturbations.text.wordlists import lists


@text_perturbation(
    family="content",
    level="sentence",
    harms={"completeness", "coverage", "informativeness", "meaning-preservation"},
    spares=FORM,
)
def omit_sentence(text: str, rng: Generator, *, k: int = 1) -> list[Edit]:
    """Leave out `k` sentences, but never all."""
    sentences = passages(text)
    if 0 < len(sentences) <= k:
        raise too_few("sentences", available=len(sentences), needed=k + 1)
    omitted = set(chosen(len(sentences), rng, k=k, what="sentences").tolist())
    return [_without(sentences, index, omitted=omitted) for index in omitted]


def _without(sentences: list[Passage], index: int, *, omitted: set[int]) -> Edit:
    """Delete a sentence with the white space after it or, if no kept one follows, before it."""
    if omitted.issuperset(range(index, len(sentences))):
        return Edit(start=sentences[index - 1].end, end=sentences[index].end, text="")
    return Edit(start=sentences[index].start, end=sentences[index + 1].start, text="")


@english_perturbation(family="content", level="sentence", harms=GROUNDING | OVERALL, spares=FORM)
def fabricate_detail(text: str, rng: Generator, *, k: int = 1) -> list[Edit]:
    """End `k` sentences with an invented detail, such as a date, an amount or a source."""
    stops = [p.start + len(statement) for p in passages(text) if (statement := _statement(p.text))]
    drawn = chosen(len(stops), rng, k=k, what="sentences that end with a full stop")
    details = [spaced_like(f"x{new}", text)[1:] for new in _additions("details", rng, k=k)]
    offsets = [stops[index] for index in drawn.tolist()]
    return [Edit(start=p, end=p, text=detail) for p, detail in zip(offsets, details, strict=True)]


@english_perturbation(
    family="content",
    level="sentence",
    harms={"coherence", "conciseness", "relevance", *OVERALL},
    spares=FORM,
)
def continue_text(text: str, rng: Generator, *, k: int = 2) -> list[Edit]:
    """Continue for `k` sentences about something else."""
    sentences = passages(text)
    added = " ".join(_additions("off_topic", rng, k=k))
    return [inserted_after(text, sentences, spaced_like(added, text), index=len(sentences) - 1)]


@text_perturbation(
    family="content",
    level="sentence",
    harms={"coherence", "completeness", "coverage", "meaning-preservation", *FORM, *OVERALL},
)
def truncate(text: str, rng: Generator, *, share: float = 0.5) -> list[Edit]:
    """Break off the text in the middle of a sentence.

    The end is drawn from those gaps between two words that leave about `share` of the text,
    within a tenth of it. If there is none, the nearest gap is used.
    """
    if not 0 < share < 1:
        raise PerturbationError(f"share must lie between 0 and 1, got {share!r}")
    mask = masked(text)
    ends = []  # of words after which their sentence has another word
    for start, end, _ in passages(text):
        ends += [word.end() for word in WORD.finditer(mask, start, end)][:-1]
    if not ends:
        raise NothingToDamageError("there is no sentence of two words or more")
    wanted = share * len(text)
    near = [end for end in ends if abs(end - wanted) <= len(text) / 10]
    if not near:
        near = [min(ends, key=lambda end: abs(end - wanted))]
    return [Edit(start=near[int(rng.integers(len(near)))], end=len(text), text="")]


@text_perturbation(family="content", level="sentence", harms={"*"})
def empty_text(text: str, _: Generator) -> list[Edit]:
    """Leave nothing."""
    if not text.strip():
        raise NothingToDamageError("the text is empty")
    return [Edit(start=0, end=len(text), text="")]


def _statement(sentence: str) -> str:
    """Return a sentence without its full stop; empty if it does not end in a word and a stop."""
    statement = sentence.removesuffix(".").rstrip()
    return statement if sentence.endswith(".") and statement[-1:].isalnum() else ""


def _additions(name: str, rng: Generator, *, k: int) -> list[str]:
    """Draw `k` different texts of the list `name`."""
    texts = lists("additions")[name]
    if k > len(texts):
        raise PerturbationError(f"k must be {len(texts)} or less, got {k!r}")
    drawn = chosen(len(texts), rng, k=k, what="texts to add")
    return [texts[index] for index in drawn.tolist()]
