"""A meta-evaluation from Python: how far judges and metrics agree with people."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from anyio import to_thread

from spanjury.orchestration.services import agreement as service
from spanjury.orchestration.services import agreement_report as report
from spanjury.orchestration.services.exam_texts import texts_of
from spanjury.orchestration.services.exams.study_report import StudyReport
from spanjury.orchestration.services.exams.terms import Paths, names_of, paths_of
from spanjury.orchestration.services.synchronous import synchronous
from spanjury.orchestration.studies.agreement.findings import MetaFindings, meta_json
from spanjury.orchestration.studies.agreement.scorers import Settings
from spanjury.orchestration.studies.agreement.tables import agreement_report
from spanjury.stats.correlations.correlation import Method
from spanjury.stats.correlations.grouping import Level

_USUAL = Settings()


async def ameta(
    results: Paths,
    *,
    human: object,
    sample: Path | str | None = None,
    aspects: str | Sequence[str] = (),
    columns: Sequence[str] = (),
    categories: str | Sequence[str] = (),
    level: Level = _USUAL.level,
    correlation: Method = _USUAL.method,
    draws: int = _USUAL.draws,
    seed: int = _USUAL.seed,
    processes: bool = False,
    on_part: Callable[[str], None] = lambda _: None,
) -> StudyReport[MetaFindings]:
    """Measure how far judges and metrics agree with people.

    Parameters
    ----------
    results
        Results of runs, folders of runs, and scores of metrics.
    human
        The texts with the scores or error spans of people: a path, rows, segments or a data frame.
    sample
        The file of texts that ``spanjury sample`` drew for people to mark; texts outside it are
        left out. None for the chances that the texts themselves hold.
    aspects
        Those to compare; without any all that people rated or judges judged.
    columns
        As in `read_segments`.
    categories
        Pairs ``JUDGE=GOLD``: which category of judges means which gold one.
    level, correlation
        Within each input over its systems, over all outputs, or of systems; and by which figure.
    draws, seed
        Of the bootstrap and the permutation test; 0 draws for neither.
    processes
        Whether aspects are computed in processes of their own where there is much to compute. A
        script that asks for them stands under ``if __name__ == "__main__":``.
    on_part
        Called with the name of each part that is done.

    Raises
    ------
    ConfigError
        If people rated no such aspect, or categories are not paired like this.
    DataError
        If a file cannot be read, or there is nothing to compare.
    """
    job = service.MetaJob(
        results=paths_of(results),
        human=texts_of(human, columns=columns),
        sample=None if sample is None else Path(sample),
        aspects=names_of(aspects),
        columns=tuple(columns),
        categories=names_of(categories),
        settings=Settings(level=level, method=correlation, draws=draws, seed=seed),
    )
    collected = await to_thread.run_sync(service.collect, job)
    findings = await service.measure(job, collected, show=on_part, in_processes=processes)
    return StudyReport(
        result=findings,
        document=agreement_report(findings),
        values=meta_json(findings),
        write=partial(report.write_meta, findings=findings, collected=collected),
    )


meta = synchronous(ameta, name="meta", doc=f"{ameta.__doc__}")
