"""The log of a library: quiet, never on standard output, without texts and keys."""

import ast
import json
import logging
import subprocess
import sys
from pathlib import Path

import pytest
import structlog
from fakes.logs import capture_logs
from fakes.processes import completed

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
    return completed(command)


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


def test_a_record_keeps_its_values_apart_and_its_logger(caplog: pytest.LogCaptureFixture) -> None:
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
    assert (result["said"], result["parts"]) == ("[hidden]", ["[hidden]"])
    assert result["at"] == "http://[hidden]@c"


def test_an_exception_without_one_at_hand_is_a_plain_error() -> None:
    with capture_logs() as logs:
        EventLog().exception("thing.failed")
    assert logs == [{"event": "thing.failed", "log_level": "error"}]
    assert kind_of(KeyError("text")) == "KeyError"


def test_values_that_the_program_bound_are_in_every_event_and_ours_win() -> None:
    bound = structlog.contextvars.bound_contextvars(request_id="7", at="http://a:b@c", seat="x")
    with capture_logs() as logs, bound:
        token = bind_values(seat="a")
        EventLog().info("thing.done")
        release_values(token)
    assert logs == [
        {
            "event": "thing.done",
            "log_level": "info",
            "request_id": "7",
            "at": "http://[hidden]@c",
            "seat": "a",
        }
    ]


CONFIGURED = """
import logging, structlog, sys
from spanjury.judges.core import EventLog
def loud(*_):
    raise AssertionError("the program's own processors are its own")
structlog.configure(processors=[loud])
handler = logging.StreamHandler()
handler.setFormatter(structlog.stdlib.ProcessorFormatter(
    processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.JSONRenderer()]))
logging.basicConfig(level=logging.INFO, handlers=[handler])
EventLog().info("thing.done", count=3)
EventLog().info("100 %s", seat="a", level=2)
assert structlog.get_config()["processors"] == [loud]
"""


def test_a_program_that_uses_structlog_keeps_its_own_set_up_and_renders_our_events() -> None:
    command = [sys.executable, "-c", CONFIGURED]
    done = completed(command)
    assert done.stdout == ""
    assert [json.loads(line) for line in done.stderr.splitlines()] == [
        {"count": 3, "event": "thing.done"},
        {"seat": "a", "level": 2, "event": "100 %s"},
    ]


QUIET = """
import sys
from types import ModuleType
from spanjury.judges.core import EventLog
loaded = lambda: type(sys.modules.get("structlog")) is ModuleType
EventLog().info("thing.done")
assert not loaded()
EventLog().error("thing.failed")
assert loaded()
assert not sys.modules["structlog"].is_configured()
"""


def test_the_engine_is_loaded_with_the_first_event_that_is_logged_and_left_unconfigured() -> None:
    subprocess.run([sys.executable, "-c", QUIET], check=True)


def test_nothing_of_ours_logs_past_our_own_logger() -> None:
    callers: dict[str, set[str]] = {"getLogger": set(), "configure": set(), "get_logger": set()}
    for folder in ("judges", "perturbations", "stats", "adapters", "orchestration"):
        for path in (Path(spanjury.__file__).parent / folder).rglob("*.py"):
            source = path.read_text(encoding="utf-8")
            if not any(call in source for call in callers):
                continue
            for node in ast.walk(ast.parse(source)):
                if (
                    isinstance(node, ast.Attribute)
                    and node.attr in callers
                    and isinstance(node.value, ast.Name)
                    and node.value.id in {"logging", "structlog"}
                ):
                    callers[node.attr].add(path.name)
    silenced = {"litellm_library.py", "transports.py", "otlp.py"}  # of LiteLLM, uvicorn, aiohttp
    ours = {"log.py", "logging.py"}
    assert callers == {"getLogger": ours | silenced, "configure": set(), "get_logger": set()}
