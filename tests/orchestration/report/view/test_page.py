"""The page of a view as a file: what may run in it, and what it is made of."""

import re
from base64 import b64decode
from gzip import decompress
from html.parser import HTMLParser

from fakes.view_samples import one_run

from spanjury.orchestration.report.view.page import view_page


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.attributes.extend(attrs)


def test_a_file_asks_no_one_and_a_served_page_asks_its_server() -> None:
    served = view_page("run")
    assert "connect-src &#x27;self&#x27;" in served or "connect-src 'self'" in served
    assert "connect-src" not in one_run().page()


def test_a_page_has_one_script_and_no_attribute_that_runs_or_loads() -> None:
    tags = Tags()
    tags.feed(one_run().page())
    assert tags.names.count("script") == 1 + len(["head", "columns", "details-0", "comparisons"])
    names = {name for name, _ in tags.attributes}
    assert not {name for name in names if name.startswith("on")}
    assert not names & {"src", "srcset", "action", "style", "data", "poster"}


def test_the_script_writes_no_html_and_evaluates_no_text() -> None:
    page = view_page("run")
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\(|new Function", page
    )


def test_the_title_is_text() -> None:
    page = view_page("</title><script>alert(1)</script>")
    assert "<script>alert" not in page


def test_a_block_is_what_was_packed() -> None:
    page = one_run().page()
    (found,) = re.findall(r'id="columns">"([^"]*)"</script>', page)
    assert b'"ferry/bart"' in decompress(b64decode(found))
