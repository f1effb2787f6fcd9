"""Written trajectories: their turns are legal, and their errors stand where the rows say."""

import json
import re
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]  # it comes without types
import pytest

WRITTEN = Path(__file__).parents[1] / "benchmarks" / "written"
SETS = {
    "demo": Path(str(files("spanjury.perturbations").joinpath("demo", "trajectories.jsonl"))),
    "test": WRITTEN / "trajectories.jsonl",
    "more": WRITTEN / "trajectories_more.jsonl",
    "fresh": WRITTEN / "trajectories_fresh.jsonl",
    "dev": WRITTEN / "trajectories_dev.jsonl",
    "blind": WRITTEN / "trajectories_blind.jsonl",
    "work": WRITTEN / "trajectories_work.jsonl",
    "trade": WRITTEN / "trajectories_trade.jsonl",
}
KINDS = {
    *("wrong-argument", "missing-required", "schema-violation", "wrong-tool", "needless-repeat"),
    *("wrong-order", "ungrounded-answer", "misread-result", "ignored-result", "false-success"),
    *("ignored-constraint", "unanswered", "forgets-earlier-turn"),
}
AGAINST_SCHEMA = {"missing-required", "schema-violation"}

Row = dict[str, Any]
every_set = pytest.mark.parametrize("name", SETS)


@cache
def rows(name: str) -> list[Row]:
    return [json.loads(line) for line in SETS[name].read_text("utf-8").splitlines()]


def functions(row: Row) -> list[Row]:
    """Return the functions that a row's agent called, in order."""
    calls = (call for turn in row["messages"] for call in turn.get("tool_calls", ()))
    return [call["function"] for call in calls]


def is_valid(row: Row) -> bool:
    """Return whether each call names a tool of the row and fits its schema."""
    schemas = {tool["function"]["name"]: tool["function"]["parameters"] for tool in row["tools"]}
    checker = jsonschema.FormatChecker()
    return all(
        call["name"] in schemas
        and jsonschema.Draft202012Validator(schemas[call["name"]], format_checker=checker).is_valid(
            json.loads(call["arguments"])
        )
        for call in functions(row)
    )


def marked_text(row: Row, error: Row) -> str:
    """Return the text in which an error stands: a turn's, a tool's name, or a value's."""
    turn = row["messages"][error["turn"] - 1]
    if "call" not in error:
        return str(turn["content"])
    function = turn["tool_calls"][error["call"] - 1]["function"]
    if error["path"] in {"", "$"}:
        return str(function["arguments" if error["path"] else "name"])
    value = json.loads(function["arguments"])
    for key, index in re.findall(r"\.(\w+)|\[(\d+)\]", error["path"]):
        value = value[key or int(index)]
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@every_set
def test_every_error_stands_once_where_its_row_says(name: str) -> None:
    for row in rows(name):
        assert row["label"] == (row["errors"][0]["kind"] if row["errors"] else "clean")
        for error in row["errors"]:
            assert error["kind"] in KINDS
            assert error["severity"] in range(1, 6)
            assert error["explanation"].endswith(".")
            assert row["messages"][error["turn"] - 1]["role"] == "assistant"
            assert marked_text(row, error).count(error["text"]) == 1, row["id"]


@every_set
def test_every_call_has_its_result_before_anyone_else_speaks(name: str) -> None:
    for row in rows(name):
        awaited: list[str] = []
        before = ""
        for turn in row["messages"]:
            role = turn["role"]
            if role == "tool":
                awaited.remove(turn["tool_call_id"])
            else:
                assert not awaited, row["id"]
                assert role in {"system", "user", "assistant"} - {before}, row["id"]
                assert (role == "system") == (turn is row["messages"][0] and role != "user")
                awaited = [call["id"] for call in turn.get("tool_calls", ())]
                assert awaited or turn["content"], row["id"]
            before = role
        assert (before, awaited) == ("assistant", []), row["id"]


@every_set
def test_calls_fit_their_schemas_unless_the_row_says_that_they_do_not(name: str) -> None:
    for row in rows(name):
        kinds = {error["kind"] for error in row["errors"]}
        assert is_valid(row) == (not kinds & AGAINST_SCHEMA), row["id"]


@every_set
def test_a_twin_differs_from_the_clean_row_that_it_names(name: str) -> None:
    by_id = {row["id"]: row for row in rows(name)}
    for row in rows(name):
        if "twin" in row:
            clean = by_id[row["twin"]]
            assert (row["tools"], row["scenario"]) == (clean["tools"], clean["scenario"])
            assert row["messages"] != clean["messages"]
            assert (bool(row["errors"]), clean["errors"]) == (True, [])


def test_the_sets_share_no_scenario_and_no_id() -> None:
    all_rows = [row for name in SETS for row in rows(name)]
    assert len({row["id"] for row in all_rows}) == len(all_rows)
    scenarios = [{row["scenario"] for row in rows(name)} for name in SETS]
    assert len(set.union(*scenarios)) == sum(map(len, scenarios))
