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
    from spanjury.orchestration.services.sampling import drawing


def sample(
    *,
    run: Annotated[
        Path,
        typer.Argument(metavar="RUN", help="Folder or name of a run, or a file of results."),
    ],
    output: Annotated[Path, Flag("File for the rows of the texts, JSONL.", also="-o")],
    number: Annotated[int, Flag("How many texts.", also="-n", min=1)] = 50,
    for_: Annotated[
        Literal["calibration", "disagreement", "audit"],
        Flag("Texts over all scores, texts on which seats differ, or more of unusual ones."),
    ] = "calibration",
    aspect: Annotated[
        tuple[str, ...], Flag("Aspect whose scores count; all by default; repeatable.")
    ] = (),
    seed: Annotated[int, Flag("Seed of the draw.", min=0)] = 1,
    data: Annotated[Path | None, Flag("The texts of a bare file of results.", "FILE")] = None,
    column: Columns = (),
) -> None:
    """Draw texts of a run for people to mark; every text has a chance, which its row keeps.

    Mark them with `spanjury view RUN --rows FILE`; then name the file by --sample to `spanjury
    calibrate`, `panel study`, `panel cascade`, `meta` and `rank`, which know these chances then.
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
                one.name,
                numbers.between(*drawn.scores.get(one.name, (None, None))),
                f"{one.texts:,}",
                f"{one.drawn:,}",
                f"{one.inclusion:.1%}",
            ]
            for one in drawn.strata
        ),
    )
    say(f"{drawn.texts} of {drawn.of:,} texts are in {output}")
    texts = f" --data {data}" if data else ""
    say(f"mark them: spanjury view {run} --rows {output}{texts}")
