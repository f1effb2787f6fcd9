"""The pages of the documentation say what the cards say."""

from pathlib import Path

from spanjury.orchestration.report.metric_card import card_page, index_page
from spanjury.orchestration.wiring.metrics import metric_cards

PAGES = Path(__file__).parents[3] / "docs" / "metrics"
CARDS = metric_cards()


def test_every_metric_has_the_page_that_is_made_of_its_card() -> None:
    for name in sorted(CARDS):
        assert (PAGES / f"{name}.md").read_text(encoding="utf-8") == card_page(CARDS[name]), name


def test_there_is_no_page_of_a_metric_that_is_not() -> None:
    assert {page.stem for page in PAGES.glob("*.md")} == {*CARDS, "README"}


def test_the_index_leads_to_every_page() -> None:
    result = (PAGES / "README.md").read_text(encoding="utf-8")
    assert result == index_page(CARDS.values())
    assert all(f"]({name}.md)" in result for name in CARDS)
