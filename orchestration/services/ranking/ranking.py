"""A ranking of systems, from files to a report."""

from collections.abc import Iterator, Mapping, Sequence

from spanjury.judges.core import DataError
from spanjury.orchestration.services.marked_texts import MarkedSource
from spanjury.orchestration.services.ranking.reading import read_texts_to_rank
from spanjury.orchestration.studies.ranking.cautions import annotators_caution
from spanjury.orchestration.studies.ranking.findings import rank_systems
from spanjury.orchestration.studies.ranking.score_table import RankedText, score_table
from spanjury.orchestration.studies.ranking.tables import (
    RankingFindings,
)


def rank(source: MarkedSource) -> RankingFindings:
    """Rank systems, aspect by aspect.

    Raise as `read_texts_to_rank` does, and `DataError` if no text has a score.
    """
    texts = read_texts_to_rank(source)
    scored = {
        aspect: found
        for aspect, found in texts.aspects.items()
        if len({one.system for one in found if one.score is not None}) > 1
    }
    if not scored:
        raise DataError(
            f"no two systems have a score on {', '.join(texts.aspects)}: there is nothing to rank"
        )
    return RankingFindings(
        runs=tuple(map(str, source.results)),
        people=texts.people,
        aspects=tuple(
            rank_systems(score_table(found, aspect=aspect)) for aspect, found in scored.items()
        ),
        notes=(*texts.notes, *_notes(texts.aspects, scored)),
    )


def _notes(
    aspects: Mapping[str, Sequence[RankedText]], scored: Mapping[str, Sequence[RankedText]]
) -> Iterator[str]:
    for aspect, texts in aspects.items():
        if aspect not in scored:
            yield f"{aspect}: no two systems have a score on it"
        if said := annotators_caution(texts):
            yield f"{aspect}: {said}"
