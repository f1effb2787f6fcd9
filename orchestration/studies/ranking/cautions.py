"""Cautions: why a ranking should not be taken at its face value."""

from collections.abc import Iterator, Sequence

import numpy as np

from spanjury.orchestration.studies.ranking.findings import AspectRanking
from spanjury.orchestration.studies.ranking.score_table import RankedText
from spanjury.orchestration.studies.sampling.chances import left_out_note
from spanjury.stats.raters.agreement import krippendorff_alpha

_FEW_INPUTS = 10
"""Inputs below which Student's interval leans on the shape of scores."""
_FEW_SHARED = 5
"""Texts of two annotators, or more, from which on their agreement is looked at."""
_COVERED = 0.95
_NAMED = 3


def cautions(ranking: AspectRanking) -> Iterator[str]:
    """Yield, in sentences, what to keep in mind when a ranking is read."""
    thin = [each for each in ranking.systems if each.coverage < _COVERED]
    if thin:
        yield (
            f"{_few([f'{each.system} ({each.scored} of {each.texts})' for each in thin])}: only "
            "these texts have a score; the others are in no figure and may be worse"
        )
    if alone := [pair for pair in ranking.pairs if not pair.judged.inputs]:
        yield (
            f"{len(alone)} of {len(ranking.pairs)} pairs have no input in common and are not "
            "compared: their means may differ because their inputs differ"
        )
    if ranking.unmarked:
        yield (
            f"no text of {_few(ranking.unmarked)} is marked: no pair with such a system is shown to"
            " differ, whatever the panel says of it; it stands last, by the panel's scores"
        )
    few = [each.system for each in ranking.systems if 0 < each.judged.inputs < _FEW_INPUTS]
    if few:
        yield f"{_few(few)}: fewer than {_FEW_INPUTS} inputs, so intervals may be too narrow"
    if ranking.without_chance:
        yield left_out_note(ranking.without_chance)
    if turned := ranking.reversed_pairs:
        names = _few([f"{pair.first} and {pair.second}" for pair in turned])
        yield f"{names}: the panel orders them the other way round than people do, so it leans"


def annotators_caution(texts: Sequence[RankedText]) -> str:
    """Say that people disagree so much that their mean is no truth; empty where they do not."""
    names = sorted({name for text in texts for name in text.people})
    shared = [text for text in texts if len(text.people) > 1]
    if len(shared) < _FEW_SHARED:
        return ""
    rows = [[one.people.get(name, np.nan) for name in names] for one in shared]
    alpha = krippendorff_alpha(rows, level="interval").value
    if not alpha <= 0:
        return ""
    return (
        f"annotators agree no better than by chance on {len(shared)} texts that several scored "
        f"(alpha {alpha:.2f}): the mean of their scores says nothing about systems"
    )


def _few(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
