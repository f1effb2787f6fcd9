"""The log of a library: quiet, never on standard output, without texts and keys."""

import ast
import logging
import subprocess
import sys
from pathlib import Path

import pytest
from fakes.logs import capture_logs

import spanjury
from spanjury.judges.core import LOGGER, EventLog, bind_values, kind_of, release_values

TEXT = "The bridge at Port Ellery opened in 1932."
PROGRAM = """
import anyio
import sys
from spanjury import Segment, find_aspect, open_panel
{setup}

class Broken:
    signature = "broken"
    async def assess(self, segment, aspect):
        key, text = "sk-4711-abcdefgh", segment.output
        raise ValueError("cannot read " + text)

async def main():
    async with open_panel(judges=[Broken(), "form"]) as panel:
        segment = Segment(segment_id="row 7", output="{text}")
        report = await panel.assess(segment, find_aspect("summarization", "fluency"))
    assert report.seats[0].report.score is None

anyio.run(main)
"""


def run(setup: str) -> "subprocess.CompletedProcess[str]":
    program = PROGRAM.format(setup=setup, text=TEXT)
    command = [sys.executable, "-c", program]
    return subprocess.run(command, capture_output=True, text=True, check=True)


def test_a_program_that_embeds_spanjury_hears_nothing_unless_it_asks() -> None:
    done = run("")
    assert (done.stdout, done.stderr) == ("", "")


def test_a_program_that_asks_hears_what_failed_and_where_but_no_text() -> None:
    done = run("import logging; logging.basicConfig(level=logging.INFO)")
    assert done.stdout == ""
    [line] = done.stderr.splitlines()
    assert line.startswith("ERROR:spanjury:panel.seat_broken segment_id='row 7'")
    assert "error='ValueError'" in line
    assert "in assess" in line
    for secret in (TEXT, "sk-4711", "cannot read"):
        assert secret not in line


def test_a_record_has_its_values_apart_and_names_its_logger(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG, LOGGER)
    log, bound = EventLog(), bind_values(seat="a")
    log.debug("thing.seen", count=3, where=Path("x"), parts=("a", 1), nothing=None)
    release_values(bound)
    log.error("thing.failed")
    first, second = caplog.records
    assert (first.event, first.filename) == ("thing.seen", "test_log.py")  # type: ignore[attr-defined]  # ours
    values = {
        "seat": "a",
        "count": 3,
        "where": repr(Path("x")),
        "parts": ["a", "1"],
        "nothing": None,
    }
    assert first.values == values  # type: ignore[attr-defined]  # ours
    assert second.values == {}  # type: ignore[attr-defined]  # ours


def test_no_value_holds_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_KEY", "river-9-stone")
    with capture_logs() as logs:
        EventLog().info(
            "thing.done", said="RIVER-9-STONE", parts=["river 9 stone"], at="http://a:b@c"
        )
    [result] = logs
    assert result["said"] == "[hidden]"
    assert result["parts"] == ["[hidden]"]
    assert result["at"] == "http://[hidden]@c"


def test_an_exception_without_one_at_hand_is_a_plain_error() -> None:
    with capture_logs() as logs:
        EventLog().exception("thing.failed")
    assert logs == [{"event": "thing.failed", "log_level": "error"}]
    assert kind_of(KeyError("text")) == "KeyError"


def test_nothing_of_ours_logs_past_our_own_logger() -> None:
    root = Path(spanjury.__file__).parent
    folders = ("judges", "perturbations", "stats", "adapters", "orchestration")
    for path in (path for folder in folders for path in (root / folder).rglob("*.py")):
        names = {
            alias.name
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Import)
            for alias in node.names
        }
        assert "structlog" not in names, path
