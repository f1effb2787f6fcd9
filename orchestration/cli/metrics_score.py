"""`spanjury metrics score`: measure texts by metrics."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer

from spanjury.judges.core import stamped
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.cli.command import Flag, Flags
from spanjury.orchestration.cli.exits import INTERRUPTED, say
from spanjury.orchestration.cli.flags.data import Columns, RowLimit
from spanjury.orchestration.cli.flags.run import NoProgress
from spanjury.orchestration.cli.metrics import Json, MetricTexts

with lazily():
    import anyio
    from rich import table as tables

    from spanjury.judges.metrics import scores as corpus
    from spanjury.orchestration.cli import console
    from spanjury.orchestration.services.judging import metrics
    from spanjury.orchestration.services.judging import metrics as service


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredFlags(Flags, title="Texts and metrics"):
    """The flags that name texts and metrics."""

    data: MetricTexts
    metric: Annotated[
        tuple[str, ...],
        Flag(
            "Metric: NAME or NAME:option=value,…; name=… renames its scores; repeatable.", env=True
        ),
    ] = ()
    reference: Annotated[
        tuple[Path, ...], Flag("File or folder with one reference for each text; repeatable.")
    ] = ()
    source: Annotated[Path | None, Flag("File or folder with one source for each text.")] = None
    column: Columns = ()
    limit: RowLimit = None


def score(
    *,
    texts: ScoredFlags,
    output: Annotated[Path | None, Flag("File for the scores of each text.", also="-o")] = None,
    by_system: Annotated[bool, Flag("Also print a row for each system.")] = False,
    workers: Annotated[
        int | None, Flag("Number of processes; one per core by default.", min=1, env=True)
    ] = None,
    json: Json = False,
    no_progress: NoProgress = False,
) -> None:
    """Score the texts of DATA with metrics.

    Without --metric, every metric is run that the data and this machine allow.
    """
    job = service.MetricsJob(
        data=texts.data,
        metrics=texts.metric,
        references=texts.reference,
        source=texts.source,
        columns=texts.column,
        limit=texts.limit,
    )
    scored = _measured(service.prepare(job), workers=workers, output=output, quiet=no_progress)
    intervals = corpus.corpus_intervals(scored.scores)
    rows = [
        row
        for metric, interval in zip(scored.scores, intervals, strict=True)
        for row in _rows(metric, interval, scored, by_system=by_system)
    ]
    if json:
        console.print_json(
            {"segments": len(scored.segments), "metrics": [asdict(row) for row in rows]}
        )
    else:
        console.print_view(_table(rows, by_system=by_system))
    for skipped in scored.skipped:
        say(f"skipped: {skipped.name}: {skipped.reason}")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """A line of the table; a system's, or that of all of them."""

    metric: str
    system: str = ""
    score: float | None
    interval: tuple[float, float] | None = None
    better: str = ""
    signature: str = ""


def _measured(
    prepared: "service.Prepared", *, workers: int | None, output: Path | None, quiet: bool
) -> "service.Scored":
    """Measure, and keep the scores; after an interrupt those of the finished metrics."""
    done: list[corpus.MetricScores] = []

    def show(scores: "corpus.MetricScores") -> None:
        done.append(scores)
        if not quiet:
            say(f"{scores.named.name} is done: {len(done)} of {len(prepared.metrics)}")

    async def measure() -> "service.Scored":
        return await service.score_file(prepared, workers=workers, show=show)

    try:
        scored = anyio.run(measure)
    except KeyboardInterrupt:
        if output is not None and done:
            metrics.write_metric_scores(output, prepared.scored(done))
            say(f"interrupted: {len(done)} of {len(prepared.metrics)} metrics are in {output}")
        raise typer.Exit(INTERRUPTED) from None
    if output is not None:
        metrics.write_metric_scores(output, scored)
    return scored


def _rows(
    scores: "corpus.MetricScores",
    interval: tuple[float, float] | None,
    scored: "service.Scored",
    *,
    by_system: bool,
) -> Iterator[_Row]:
    yield _Row(
        metric=scores.named.name,
        score=scores.corpus,
        interval=interval,
        better=scores.named.card.direction,
        signature=stamped(scores.named.signature),
    )
    if by_system:
        for system, rows in sorted(_by_system(scored).items()):
            yield _Row(metric=scores.named.name, system=system, score=scores.corpus_of(rows))


def _by_system(scored: "service.Scored") -> dict[str, list[int]]:
    rows: dict[str, list[int]] = {}
    for index, segment in enumerate(scored.segments):
        rows.setdefault(segment.system, []).append(index)
    return rows


def _table(rows: Sequence[_Row], *, by_system: bool) -> "tables.Table":
    table = tables.Table()
    table.add_column("metric", overflow="fold")
    if by_system:
        table.add_column("system", overflow="fold")
    for heading in ("score", "95 % interval"):
        table.add_column(heading, justify="right")
    table.add_column("better")
    for row in rows:
        names = (row.metric, row.system) if by_system else (row.metric,)
        score = "-" if row.score is None else f"{row.score:.4g}"
        interval = "{:.4g} to {:.4g}".format(*row.interval) if row.interval else ""
        table.add_row(*names, score, interval, row.better)
    return table
