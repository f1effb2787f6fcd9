"""`spanjury view` as a command: wrong input in a line, and an end by Ctrl-C that is no error."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from fakes.command import call, complaint, environment
from fakes.viewed_runs import ROWS, judge, write_rows


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a run, one without results, and files that are none."""
    folder = tmp_path_factory.mktemp("views")
    write_rows(folder / "rows.jsonl")
    write_rows(folder / "others.jsonl", [dict(row, id=f"x{row['id']}") for row in ROWS])
    judge(folder)
    judge(folder, run="others", data="others.jsonl")
    judge(folder, run="unfinished")
    (folder / "unfinished" / "results.jsonl").unlink()
    (folder / "empty.jsonl").touch()
    (folder / "nothing").mkdir()
    return folder


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("nowhere",), 1, "there is no run nowhere"),
        (("empty.jsonl",), 1, "empty.jsonl is empty"),
        (("rows.jsonl",), 1, "rows.jsonl, line 1: is not a result row"),
        (("nothing",), 1, "nothing has no results yet"),
        (("unfinished",), 1, "unfinished has no results yet"),
        (("run", "others"), 1, "run and others have no row in common"),
        (("run", "run", "run"), 2, "got 3"),
        (("run", "--column", "output=x"), 2, "name it with --data"),
        (("run", "--data", "gone.jsonl"), 1, "gone.jsonl: there is no such file"),
        (("run", "--limit", "2"), 2, "need --html"),
        ((), 1, "there is no run in"),
        ((".", "--data", "rows.jsonl"), 2, "are for one run: . holds several"),
        (("run", "--html", "p.html", "--limit", "2", "--worst", "2"), 2, "exclude each other"),
        (("run", "--html", "p.txt"), 2, "ends in .html"),
        (("run", "--html", "gone/p.html"), 1, "cannot be written"),
        (("run", "--no-browser", "--port", "99999"), 1, "cannot listen there"),
        (("run", "--aspects-file", "gone.toml", "--html", "p.html"), 2, "gone.toml"),
    ],
)
def test_bad_input_is_one_line(folder: Path, words: tuple[str, ...], code: int, said: str) -> None:
    assert said in complaint(call(folder, "view", *words, code=code).stderr)


def test_a_port_that_is_taken_is_named(folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = call(folder, "view", "run", "--no-browser", "--port", str(port), code=1)
    assert f"127.0.0.1:{port}" in complaint(done.stderr)


def test_a_file_says_its_size_and_what_is_not_in_it(folder: Path) -> None:
    done = call(folder, "view", "run/results.jsonl", "--html", "page.html", "--title", "A <b> & c")
    assert done.stderr.startswith("8 of 8 results are in page.html, ")
    page = (folder / "page.html").read_text("utf-8")
    assert "<title>A &lt;b&gt; &amp; c</title>" in page
    assert "<script src" not in page


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_by_a_signal_while_a_page_is_open(folder: Path, number: signal.Signals) -> None:
    command = [sys.executable, "-m", "spanjury", "view", "run", "--no-browser"]
    with subprocess.Popen(
        command, cwd=folder, env=environment(folder), stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        address, _, token = process.stderr.readline().split()[-1].partition("#")
        headers = {"Authorization": f"Bearer {token}"}
        with httpx.Client(base_url=address, headers=headers) as page:
            assert page.get("/api/head").json()["rows"] in {None, 8}
            process.send_signal(number)
            assert process.wait(timeout=30) == 0
        assert "Traceback" not in process.stderr.read()


def test_a_token_is_new_each_time_and_only_the_address_has_it(folder: Path) -> None:
    tokens = []
    for _ in range(2):
        command = [sys.executable, "-m", "spanjury", "view", "run", "--no-browser"]
        usual = {**environment(folder), "DISPLAY": "", "PATH": os.environ["PATH"]}
        with subprocess.Popen(
            command, cwd=folder, env=usual, stderr=subprocess.PIPE, text=True
        ) as process:
            assert process.stderr is not None
            address, _, token = process.stderr.readline().split()[-1].partition("#")
            assert token not in httpx.get(address).text
            process.send_signal(signal.SIGINT)
            process.wait(timeout=30)
        tokens.append(token)
    assert len(set(tokens)) == 2
    assert min(map(len, tokens)) >= 32
