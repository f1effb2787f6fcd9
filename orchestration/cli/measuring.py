"""Texts measured by metrics, on the command line."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import anyio
import typer
from rich.table import Table

from spanjury.judges.core import stamped
from spanjury.judges.metrics.scores import MetricScores, corpus_interval
from spanjury.orchestration.cli.console import CleanConsole
from spanjury.orchestration.cli.exits import INTERRUPTED, say
from spanjury.orchestration.cli.metric_cards import print_json
from spanjury.orchestration.services.metric_scores import write_metric_scores
from spanjury.orchestration.services.metrics import (
    MetricsJob,
    Prepared,
    Scored,
    prepare,
    score_file,
)

__all__ = ["score_texts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """A line of the table; a system's, or that of all of them."""

    metric: str
    system: str = ""
    score: float | None
    interval: tuple[float, float] | None = None
    better: str = ""
    signature: str = ""


def score_texts(  # noqa: PLR0913  a command's flags are its parameters
    *,
    data: Path,
    metric: list[str] | None,
    reference: list[Path] | None,
    source: Path | None,
    column: list[str] | None,
    limit: int | None,
    output: Path | None,
    by_system: bool,
    workers: int | None,
    json: bool,
    no_progress: bool,
) -> None:
    """Measure a file, print what comes of it, and keep the scores if they are asked for."""
    job = MetricsJob(
        data=data,
        metrics=tuple(metric or ()),
        references=tuple(reference or ()),
        source=source,
        columns=tuple(column or ()),
        limit=limit,
    )
    scored = _measured(prepare(job), workers=workers, output=output, silent=no_progress)
    rows = [row for one in scored.scores for row in _rows(one, scored, by_system=by_system)]
    if json:
        print_json({"segments": len(scored.segments), "metrics": [asdict(row) for row in rows]})
    else:
        CleanConsole().print(_table(rows, by_system=by_system))
    for skipped in scored.skipped:
        say(f"left out: {skipped.name}: {skipped.reason}")


def _measured(
    prepared: Prepared, *, workers: int | None, output: Path | None, silent: bool
) -> Scored:
    """Measure, and keep the scores; when it is broken off, those of the metrics that are done."""
    done: list[MetricScores] = []

    def show(scores: MetricScores) -> None:
        done.append(scores)
        if not silent:
            say(f"{scores.named.name} is done: {len(done)} of {len(prepared.metrics)}")

    async def measure() -> Scored:
        return await score_file(prepared, workers=workers, show=show)

    try:
        scored = anyio.run(measure)
    except KeyboardInterrupt:
        if output is not None and done:
            write_metric_scores(output, prepared.scored(done))
            say(f"broken off: {len(done)} of {len(prepared.metrics)} metrics are in {output}")
        raise typer.Exit(INTERRUPTED) from None
    if output is not None:
        write_metric_scores(output, scored)
    return scored


def _rows(one: MetricScores, scored: Scored, *, by_system: bool) -> Iterator[_Row]:
    yield _Row(
        metric=one.named.name,
        score=one.corpus,
        interval=corpus_interval(one),
        better=one.named.card.direction,
        signature=stamped(one.named.signature),
    )
    if by_system:
        for system, places in sorted(_by_system(scored).items()):
            yield _Row(metric=one.named.name, system=system, score=one.corpus_of(places))


def _by_system(scored: Scored) -> dict[str, list[int]]:
    rows: dict[str, list[int]] = {}
    for place, segment in enumerate(scored.segments):
        rows.setdefault(segment.system, []).append(place)
    return rows


def _table(rows: Sequence[_Row], *, by_system: bool) -> Table:
    table = Table()
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
