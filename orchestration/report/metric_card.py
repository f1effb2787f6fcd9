"""A metric's card as text: for the terminal, and as a page of the documentation."""

from collections.abc import Iterable, Iterator

from spanjury.judges.core import MetricCard


def card_page(card: MetricCard) -> str:
    """Return the page of a metric, as Markdown."""
    facts = dict(card_facts(card))
    measures, formula = facts.pop("measures"), facts.pop("formula")
    rows = "\n".join(f"| {heading} | {_cell(fact)} |" for heading, fact in facts.items())
    model = ":model=FOLDER_OR_NAME" if card.weights else ""
    command = f"spanjury metrics score texts.jsonl --metric {card.name}{model}"
    return (
        f"# {card.title}\n\n{measures}\n\n```text\n{formula}\n```\n\n"
        f"| | |\n|---|---|\n{rows}\n\n```sh\n{command}\n```\n"
    )


def index_page(cards: Iterable[MetricCard]) -> str:
    """Return the index page with links to the pages of all metrics."""
    lines = [
        "# Metrics",
        "",
        "| metric | category | needs | scores | measures |",
        "|---|---|---|---|---|",
    ]
    for card in cards:
        facts = dict(card_facts(card))
        link = f"[{card.name}]({card.name}.md)"
        cells = (link, card.category, facts["needs"], facts["scores"], _cell(card.summary))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def card_facts(card: MetricCard) -> Iterator[tuple[str, str]]:
    """Yield the facts of a card with their headings; those that do not apply are skipped."""
    yield "metric", card.name if card.name == card.family else f"{card.name} ({card.family})"
    yield "measures", card.summary
    yield "formula", card.formula
    better = "neither end" if card.direction == "neither" else card.direction
    yield "scores", f"{card.bounds}, {better} is better"
    yield "levels", ", ".join(card.levels)
    yield "needs", _needs(card)
    yield "category", card.category
    if card.trained:
        yield "trained", "on people's ratings" if card.supervised else "without people's ratings"
    if card.dimensions:
        yield "used for", ", ".join(card.dimensions)
    yield "tasks", ", ".join(card.tasks) or "any"
    yield "empty texts", card.empty
    yield "limits", card.limits
    if card.batch_dependent:
        yield "beware", "the score of a segment depends on the other segments in the batch"
    yield "paper", card.paper
    yield "computed by", f"{card.library} ({card.licence})"
    if card.extra:
        yield "install", f"pip install 'spanjury[{card.extra}]'"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _needs(card: MetricCard) -> str:
    references = {"none": "", "one": "a reference (with several, the best counts)"}
    needed = [
        references.get(card.references, "references, all used together"),
        "the source" if card.needs_source else "",
        "a model that you name" if card.weights else "",
    ]
    return ", ".join(filter(None, needed)) or "the output alone"
