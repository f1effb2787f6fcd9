"""`spanjury watch`, from the command line."""

import json
from pathlib import Path

import pytest
from fakes.command import call
from fakes.otlp_traffic import RIGHT, WRONG, exported

RULES = ("--judge", "grounding", "--state-dir", "state")


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    """A folder with a file of thirty right traces and as many wrong ones."""
    lines = [exported(number, RIGHT if number < 30 else WRONG) for number in range(60)]
    (tmp_path / "traces.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    return tmp_path


def test_a_file_is_judged_to_its_end_and_a_change_ends_the_command_with_5(traces: Path) -> None:
    drift = ("--window", "10", "--baseline", "20", "--texts-per-false-alert", "100")
    given = ("watch", "traces.jsonl", "--once", *RULES, "--aspect", "faithfulness", *drift)
    done = call(traces, *given, "--json", "--exit-on-alert", "--settle", "0", code=5)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert [event["event"] for event in events][:3] == ["window", "window", "window"]
    alert = next(event for event in events if event["event"] == "alert")
    assert alert["after"]["value"] != alert["before"]["value"]
    again = call(traces, *given, "-o", "out.jsonl", "--settle", "0")
    assert "traces judged" in again.stderr
    rows = (traces / "out.jsonl").read_text().splitlines()
    assert len({json.loads(row)["id"] for row in rows}) == len(rows) == 60


def test_a_file_that_is_followed_is_named_at_the_start(traces: Path) -> None:
    drift = ("--window", "10", "--baseline", "20", "--texts-per-false-alert", "100")
    given = ("watch", "traces.jsonl", *RULES, "--aspect", "faithfulness", *drift)
    done = call(traces, *given, "--exit-on-alert", "--settle", "0", code=5)
    assert done.stderr.startswith("following traces.jsonl\n")


def test_a_data_limit_holds_for_the_lines_of_a_file(tmp_path: Path) -> None:
    deep = json.loads("[" * 80 + "]" * 80)
    row = {"task": "summarization", "input": RIGHT, "output": RIGHT, "meta": {"deep": deep}}
    (tmp_path / "rows.jsonl").write_text(f"{json.dumps(row)}\n")
    given = ("watch", "rows.jsonl", "--once", *RULES, "--aspect", "consistency", "-o", "out.jsonl")
    refused = call(tmp_path, *given)
    assert "line 1: nested too deeply to be read (limit depth=64" in " ".join(
        refused.stderr.split()
    )
    (tmp_path / "rows.jsonl").write_text(f"{json.dumps(row)}\n{json.dumps(row)}\n")
    assert "1 trace judged" in call(tmp_path, "--data-limit", "depth=200", *given).stderr


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--once",), "--once needs a file"),
        (("none.jsonl", "--once"), "cannot be read"),
        (("rows.csv", "--once"), "rows.csv is a table, and watch reads JSON Lines: judge it with"),
        (("--host", "0.0.0.0"), "set a token"),
        (("--sink", "langfus"), "there is no sink"),
        (("--sink", "langfuse"), "LANGFUSE_PUBLIC_KEY"),
        (("--always", "slow"), "expected errors"),
        (("--webhook", "hooks"), "expected an address"),
    ],
)
def test_a_slip_is_an_error_before_anything_is_judged(
    tmp_path: Path, flags: tuple[str, ...], message: str
) -> None:
    done = call(tmp_path, "watch", *flags, *RULES, code={1, 2})
    assert message in done.stderr
