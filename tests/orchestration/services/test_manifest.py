"""The manifest of a run: written without a validator, and read by one."""

from dataclasses import replace
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


@pytest.mark.parametrize(
    ("panel", "seats"),
    [
        (
            PanelConfig(models=("ollama/gemma",)),
            (SeatConfig(judge="annotator", options={"prompt": 1}),),
        ),
        (
            PanelConfig(
                models=("ollama/gemma",),
                seats=(
                    parse_seat("annotator:score=numeric"),
                    parse_seat("geval"),
                    parse_seat("form"),
                ),
            ),
            (
                parse_seat("annotator:prompt=1,score=numeric"),
                parse_seat("geval"),
                parse_seat("form"),
            ),
        ),
        (PanelConfig(), ()),
    ],
)
def test_a_run_that_was_begun_with_the_first_prompt_goes_on_with_it(
    panel: PanelConfig, seats: tuple[SeatConfig, ...]
) -> None:
    job = Job(data=Path("a"), panel=panel, output=Path("b"))
    manifest = dict(runs.manifest_of(job))
    assert runs.read_job(manifest) == job
    prompts = manifest["prompts"]
    assert isinstance(prompts, dict)
    before = {name: text for name, text in prompts.items() if "verdict-text" not in name}
    assert runs.read_job({**manifest, "prompts": before}) == replace(
        job, panel=replace(panel, seats=seats)
    )
