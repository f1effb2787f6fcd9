"""A view as one file: what its blocks hold, and what is left out of a smaller one."""

import gzip
import json
import re
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest
from fakes.command import call
from fakes.viewed_runs import judge, open_run, results, write_rows

BLOCK = re.compile(r'<script type="application/json" id="([^"]+)">(.*?)</script>', re.DOTALL)
Blocks = dict[str, Any]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    write_rows(tmp_path / "rows.jsonl")
    return judge(tmp_path)


def blocks(path: Path) -> Blocks:
    """Return what the script of a page reads in its blocks."""
    found = {name: json.loads(text) for name, text in BLOCK.findall(path.read_text("utf-8"))}
    return {
        name: value if name == "head" else json.loads(gzip.decompress(b64decode(value)))
        for name, value in found.items()
    }


def written(run: Path, *flags: str) -> Blocks:
    call(run.parent, "view", "run", "--html", "page.html", *flags)
    return blocks(run.parent / "page.html")


def test_a_file_holds_what_the_server_answers(run: Path) -> None:
    held = written(run)
    with open_run(run) as view:
        assert held["columns"] == json.loads(json.dumps(view.columns(0)))
    rows = [row for name in held["head"]["file"]["details"] for row in held[name]["rows"]]
    assert [row["results"] for row in rows] == [[row] for row in results(run)]
    assert [row["number"] for row in rows] == list(range(8))
    assert held["head"]["marking"] is None
    assert held["head"]["has_replies"] is False
    (compared,) = held["comparisons"]
    assert (compared["first"], compared["second"]) == ("system:bart", "system:t5")


def test_the_same_run_makes_the_same_file(run: Path) -> None:
    written(run)
    before = (run.parent / "page.html").read_bytes()
    written(run)
    assert (run.parent / "page.html").read_bytes() == before


def test_the_worst_rows_are_those_of_lowest_score_in_their_order(run: Path) -> None:
    held = written(run, "--worst", "3")
    scored = sorted(results(run), key=lambda row: float(str(row["score"])))[:3]
    names = {(row["id"], row["aspect"]) for row in scored}
    rows = held["details-0"]["rows"]
    assert [row["number"] for row in rows] == [0, 1, 2]
    assert [(row["id"], row["aspect"]) for row in rows] == [
        (row["id"], row["aspect"]) for row in results(run) if (row["id"], row["aspect"]) in names
    ]
    assert "this page holds 3 of 8 rows" in str(held["head"]["notes"])
    assert held["columns"]["rows"] == 3


def test_a_limit_takes_the_first_rows(run: Path) -> None:
    held = written(run, "--limit", "2")
    assert (held["columns"]["id"], held["head"]["rows"]) == (["bridge-bart", "bridge-bart"], 2)


def test_rows_without_a_score_are_the_last_of_the_worst(run: Path) -> None:
    rows = results(run)
    rows[4] = {**rows[4], "score": None, "outcome": "timed_out", "reason": "no reply within 5 s"}
    (run / "results.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with open_run(run) as view:
        assert view.worst(8)[-1] == 4
