"""A metric's card as text: for the terminal, and as a page of the documentation."""

from collections.abc import Iterable, Iterator

from spanjury.judges.core import MetricCard


def card_page(card: MetricCard) -> str:
    """Return the page of a metric, as Markdown."""
    return "\n".join(_lines(card)) + "\n"


def index_page(cards: Iterable[MetricCard]) -> str:
    """Return the index page with links to the pages of all metrics."""
    return "\n".join(_index(cards)) + "\n"


def card_facts(card: MetricCard) -> Iterator[tuple[str, str]]:
    """Yield the facts of a card with their headings; those that do not apply are skipped."""
    yield "metric", card.name if card.name == card.family else f"{card.name} ({card.family})"
    yield "measures", card.summary
    yield "formula", card.formula
    yield "scores", f"{card.bounds}, {_better(card)}"
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


def _index(cards: Iterable[MetricCard]) -> Iterator[str]:
    yield "# Metrics"
    yield ""
    yield "| metric | category | needs | scores | measures |"
    yield "|---|---|---|---|---|"
    for card in cards:
        facts = dict(card_facts(card))
        link = f"[{card.name}]({card.name}.md)"
        cells = (link, card.category, facts["needs"], facts["scores"], _cell(card.summary))
        yield f"| {' | '.join(cells)} |"


def _lines(card: MetricCard) -> Iterator[str]:
    facts = dict(card_facts(card))
    yield f"# {card.title}"
    yield ""
    yield facts.pop("measures")
    yield ""
    yield "```text"
    yield facts.pop("formula")
    yield "```"
    yield ""
    yield "| | |"
    yield "|---|---|"
    for heading, fact in facts.items():
        yield f"| {heading} | {_cell(fact)} |"
    yield ""
    yield "```sh"
    model = ":model=FOLDER_OR_NAME" if card.weights else ""
    yield f"spanjury metrics score texts.jsonl --metric {card.name}{model}"
    yield "```"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _better(card: MetricCard) -> str:
    if card.direction == "neither":
        return "neither end is better"
    return f"{card.direction} is better"


def _needs(card: MetricCard) -> str:
    references = {"none": "", "one": "a reference (with several, the best counts)"}
    needed = [
        references.get(card.references, "references, all used together"),
        "the source" if card.needs_source else "",
        "a model that you name" if card.weights else "",
    ]
    return ", ".join(filter(None, needed)) or "the output alone"
