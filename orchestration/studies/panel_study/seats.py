"""The seats of a panel beside people: their scores, text by text, their costs, their agreement."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import starmap
from types import MappingProxyType
from typing import Literal, NamedTuple

import numpy as np
from numpy.random import default_rng
from numpy.typing import NDArray

from spanjury.judges.core import TokenPrice
from spanjury.orchestration.report import Block, Cell, Paragraph, between, figure
from spanjury.orchestration.studies.agreement.scorers import (
    Grid,
    has_several_systems,
    resampled_units,
)
from spanjury.orchestration.studies.estimates import bounded, numbered
from spanjury.orchestration.studies.sampling import unequal_chances_note
from spanjury.stats.arrays import FloatArray, safe_divide
from spanjury.stats.correlations.correlation import Method
from spanjury.stats.correlations.grouping import Level, LevelCorrelations, level_correlations
from spanjury.stats.correlations.resampled_correlations import (
    Over,
    correlation_estimate,
    resampled_correlations,
)
from spanjury.stats.correlations.weighted_correlation import WeighedMethod, weighted_correlation
from spanjury.stats.resampling import Estimate, Resampled, bootstrap, estimates

Unit = Literal["dollars", "tokens", "calls", "seconds"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatPrice:
    """The price of the tokens of a seat's model, and where it is from, in words."""

    price: TokenPrice
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatCost:
    """The cost of one seat for one text, on average."""

    calls: float = 0.0
    tokens: float = 0.0
    seconds: float = 0.0
    dollars: float | None = None
    """None where the price of its model is not known."""
    price: SeatPrice | None = None
    """By which they are counted."""

    @property
    def is_unpriced(self) -> bool:
        """True if a model is asked whose price is not known."""
        return self.dollars is None and bool(self.calls or self.tokens)

    def counted_in(self, unit: Unit) -> float:
        """Return the cost in a unit; NaN for a price that is not known."""
        if unit == "dollars":
            return (np.nan if self.is_unpriced else 0.0) if self.dollars is None else self.dollars
        amount: float = getattr(self, unit)
        return amount


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatPrices:
    """The prices by which dollars are counted, and the seats that lack one."""

    of_seats: Mapping[str, SeatPrice]
    lacking: tuple[str, ...]

    @classmethod
    def of(cls, names: Iterable[str], costs: Iterable[SeatCost]) -> "SeatPrices":
        """Return the prices that seats have, and the seats without one."""
        both = list(zip(names, costs, strict=True))
        return cls(
            of_seats={name: cost.price for name, cost in both if cost.price is not None},
            lacking=tuple(name for name, cost in both if cost.is_unpriced),
        )


def amount_words(amount: float, unit: Unit) -> str:
    """Return so much of a unit in words.

    Examples
    --------
    >>> amount_words(0.05, "dollars"), amount_words(1, "calls"), amount_words(2e5, "tokens")
    ('$0.05', '1 call', '200,000 tokens')
    """
    digits = f"{amount:,.10g}"
    if unit == "dollars":
        return f"${digits}"
    return f"{digits} {unit.removesuffix('s') if amount == 1 else unit}"


def usual_unit(costs: Iterable[SeatCost]) -> Unit:
    """Return the unit that says most: a seat that calls no model costs no dollars."""
    asked = list(costs)
    calling = [cost for cost in asked if cost.calls or cost.tokens]
    if calling and all(cost.dollars is not None for cost in calling):
        return "dollars"
    if any(cost.tokens for cost in asked):
        return "tokens"
    return "calls" if calling else "seconds"


def usual_stages(costs: Sequence[SeatCost], *, unit: Unit) -> tuple[tuple[int, ...], ...]:
    """Return the seats that cost nothing together, then each other, the cheapest first.

    Examples
    --------
    >>> model, small, rules = SeatCost(calls=1, tokens=9), SeatCost(calls=1, tokens=5), SeatCost()
    >>> usual_stages([model, small, rules], unit="calls")
    ((2,), (1,), (0,))
    """
    counted = [cost.counted_in(unit) for cost in costs]
    # Nearly all models take one call a text: their tokens say which is the cheaper.
    prices = [cost.tokens for cost in costs] if unit == "calls" else counted
    free = tuple(number for number, cost in enumerate(counted) if cost == 0)
    paid = sorted(set(range(len(costs))) - {*free}, key=lambda number: (prices[number], number))
    return (*((free,) if free else ()), *((number,) for number in paid))


_MILLION = 1_000_000


def price_lines(prices: SeatPrices, *, unit: str) -> Iterator[Block]:
    """Yield what a reader of costs must know of the prices behind them.

    A seat without a price is named only where some have one, or cost is counted in dollars.
    """
    if prices.of_seats:
        words = "; ".join(f"{seat} {_words(of_seat)}" for seat, of_seat in prices.of_seats.items())
        yield Paragraph(f"Prices in dollars per million tokens read / written: {words}.")
    if prices.lacking and (prices.of_seats or unit == "dollars"):
        left_out = " A panel with such a seat has no cost here." if unit == "dollars" else ""
        yield Paragraph(
            f"No price is known for {', '.join(prices.lacking)}: set it with --price"
            f" SEAT=PROMPT/COMPLETION, or as the price of a model in a --panel file.{left_out}",
            tone="caution",
        )


def _words(price: SeatPrice) -> str:
    read, written = (
        figure(each * _MILLION, ".4g") for each in (price.price.prompt, price.price.completion)
    )
    cached = price.price.cached
    besides = "" if cached is None else f", cached {figure(cached * _MILLION, '.4g')}"
    return f"{read} / {written}{besides} ({price.source})"


IntArray = NDArray[np.intp]


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

    def mean_of(self, members: Sequence[int]) -> FloatArray:
        """Return the mean score of some seats, shape ``(texts,)``, of those that gave one."""
        return mean_scores(self.scores[list(members)])

    def of_texts(self, texts: IntArray) -> "PanelSeats":
        """Return those `texts` alone."""
        of_seats = ("scores", "fractions", "estimates", "failed")
        names = (*of_seats, "human", "systems", "sources", "groups")
        return replace(self, **{name: getattr(self, name)[..., texts] for name in names})

    def within_groups(self, values: FloatArray) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield people's scores of a group beside values of shape ``(..., texts)``.

        Both are tables of systems and inputs.
        """
        for group in range(len(self.group_names)):
            here = np.flatnonzero(self.groups == group)
            grid = Grid.of(self.systems[here].tolist(), self.sources[here].tolist())
            yield grid.table(self.human[here]), grid.table(values[..., here])


def mean_scores(scores: FloatArray) -> FloatArray:
    """Return the mean over the first axis of what is not missing."""
    scored = ~np.isnan(scores)
    return safe_divide(np.where(scored, scores, 0.0).sum(axis=0), scored.sum(axis=0))


def panel_seats(
    texts: Sequence[StudyText],
    *,
    aspect: str,
    costs: Mapping[str, SeatCost],
    models: Mapping[str, str] = MappingProxyType({}),
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
    systems, system_names = numbered([text.system for text in texts])
    sources, _ = numbered([text.source for text in texts])
    groups, group_names = numbered([text.group for text in texts])
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings of a study of a panel."""

    level: Level | None = None
    """Over what a correlation is taken; None for ``by-input`` where inputs have outputs of several
    systems, and else ``pooled``."""
    method: Method = "spearman"
    folds: int = 5
    """Into which the sources are dealt, where something is chosen or fitted."""
    draws: int = 1000
    """Number of bootstrap resamples; 0 for no intervals."""
    seed: int = 1


class Agreement:
    """The agreement of scores with people's, within groups and averaged over them."""

    def __init__(self, seats: PanelSeats, settings: Settings) -> None:
        self.seats = seats
        self.settings = settings
        self._estimates: dict[bytes, Estimate] = {}
        several = has_several_systems(seats.sources, systems=len(seats.system_names))
        self.level: Level = settings.level or ("by-input" if several else "pooled")

    @property
    def resampled(self) -> Over:
        """Units that intervals resample."""
        return resampled_units(self.seats.sources, systems=len(self.seats.system_names))

    @property
    def blocks(self) -> IntArray:
        """The texts among which the level compares: those of a source, or of a group."""
        return self.seats.sources if self.level == "by-input" else self.seats.groups

    def of(self, scores: FloatArray) -> FloatArray:
        """Return the agreement of scores of shape ``(..., texts)``."""
        return mean_scores(np.array([part.value for part in self._within_groups(scores)]))

    def _within_groups(self, scores: FloatArray) -> list[LevelCorrelations]:
        correlate = partial(level_correlations, level=self.level, method=self.settings.method)
        return list(starmap(correlate, self.seats.within_groups(scores)))

    def estimates(self, scores: FloatArray) -> list[Estimate]:
        """Return the agreement of scores of shape ``(many, texts)``, each with its interval."""
        for line in scores:
            if line.tobytes() not in self._estimates:  # one panel is on several tables
                self._estimates[line.tobytes()] = self._estimate(line)
        return [self._estimates[line.tobytes()] for line in scores]

    def _estimate(self, line: FloatArray) -> Estimate:
        value = self.of(line)
        if not self.settings.draws:
            return Estimate(float(value))
        draws = self.drawn(line[np.newaxis], draws=self.settings.draws).draws[:, 0]
        correlations = sum(int(part.groups) for part in self._within_groups(line))
        units = self.seats.systems if self.level == "system" else self.seats.sources
        items = np.unique(units[~np.isnan(line)]).size
        return correlation_estimate(Resampled(value, draws), groups=correlations, items=items)

    def gains(self, scores: FloatArray, *, base: FloatArray) -> list[Estimate]:
        """Return by how much each agrees more than `base`, on the texts that both have."""
        return [self._gain(line, base) for line in scores]

    def _gain(self, line: FloatArray, base: FloatArray) -> Estimate:
        both = np.where(np.isnan(base + line), np.nan, np.array([base, line]))
        before, after = self.of(both)
        if not self.settings.draws:
            return Estimate(float(after - before))
        draws = self.drawn(both, draws=self.settings.draws).draws
        return bounded(estimates(Resampled(after - before, draws[:, 1] - draws[:, 0]))[0])

    def drawn(self, scores: FloatArray, *, draws: int) -> Resampled:
        """Resample inputs, group by group, for scores of shape ``(many, texts)``.

        All meet the same draws, on the texts that all of them have.
        """
        resampled = partial(
            resampled_correlations,
            level=self.level,
            method=self.settings.method,
            rng=default_rng(self.settings.seed),
            over=self.resampled,
            draws=draws,
        )
        parts = list(starmap(resampled, self.seats.within_groups(scores)))
        return Resampled(
            mean_scores(np.array([part.estimate for part in parts])),
            mean_scores(np.array([part.draws for part in parts])),
        )


def source_folds(seats: PanelSeats, settings: Settings) -> IntArray:
    """Deal the sources of each group into folds; return the fold of each text."""
    rng = default_rng(settings.seed)
    order = rng.permutation(int(seats.sources.max(initial=-1)) + 1)
    group_of = np.zeros(order.size, dtype=np.intp)
    group_of[seats.sources] = seats.groups
    dealt = order[np.argsort(group_of[order], kind="stable")]
    fold = np.empty(order.size, dtype=np.intp)
    fold[dealt] = np.arange(order.size) % min(settings.folds, max(order.size, 1))
    of_texts: IntArray = fold[seats.sources]
    return of_texts


def splits(folds: IntArray) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield the numbers of the texts to fit to, and of those of one fold, fold by fold."""
    for number in np.unique(folds):
        yield np.flatnonzero(folds != number), np.flatnonzero(folds == number)


VALUE = ".3f"
_DIGITS = 9
_MOST_SEATS = 8


def chances_notes(
    seats: PanelSeats, settings: Settings, *, chances: Sequence[float | None]
) -> Iterator[str]:
    """Say that agreement is of drawn texts, and how large it is weighed by their chances.

    Nothing is said where all texts had the same chance. Agreement within inputs or of systems is
    not weighed, nor is a correlation that compares texts two by two.

    `chances`: chances of the texts of `seats`, in their order; if one is None, nothing is weighted.
    """
    note = unequal_chances_note(chances)
    if note:
        yield note
    is_pooled = Agreement(seats, settings).level == "pooled"
    is_known = bool(seats.names) and None not in chances
    if note and is_known and is_pooled and settings.method in {"pearson", "spearman"}:
        yield _over_all_texts(seats, settings, 1 / np.array(chances, dtype=np.float64))


def _over_all_texts(seats: PanelSeats, settings: Settings, weights: FloatArray) -> str:
    whole = weighed(
        seats.mean_of(range(len(seats.names))), seats, weights=weights, settings=settings
    )
    alone = replace(settings, draws=0)
    values = {
        name: weighed(line, seats, weights=weights, settings=alone).value
        for name, line in zip(seats.names, seats.scores, strict=True)
    }
    defined = {name: value for name, value in values.items() if not np.isnan(value)}
    best = sorted(defined, key=lambda name: -defined[name])[:_MOST_SEATS]
    interval = between(whole.low, whole.high, VALUE)
    ends = "" if interval == "-" else f" ({interval})"
    each = ", ".join(f"{name} {figure(defined[name], VALUE)}" for name in best)
    return (
        "estimated for all texts, weighted by their chances, the agreement of all seats is"
        f" {figure(whole.value, VALUE)}{ends}; of single seats: {each}"
    )


def weighed(
    scores: FloatArray, seats: PanelSeats, *, weights: FloatArray, settings: Settings
) -> Estimate:
    """Return the agreement of scores, shape ``(texts,)``, with people's, each text by its weight.

    It is taken within groups and averaged, on the texts that have a score; the interval draws
    sources again.
    """
    method: WeighedMethod = "pearson" if settings.method == "pearson" else "spearman"
    scored = ~np.isnan(scores + seats.human)
    parts = [np.flatnonzero(scored & (seats.groups == n)) for n in np.unique(seats.groups)]

    def agreement(counts: FloatArray) -> FloatArray:
        values = [within(part, counts) for part in parts if part.size]
        return np.asarray(np.mean(values, axis=0))

    def within(part: IntArray, counts: FloatArray) -> FloatArray:
        times = counts[:, seats.sources[part]] * weights[part]
        return weighted_correlation(scores[part], seats.human[part], weights=times, method=method)

    sources = int(seats.sources.max()) + 1
    value = float(agreement(np.ones((1, sources)))[0])
    if not settings.draws:
        return Estimate(value)
    rng = default_rng(settings.seed)
    drawn = bootstrap(agreement, items=sources, rng=rng, draws=settings.draws)
    return bounded(estimates(drawn._replace(estimate=np.asarray(value)))[0])


def estimate_cell(estimate: Estimate, spec: str = VALUE) -> Cell:
    """Return an estimate with its interval."""
    # Rounding errors would be shown as a negative nothing.
    value, low, high = (round(number, _DIGITS) + 0.0 for number in estimate)
    return Cell(value, spec, interval=(low, high))
