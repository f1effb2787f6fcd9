"""The log as a file of JSON Lines, and what of it comes to standard error."""

import json
import logging
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
from fakes.clock import FakeClock
from fakes.judges import ASPECT, FixedJudge, panel_of, segment

from spanjury.adapters.models.gateway import Gateway
from spanjury.judges.core import (
    LOGGER,
    ConfigError,
    EventLog,
    JudgeError,
    ModelOptions,
    Segment,
    TransientModelError,
)
from spanjury.judges.llm.annotator import Annotator
from spanjury.orchestration.cli.logging import log_to
from spanjury.testing import ScriptedModel

KEY = "sk-not-for-anybodys-eyes"
REPLY = "No Error\n\nOverall score: Good\nExplanation of the score: It is fine."
TEXT = segment().inputs["Article"]
log = EventLog()


class BrokenJudge:
    """Fails in its own code, with a key and a text in its local variables."""

    signature = "broken"

    async def assess(self, segment: Segment, aspect: object) -> None:
        key = KEY
        raise KeyError(len(key), len(segment.output), type(aspect).__name__)


def lines(path: Path) -> Sequence[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="ascii").splitlines()]


def test_a_line_is_json_with_a_time_a_level_and_what_was_logged(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    began = datetime.now(UTC)
    log_to(path)
    log.debug("thing.looked_at")
    log.info("thing.done", count=3, where=path, text="\ud800é")
    [line] = lines(path)
    assert began <= datetime.fromisoformat(str(line.pop("timestamp"))) <= datetime.now(UTC)
    assert line == {
        "level": "info",
        "event": "thing.done",
        "count": 3,
        "where": repr(path),
        "text": "\ud800é",
    }


def test_each_line_is_there_at_once_and_what_was_there_stays(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    for number in (1, 2):
        log_to(path)
        log.info("thing.done", number=number)
        assert [line["number"] for line in lines(path)] == list(range(1, number + 1))


def test_standard_error_has_errors_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for file in (None, tmp_path / "log.jsonl"):
        log_to(file)
        log.info("thing.done")
        log.warning("thing.retried")
        log.error("thing.failed", count=3)
        out, err = capsys.readouterr()
        assert (out, err) == ("", "error: thing.failed count=3\n")


def test_a_judge_that_fails_on_every_row_is_shown_three_times_a_minute(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "log.jsonl"
    log_to(path)
    for row in range(9):
        log.error("panel.seat_broken", segment_id=row, seat="mine", error="ValueError")
    log.error("panel.seat_broken", segment_id=9, seat="yours", error="ValueError")
    written = capsys.readouterr().err
    assert [row for row in range(10) if f"segment_id={row} " in written] == [0, 1, 2, 9]
    assert written.count("further errors of this kind are hidden for a minute; --log-file") == 1
    assert len(lines(path)) == 10
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 61)
    monkeypatch.setattr(time, "time_ns", lambda: int((now + 61) * 1e9))
    log.error("panel.seat_broken", segment_id=10, seat="mine", error="ValueError")
    assert "segment_id=10 " in capsys.readouterr().err


def test_a_seat_that_blocks_the_rest_is_shown_in_a_sentence(
    capsys: pytest.CaptureFixture[str],
) -> None:
    log_to(None)
    log.warning("panel.seat_blocks", seat="mine", seconds=1.0)
    assert capsys.readouterr().err.startswith(
        "mine blocks all other work, and Ctrl-C, for more than 1 s at a time: "
    )


def test_a_record_of_a_plugin_is_written_without_its_exception(tmp_path: Path) -> None:
    log_to(tmp_path / "log.jsonl")
    logger = logging.getLogger(f"{LOGGER}.plugin")
    logger.error("%s failed", "it", exc_info=KeyError(TEXT))
    [line] = lines(tmp_path / "log.jsonl")
    assert line.pop("timestamp")
    assert line == {"event": "it failed", "level": "error"}


@pytest.mark.parametrize("name", ["missing/log.jsonl", ".", "a\x00b"])
def test_a_file_that_cannot_be_written_is_refused_at_once(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match="cannot be written"):
        log_to(tmp_path / name)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_log_that_fails_says_so_once_and_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    log_to(Path("/dev/full"))
    log.info("thing.done")
    log.info("thing.done")
    assert capsys.readouterr().err.count("the log file /dev/full ends here") == 1


async def test_a_failed_call_is_logged_with_segment_aspect_and_seat(tmp_path: Path) -> None:
    clock = FakeClock()
    models = [
        Gateway(
            ScriptedModel(TransientModelError("busy"), REPLY),
            options=ModelOptions(),
            clock=clock,
            sleep=clock.sleep,
        )
        for _ in range(2)
    ]
    log_to(tmp_path / "log.jsonl")
    judges = panel_of(
        *(Annotator(model=model) for model in models), FixedJudge(says=JudgeError(TEXT))
    )
    report = await judges.assess(segment("row 7"), ASPECT)
    assert report.score == 4
    logged = lines(tmp_path / "log.jsonl")
    assert sorted((str(line["event"]), str(line["seat"])) for line in logged) == [
        ("model.call_retried", "seat0"),
        ("model.call_retried", "seat1"),
        ("panel.seat_failed", "seat2"),
    ]
    assert {(line["segment_id"], line["aspect"]) for line in logged} == {("row 7", "consistency")}
    text = (tmp_path / "log.jsonl").read_text()
    assert TEXT not in text
    assert "Overall score" not in text


async def test_an_exception_is_logged_in_parts_and_without_the_values_of_variables(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log_to(tmp_path / "log.jsonl")
    broken = panel_of(BrokenJudge())  # type: ignore[arg-type]  # it returns nothing
    await broken.assess(segment(), ASPECT)
    [line] = lines(tmp_path / "log.jsonl")
    assert (line["event"], line["error"]) == ("panel.seat_broken", "KeyError")
    assert isinstance(line["frames"], list)
    assert line["frames"][-1].startswith("test_log_file.py:")
    shown = capsys.readouterr()
    for text in ((tmp_path / "log.jsonl").read_text(), shown.out, shown.err):
        assert KEY not in text
        assert TEXT not in text
    assert shown.err.startswith("error: panel.seat_broken")
    assert shown.err.count("\n") == 1
