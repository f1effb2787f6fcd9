"""Texts that were drawn for people, and their sampling probabilities."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from spanjury.judges.core import DataError, Segment
from spanjury.orchestration.services.judging.panels import read_segments
from spanjury.orchestration.studies.sampling import (
    chance_of,
    left_out_note,
    unequal_chances_note,
    which_count,
)
from spanjury.orchestration.studies.sources import TextName, by_name, text_name


def read_chances(path: Path) -> Mapping[TextName, float]:
    """Return the name of each text of a sample -> the probability with which it was drawn.

    Raise `DataError` if the file cannot be read, or a row has no probability.
    """
    chances: dict[TextName, float] = {}
    for segment in read_segments(path):
        chance = chance_of(segment)
        if chance is None:
            raise DataError(
                f"{path}: {segment.segment_id} has no meta.sampling: expected a file that"
                " 'spanjury sample' wrote"
            )
        chances[text_name(segment)] = chance
    if not chances:
        raise DataError(f"{path}: there is no text in it")
    return chances


def none_in_sample(marks: str, sample: Path) -> str:
    """Return a message that no marked text belongs to a sample."""
    return (
        f"{marks}: no marked text is in {sample}; name the file that 'spanjury sample' wrote of"
        " this run"
    )


class CountedTexts(NamedTuple):
    """Marked texts that count given their sampling probabilities, and notes on these."""

    names: frozenset[TextName]
    notes: tuple[str, ...]


def counted_texts(
    marked: Iterable[Segment], sample: Path | None = None, *, marks: str
) -> CountedTexts:
    """Return the marked texts that count: if any has a probability, those without one do not.

    `sample` is the file with the probabilities; None for those in the texts themselves. Messages
    name the file of the `marks`.

    Raise `DataError` if the sample cannot be read or contains none of them, or a probability is
    invalid.
    """
    texts = by_name(marked)
    drawn = read_chances(sample) if sample else None
    chances = {
        name: chance_of(text) if drawn is None else drawn.get(name) for name, text in texts.items()
    }
    if sample and not any(chances.values()):
        raise DataError(none_in_sample(marks, sample))
    counts = which_count([*chances.values()])
    kept = [name for name, is_in in zip(texts, counts, strict=True) if is_in]
    notes = (
        left_out_note(len(texts) - len(kept)) if len(kept) < len(texts) else "",
        unequal_chances_note([chances[name] for name in kept]),
    )
    return CountedTexts(frozenset(kept), tuple(filter(None, notes)))


def read_names(path: Path) -> frozenset[TextName]:
    """Return the name of each text in a file; raise `DataError` if it cannot be read."""
    return frozenset(map(text_name, read_segments(path)))
