"""Placeholder of the page."""

from collections.abc import Mapping

from spanjury.orchestration.report.page import Page, page_html, safe


def view_page(title: str, *, blocks: Mapping[str, str], is_served: bool) -> str:
    """Return the page as HTML."""
    return page_html(
        Page(title=title, body=safe(title), data=blocks, script="0;", asks_its_server=is_served)
    )
