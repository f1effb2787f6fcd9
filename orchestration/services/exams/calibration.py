"""A calibration from Python: a panel's numbers on people's terms."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from anyio import to_thread

from spanjury.orchestration.services import calibrate as service
from spanjury.orchestration.services.exams.study_report import StudyReport
from spanjury.orchestration.services.exams.terms import names_of, path_of, people_of
from spanjury.orchestration.services.synchronous import synchronous
from spanjury.orchestration.studies.calibration.fitting import Terms
from spanjury.orchestration.studies.calibration.tables import (
    CalibrationFindings,
    calibration_json,
    calibration_report,
)
from spanjury.orchestration.wiring.calibrations import write_calibration

_TERMS = Terms()


async def acalibrate(
    results: Path | str,
    *,
    human: object = None,
    sample: Path | str | None = None,
    data: Path | str | None = None,
    aspects: str | Sequence[str] = (),
    columns: Sequence[str] = (),
    people_scale: tuple[float, float] | None = None,
    clean_from: float | None = None,
    rate: float = _TERMS.rate,
    confidence: float | None = None,
    folds: int = _TERMS.folds,
    draws: int = _TERMS.draws,
    seed: int = _TERMS.seed,
    output: Path | str | None = None,
) -> StudyReport[CalibrationFindings]:
    """Fit a panel's scores and thresholds to people's marks, and say what that is worth.

    Parameters
    ----------
    results
        A folder or the name of a run, or a file of results.
    human
        Texts with people's scores or error spans: a path, rows, segments or a data frame; None for
        the marks of the run.
    sample
        The file of texts that ``spanjury sample`` drew for people to mark.
    data, columns
        The texts of a bare file of results, and what the columns of `human` or `data` are called.
    aspects
        Without any, all that people marked.
    people_scale
        The worst and the best score of people; None for those of the aspect.
    clean_from
        The lowest score of people of a text without error; None for the best.
    rate
        The most false alarms among texts without error, 0 to 1.
    confidence
        How sure the rate is for these texts, 0 to 1; None for a rate that holds on average.
    folds, draws, seed
        Parts by source, and draws of the bootstrap.
    output
        A file for the calibration, where there is one; None to write none.

    Raises
    ------
    ConfigError
        If no one marked the aspect, scores are not on the scale, or the run was calibrated.
    DataError
        If a file cannot be read, or too few texts are marked.
    StoreError
        If the calibration cannot be written.
    """
    job = service.CalibrateJob(
        results=Path(results),
        human=people_of(human, columns=columns),
        sample=path_of(sample),
        data=path_of(data),
        columns=tuple(columns),
        aspects=names_of(aspects),
        people_scale=people_scale,
        clean_from=clean_from,
        terms=Terms(rate=rate, confidence=confidence, folds=folds, draws=draws, seed=seed),
    )
    found = await to_thread.run_sync(service.calibrate, job)
    if output is not None and found.calibration is not None:
        write_calibration(found.calibration, Path(output))
    return StudyReport(
        result=found,
        document=calibration_report(found),
        values=calibration_json(found),
        write=partial(service.write_calibration_report, found=found),
    )


calibrate = synchronous(acalibrate, name="calibrate", doc=f"{acalibrate.__doc__}")
