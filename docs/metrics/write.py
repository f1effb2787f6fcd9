"""Write the pages of this folder from the metrics' cards; run by ``just metric-pages``."""

from pathlib import Path

from spanjury.orchestration.report.metric_card import card_page, index_page
from spanjury.orchestration.wiring.metrics import metric_cards

HERE = Path(__file__).parent


def write_pages(folder: Path) -> None:
    """Write a page for each card, and the one that leads to them."""
    cards = metric_cards()
    for name, card in cards.items():
        (folder / f"{name}.md").write_text(card_page(card), encoding="utf-8")
    (folder / "README.md").write_text(index_page(cards.values()), encoding="utf-8")


if __name__ == "__main__":
    write_pages(HERE)
