"""A run whose files are touched between its going and its resuming."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from fakes.command import RESUME, call, evaluate, judged_rows, without_seconds
from fakes.memory import values_in
from loopback.chaos import ChaosServer

ROWS = 10
ASPECT = """
[tasks.summarization.aspects.{name}]
kind = "form"
inputs = []
definition = "{definition}"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    judged_rows(tmp_path, count=ROWS)
    return tmp_path


def test_a_resume_asks_again_for_an_aspect_whose_definition_was_edited(folder: Path) -> None:
    aspects = folder / "aspects.toml"
    kept = ASPECT.format(name="fluency", definition="How well it reads.")
    aspects.write_text(kept + ASPECT.format(name="brevity", definition="How short it is."))
    flags = ("--aspect", "brevity", "--aspects-file", "aspects.toml")
    with ChaosServer() as server:
        call(folder, *evaluate(server.base_url, *flags))
        assert server.asked == 2 * ROWS
        before = without_seconds(folder / "run" / "results.jsonl")
        aspects.write_text(kept + ASPECT.format(name="brevity", definition="No word too many."))
        call(folder, *RESUME)
        assert server.asked == 3 * ROWS
        call(folder, *RESUME)
        assert server.asked == 3 * ROWS
    assert without_seconds(folder / "run" / "results.jsonl") == before


def test_only_values_that_changed_on_disk_are_asked_for_again(folder: Path) -> None:
    run = folder / "run"
    memory, results = run / "memory.sqlite3", run / "results.jsonl"
    with ChaosServer() as server:
        call(folder, *evaluate(server.base_url))
        undisturbed = without_seconds(results)
        values = values_in(memory)
        rows = [(key,) for key, value in values.items() if value.startswith(b'{"id": ')]
        assert len(rows) == ROWS
        with closing(sqlite3.connect(memory)) as file, file:
            file.executemany("UPDATE memory SET checksum = checksum + 1 WHERE key = ?", rows)
        assert call(folder, *RESUME).stderr.count("memory.value_damaged") == 1
        assert server.asked == ROWS  # the replies are there still
    assert without_seconds(results) == undisturbed
