"""The page about the service works as it stands: its commands and its client are run."""

import os
import re
import shlex
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from fakes.command import SPANJURY, environment
from fakes.pages import ROOT, blocks, read_page
from fakes.processes import completed
from fakes.service import Served, serving, started

PAGE = read_page("service")
PORT = "8765"


def commands() -> Iterator[list[str]]:
    """Yield the flags of every `spanjury serve` of the page."""
    for text in (*blocks(PAGE, "sh"), *blocks(PAGE, "ini")):
        for line in text.splitlines():
            _, language, rest = line.partition("spanjury serve")
            if language:
                yield shlex.split(rest)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("served")) as served:
        yield served


def test_the_lines_of_curl_judge_a_text_and_a_file(served: Served, tmp_path: Path) -> None:
    asking = [text for text in blocks(PAGE, "sh") if text.startswith("curl")]
    assert len(asking) == 3
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    printed = []
    for text in asking:
        done = completed(
            ["bash", "-euo", "pipefail", "-c", text.replace(PORT, str(served.port))],
            cwd=tmp_path,
            env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        )
        printed.append(done.stdout)
    assert '"decision":"faulty"' in printed[0]
    assert re.findall("event: .*", printed[1]) == ["event: sentence", "event: report"]
    assert printed[2].count("event: end") == 1
    rows = (ROOT / "examples" / "summaries.jsonl").read_text("utf-8").splitlines()
    assert len((tmp_path / "results.jsonl").read_text("utf-8").splitlines()) == len(rows)


def test_the_lines_of_the_tour_start_a_service_and_ask_it(tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (text,) = (text for text in blocks(read_page("tour"), "sh") if "serve &" in text)
    install, lines = text.split("\n", 1)
    assert install == "pip install 'spanjury[serve]'"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    script = f"trap 'kill %1; wait %1' EXIT\n{lines.replace(PORT, port)}"
    done = completed(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=tmp_path,
        env={
            **environment(tmp_path),
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "SPANJURY_SERVE_PORT": port,
            "SPANJURY_SERVE_STATE": str(tmp_path / "state"),
        },
    )
    assert '"decision":"faulty"' in done.stdout
    assert '"state":"' in done.stdout


def test_the_client_prints_what_the_page_shows(
    served: Served, capsys: pytest.CaptureFixture[str]
) -> None:
    (code,), (shown,) = blocks(PAGE, "python"), blocks(PAGE, "text")
    exec(code.replace(PORT, str(served.port)), {})
    assert capsys.readouterr().out == shown


def test_the_services_of_the_page_begin(tmp_path: Path) -> None:
    (tmp_path / "panel.toml").write_text('[[seats]]\njudge = "form"\n')
    (tmp_path / "tokens").write_text("ann:0123456789abcdef\n")
    own = {"--port": "0", "--state-dir": "state"}
    language = list(commands())
    assert len(language) == 4
    for flags in language:
        kept = [*flags]
        for flag, value in own.items():
            if flag in kept:
                kept[kept.index(flag) + 1] = value
        served = started(tmp_path, *kept)
        served.process.terminate()
        assert served.wait() == 0, served.lines


def test_every_flag_and_every_route_of_the_page_is_there(served: Served) -> None:
    command = [*SPANJURY, "serve", "--help-all"]
    page = completed(command, env=environment(ROOT)).stdout
    flags = set(re.findall(r"`(--[a-z-]+)", PAGE))
    assert len(flags) > 15
    assert {flag for flag in flags if f"{flag} " not in page} == set()
    with served.client() as client:
        routes = set(client.get("/openapi.json").json()["paths"])
    named = re.findall(r"`(?:GET|POST|DELETE) (/\S+)`", PAGE)
    assert {name.replace("/ID", "/{batch_id}") for name in named} | {"/v1/check"} == routes | {
        "/openapi.json"
    }
