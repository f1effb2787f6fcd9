"""The manifest of a run: written without a validator, and read by one."""

from datetime import date
from pathlib import Path

import pytest

from spanjury.orchestration.engine.metering import Limits
from spanjury.orchestration.engine.sharding import parse_shard
from spanjury.orchestration.services.judging.job import Job
from spanjury.orchestration.services.runs import run_folder as runs
from spanjury.orchestration.wiring.config import ModelConfig, PanelConfig, SeatConfig
from spanjury.orchestration.wiring.specs import parse_seat

PANELS = [
    PanelConfig(),
    PanelConfig(
        models=("ollama/gemma", ModelConfig(name="openai/x", base_url=("http://a", "http://b"))),
        seats=(parse_seat("form:max_spans=3"), SeatConfig(judge="annotator", name="a")),
        consolidate_model=ModelConfig(name="embedded", client="lean", timeout=2.5),
        seed=3,
    ),
    PanelConfig(
        seats=(SeatConfig(judge="form", options={"since": date(2020, 1, 2), "deep": [{"a": 1.0}]}),)
    ),
]


@pytest.mark.parametrize("panel", PANELS)
def test_a_manifest_holds_a_job_as_the_validator_writes_it(panel: PanelConfig) -> None:
    job = Job(
        data=Path("a.jsonl"),
        panel=panel,
        output=Path("b.jsonl"),
        aspects_files=(Path("c.toml"),),
        shard=parse_shard("2/3", {}),
        limits=Limits(max_cost=1.5),
    )
    manifest = runs.manifest_of(job)
    assert manifest["job"] == runs._JOB.get().dump_python(job, mode="json")
    assert repr(manifest["job"]) == repr(runs._JOB.get().dump_python(job, mode="json"))


def test_a_manifest_of_an_earlier_version_is_read() -> None:
    job = Job(data=Path("a"), panel=PANELS[1], output=Path("b"))
    manifest = dict(runs.manifest_of(job))
    values = runs._JOB.get().dump_python(job, mode="json")
    model = values["panel"]["consolidate_model"]
    del model["client"]
    model["via"] = "fast"
    assert runs.read_job({**manifest, "job": values}) == job
