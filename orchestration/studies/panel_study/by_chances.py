"""Agreement with people over all texts, where those that people scored are a drawn sample."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.random import default_rng

from spanjury.orchestration.report import between, figure
from spanjury.orchestration.studies.panel_study.agreement import Agreement, Estimate, Settings
from spanjury.orchestration.studies.panel_study.seats import IntArray, PanelSeats
from spanjury.orchestration.studies.sampling.chances import unequal_chances_note
from spanjury.stats.arrays import FloatArray
from spanjury.stats.correlations.weighted_correlation import WeighedMethod, weighted_correlation
from spanjury.stats.resampling import Resampled, bootstrap, percentile_interval

_VALUE = "~.3f"
_MOST_SEATS = 8


def chances_notes(
    seats: PanelSeats, settings: Settings, *, chances: Sequence[float | None]
) -> Iterator[str]:
    """Say that agreement is of drawn texts, and how large it is weighed by their chances.

    Nothing is said where all texts had the same chance. Agreement within inputs or of systems is
    not weighed, nor is a correlation that compares texts two by two.

    Parameters
    ----------
    chances
        Of the texts of `seats`, in their order; where one is None, nothing is weighed.
    """
    said = unequal_chances_note(chances)
    if said:
        yield said
    is_pooled = Agreement(seats, settings).level == "pooled"
    is_known = bool(seats.names) and None not in chances
    if said and is_known and is_pooled and settings.method in {"pearson", "spearman"}:
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
    interval = between(whole.low, whole.high, _VALUE)
    ends = "" if interval == "-" else f" ({interval})"
    each = ", ".join(f"{name} by {figure(defined[name], _VALUE)}" for name in best)
    return (
        "weighed by the chances, as an estimate for all texts, the mean of all seats agrees by"
        f" {figure(whole.value, _VALUE)}{ends}; alone, {each}"
    )


def weighed(
    scores: FloatArray, seats: PanelSeats, *, weights: FloatArray, settings: Settings
) -> Estimate:
    """Return the agreement of scores, shape ``(texts,)``, with people's, each text by its weight.

    It is taken within groups and averaged, on the texts that have a score; the interval draws
    sources again.
    """
    method: WeighedMethod = "pearson" if settings.method == "pearson" else "spearman"
    known = ~np.isnan(scores + seats.human)
    parts = [np.flatnonzero(known & (seats.groups == one)) for one in set(seats.groups.tolist())]

    def agreement(counts: FloatArray) -> FloatArray:
        found = [_of_part(part, counts) for part in parts if part.size]
        return np.asarray(np.mean(found, axis=0))

    def _of_part(part: IntArray, counts: FloatArray) -> FloatArray:
        times = counts[:, seats.sources[part]] * weights[part]
        return weighted_correlation(scores[part], seats.human[part], weights=times, method=method)

    sources = int(seats.sources.max()) + 1
    value = float(agreement(np.ones((1, sources)))[0])
    if not settings.draws:
        return Estimate(value, np.nan, np.nan)
    rng = default_rng(settings.seed)
    draws = bootstrap(agreement, items=sources, rng=rng, draws=settings.draws).draws
    bounds = percentile_interval(Resampled(np.asarray(value), draws))
    return Estimate(value, float(bounds.low), float(bounds.high))
