"""Messages of an agent, judged: where a report, its rows, lines and exports say that errors are."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

import spanjury
from spanjury.adapters.files.reading.shapes import AGENT
from spanjury.judges.core import ConfigError
from spanjury.judges.tasks import Catalogue
from spanjury.orchestration.cli.app import app
from spanjury.orchestration.cli.segment_view import segment_view
from spanjury.orchestration.services.judging.agent_reports import check_lines, text_check
from spanjury.orchestration.services.judging.text_report import TextReport
from spanjury.orchestration.services.viewing.details import turns_of
from spanjury.orchestration.studies.failing.conditions import failing
from spanjury.orchestration.studies.failing.lines import failing_line, sarif

ASPECT = """
[tasks.agent.aspects.truth]
definition = "Whether what the agent says is what its tools returned."
kind = "grounding"
inputs = ["Instructions", "User", "Result"]
needs = ["User"]
worst = "It says what no tool returned."
best = "It says what was returned."
"""
TASK = """
[tasks.agent]
description = "An agent works for a user."
output_header = "Agent"
default_aspects = ["truth"]
[tasks.agent.input_headers]
Instructions = []
User = []
Result = []
Tools = []
"""
ARGUMENTS = {
    "restaurant": "The Lantern by the harbour bridge",
    "date": "2026-05-04",
    "guests": [{"name": "Ann Petersen"}, {"name": "Ola Petersen"}],
}
MESSAGES: list[Mapping[str, object]] = [
    {"role": "user", "content": f"Book a table: {json.dumps(ARGUMENTS)}."},
    {
        "role": "assistant",
        "content": "",
        "tool_calls": [
            {"id": "c", "function": {"name": "book", "arguments": json.dumps(ARGUMENTS)}}
        ],
    },
    {"role": "tool", "tool_call_id": "c", "content": "You have table 12 in the hall."},
    {"role": "assistant", "content": "You have table 14 in the hall."},
]


@pytest.fixture(name="aspects", scope="module")
def _aspects(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("aspects") / "truth.toml"
    has_task = AGENT in {task.name for task in Catalogue.load().tasks()}
    path.write_text(ASPECT if has_task else TASK + ASPECT)
    return path


@pytest.fixture(name="report", scope="module")
def _report(aspects: Path) -> TextReport:
    return spanjury.check(
        MESSAGES,
        tools=[{"name": "book", "input_schema": {"type": "object"}}],
        aspects="truth",
        judges=["grounding"],
        aspects_files=[aspects],
    )


def test_a_report_leads_from_an_error_to_its_turn_and_its_evidence(report: TextReport) -> None:
    (span,) = [span for span in report.spans if span.text == "14"]
    assert str(report.position_of(span)) == "turn 4"
    (result,) = json.loads(report.to_json())["results"]
    (row,) = [row for row in result["spans"] if row["text"] == "14"]
    assert row["at"] == {"turn": 4, "call": 0, "path": "", "start": 15, "end": 17}
    assert {evidence["turn"] for evidence in row["evidence"]} == {3}
    assert report.segment.task == "agent"
    assert set(report.segment.inputs) == {"User [1]", "Result [3]", "Tools"}


def test_messages_without_a_name_are_called_after_what_they_hold(report: TextReport) -> None:
    other = [*MESSAGES[:3], {"role": "assistant", "content": "Done."}]
    named = spanjury.Segment(output="")
    again = spanjury.check(MESSAGES, aspects="fluency", task="dialogue", judges=["form"])
    changed = spanjury.check(other, aspects="fluency", task="dialogue", judges=["form"])
    assert len({again.segment.segment_id, changed.segment.segment_id, named.segment_id}) == 3


def test_lines_and_sarif_name_the_turn(report: TextReport) -> None:
    (failure,) = failing(report.results, "severity>=4")
    assert "turn 4, severity 4" in failing_line(failure)
    log = json.dumps(sarif([failure], {}, is_complete=True))
    assert '"at": {"turn": 4, "call": 0, "path": ""' in log
    assert "turn 4: '14'" in log
    assert '"14", turn 4 (truth' in check_lines(text_check(report.results))


def test_a_terminal_shows_turn_by_turn_with_a_line_for_each_value(report: TextReport) -> None:
    console = Console(width=90, record=True, force_terminal=False)
    with console.capture() as captured:
        console.print(segment_view(report.results))
    lines = [line.strip() for line in captured.get().splitlines()]
    assert "3 Result book" in lines
    assert "call book" in lines
    assert "guests[1].name: Ola Petersen" in lines
    assert "You have table [14](1) in the hall." in lines


def test_the_page_is_given_every_turn_and_every_value(report: TextReport) -> None:
    given = turns_of(report.segment)
    turns, parts = given["turns"], given["parts"]
    assert isinstance(turns, list)
    assert isinstance(parts, list)
    assert [turn.get("header") for turn in turns] == ["User [1]", None, "Result [3]", None]
    output = report.segment.output
    assert [output[turn["start"] : turn["end"]][:7] for turn in turns[1::2]] == [
        "Turn 2:",
        "Turn 4:",
    ]
    values = {part["path"]: output[part["start"] : part["end"]] for part in parts}
    assert values["$.guests[0].name"] == "Ann Petersen"


def test_texts_and_sources_do_not_mix_with_messages(aspects: Path) -> None:
    with pytest.raises(ConfigError, match="give no source or question beside them"):
        spanjury.check(MESSAGES, source="It rained.")
    with pytest.raises(ConfigError, match="the output is a text"):
        spanjury.check("A text.", tools=[{"name": "book"}])
    with pytest.raises(ConfigError, match="messages must each have a role"):
        spanjury.check([{"content": "Hi"}])
    nested: list[object] = []
    for _ in range(100_000):
        nested = [nested]
    deep = {"type": "function_call", "name": "book", "arguments": nested}
    with pytest.raises(ConfigError, match="nested too deeply"):
        spanjury.check([deep])
    (report,) = spanjury.evaluate(
        MESSAGES, aspects="truth", judges=["grounding"], aspects_files=[aspects]
    )
    assert "14" in {span.text for span in report.spans}


def test_a_trace_is_judged_and_exported_from_the_command_line(
    aspects: Path, tmp_path: Path
) -> None:
    trace, run, table = (tmp_path / name for name in ("trace.json", "run", "spans.csv"))
    trace.write_text(json.dumps({"messages": MESSAGES}))
    flags = ["--aspect", "truth", "--judge", "grounding", "--aspects-file", str(aspects)]
    shown = CliRunner().invoke(app, ["check", str(trace), *flags])
    assert "read as a trajectory: 4 turns, 1 call" in shown.stderr
    assert "You have table [14](1) in the hall." in shown.stdout
    judged = CliRunner().invoke(app, ["evaluate", str(trace), *flags, "--run-dir", str(run)])
    assert judged.exit_code == 0, judged.output
    exported = ["export", str(run), "-o", str(table), "--rows", "spans"]
    assert CliRunner().invoke(app, exported).exit_code == 0
    assert [line.rsplit(",", 1)[1] for line in table.read_text().splitlines()[:2]] == [
        *("at", "turn 4")
    ]
