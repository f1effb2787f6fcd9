"""A run over the memory of another: only what a change can have changed is asked again."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from loopback.chaos import ChaosServer, judged_text

from spanjury.orchestration.services.judging.evaluate import run
from spanjury.orchestration.services.judging.job import Job
from spanjury.orchestration.wiring.config import ModelConfig, PanelConfig, SeatConfig

ROWS = 10
SEATS = ("first", "second")
ASPECTS = ("brevity", "clarity")
EVERYTHING = ROWS * len(SEATS) * len(ASPECTS)
ONE_SEAT = ONE_ASPECT = EVERYTHING // 2

TASK = """
[tasks.notes]
description = "A note."
default_aspects = ["brevity", "clarity"]
"""
ASPECT = """
[tasks.notes.aspects.{name}]
kind = "form"
definition = "{definition}"
"""


@pytest.fixture
def server() -> Iterator[ChaosServer]:
    with ChaosServer() as server:
        yield server


@pytest.fixture
def job(tmp_path: Path, server: ChaosServer) -> Job:
    """A job of two seats, two aspects and a file of each kind that a user may edit."""
    write_rows(tmp_path / "rows.jsonl")
    write_aspects(tmp_path / "aspects.toml")
    return Job(
        data=tmp_path / "rows.jsonl",
        panel=PanelConfig(seats=tuple(seat(name, server) for name in SEATS)),
        output=tmp_path / "results.jsonl",
        aspects_files=(tmp_path / "aspects.toml",),
        memory=tmp_path / "memory.sqlite3",
    )


def seat(model: str, server: ChaosServer, **options: object) -> SeatConfig:
    model_config = ModelConfig(name=f"openai-compatible/{model}", base_url=server.base_url)
    return SeatConfig(judge="annotator", model=model_config, options=options)


def write_rows(path: Path, **changes: str) -> None:
    """Write the rows, with the texts of some of them, by id, changed."""
    rows = (
        {
            "id": str(number),
            "task": "notes",
            "output": changes.get(str(number), judged_text(number)),
        }
        for number in range(ROWS)
    )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def write_aspects(path: Path, **definitions: str) -> None:
    """Write the aspects, with some of their definitions changed."""
    texts = {name: definitions.get(name, f"How good its {name} is.") for name in ASPECTS}
    aspects = (ASPECT.format(name=name, definition=texts[name]) for name in ASPECTS)
    path.write_text("".join((TASK, *aspects)))


def asked(job: Job, server: ChaosServer) -> int:
    """Run `job` and return how many requests that took; everything must be scored."""
    before = server.asked
    anyio.run(run, job, lambda _: None)
    rows = [json.loads(line) for line in job.output.read_text().splitlines()]
    assert len(rows) == ROWS * len(ASPECTS)
    assert {seat["outcome"] for row in rows for seat in row["seats"]} == {"scored"}
    return server.asked - before


Change = Callable[[Job, ChaosServer], Job]


def with_second(model: str = SEATS[1], **options: object) -> Change:
    """Change the second seat."""

    def change(job: Job, server: ChaosServer) -> Job:
        seats = (job.panel.seats[0], seat(model, server, **options))
        return replace(job, panel=replace(job.panel, seats=seats))

    return change


def with_third(job: Job, server: ChaosServer) -> Job:
    seats = (*job.panel.seats, seat("third", server))
    return replace(job, panel=replace(job.panel, seats=seats))


def with_renamed_seats(job: Job, server: ChaosServer) -> Job:
    seats = tuple(replace(seat, name=str(place)) for place, seat in enumerate(job.panel.seats))
    return replace(job, panel=replace(job.panel, seats=seats))


def with_one_seat_and_another_aggregation(job: Job, server: ChaosServer) -> Job:
    return replace(job, panel=PanelConfig(seats=job.panel.seats[1:], aggregate="minimum"))


def with_edited_aspect(job: Job, server: ChaosServer) -> Job:
    write_aspects(job.aspects_files[0], clarity="Whether it is understood at once.")
    return job


def with_edited_row(job: Job, server: ChaosServer) -> Job:
    write_rows(job.data, **{"7": judged_text(ROWS)})
    return job


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (with_second(), 0),
        (with_renamed_seats, 0),
        (with_one_seat_and_another_aggregation, 0),
        (with_second(model="other"), ONE_SEAT),
        (with_second(max_tokens=512), ONE_SEAT),
        (with_second(temperature=0.5), ONE_SEAT),
        (with_second(rules=False), ONE_SEAT),
        (with_third, ONE_SEAT),
        (with_edited_aspect, ONE_ASPECT),
        (with_edited_row, EVERYTHING // ROWS),
    ],
    ids=[
        "nothing",
        "names of seats",
        "fewer seats and aggregation",
        "model",
        "max_tokens",
        "temperature",
        "prompt",
        "one more seat",
        "definition of an aspect",
        "text of a row",
    ],
)
def test_only_what_a_change_can_have_changed_is_asked_again(
    job: Job, server: ChaosServer, change: Change, expected: int
) -> None:
    assert asked(job, server) == EVERYTHING
    changed = change(job, server)
    assert asked(changed, server) == expected
    assert asked(changed, server) == 0
