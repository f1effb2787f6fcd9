"""`spanjury metrics list`, `card` and `show`: the metrics, and what is known of each."""

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Annotated

import typer

from spanjury.judges.core import ConfigError, MetricCard, choices_for, shown
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.cli.command import Flag
from spanjury.orchestration.cli.exits import say
from spanjury.orchestration.cli.flags.data import Columns
from spanjury.orchestration.cli.listing import ListFlags, Listing, Word, matching, print_listing

with lazily():
    from rich import table as tables

    from spanjury.orchestration.cli import console
    from spanjury.orchestration.report import metric_card
    from spanjury.orchestration.services.runs import metric_pages
    from spanjury.orchestration.wiring import metrics

Json = Annotated[bool, Flag("Print JSON instead of a table.")]
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

    Lines are complete if standard output is not a terminal, with tabs between cells: metric,
    category, needs, better values, what this machine lacks.
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
    json: Json = False,
    markdown: Annotated[bool, Flag("Print the card as Markdown.")] = False,
) -> None:
    """Print the card of a metric: what it measures, its formula, its bounds, its limits."""
    chosen = metrics.find_card(name)
    if markdown:
        typer.echo(shown(metric_card.card_page(chosen)), nl=False)
        return
    lacking = metrics.availability(chosen)
    if json:
        console.print_json({**_plain(chosen), "lacking": lacking})
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
    metric_pages.show_metric(data, output, row=row, metric=metric, columns=column)
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
        records=[{**_plain(card), "lacking": lacking[card.name]} for card in chosen],
    )


def _needs(card: MetricCard) -> str:
    needs = ("" if card.references == "none" else "references", "source" * card.needs_source)
    return " ".join(filter(None, needs))


def _check(name: str | None, what: str, allowed: set[str]) -> None:
    if name is not None and name not in allowed:
        choices = choices_for(name, sorted(allowed))
        raise ConfigError(f"no metric has the {what} {name!r}; {choices}")


def _plain(card: MetricCard) -> dict[str, object]:
    """Return what a card holds, in the order of its fields; None for an infinite bound."""
    return {field.name: _jsonable(getattr(card, field.name)) for field in fields(card)}


def _jsonable(value: object) -> object:
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return None
    return list(value) if isinstance(value, tuple) else value
