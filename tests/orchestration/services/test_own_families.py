"""Texts of systems of a judge's own family: warned of wherever a panel judges, once a system."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio
import pytest
from fakes.command import call
from fakes.faithful_judge import Faithful
from fakes.http_app import NDJSON, ended, open_service
from fakes.logs import capture_logs
from fakes.rows import summary
from loopback.answers import chat
from loopback.server import LoopbackServer

import spanjury
from spanjury import exams
from spanjury.judges.core import Aspect, ConfigError, Report, Result, Segment
from spanjury.orchestration.engine.finished_rows import FinishedRow
from spanjury.orchestration.engine.replay import Recorder
from spanjury.orchestration.services.judging.evaluate import run
from spanjury.orchestration.services.judging.job import Job
from spanjury.orchestration.services.judging.panels import open_panel
from spanjury.orchestration.services.runs.run_folder import manifest_of, read_job
from spanjury.orchestration.wiring.config import ModelConfig, PanelConfig, SeatConfig
from spanjury.orchestration.wiring.panel_files import read_panel_file
from spanjury.orchestration.wiring.panels import open_configured_panel

GOOD = chat("No Error\n\nOverall score: Good\nExplanation of the score: It is fine.")
SYSTEMS = ("gemma-7b", "gpt-4", "gemma-7b")


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedJudge:
    """Finds every text good, and names a model."""

    signature: str = "mine|model:gemma2:27b"

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        return Report(score=aspect.scale.high)


PANEL = PanelConfig(seats=(SeatConfig(judge=NamedJudge(), name="mine"),))


@contextmanager
def warned(*expected: tuple[str, str, str]) -> Iterator[None]:
    """Expect warnings of (family, system, seats), and no other of families, by the end."""
    with capture_logs() as events:
        yield
    own = [event for event in events if event["event"] == "panel.own_family"]
    assert [(one["family"], one["system"], one["seats"]) for one in own] == list(expected)


def rows(systems: Sequence[str] = SYSTEMS) -> list[dict[str, object]]:
    return [
        summary(
            str(number),
            "The bridge opened in 1932. It is long and old.",
            article="The bridge opened in 1932. It is long.",
            system=system,
        )
        for number, system in enumerate(systems)
    ]


def written(folder: Path, lines: Sequence[Mapping[str, object]]) -> Path:
    path = folder / "texts.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


def test_a_single_check_names_its_system() -> None:
    with warned(("google", "gemma-7b", "mine")):
        report = spanjury.check("A text.", aspects="fluency", system="gemma-7b", panel=PANEL)
    assert report.segment.system == "gemma-7b"
    with warned():
        spanjury.check("A text.", aspects="fluency", panel=PANEL)


async def test_checks_of_one_open_panel_warn_of_a_system_once() -> None:
    with warned(("google", "gemma-7b", "mine")):
        async with open_panel(PANEL) as panel:
            for system in ("gemma-7b", "gpt-4", "gemma-7b"):
                await spanjury.acheck("A text.", aspects="fluency", system=system, panel=panel)


def test_a_batch_from_python_warns() -> None:
    with warned(("google", "gemma-7b", "mine")):
        spanjury.evaluate(rows(), panel=PANEL, aspects=["fluency"])


@pytest.mark.parametrize(
    "exam",
    [
        partial(exams.discernment, recipe="bias"),
        partial(exams.robustness, attacks="authority-claim"),
    ],
)
def test_an_exam_warns_though_it_opens_its_panel_more_than_once(exam: object) -> None:
    with warned(("google", "gemma-7b", "mine")):
        exam(rows(["gemma-7b"]), panel=PANEL, aspects="fluency")  # type: ignore[operator]  # all take these


def test_an_exam_of_faithfulness_warns_too() -> None:
    judge = Faithful(name="mine|model:gemma2:27b")
    panel = PanelConfig(seats=(SeatConfig(judge=judge, name="mine"),))
    (row,) = rows(["gemma-7b"])
    row["output"] = "The bridge opened in 1935."
    with warned(("google", "gemma-7b", "mine")):
        exams.faithfulness([row], panel=panel, aspects="fluency")


class CopyingView:
    """Wants no result whole."""

    copied = 0

    def wants(self, segment: Segment) -> bool:
        return False

    def count(self, row: FinishedRow) -> None:
        self.copied += 1


def test_rows_that_are_copied_from_memory_are_warned_of(tmp_path: Path) -> None:
    job = Job(
        data=written(tmp_path, rows()),
        panel=PANEL,
        output=tmp_path / "results.jsonl",
        aspects=("fluency",),
        memory=tmp_path / "memory.db",
    )

    def ignore(result: Result) -> None:
        del result

    anyio.run(partial(run, job, ignore))
    view = CopyingView()
    with warned(("google", "gemma-7b", "mine")):
        anyio.run(partial(run, job, ignore, rows=view))
    assert view.copied == 3


@pytest.mark.asyncio_only  # the service and the client are built on it
async def test_checks_and_batches_over_http_warn(tmp_path: Path) -> None:
    with LoopbackServer(*[GOOD] * 9) as server:
        model = ModelConfig(name="openai-compatible/gemma2:27b", base_url=server.base_url)
        panel = PanelConfig(models=(model,))
        seat = "annotator:openai-compatible/gemma2:27b"
        async with open_service(tmp_path, panel=panel) as client:
            asked = {"output": "A text.", "aspects": ["fluency"], "task": "summarization"}
            with warned(("google", "gemma-7b", seat)):
                for system in ("gemma-7b", "", "gemma-7b"):
                    answer = await client.post("/v1/check", json={**asked, "system": system})
                    assert answer.json()["system"] == system
            with warned(("google", "gemma-7b", seat)):
                body = "\n".join(map(json.dumps, rows()))
                answer = await client.post(
                    "/v1/batches?aspect=fluency", content=body, headers=NDJSON
                )
                assert answer.is_success, answer.text
                await ended(client, answer.json()["id"])


def test_families_of_a_panel_file_are_known_when_it_is_opened(tmp_path: Path) -> None:
    path = tmp_path / "panel.toml"
    path.write_text('families = { house = ["Our Model", "gemma2"] }\n[[seats]]\njudge = "form"\n')
    config = read_panel_file(path)
    assert config.families == {"house": ("Our Model", "gemma2")}
    ours = PanelConfig(seats=PANEL.seats, families=config.families)
    with warned(("house", "our_model-v2", "mine")):
        spanjury.evaluate(rows(["our_model-v2", "gemma-7b"]), panel=ours, aspects=["fluency"])


def test_the_command_line_says_it_once_and_so_does_a_resume_without_calls(tmp_path: Path) -> None:
    written(tmp_path, rows(["our model 3", "gpt-4", "our model 3"]))
    with LoopbackServer(*[GOOD] * 9) as server:
        (tmp_path / "panel.toml").write_text(
            'families = { house = ["our-model", "in-house"] }\n'
            f'[[models]]\nname = "openai-compatible/in-house"\nbase_url = "{server.base_url}"\n'
        )
        line = ("evaluate", "texts.jsonl", "--panel", "panel.toml", "--aspect", "fluency")
        first = call(tmp_path, *line, "--no-progress", "--run-dir", "run")
        paid = len(server.requests)
        second = call(tmp_path, "resume", "run", "--no-progress")
        assert len(server.requests) == paid
    for done in (first, second):
        assert done.stderr.count("judge texts of our model 3, which is of their own family") == 1
        assert "of their own family, house:" in done.stderr
        assert "gpt-4" not in done.stderr


async def test_a_panel_that_is_replayed_for_a_view_warns_of_nothing() -> None:
    two = PanelConfig(
        seats=(*PANEL.seats, SeatConfig(judge=NamedJudge(signature="b|model:gemini"), name="b"))
    )
    segment = Segment(segment_id="1", output="A text.", system="gemma-7b", task="summarization")
    with capture_logs() as events:
        async with open_configured_panel(two, recorder=Recorder(), silent=True) as panel:
            await panel.assess(segment, spanjury.find_aspect("fluency"))
    assert events == []


async def test_families_change_no_signature() -> None:
    ours = PanelConfig(seats=PANEL.seats, families={"house": ("gemma2",)})
    async with open_panel(PANEL) as plain, open_panel(ours) as named:
        assert plain.signature == named.signature


def test_rows_judged_before_families_were_named_are_copied(tmp_path: Path) -> None:
    def job(panel: PanelConfig) -> Job:
        return Job(
            data=written(tmp_path, rows()),
            panel=panel,
            output=tmp_path / "results.jsonl",
            aspects=("fluency",),
            memory=tmp_path / "memory.db",
        )

    anyio.run(partial(run, job(PANEL), lambda _: None))
    first = (tmp_path / "results.jsonl").read_bytes()
    view = CopyingView()
    ours = PanelConfig(seats=PANEL.seats, families={"house": ("gemma2",)})
    anyio.run(partial(run, job(ours), lambda _: None, rows=view))
    assert (view.copied, (tmp_path / "results.jsonl").read_bytes()) == (3, first)


def test_families_go_through_a_runs_manifest() -> None:
    panel = PanelConfig(families={"house": ("our-model",)})
    job = Job(data=Path("a.jsonl"), panel=panel, output=Path("results.jsonl"))
    manifest = json.loads(json.dumps(manifest_of(job)))
    assert read_job(manifest).panel.families == {"house": ("our-model",)}
    del manifest["job"]["panel"]["families"]  # one of an earlier release
    assert read_job(manifest).panel.families == {}


@pytest.mark.parametrize(
    ("families", "says"),
    [
        ('{ house = "our-model" }', r"families\.house"),
        ('["our-model"]', "families"),
        ("{ house = [3] }", r"families\.house"),
    ],
)
def test_families_must_be_lists_of_words(tmp_path: Path, families: str, says: str) -> None:
    path = tmp_path / "panel.toml"
    path.write_text(f"families = {families}\n")
    with pytest.raises(ConfigError, match=says):
        read_panel_file(path)


def test_an_empty_word_is_refused_when_the_panel_is_opened() -> None:
    empty = PanelConfig(seats=(SeatConfig(judge="form"),), families={"house": ("",)})
    with pytest.raises(ConfigError, match="'house': expected a list of words"):
        spanjury.check("A text.", aspects="fluency", panel=empty)
