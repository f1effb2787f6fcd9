"""`spanjury perturb`: damage the texts of a file."""

from pathlib import Path
from typing import Annotated

import typer

from spanjury.judges.core import counted
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.cli.command import Flag
from spanjury.orchestration.cli.exits import say
from spanjury.orchestration.cli.flags.data import Columns, RowLimit
from spanjury.orchestration.cli.flags.panel import Seed, WriterFlags
from spanjury.orchestration.cli.study import Recipe

with lazily():
    import anyio

    from spanjury.orchestration.cli import logging
    from spanjury.orchestration.services.exams import perturb as service


def perturb(
    *,
    data: Annotated[
        Path, typer.Argument(metavar="DATA", help="Good texts: a JSONL, CSV or TSV file.")
    ],
    recipe: Recipe,
    output: Annotated[Path, Flag("JSONL file for the damaged texts.", also="-o")],
    column: Columns = (),
    limit: RowLimit = None,
    seed: Seed = None,
    writer: WriterFlags,
) -> None:
    """Damage good texts by a recipe, and mark the damage as gold error spans."""
    logging.log_to(None)
    model = writer.config()
    asked = service.Perturb(
        data,
        recipe=recipe,
        writer=model,
        columns=column,
        limit=limit,
        seed=1 if seed is None else seed,
        memory=output.with_name(f"{output.name}.memory.sqlite3") if model else None,
    )
    damaged, skipped = anyio.run(asked.write, output)
    for (condition, reason), count in skipped.items():
        say(f"skipped: {count} x {condition}: {reason}")
    say(f"{counted(damaged, 'damaged text is', 'damaged texts are')} in {output}")
