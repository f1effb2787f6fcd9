"""A ranking of systems from Python."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from anyio import to_thread

from spanjury.orchestration.services.exams.study_report import StudyReport
from spanjury.orchestration.services.exams.terms import (
    Paths,
    names_of,
    path_of,
    paths_of,
    people_of,
)
from spanjury.orchestration.services.ranking import ranking
from spanjury.orchestration.services.ranking.reading import RankJob
from spanjury.orchestration.services.synchronous import synchronous
from spanjury.orchestration.studies.ranking.tables import (
    RankingFindings,
    ranking_json,
    ranking_report,
)


async def arank(
    runs: Paths,
    *,
    human: object = None,
    sample: Path | str | None = None,
    data: Path | str | None = None,
    aspects: str | Sequence[str] = (),
    columns: Sequence[str] = (),
) -> StudyReport[RankingFindings]:
    """Rank systems by a panel's scores, with people's marks where there are any.

    Parameters
    ----------
    runs
        Folders or names of runs, or files of results: of all systems, or each of one.
    human, sample, data, columns
        As in `exams.calibrate`; without `human`, the marks of the runs, if there are any.
    aspects
        Without any, all that were judged.

    Raises
    ------
    ConfigError
        If an aspect was not judged, or a text was judged in two runs.
    DataError
        If a file cannot be read, or there is one system only.
    """
    job = RankJob(
        runs=paths_of(runs),
        human=people_of(human, columns=columns),
        sample=path_of(sample),
        data=path_of(data),
        columns=tuple(columns),
        aspects=names_of(aspects),
    )
    found = await to_thread.run_sync(ranking.rank, job)
    return StudyReport(
        result=found,
        document=ranking_report(found),
        values=ranking_json(found),
        write=partial(ranking.write_ranking, found=found),
    )


rank = synchronous(arank, name="rank", doc=f"{arank.__doc__}")
