"""The seats of a panel beside people: one aspect's scores as arrays, text by text."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanjury.orchestration.studies.agreement.ratings import Grid
from spanjury.orchestration.studies.panel_study.costs import SeatCost
from spanjury.stats.arrays import FloatArray, safe_divide

IntArray = NDArray[np.intp]

_SEVERAL = 5
"""The fewest systems of an input that are ranked within it and resampled."""
_NO_MODELS: Mapping[str, str] = MappingProxyType({})


class SeatWord(NamedTuple):
    """The word of a seat on a text; its three numbers are NaN without a score."""

    score: float
    fraction: float
    """The score's position on its scale, 0 to 1."""
    estimate: float
    """The goodness of the text by the report, 0 to 1."""
    has_failed: bool
    """True if it should have given a score, and did not; a seat that abstains has not failed."""


_NOT_ASKED = SeatWord(np.nan, np.nan, np.nan, has_failed=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyText:
    """A text that people scored, with what the seats said of it."""

    system: str
    source: str
    """The input that the text was made from: texts of one source are never in two folds."""
    group: str
    """Agreement is taken within groups, and averaged; empty for one group."""
    human: float
    """The mean of people's scores."""
    seats: Mapping[str, SeatWord]
    """Those that were asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelSeats:
    """Scores of the seats and of people on one aspect.

    `scores`, `fractions`, `estimates`, `failed`: shape ``(seats, texts)``, as in `SeatWord`; a seat
    that was not asked has failed.
    `systems`, `sources`, `groups`: shape ``(texts,)``: numbers.
    """

    aspect: str
    names: tuple[str, ...]
    """Seats that scored a text or more."""
    models: tuple[str, ...]
    """The model of each, or else the seat's own name: what says its family."""
    scores: FloatArray
    fractions: FloatArray
    estimates: FloatArray
    failed: NDArray[np.bool_]
    human: FloatArray
    """Shape ``(texts,)``."""
    systems: IntArray
    system_names: tuple[str, ...]
    sources: IntArray
    groups: IntArray
    group_names: tuple[str, ...]
    costs: tuple[SeatCost, ...]

    @property
    def texts(self) -> int:
        """The number of texts."""
        return self.human.size

    @property
    def has_several_systems(self) -> bool:
        """True if inputs have outputs of enough systems to compare them within each input."""
        counts = np.bincount(self.sources, minlength=1)
        return min(len(self.system_names), float(np.median(counts))) >= _SEVERAL

    def mean_of(self, members: Sequence[int]) -> FloatArray:
        """Return the mean score of some seats, shape ``(texts,)``, of those that gave one."""
        return mean_scores(self.scores[list(members)])

    def of_texts(self, texts: IntArray) -> "PanelSeats":
        """Return those `texts` alone."""
        return replace(
            self,
            scores=self.scores[:, texts],
            fractions=self.fractions[:, texts],
            estimates=self.estimates[:, texts],
            failed=self.failed[:, texts],
            human=self.human[texts],
            systems=self.systems[texts],
            sources=self.sources[texts],
            groups=self.groups[texts],
        )

    def within_groups(self, values: FloatArray) -> "list[GroupTable]":
        """Return people's scores beside values of shape ``(..., texts)``, group by group."""
        tables = []
        for group in range(len(self.group_names)):
            here = np.flatnonzero(self.groups == group)
            grid = Grid.of(self.systems[here].tolist(), self.sources[here].tolist())
            people = grid.table(self.human[here])
            tables.append(GroupTable(people, grid.table(values[..., here])))
        return tables


class GroupTable(NamedTuple):
    """Scores of one group's texts, in tables of systems and inputs."""

    human: FloatArray
    scores: FloatArray


def mean_scores(scores: FloatArray) -> FloatArray:
    """Return the mean over the first axis of what is not missing."""
    scored = ~np.isnan(scores)
    return safe_divide(np.where(scored, scores, 0.0).sum(axis=0), scored.sum(axis=0))


def panel_seats(
    texts: Sequence[StudyText],
    *,
    aspect: str,
    costs: Mapping[str, SeatCost],
    models: Mapping[str, str] = _NO_MODELS,
) -> PanelSeats:
    """Collect the scores of `texts`; a seat that scored none of them is not there.

    `models`: seat -> the model that it asks, where it asks one.
    """
    names = tuple(
        name
        for name in dict.fromkeys(name for text in texts for name in text.seats)
        if not all(np.isnan(text.seats.get(name, _NOT_ASKED).score) for text in texts)
    )
    words = np.array(
        [[text.seats.get(name, _NOT_ASKED) for text in texts] for name in names], dtype=np.float64
    ).reshape(len(names), len(texts), len(SeatWord._fields))
    systems, system_names = _numbered([text.system for text in texts])
    sources, _ = _numbered([text.source for text in texts])
    groups, group_names = _numbered([text.group for text in texts])
    return PanelSeats(
        aspect=aspect,
        names=names,
        models=tuple(models.get(name) or name for name in names),
        scores=words[..., 0],
        fractions=words[..., 1],
        estimates=words[..., 2],
        failed=words[..., 3].astype(np.bool_),
        human=np.array([text.human for text in texts], dtype=np.float64),
        systems=systems,
        system_names=system_names,
        sources=sources,
        groups=groups,
        group_names=group_names,
        costs=tuple(costs.get(name, SeatCost()) for name in names),
    )


def _numbered(values: Sequence[str]) -> tuple[IntArray, tuple[str, ...]]:
    numbers = {name: number for number, name in enumerate(dict.fromkeys(values))}
    return np.array([numbers[value] for value in values], dtype=np.intp), tuple(numbers)


def short_names(seats: Sequence[str]) -> Mapping[str, str]:
    """Return what each seat is called in tables: its model's own name, if that is one seat's only.

    Examples
    --------
    >>> short_names(["reader", "annotator:ollama/gemma2:27b"])
    {'reader': 'reader', 'annotator:ollama/gemma2:27b': 'gemma2:27b'}
    """
    short = {seat: seat.rpartition("/")[2] for seat in seats}
    seen = Counter([*short.values(), *(seat for seat in seats if short[seat] != seat)])
    return {seat: name if name and seen[name] == 1 else seat for seat, name in short.items()}
