"""`spanjury calibrate`: a panel's numbers on people's terms."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from spanjury.judges.core import ConfigError
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.cli.command import Flag, Flags
from spanjury.orchestration.cli.exits import say
from spanjury.orchestration.cli.flags.data import Columns, Sample
from spanjury.orchestration.cli.flags.run import Html

with lazily():
    from spanjury.orchestration.cli import console
    from spanjury.orchestration.report import destination
    from spanjury.orchestration.services import calibrate as service
    from spanjury.orchestration.studies.calibration import fitting, tables
    from spanjury.orchestration.wiring import calibrations


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkFlags(Flags, title="Scores and marks"):
    """The flags that name a run, and what people said of its texts."""

    results: Annotated[
        Path, typer.Argument(metavar="RUN", help="Folder or name of a run, or its results.")
    ]
    human: Annotated[
        Path | None,
        Flag("Texts with people's scores or error spans; by default the marks of the run."),
    ] = None
    sample: Sample = None
    data: Annotated[
        Path | None, Flag("The texts of bare results, to take the marks beside them.", "FILE")
    ] = None
    aspect: Annotated[
        tuple[str, ...], Flag("Aspect that people marked; all by default; repeatable.")
    ] = ()
    column: Columns = ()
    people_scale: Annotated[
        str | None,
        Flag("The worst and the best score of people, where not the aspect's.", "LOW:HIGH"),
    ] = None
    clean_from: Annotated[
        float | None,
        Flag("Least score of people for a text without error; the best by default.", "SCORE"),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PromiseFlags(Flags, title="Promise"):
    """The flags that say what is promised, and how it is tried."""

    rate: Annotated[
        float, Flag("Most false alarms among texts without error.", "SHARE", min=0.001, max=0.5)
    ] = 0.1
    confidence: Annotated[
        float | None,
        Flag(
            "How sure that is for these texts; by default it holds on average.",
            "SHARE",
            min=0.5,
            max=0.999,
        ),
    ] = None
    folds: Annotated[int, Flag("Folds, by source.", min=2)] = 10
    draws: Annotated[int, Flag("Draws of the bootstrap.", min=100)] = 1000
    seed: Annotated[int, Flag("Seed of folds and draws.")] = 1


def calibrate(
    *,
    marks: MarkFlags,
    promise: PromiseFlags,
    output: Annotated[
        Path, Flag("File for the calibration; a panel file names it.", also="-o")
    ] = Path("calibration.toml"),
    html: Html = None,
    json: Annotated[bool, Flag("Print JSON, not a table.")] = False,
) -> None:
    """Fit a panel's scores and thresholds to people's marks, and say what that is worth.

    RUN is a run whose texts people marked (`spanjury view RUN`), or that --human has people's
    scores of. The figures are of texts that were held out, source by source.
    """
    place = destination.Destination(folder=None, page=html)
    found = service.calibrate(
        service.CalibrateJob(
            results=marks.results,
            human=marks.human,
            sample=marks.sample,
            data=marks.data,
            columns=marks.column,
            aspects=marks.aspect,
            people_scale=_ends(marks.people_scale) if marks.people_scale else None,
            clean_from=marks.clean_from,
            terms=fitting.Terms(
                rate=promise.rate,
                confidence=promise.confidence,
                folds=promise.folds,
                draws=promise.draws,
                seed=promise.seed,
            ),
        )
    )
    if json:
        console.print_json(tables.calibration_json(found))
    else:
        console.print_report(tables.calibration_report(found))
    for path in place.write(lambda folder: service.write_calibration_report(folder, found)):
        say(f"written: {path}")
    if found.calibration is None:
        say("no calibration is written: nothing is shown to gain, and no threshold can be set")
        return
    calibrations.write_calibration(found.calibration, output)
    say(f"written: {output}; use it by --calibration {output}, or name it in the panel file")


def _ends(spec: str) -> tuple[float, float]:
    low, colon, high = spec.partition(":")
    try:
        ends = float(low), float(high)
    except ValueError:
        colon = ""
        ends = 0.0, 0.0
    if not colon:
        raise ConfigError(f"--people-scale takes LOW:HIGH, as 0:1; got {spec!r}")
    return ends
