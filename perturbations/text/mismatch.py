"""Mismatched texts: of another item, a wrong ending, a foreign sentence, or the source."""

from collections.abc import Iterator

from numpy.random import Generator

from spanjury.perturbations.edits import Edit
from spanjury.perturbations.others import OtherTexts
from spanjury.perturbations.perturbation import Case, NothingToDamageError, case_perturbation
from spanjury.perturbations.text.aspects import FORM, GROUNDING, OVERALL
from spanjury.perturbations.text.passages import Passage, inserted_after, passages
from spanjury.perturbations.text.places import chosen, picked, too_few

WRITTEN = "written"
"""Family of damage that a person wrote, pair by pair."""


@case_perturbation(
    family="mismatch",
    level="sentence",
    harms=GROUNDING | OVERALL | {"relevance", "coverage", "completeness"},
)
def random_text(case: Case, rng: Generator) -> list[Edit]:
    """Replace the text by one that was written for another input."""
    return [Edit(start=0, end=len(case.text), text=next(_shuffled(case, rng)))]


@case_perturbation(
    family="mismatch", level="sentence", harms={"coherence", "consistency", "relevance", *OVERALL}
)
def random_ending(case: Case, rng: Generator) -> list[Edit]:
    """End with the last sentence of a text that was written for another input."""
    others = _shuffled(case, rng)
    ending = passages(case.text)[-1]
    for other in others:
        new = passages(other)[-1].text
        if new != ending.text:
            return [Edit(start=ending.start, end=ending.end, text=new)]
    raise NothingToDamageError("all the other texts end in the same way")


@case_perturbation(family="mismatch", level="sentence", harms={"coherence", "consistency"})
def wrong_ending(case: Case, _: Generator) -> list[Edit]:
    """Replace the text by the known wrong one, except for their common beginning."""
    _require_text(case)
    if not case.wrong.strip():
        raise NothingToDamageError("no text is known to be wrong here")
    kept = _common(passages(case.text), passages(case.wrong))
    return [Edit(start=kept, end=len(case.text), text=case.wrong[kept:])]


@case_perturbation(family=WRITTEN, level="word", harms=GROUNDING | OVERALL, spares=FORM)
def written_twin(case: Case, _: Generator, *, kind: str = "") -> str:
    """Replace the text by the wrong twin that a person wrote, if its error is of this kind."""
    if not case.wrong.strip():
        raise NothingToDamageError("no text is known to be wrong here")
    if kind and case.wrong_kind != kind:
        raise NothingToDamageError("its wrong twin has an error of another kind")
    return case.wrong


@case_perturbation(
    family="mismatch",
    level="sentence",
    harms={"coherence", "consistency", "faithfulness", "groundedness", "relevance", *OVERALL},
)
def other_document_sentence(case: Case, rng: Generator, *, k: int = 1) -> list[Edit]:
    """Insert `k` sentences among those of the text, each from one written for another input."""
    sentences = passages(case.text)
    drawn = chosen(len(sentences), rng, k=k, what="sentences to put others behind").tolist()
    own = {passage.text for passage in sentences}
    foreign: list[str] = []
    for other in _shuffled(case, rng):
        fresh = [passage.text for passage in passages(other) if passage.text not in own]
        foreign += [picked(fresh, rng)] if fresh else []
        if len(foreign) == k:
            break
    if len(foreign) < k:
        raise too_few("texts to take from", available=len(foreign), needed=k)
    return [
        inserted_after(case.text, sentences, new, index=index)
        for index, new in zip(drawn, foreign, strict=True)
    ]


@case_perturbation(
    family="mismatch",
    level="sentence",
    harms={"answer-quality", "correctness", "informativeness", "relevance"},
)
def copied_source(case: Case, _: Generator) -> list[Edit]:
    """Repeat the longest input from its beginning, to about the length of the text."""
    _require_text(case)
    source = max(case.inputs.values(), key=len, default="")
    sentences = passages(source)
    if not sentences:
        raise NothingToDamageError("there is no input to copy")
    start = sentences[0].start
    end = max(passage.end for passage in sentences if passage.start < start + len(case.text))
    return [Edit(start=0, end=len(case.text), text=source[start:end])]


def _shuffled(case: Case, rng: Generator) -> Iterator[str]:
    """Return the texts that may replace this one, in random order."""
    _require_text(case)
    if isinstance(case.others, OtherTexts):
        others = case.others.unlike(case.text)
    else:
        others = [other for other in case.others if other.strip() and other != case.text]
    if not others:
        raise NothingToDamageError("there is no other text to take from")
    return (others[int(index)] for index in rng.permutation(len(others)))


def _require_text(case: Case) -> None:
    if not case.text.strip():
        raise NothingToDamageError("the text is empty")


def _common(right: list[Passage], wrong: list[Passage]) -> int:
    """Return the end of the sentences that both texts have in common at the beginning."""
    kept = 0
    for ours, theirs in zip(right, wrong, strict=False):
        if ours != theirs:
            break
        kept = ours.end
    return kept
