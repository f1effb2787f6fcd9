"""Shares of trials that come in sources, as attempts on texts for one input do."""

from collections.abc import Iterable

from spanjury.stats.proportions import Proportion, clustered_proportion


def share_by_source(trials: Iterable[tuple[str, float, float]]) -> Proportion:
    """Return the share of hits in trials, given as ``(source, hits, trials)``; a hit may be half.

    Trials of one source are not independent: the interval is over sources.
    """
    hits: dict[str, float] = {}
    tried: dict[str, float] = {}
    for source, hit, of in trials:
        hits[source] = hits.get(source, 0.0) + hit
        tried[source] = tried.get(source, 0.0) + of
    return clustered_proportion([*hits.values()], [*tried.values()])
