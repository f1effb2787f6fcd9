"""Pages as they are written: whole, sealed against what stands in them, asking no server."""

import json
import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spanjury.judges.core import ConfigError, StoreError
from spanjury.orchestration.report.drawings.pages import (
    Flow,
    MarkedText,
    alignment_page,
    flow_page,
    heat_map_page,
)
from spanjury.orchestration.report.files import write_page

VOID = {"meta", "input", "wbr"}
NAN = float("nan")


class Reader(HTMLParser):
    """Keeps what a page consists of, and finds tags that are left open or never opened."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.blocks: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> without its beginning"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in {"script", "style", "td", "title"}:
            self.blocks.append((self.open[-1], data))


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    return reader


def data_of(page: str) -> dict[str, Any]:
    (found,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page)
    data: dict[str, Any] = json.loads(found)
    return data


def test_a_page_is_balanced_and_has_only_tags_of_ours(hostile_page: str) -> None:
    reader = read(hostile_page)
    assert (reader.open, reader.tags.count("script")) == ([], 2)
    assert not {"img", "iframe", "link", "a", "base", "form", "object"} & set(reader.tags)
    assert not [name for name, _ in reader.attributes if name.startswith("on")]


def test_a_page_asks_for_nothing(plain_page: str) -> None:
    assert "http:" not in plain_page
    assert "https:" not in plain_page
    assert not re.search(r"url\(|@import|import\(|fetch\(|XMLHttp|WebSocket|//[a-z]", plain_page)
    names = {name for name, _ in read(plain_page).attributes}
    assert not names & {"src", "href", "action", "data", "srcset", "poster"}


def test_only_the_script_and_style_of_the_page_may_run(hostile_page: str) -> None:
    reader = read(hostile_page)
    policies = [value for name, value in reader.attributes if name == "content"]
    (policy,) = [value for value in policies if value and value.startswith("default-src 'none'")]
    for kind, text in ((kind, text) for kind, text in reader.blocks if kind in {"script", "style"}):
        digest = b64encode(sha256(text.encode()).digest()).decode()
        assert (f"'sha256-{digest}'" in policy) == (not text.startswith("{")), kind
    assert "unsafe" not in policy


def test_a_page_is_utf_8_and_the_same_each_time(
    tmp_path: Path, hostile_page: str, request: pytest.FixtureRequest
) -> None:
    write_page(tmp_path / "a.html", hostile_page)
    assert (tmp_path / "a.html").read_bytes().decode() == hostile_page
    for hidden in ("\x00", "\u202e", "\u2028", "\ud800"):
        assert hidden not in hostile_page
    assert "\\ufffdtxt.exe" in hostile_page or "\ufffdtxt.exe" in hostile_page
    assert request.getfixturevalue("hostile_page") == hostile_page


def test_without_a_script_there_is_a_table(plain_page: str) -> None:
    noscript = plain_page.partition("<noscript>")[2].partition("</noscript>")[0]
    assert "gunman" in noscript
    assert "<table>" in noscript
    assert noscript.count('<th scope="col">') in {3, 4}


def test_a_long_table_says_what_it_leaves_out() -> None:
    flows = tuple(Flow(output=0, reference=at, mass=1, cost=0) for at in range(3001))
    page = flow_page("a", output=("a",), reference=("b",) * 3001, flows=flows)
    assert "(the first 3,000 of 3,001 rows)" in page
    assert page.count("<tr>") == 3001


def test_another_ending_and_a_missing_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"ends in \.html, got 'a\.htm'"):
        write_page(tmp_path / "a.htm", "")
    with pytest.raises(StoreError, match="cannot be written"):
        write_page(tmp_path / "none" / "a.html", "")


def test_the_best_partners_are_named_and_the_earlier_of_equals_first() -> None:
    values = [[0.5, 0.9, 0.9, NAN], [NAN, NAN, NAN, NAN]]
    page = heat_map_page(
        "t", output=("x", "y"), reference=("a", "b", "c", "d"), similarities=values
    )
    data = data_of(page)
    assert data["partners"] == [
        [[[1, 0.9], [2, 0.9], [0, 0.5]], []],
        [[[0, 0.5]], [[0, 0.9]], [[0, 0.9]], []],
    ]
    assert (data["map"], data["range"]) == ([[0.5, 0.9, 0.9, None], [None] * 4], [0.5, 0.9])
    cells = [text for kind, text in read(page).blocks if kind == "td"]
    assert cells == []  # each cell holds a bdi
    assert "<td><bdi>b</bdi></td><td><bdi>0.900</bdi></td>" in page
    assert "<td><bdi>none</bdi></td><td><bdi>no value</bdi></td>" in page


def test_a_map_of_2000_tokens_is_cut_and_says_so() -> None:
    tokens = ("t",) * 2000
    values = np.zeros((2000, 2000))
    values[1999, 1998] = 1
    page = heat_map_page("t", output=tokens, reference=tokens, similarities=values)
    data = data_of(page)
    assert (len(data["map"]), data["mapColumns"], len(data["output"]["words"])) == (400, 400, 2000)
    assert data["partners"][0][1999][0] == [1998, 1]
    assert "first 400 tokens of the output and the first 400 of the reference" in page


def test_a_flow_says_which_tokens_it_does_not_draw() -> None:
    near, far = Flow(output=0, reference=0, mass=0.25, cost=1), 450
    flows = (near, Flow(output=far, reference=0, mass=0.75, cost=1))
    page = flow_page("t", output=("a",) * 500, reference=("b",), flows=flows)
    assert data_of(page)["flows"] == [[0, 0, 0.25, 1]]
    assert "the heaviest 1 flows between them: 25.0% of the mass" in page
    drawn_whole = flow_page("t", output=("a",) * 500, reference=("b",), flows=(near,))
    assert "The drawing shows the first 400 tokens of each text and every flow" in drawn_whole


def test_a_text_keeps_what_stands_between_its_words(hostile_page: str) -> None:
    for text in (data_of(hostile_page).get(name) for name in ("output", "reference")):
        if isinstance(text, dict):
            assert len(text["gaps"]) == len(text["words"]) + 1


def test_rouge_l_is_shown_as_it_is_defined() -> None:
    abc = MarkedText(text="a b c", words=((0, 1), (2, 3), (4, 5)))
    ab = MarkedText(text="a b", words=((0, 1), (2, 3)))
    page = alignment_page("t", output=abc, reference=ab, pairs=((0, 0), (1, 1)))
    assert "ROUGE-L: precision 0.667, recall 1.000, F 0.800" in page


def test_texts_without_words_have_no_rouge_l() -> None:
    empty = MarkedText(text="", words=())
    page = alignment_page("", output=empty, reference=empty, pairs=())
    assert "precision no value, recall no value, F no value" in page
