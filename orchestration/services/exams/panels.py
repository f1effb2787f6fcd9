"""Panels from Python: which seats they need, and which are asked first."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from anyio import to_thread

from spanjury.judges.core import TokenPrice
from spanjury.orchestration.services import panel_cascade as cascading
from spanjury.orchestration.services import panel_study as studying
from spanjury.orchestration.services.exams.study_report import StudyReport
from spanjury.orchestration.services.exams.terms import (
    Paths,
    names_of,
    path_of,
    paths_of,
    people_of,
)
from spanjury.orchestration.services.fitted_cascade import FittedCascade, write_fitted
from spanjury.orchestration.services.synchronous import synchronous
from spanjury.orchestration.studies.panel_study.agreement import Settings
from spanjury.orchestration.studies.panel_study.cascade_findings import cascade_json
from spanjury.orchestration.studies.panel_study.cascade_tables import cascade_report
from spanjury.orchestration.studies.panel_study.costs import Unit
from spanjury.orchestration.studies.panel_study.findings import Spending, StudyFindings, study_json
from spanjury.orchestration.studies.panel_study.tables import study_report
from spanjury.stats.correlations.correlation import Method
from spanjury.stats.correlations.grouping import Level

_USUAL = Settings()
_SHARE = 0.6
_CALLS: Unit = "calls"


async def apanel_study(
    results: Paths,
    *,
    human: object = None,
    sample: Path | str | None = None,
    data: Path | str | None = None,
    aspects: str | Sequence[str] = (),
    columns: Sequence[str] = (),
    seats: str | Sequence[str] = (),
    within: str = "",
    families: Paths = (),
    prices: Mapping[str, TokenPrice] | None = None,
    panel: Path | str | None = None,
    level: Level | None = _USUAL.level,
    correlation: Method = _USUAL.method,
    folds: int = _USUAL.folds,
    draws: int = _USUAL.draws,
    seed: int = _USUAL.seed,
    cost: Unit | None = None,
    budget: float | None = None,
) -> StudyReport[StudyFindings]:
    """Say which seats a panel needs, how redundant they are, and what agreement costs.

    Parameters
    ----------
    results
        Runs or results whose seats are compared; people's marks are those of the first.
    human, sample, data, columns, aspects
        As in `exams.calibrate`.
    seats
        Those to compare; without any, all that gave a score.
    within
        Key of the rows' meta: agreement is taken within each of its values.
    families
        TOML files with more families of models.
    prices
        Seat -> the price of its model's tokens.
    panel
        A panel file, for the prices of its models and its families.
    level, correlation
        Within each input over its systems, over all texts, or of systems; None for what the texts
        allow; and by which figure.
    folds, draws, seed
        Parts by source, and draws of the bootstrap; 0 draws for no intervals.
    cost, budget
        The unit of cost, None for what says most, and what may be spent on a text in it.

    Raises
    ------
    ConfigError
        If a seat, an aspect or a file of families is not as it must be, or the budget is too small.
    DataError
        If a file cannot be read, or people scored too little.
    """
    job = studying.StudyJob(
        results=paths_of(results),
        human=people_of(human, columns=columns),
        sample=path_of(sample),
        data=path_of(data),
        columns=tuple(columns),
        aspects=names_of(aspects),
        seats=names_of(seats),
        within=within,
        families=paths_of(families),
        prices=prices or {},
        panel=path_of(panel),
        settings=Settings(level=level, method=correlation, folds=folds, draws=draws, seed=seed),
        spending=Spending(unit=cost, budget=budget),
    )
    found = await to_thread.run_sync(studying.study_panel, job)
    return StudyReport(
        result=found,
        document=study_report(found),
        values=study_json(found),
        write=partial(studying.write_study, findings=found),
    )


async def apanel_cascade(
    results: Path | str,
    *,
    human: object = None,
    sample: Path | str | None = None,
    data: Path | str | None = None,
    aspect: str = "",
    columns: Sequence[str] = (),
    stages: Sequence[Sequence[str]] = (),
    share: float = _SHARE,
    cost: Unit = _CALLS,
    prices: Mapping[str, TokenPrice] | None = None,
    panel: Path | str | None = None,
    within: str = "",
    folds: int = _USUAL.folds,
    draws: int = _USUAL.draws,
    seed: int = _USUAL.seed,
    output: Path | str | None = None,
) -> StudyReport[FittedCascade]:
    """Fit a cascade to a run in which all seats were asked, and say what it keeps.

    Parameters
    ----------
    results
        A folder or the name of a run, or a file of results.
    human, sample, data, columns
        As in `exams.calibrate`; without people's scores, agreement with them is not measured.
    aspect
        Where several were judged.
    stages
        Names of seats, stage by stage; without any, the cheapest first.
    share
        Of the cost of all seats that it may take, 0 to 1.
    cost
        The unit of cost.
    prices, panel, within
        As in `apanel_study`.
    folds, draws, seed
        Parts by source, and draws of the bootstrap; 0 draws for no intervals.
    output
        A file for the cascade, which a panel file names; None to write none.

    Raises
    ------
    ConfigError
        If a seat or the aspect is not as it must be, or the run was a cascade.
    DataError
        If a file cannot be read, or too few texts were judged by all seats.
    StoreError
        If the cascade cannot be written.
    """
    job = cascading.CascadeJob(
        results=Path(results),
        human=people_of(human, columns=columns),
        sample=path_of(sample),
        data=path_of(data),
        columns=tuple(columns),
        aspect=aspect,
        stages=tuple(map(tuple, stages)),
        share=share,
        unit=cost,
        prices=prices or {},
        panel=path_of(panel),
        within=within,
        settings=Settings(level="pooled", folds=folds, draws=draws, seed=seed),
    )
    fitted = await to_thread.run_sync(cascading.fit_panel_cascade, job)
    if output is not None:
        write_fitted(Path(output), fitted)
    return StudyReport(
        result=fitted,
        document=cascade_report(fitted.findings),
        values=cascade_json(fitted.findings),
        write=partial(cascading.write_cascade, findings=fitted.findings),
    )


panel_study = synchronous(apanel_study, name="panel_study", doc=f"{apanel_study.__doc__}")
panel_cascade = synchronous(apanel_cascade, name="panel_cascade", doc=f"{apanel_cascade.__doc__}")
