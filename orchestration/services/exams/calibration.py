"""A calibration: a panel's numbers on people's terms."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from spanjury.judges.core import ConfigError
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.services.exams.study import MarkedStudy, Parameter, from_python

with lazily():
    from spanjury.orchestration.services.exams import study_report
    from spanjury.orchestration.services.people import calibrate as calibrating
    from spanjury.orchestration.studies.calibration import fitting, tables
    from spanjury.orchestration.wiring import calibrations

_PROMISE = "Promise"


def parse_ends(spec: str) -> tuple[float, float]:
    """Read the ends of a scale, ``LOW:HIGH``; raise `ConfigError` if it is of another form.

    Examples
    --------
    >>> parse_ends("0:1")
    (0.0, 1.0)
    """
    low, colon, high = spec.partition(":")
    try:
        ends = float(low), float(high)
    except ValueError:
        colon = ""
        ends = 0.0, 0.0
    if not colon:
        raise ConfigError(f"--people-scale takes LOW:HIGH, as 0:1; got {spec!r}")
    return ends


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibrate(MarkedStudy["tables.CalibrationFindings"]):
    """Calibrate a panel's scores and thresholds on people's marks, and measure the gain.

    People marked the texts of the run (`spanjury view RUN`), or a file holds people's scores of
    them. The figures come from held-out texts; all texts of a source are held out together.
    """

    several = False
    results_help = "Folder or name of a run, or a file of results."
    has_folder = False

    people_scale: Annotated[
        tuple[float, float] | None,
        Parameter(
            "Worst and best score on people's scale; the aspect's scale by default.",
            "LOW:HIGH",
            kind=str | None,
            read=parse_ends,
        ),
    ] = None
    clean_from: Annotated[
        float | None,
        Parameter(
            "Lowest score from people for a text to count as free of errors; by default the best.",
            "SCORE",
        ),
    ] = None
    rate: Annotated[
        float,
        Parameter(
            "Maximum share of false alarms among texts without errors.",
            "SHARE",
            min=0.001,
            max=0.5,
            section=_PROMISE,
        ),
    ] = 0.1
    confidence: Annotated[
        float | None,
        Parameter(
            "Probability with which this limit is kept; by default it is kept on average.",
            "SHARE",
            min=0.5,
            max=0.999,
            section=_PROMISE,
        ),
    ] = None
    folds: Annotated[
        int,
        Parameter(
            "Number of cross-validation folds; each source is in one fold.", min=2, section=_PROMISE
        ),
    ] = 10
    draws: Annotated[
        int, Parameter("Number of bootstrap resamples.", min=100, section=_PROMISE)
    ] = 1000
    seed: Annotated[int, Parameter("Seed for folds and resampling.", section=_PROMISE)] = 1
    output: Annotated[
        Path | str | None,
        Parameter(
            "File for the calibration, to use with --calibration or in a panel file.",
            also="-o",
            kind=Path,
            usual=Path("calibration.toml"),
            section="Options",
        ),
    ] = None

    def find(self) -> "study_report.StudyReport[tables.CalibrationFindings]":
        """Fit the calibration, and write it; raise as `MarkedStudy.find` does."""
        fitted = calibrating.calibrate(
            self.source,
            people_scale=self.people_scale,
            clean_from=self.clean_from,
            terms=fitting.Terms(
                rate=self.rate,
                confidence=self.confidence,
                folds=self.folds,
                draws=self.draws,
                seed=self.seed,
            ),
            begin=self.begin,
        )
        closing = "no calibration was written: no gain was shown, and no threshold can be set"
        if fitted.calibration is not None and self.output is not None:
            calibrations.write_calibration(fitted.calibration, Path(self.output))
            closing = (
                f"written: {self.output}; use it with --calibration {self.output}, or name it in"
                " the panel file"
            )
        return study_report.file_report(
            fitted,
            name="calibration",
            document=tables.calibration_report(fitted),
            values=tables.calibration_json(fitted),
            closing=(closing,),
        )


acalibrate, calibrate = from_python(Calibrate, name="calibrate")
