"""`spanjury rank`: which systems are better, and how sure that is."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.cli.command import Flag, Flags
from spanjury.orchestration.cli.exits import say
from spanjury.orchestration.cli.flags.data import Columns, Sample
from spanjury.orchestration.cli.flags.run import Html

with lazily():
    from spanjury.orchestration.cli import console
    from spanjury.orchestration.report import destination
    from spanjury.orchestration.services.ranking import ranking, reading
    from spanjury.orchestration.studies.ranking import tables


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedFlags(Flags, title="Scores and marks"):
    """The flags that name runs, and what people said of their texts."""

    runs: Annotated[
        tuple[Path, ...],
        typer.Argument(
            metavar="RUN...", help="Folders or names of runs, or results: of all systems, or each."
        ),
    ]
    human: Annotated[
        Path | None,
        Flag("Texts with the scores of people; by default the marks of the runs.", "FILE"),
    ] = None
    sample: Sample = None
    aspect: Annotated[tuple[str, ...], Flag("Aspect to rank by; all by default; repeatable.")] = ()
    data: Annotated[Path | None, Flag("The texts of bare files of results.", "FILE")] = None
    column: Columns = ()


def rank(
    *,
    ranked: RankedFlags,
    output: Annotated[Path | None, Flag("Folder for pages and JSON.", "FOLDER", also="-o")] = None,
    html: Html = None,
    json: Annotated[bool, Flag("Print JSON, not tables.")] = False,
) -> None:
    """Rank systems by a panel's scores, with intervals, and say which are not shown to differ.

    Where people marked some texts, the panel's scores are corrected by theirs: the estimates are
    unbiased however bad the panel is, and narrower than people's alone where it is good.
    """
    place = destination.Destination(folder=output, page=html)
    job = reading.RankJob(
        runs=ranked.runs,
        human=ranked.human,
        sample=ranked.sample,
        data=ranked.data,
        columns=ranked.column,
        aspects=ranked.aspect,
    )
    found = ranking.rank(job)
    if json:
        console.print_json(tables.ranking_json(found))
    else:
        console.print_report(tables.ranking_report(found))
    for path in place.write(lambda folder: ranking.write_ranking(folder, found)):
        say(f"written: {path}")
