"""A ranking of systems by a panel's scores, and by people's where there are any."""

from dataclasses import dataclass

from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.services.exams.study import MarkedStudy, from_python

with lazily():
    from spanjury.orchestration.services.exams import study_report
    from spanjury.orchestration.services.people import ranking
    from spanjury.orchestration.studies.ranking import tables


@dataclass(frozen=True, slots=True, kw_only=True)
class Rank(MarkedStudy["tables.RankingFindings"]):
    """Rank systems by a panel's scores, with intervals, and name those not shown to differ.

    The panel's scores are corrected by people's if people marked some of the texts. The estimates
    are then unbiased even for a bad panel, and more precise than people's alone for a good one.
    """

    results_help = "Folders or names of runs, or files of results, each with one system or several."
    aspect_help = "Aspect to rank by; all by default; repeatable."

    def find(self) -> "study_report.StudyReport[tables.RankingFindings]":
        """Rank the systems; raise as `MarkedStudy.find` does."""
        ranked = ranking.rank(self.source)
        return study_report.file_report(
            ranked,
            name="ranking",
            document=tables.ranking_report(ranked),
            values=tables.ranking_json(ranked),
        )


arank, rank = from_python(Rank, name="rank")
