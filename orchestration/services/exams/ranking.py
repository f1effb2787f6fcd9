"""A ranking of systems by a panel's scores and people's, or by comparisons of a pair judge."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

from spanjury.judges.core import ConfigError, DataError
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.services.exams.study import MarkedStudy, Parameter, from_python

with lazily():
    from spanjury.orchestration.services.exams import pairs, study_report, terms
    from spanjury.orchestration.services.people import ranking
    from spanjury.orchestration.studies.pairs import comparing
    from spanjury.orchestration.studies.pairs import ranking as pair_ranking
    from spanjury.orchestration.studies.ranking import tables


@dataclass(frozen=True, slots=True, kw_only=True)
class Rank(MarkedStudy["tables.RankingFindings | pair_ranking.PairRankings"]):
    """Rank systems by a panel's scores, with intervals, and name those not shown to differ.

    The panel's scores are corrected by people's if people marked some of the texts. The estimates
    are then unbiased even for a bad panel, and more precise than people's alone for a good one.
    With --pairwise, systems are ranked by the comparisons of 'spanjury pairs'.
    """

    results_help: ClassVar[str] = (
        "Folders or names of runs, or files of results, each with one system or several; folders"
        " of 'spanjury pairs' with --pairwise."
    )
    aspect_help: ClassVar[str] = "Aspect to rank by; all by default; repeatable."

    pairwise: Annotated[
        bool, Parameter("Rank by the comparisons of 'spanjury pairs' (Bradley-Terry).")
    ] = False

    def find(
        self,
    ) -> "study_report.StudyReport[tables.RankingFindings | pair_ranking.PairRankings]":
        """Rank the systems; raise as `MarkedStudy.find` does."""
        if self.pairwise:
            return self._by_pairs()
        ranked = ranking.rank(self.source, begin=self.begin)
        return study_report.file_report(
            ranked,
            name="ranking",
            document=tables.ranking_report(ranked),
            values=tables.ranking_json(ranked),
        )

    def _by_pairs(
        self,
    ) -> "study_report.StudyReport[tables.RankingFindings | pair_ranking.PairRankings]":
        if self.human is not None or self.sample is not None or self.data is not None:
            raise ConfigError("--pairwise ranks by comparisons alone: leave out people's scores")
        paths = terms.paths_of(self.results)
        compared = [row for path in paths for row in pairs.read_comparisons(path)]
        ranked = pair_ranking.PairRankings(
            results=tuple(map(str, paths)),
            aspects=tuple(_rankings(compared, paths, aspects=terms.names_of(self.aspects))),
        )
        return study_report.file_report(
            ranked,
            name="ranking",
            document=pair_ranking.pair_rankings_report(ranked),
            values=pair_ranking.pair_rankings_json(ranked),
        )


arank, rank = from_python(Rank, name="rank")


def _rankings(
    compared: "list[comparing.ComparisonRow]", paths: tuple[Path, ...], *, aspects: tuple[str, ...]
) -> "list[pair_ranking.PairRanking]":
    """Return the ranking on each aspect.

    Raise `ConfigError` if an aspect was not compared or two texts were compared twice, and
    `DataError` if no comparison has a preference.
    """
    judged = list(dict.fromkeys(row.aspect for row in compared))
    if strange := [name for name in aspects if name not in judged]:
        raise ConfigError(f"{', '.join(strange)} was not compared; compared: {', '.join(judged)}")
    made = Counter((row.aspect, row.source, row.system_a, row.system_b) for row in compared)
    if twice := next((key for key, count in made.items() if count > 1), None):
        aspect, source, first, second = twice
        raise ConfigError(
            f"{first!r} and {second!r} were compared twice on {aspect} over the source {source!r}:"
            " name one folder of comparisons, or folders of different texts"
        )
    by_aspect = [[row for row in compared if row.aspect == name] for name in aspects or judged]
    ranked = [rows for rows in by_aspect if any(row.preference is not None for row in rows)]
    if not ranked:
        names = ", ".join(map(str, paths))
        raise DataError(f"{names}: no comparison has a preference: there is nothing to rank")
    return [pair_ranking.rank_by_pairs(rows) for rows in ranked]
