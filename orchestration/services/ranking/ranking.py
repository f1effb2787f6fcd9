"""A ranking of systems, from files to a report."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from spanjury.judges.core import DataError
from spanjury.orchestration.report.files import write_report
from spanjury.orchestration.services.marked_texts import MarkedSource
from spanjury.orchestration.services.ranking.reading import read_texts_to_rank
from spanjury.orchestration.studies.ranking.cautions import annotators_caution
from spanjury.orchestration.studies.ranking.findings import rank_systems
from spanjury.orchestration.studies.ranking.score_table import RankedText, score_table
from spanjury.orchestration.studies.ranking.tables import (
    RankingFindings,
    ranking_json,
    ranking_report,
)


def rank(source: MarkedSource) -> RankingFindings:
    """Rank systems, aspect by aspect.

    Raise as `read_texts_to_rank` does, and `DataError` if no text has a score.
    """
    texts = read_texts_to_rank(source)
    scored = {
        aspect: texts_of
        for aspect, texts_of in texts.aspects.items()
        if len({text.system for text in texts_of if text.score is not None}) > 1
    }
    if not scored:
        raise DataError(
            f"no two systems have a score on {', '.join(texts.aspects)}: there is nothing to rank"
        )
    return RankingFindings(
        runs=tuple(map(str, source.results)),
        people=texts.people,
        aspects=tuple(
            rank_systems(score_table(texts_of, aspect=aspect))
            for aspect, texts_of in scored.items()
        ),
        notes=(*texts.notes, *_notes(texts.aspects, scored)),
    )


def write_ranking(folder: Path, findings: RankingFindings) -> list[Path]:
    """Write ``ranking.md``, ``.html`` and ``.json`` into `folder`; return their paths.

    Raise `StoreError` if something cannot be written.
    """
    return write_report(
        folder,
        ranking_report(findings),
        data=ranking_json(findings),
        page="ranking",
        values="ranking",
    )


def _notes(
    aspects: Mapping[str, Sequence[RankedText]], scored: Mapping[str, Sequence[RankedText]]
) -> Iterator[str]:
    for aspect, texts in aspects.items():
        if aspect not in scored:
            yield f"{aspect}: no two systems have a score on it"
        if caution := annotators_caution(texts):
            yield f"{aspect}: {caution}"
