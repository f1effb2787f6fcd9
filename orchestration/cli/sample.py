"""`spanjury sample`: texts of a run that are worth a person's time."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.cli.command import Flag
from spanjury.orchestration.cli.exits import say
from spanjury.orchestration.cli.flags.data import Columns

with lazily():
    from spanjury.orchestration.cli import console
    from spanjury.orchestration.report import numbers
    from spanjury.orchestration.services.people.sampling import drawing


def sample(
    *,
    run: Annotated[
        Path,
        typer.Argument(metavar="RUN", help="Folder or name of a run, or a file of results."),
    ],
    output: Annotated[Path, Flag("JSONL file for the sampled texts.", also="-o")],
    number: Annotated[int, Flag("Number of texts to sample.", also="-n", min=1)] = 50,
    for_: Annotated[
        Literal["calibration", "disagreement", "audit"],
        Flag("Sample texts over all scores, texts on which seats differ, or mostly unusual texts."),
    ] = "calibration",
    aspect: Annotated[
        tuple[str, ...], Flag("Aspect whose scores count; all by default; repeatable.")
    ] = (),
    seed: Annotated[int, Flag("Random seed.", min=0)] = 1,
    data: Annotated[
        Path | None,
        Flag("File of the judged texts, needed for a results file outside a run's folder.", "FILE"),
    ] = None,
    column: Columns = (),
) -> None:
    """Sample texts of a run for people to mark; each row keeps its sampling probability.

    Mark them with `spanjury view RUN --rows FILE`. Then pass the file with --sample to `spanjury
    calibrate`, `panel study`, `panel cascade`, `meta` and `rank`, which use these probabilities.
    """
    job = drawing.SampleJob(
        run=run,
        size=number,
        purpose=for_,
        seed=seed,
        output=output,
        aspects=aspect,
        data=data,
        columns=column,
    )
    drawn = drawing.draw(job)
    console.print_table(
        ("stratum", "panel's scores", "texts", "drawn", "chance"),
        (
            [
                stratum.name,
                numbers.between(*drawn.scores.get(stratum.name, (None, None))),
                f"{stratum.texts:,}",
                f"{stratum.drawn:,}",
                f"{stratum.inclusion:.1%}",
            ]
            for stratum in drawn.strata
        ),
    )
    say(f"{drawn.texts} of {drawn.of:,} texts are in {output}")
    texts = f" --data {data}" if data else ""
    say(f"mark them: spanjury view {run} --rows {output}{texts}")
