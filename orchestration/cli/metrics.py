"""`spanjury metrics`: list metrics, show their cards, and score texts."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from spanjury.judges.core import ConfigError, MetricCard, MetricError, choices_for, shown, stamped
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.cli.command import Flag, Flags
from spanjury.orchestration.cli.exits import INTERRUPTED, say, standard_output
from spanjury.orchestration.cli.flags.data import Columns, RowLimit
from spanjury.orchestration.cli.flags.run import NoProgress, TableAsJson
from spanjury.orchestration.cli.lists import ListFlags, Listing, Word, matching, print_listing

with lazily():
    import anyio
    from rich import table as tables

    from spanjury.judges.metrics import scores as corpus
    from spanjury.orchestration.cli import console
    from spanjury.orchestration.report import json as values
    from spanjury.orchestration.report import metric_card
    from spanjury.orchestration.report import tables as figures
    from spanjury.orchestration.services.judging import metrics as service
    from spanjury.orchestration.wiring import metrics, results

MetricTexts = Annotated[
    Path, typer.Argument(help="Texts: JSONL, CSV, TSV, TXT, Parquet, a folder or hf:….")
]


def list_metrics(
    *,
    word: Word = None,
    reference_free: Annotated[bool, Flag("List only metrics that need no references.")] = False,
    dimension: Annotated[
        str | None, Flag("List only metrics of this quality, for example factuality.")
    ] = None,
    category: Annotated[
        str | None, Flag("List only metrics of this category, for example readability.")
    ] = None,
    task: Annotated[str | None, Flag("List only metrics that are used on this task.")] = None,
    available: Annotated[bool, Flag("List only metrics that this machine can run.")] = False,
    form: ListFlags,
) -> None:
    """List the metrics, and what this machine lacks for each.

    Output to a file or a pipe has complete lines, with tabs between cells: metric, category,
    needs, better values, what this machine lacks.
    """
    cards = metrics.metric_cards()
    _check(dimension, "dimension", {value for card in cards.values() for value in card.dimensions})
    _check(category, "category", {card.category for card in cards.values()})
    _check(task, "task", {value for card in cards.values() for value in card.tasks})
    chosen = [
        card
        for card in matching(
            cards.values(), word, names=lambda candidate: (candidate.name,), what="metric"
        )
        if (not reference_free or card.references == "none")
        and (dimension is None or dimension in card.dimensions)
        and (category is None or category == card.category)
        and (task is None or not card.tasks or task in card.tasks)
    ]
    lacking = {card.name: metrics.availability(card) for card in chosen}
    if available:
        chosen = [card for card in chosen if not lacking[card.name]]
    print_listing(_listing(chosen, lacking), form)
    if form.json:
        return
    say(f"{len({card.family for card in chosen})} metrics under {len(chosen)} names")
    for problem in metrics.broken_cards():
        say(f"broken: {problem}")


def card(
    *,
    name: Annotated[str, typer.Argument(help="Name of a metric.")],
    json: TableAsJson = False,
    markdown: Annotated[bool, Flag("Print the card as Markdown.")] = False,
) -> None:
    """Print the card of a metric: what it measures, its formula, its bounds, its limits."""
    chosen = metrics.find_card(name)
    if markdown:
        typer.echo(shown(metric_card.card_page(chosen)), file=standard_output(), nl=False)
        return
    lacking = metrics.availability(chosen)
    if json:
        console.print_json({**values.fields_of(chosen, digits=None), "lacking": lacking})
        return
    table = tables.Table(show_header=False, box=None)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for heading, fact in metric_card.card_facts(chosen):
        table.add_row(heading, fact)
    table.add_row("on this machine", lacking or "available")
    console.print_view(table)


def show(
    *,
    data: MetricTexts,
    row: Annotated[str, Flag("Id of the row.", "ID")],
    metric: Annotated[str, Flag("Metric: NAME or NAME:option=value,….")],
    output: Annotated[Path, Flag("File for the page, which ends in .html.", also="-o")],
    column: Columns = (),
) -> None:
    """Write a page that shows what a metric sees in one row of DATA.

    It shows shared n-grams (bleu, sacrebleu, rouge-1, rouge-2), the longest common subsequence
    (rouge-l), a map of similar tokens (bertscore), or which tokens move where (wmd, moverscore).
    """
    service.show_metric(data, output, row=row, metric=metric, columns=column)
    say(f"written: {output}")


def _listing(chosen: list[MetricCard], lacking: Mapping[str, str]) -> Listing:
    headings = ("metric", "category", "needs", "better", "here")
    return Listing(
        headings=headings,
        rows=[
            (
                card.name,
                card.category,
                _needs(card),
                card.direction,
                lacking[card.name] or "available",
            )
            for card in chosen
        ],
        brief=headings,
        records=[
            {**values.fields_of(card, digits=None), "lacking": lacking[card.name]}
            for card in chosen
        ],
    )


def _needs(card: MetricCard) -> str:
    needs = ("" if card.references == "none" else "references", "source" * card.needs_source)
    return " ".join(filter(None, needs))


def _check(name: str | None, what: str, allowed: set[str]) -> None:
    if name is not None and name not in allowed:
        choices = choices_for(name, sorted(allowed))
        raise ConfigError(f"no metric has the {what} {name!r}; {choices}")


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
    json: TableAsJson = False,
    no_progress: NoProgress = False,
) -> None:
    """Score the texts of DATA with metrics.

    Without --metric, every metric is run that the data and this machine allow. The interval
    resamples inputs: texts with one doc_id or input_id, with equal inputs, or of several systems
    under one id are drawn together.
    """
    if output is not None:
        results.check_output(output, texts.data, *texts.reference, texts.source)
    prepared = service.prepare(
        texts.data,
        metrics=texts.metric,
        references=texts.reference,
        source=texts.source,
        columns=texts.column,
        limit=texts.limit,
    )
    scored = _measured(prepared, workers=workers, output=output, quiet=no_progress)
    intervals = corpus.corpus_intervals(scored.scores, sources=scored.sources)
    rows = [
        row
        for metric, interval in zip(scored.scores, intervals, strict=True)
        for row in _rows(metric, interval, scored, by_system=by_system)
    ]
    if json:
        printed = {"segments": len(scored.segments), "metrics": rows}
        console.print_json(values.plain(printed, digits=None))
    else:
        console.print_view(_score_table(rows, by_system=by_system))
    for remark in chain.from_iterable(metric.remarks() for metric in scored.scores):
        say(remark)
    names: dict[str, list[str]] = {}
    for name, reason in scored.skipped.items():
        names.setdefault(reason, []).append(name)
    for reason, metrics_of in names.items():
        say(f"skipped: {', '.join(metrics_of)}: {reason}")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """A row of the table: a system's score, or that of all systems."""

    metric: str
    system: str = ""
    score: float
    interval: tuple[float, float] | None = None
    better: str = ""
    signature: str = ""


def _measured(
    prepared: "service.Scored", *, workers: int | None, output: Path | None, quiet: bool
) -> "service.Scored":
    """Measure, and store the scores; after an interrupt, those of the finished metrics."""
    done: list[corpus.MetricScores] = []

    def show(scores: "corpus.MetricScores") -> None:
        done.append(scores)
        if not quiet:
            say(f"{scores.named.name} is done: {len(done)} of {len(prepared.metrics)}")

    try:
        scored = anyio.run(partial(service.score_file, prepared, workers=workers, show=show))
    except KeyboardInterrupt:
        if output is not None and done:
            service.write_metric_scores(output, prepared.scored(done))
            say(f"interrupted: {len(done)} of {len(prepared.metrics)} metrics are in {output}")
        raise typer.Exit(INTERRUPTED) from None
    if output is not None:
        service.write_metric_scores(output, scored)
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
            try:
                score = scored.corpus_of(scores, rows)
            except MetricError as error:
                say(f"no {scores.named.name} of system {system}: {error}")
                score = math.nan
            yield _Row(metric=scores.named.name, system=system, score=score)


def _by_system(scored: "service.Scored") -> dict[str, list[int]]:
    rows: dict[str, list[int]] = {}
    for index, segment in enumerate(scored.segments):
        rows.setdefault(segment.system, []).append(index)
    return rows


def _score_table(rows: Sequence[_Row], *, by_system: bool) -> "tables.Table":
    table = tables.Table()
    table.add_column("metric", overflow="fold")
    if by_system:
        table.add_column("system", overflow="fold")
    for heading in ("score", "95 % interval"):
        table.add_column(heading, justify="right")
    table.add_column("better")
    for row in rows:
        names = (row.metric, row.system) if by_system else (row.metric,)
        interval = figures.between(*row.interval, ".4g") if row.interval else ""
        table.add_row(*names, figures.figure(row.score, ".4g"), interval, row.better)
    return table
