"""`spanjury meta`: how far judges and metrics agree with people."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.cli.command import Flag, Flags
from spanjury.orchestration.cli.exits import say
from spanjury.orchestration.cli.flags.data import Columns, Sample
from spanjury.orchestration.cli.flags.run import Html, NoProgress

with lazily():
    import anyio

    from spanjury.orchestration.cli import console
    from spanjury.orchestration.report import destination
    from spanjury.orchestration.services import agreement, agreement_report, exam_texts
    from spanjury.orchestration.services.marks import comparison
    from spanjury.orchestration.studies.agreement import findings, scorers, tables


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingFlags(Flags, title="Scores and ratings"):
    """The flags that name scores, and the ratings of people."""

    results: Annotated[
        tuple[Path, ...],
        typer.Argument(help="Results or folders of runs, scores of metrics."),
    ]
    human: Annotated[
        Path | None,
        Flag("Texts with the scores of people, as JSONL; by default the marks of the run."),
    ] = None
    sample: Sample = None
    data: Annotated[
        Path | None, Flag("The texts of bare results, to take the marks beside them.", "FILE")
    ] = None
    aspect: Annotated[
        tuple[str, ...], Flag("Aspect that people rated; all by default; repeatable.")
    ] = ()
    column: Columns = ()
    category: Annotated[
        tuple[str, ...],
        Flag("A judge's category and the gold one it means; repeatable.", "JUDGE=GOLD"),
    ] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrelationFlags(Flags, title="Statistics"):
    """The flags that say what is computed."""

    level: Annotated[
        Literal["by-input", "pooled", "system"],
        Flag("Within each input over its systems, over all outputs, or of systems."),
    ] = "by-input"
    correlation: Annotated[
        Literal["pearson", "spearman", "tau-b", "tau-c"], Flag("Which correlation.")
    ] = "spearman"
    draws: Annotated[
        int, Flag("Draws of the bootstrap and the permutation test; 0: neither.", min=0)
    ] = 1000
    seed: Annotated[int, Flag("Seed of the draws.")] = 1


def meta(
    *,
    ratings: RatingFlags,
    statistics: CorrelationFlags,
    output: Annotated[
        Path | None, Flag("Folder for pages and pictures.", "FOLDER", also="-o")
    ] = None,
    html: Html = None,
    json: Annotated[bool, Flag("Print JSON, not a table.")] = False,
    no_progress: NoProgress = False,
) -> None:
    """Say how far judges and metrics agree with people.

    RESULTS are results of runs, folders of runs, and files of `metrics score --output`, on the
    texts that people rated. Without --human, the ratings are the marks that people made of the
    run (`spanjury view RUN`).
    """
    place = destination.Destination(folder=output, page=html)
    job = agreement.MetaJob(
        results=tuple(dict.fromkeys(ratings.results)),
        human=ratings.human or exam_texts.Texts(segments=()),
        sample=ratings.sample,
        aspects=ratings.aspect,
        columns=ratings.column,
        categories=ratings.category,
        settings=scorers.Settings(
            level=statistics.level,
            method=statistics.correlation,
            draws=statistics.draws,
            seed=statistics.seed,
        ),
    )
    if ratings.human is None:
        marked = comparison.collect_marks(job, data=ratings.data)
        job, collected = marked.job, marked.collected
        for note in marked.notes:
            say(note)
    else:
        collected = agreement.collect(job)

    async def work() -> "findings.MetaFindings":
        show = _be_quiet if no_progress else _say_done
        return await agreement.measure(job, collected, show=show)

    found = anyio.run(work)
    if json:
        console.print_json(findings.meta_json(found))
    else:
        console.print_report(tables.agreement_report(found))
    written = place.write(lambda folder: agreement_report.write_meta(folder, found, collected))
    if output is not None:
        console.say_written(written, counts_pictures=True)
    elif html is not None:
        say(f"written: {html}")


def _say_done(part: str) -> None:
    say(f"{part} is done")


def _be_quiet(part: str) -> None:
    del part
