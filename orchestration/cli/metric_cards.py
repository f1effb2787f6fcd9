"""Metrics on the command line: what there is, and what is known of each."""

from collections.abc import Mapping
from dataclasses import fields

import typer
from rich.table import Table

from spanjury.judges.core import ConfigError, MetricCard, shown, shown_json
from spanjury.orchestration.cli.console import CleanConsole
from spanjury.orchestration.cli.exits import say
from spanjury.orchestration.report.metric_card import card_facts, card_page
from spanjury.orchestration.wiring.metrics import (
    availability,
    broken_cards,
    find_card,
    metric_cards,
)

__all__ = ["print_card", "print_metrics"]


def print_metrics(
    *,
    reference_free: bool,
    dimension: str | None,
    category: str | None,
    task: str | None,
    available: bool,
    json: bool,
) -> None:
    """Print the metrics that fit."""
    cards = metric_cards()
    _check(dimension, "dimension", {one for card in cards.values() for one in card.dimensions})
    _check(category, "category", {card.category for card in cards.values()})
    _check(task, "task", {one for card in cards.values() for one in card.tasks})
    chosen = [
        card
        for card in cards.values()
        if (not reference_free or card.references == "none")
        and (dimension is None or dimension in card.dimensions)
        and (category is None or category == card.category)
        and (task is None or not card.tasks or task in card.tasks)
    ]
    lacking = {card.name: availability(card) for card in chosen}
    if available:
        chosen = [card for card in chosen if not lacking[card.name]]
    if json:
        rows = [{**_plain(card), "lacking": lacking[card.name]} for card in chosen]
        print_json(rows)
        return
    _print_table(chosen, lacking)
    for problem in broken_cards():
        say(f"broken: {problem}")


def print_card(*, name: str, json: bool, markdown: bool) -> None:
    """Print one card."""
    card = find_card(name)
    if markdown:
        typer.echo(shown(card_page(card)), nl=False)
        return
    lacking = availability(card)
    if json:
        print_json({**_plain(card), "lacking": lacking})
        return
    table = Table(show_header=False, box=None)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for heading, told in card_facts(card):
        table.add_row(heading, told)
    table.add_row("on this machine", lacking or "available")
    CleanConsole().print(table)


def print_json(value: object) -> None:
    """Print a value as JSON; infinite bounds are null."""
    CleanConsole(soft_wrap=True).print(shown_json(value, indent=2))


def _print_table(chosen: list[MetricCard], lacking: Mapping[str, str]) -> None:
    table = Table()
    table.add_column("metric", no_wrap=True)
    table.add_column("category", no_wrap=True)
    for heading in ("needs", "better", "on this machine"):
        table.add_column(heading, overflow="fold")
    for card in chosen:
        needs = [
            "" if card.references == "none" else "references",
            "source" if card.needs_source else "",
        ]
        state = lacking[card.name] or "available"
        table.add_row(
            card.name, card.category, " ".join(filter(None, needs)), card.direction, state
        )
    CleanConsole().print(table)
    families = len({card.family for card in chosen})
    say(f"{families} metrics under {len(chosen)} names")


def _check(told: str | None, what: str, known: set[str]) -> None:
    if told is not None and told not in known:
        choices = ", ".join(sorted(known))
        raise ConfigError(f"no metric has the {what} {told!r}; choose from {choices}")


def _plain(card: MetricCard) -> dict[str, object]:
    """Return what a card holds, in the order of its fields; None for an infinite bound."""
    return {field.name: _jsonable(getattr(card, field.name)) for field in fields(card)}


def _jsonable(value: object) -> object:
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return None
    return list(value) if isinstance(value, tuple) else value
