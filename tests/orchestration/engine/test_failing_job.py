"""A failing model in a job that Python runs, in a panel that Python asks, and on a cluster."""

import json
from dataclasses import dataclass, replace
from pathlib import Path

import anyio
import pytest
from anyio import create_task_group, wait_all_tasks_blocked
from fakes.judges import ASPECT, FixedJudge, WaitingJudge, panel_of, segment
from loopback.answers import chat, failure
from loopback.server import LoopbackServer

from spanjury import open_panel
from spanjury.judges.core import (
    Aspect,
    ChatModel,
    ChatRequest,
    ConfigError,
    Message,
    Outcome,
    Report,
    Result,
    RunFailedError,
    Segment,
)
from spanjury.judges.core.registry import Registry
from spanjury.judges.tasks import Catalogue
from spanjury.orchestration.engine.batch import evaluate
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.engine.stopping import FailurePolicy
from spanjury.orchestration.services.judging.evaluate import run
from spanjury.orchestration.services.judging.job import Job
from spanjury.orchestration.services.runs.cluster import ChunkWorker
from spanjury.orchestration.services.runs.cluster_job import (
    CHUNKS,
    ENDS,
    ChunkEnd,
    ClusterJob,
)
from spanjury.orchestration.services.runs.cluster_ledger import Ledger
from spanjury.orchestration.wiring.cluster import ShardFolder, cut_chunks
from spanjury.orchestration.wiring.config import ModelConfig, PanelConfig, SeatConfig

GOOD = chat("No Error\n\nOverall score: Good\nExplanation of the score: It is fine.")
REFUSED = failure(401, "bad key")


def model_at(server: LoopbackServer, name: str = "judge") -> ModelConfig:
    return ModelConfig(name=f"openai-compatible/{name}", base_url=server.base_url)


def job_of(folder: Path, *models: ModelConfig, count: int = 50) -> Job:
    rows = [{"id": str(n), "task": "summarization", "output": f"Text {n}."} for n in range(count)]
    (folder / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return Job(
        data=folder / "rows.jsonl",
        panel=PanelConfig(models=models),
        output=folder / "results.jsonl",
        aspects=("fluency",),
        memory=folder / "memory.sqlite3",
    )


def failed(job: Job) -> tuple[str, list[Result]]:
    """Run `job`, which fails; return the error and the results by then."""
    shown: list[Result] = []
    with pytest.raises(RunFailedError) as caught:
        anyio.run(run, job, shown.append)
    assert not job.output.exists()
    return str(caught.value), shown


def test_a_job_of_the_python_face_fails_as_the_command_does(tmp_path: Path) -> None:
    with LoopbackServer(REFUSED) as server:
        message, shown = failed(job_of(tmp_path, model_at(server)))
        assert len(server.requests) == 1
    assert "model openai-compatible/judge cannot be used: " in message
    assert shown == []


def test_no_model_of_a_panel_is_paid_before_all_of_them_have_answered(tmp_path: Path) -> None:
    with LoopbackServer(GOOD) as good, LoopbackServer(REFUSED) as bad:
        models = (model_at(good, "good"), model_at(bad, "bad"))
        message, _ = failed(job_of(tmp_path, *models))
        assert "openai-compatible/bad" in message
        assert len(good.requests) == len(bad.requests) == 1
        first = job_of(tmp_path, models[0])
        anyio.run(run, first, lambda _: None)  # the good one alone, which is remembered
        asked = len(good.requests)
    with LoopbackServer(GOOD) as bad_no_more:
        moved = replace(models[1], base_url=bad_no_more.base_url)
        anyio.run(run, replace(first, panel=PanelConfig(models=(models[0], moved))), lambda _: None)
        assert len(bad_no_more.requests) == 51
    assert asked == 52  # the server that is gone was not missed


@dataclass(frozen=True, slots=True, kw_only=True)
class Swallowing:
    """A judge of somebody else's that lets no exception out."""

    model: ChatModel
    signature: str = "swallowing"

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        try:
            message = Message(role="user", content=segment.output)
            await self.model.complete(ChatRequest(messages=(message,)))
        except Exception as error:  # noqa: BLE001 - others' judges do so
            return Report(outcome=Outcome.ABSTAINED, reason=str(error))
        return Report(score=3)


def test_a_judge_that_swallows_the_failure_cannot_make_a_run_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = Registry.get

    def get(registry: Registry[object], name: str) -> object:
        return Swallowing if name == "swallowing" else found(registry, name)

    monkeypatch.setattr(Registry, "get", get)
    with LoopbackServer(REFUSED) as server:
        job = job_of(tmp_path, model_at(server))
        panel = replace(
            job.panel, seats=(replace(job.panel.seats_or_default[0], judge="swallowing"),)
        )
        failed(replace(job, panel=panel))
        assert len(server.requests) <= 1


async def ask(panel: Panel) -> None:
    await panel.assess(segment(), ASPECT)


def test_a_closed_panel_and_one_of_another_loop_are_named_at_once() -> None:
    with LoopbackServer(GOOD) as server:
        opened = open_panel(models=[model_at(server)])

        async def leave() -> Panel:
            async with opened as panel:
                await ask(panel)
                with pytest.raises(ConfigError, match="from another event loop"):
                    await anyio.to_thread.run_sync(anyio.run, ask, panel)
                return panel

        async def come_late() -> None:
            panel = await leave()
            with pytest.raises(ConfigError, match="the panel is closed: open a new one"):
                await ask(panel)

        anyio.run(come_late)
        assert len(server.requests) == 1


async def test_pending_answers_arrive_before_the_run_fails() -> None:
    waiting = WaitingJudge.holding(["0", "1"])
    failing = FixedJudge(says=RunFailedError("the key is wrong"), name="failing")

    class FailingLater:
        signature = "failing later"

        async def assess(self, segment: Segment, aspect: Aspect) -> Report:
            if segment.segment_id == "1":
                return await failing.assess(segment, aspect)
            return Report(score=3)

    panel = panel_of(waiting, FailingLater())
    written: list[Result] = []
    raised: list[str] = []

    async def judge() -> None:
        try:
            pairs = [(segment(str(number)), ASPECT) for number in range(9)]
            await evaluate(panel, pairs, write=written.append, workers=2)
        except RunFailedError as error:
            raised.append(str(error))

    async with create_task_group() as group:
        group.start_soon(judge)
        await wait_all_tasks_blocked()
        assert raised == []
        waiting.events["1"].set()
        await wait_all_tasks_blocked()
        waiting.events["0"].set()
    assert raised == ["the key is wrong"]
    assert [result.segment.segment_id for result in written] == ["0"]
    assert sorted(waiting.began) == ["0", "1"]


def ends_of(job: Job) -> list[ChunkEnd]:
    """Judge `job` as a worker of a cluster does, ten rows at a time."""
    folder = str(job.output.parent / "run")
    ShardFolder(folder).create()
    cluster_job = ClusterJob(
        data=str(job.data), panel=job.panel, folder=folder, aspects=("fluency",)
    )
    ledger = Ledger(cluster_job.limits)

    async def ask(note: str) -> str:
        return ledger(note)

    worker = ChunkWorker(cluster_job, Catalogue.load(), ask)
    chunks = cut_chunks(str(job.data), rows=10)
    return [ENDS.validate_json(worker(CHUNKS.dump_json(chunk).decode())) for chunk in chunks]


def test_a_cluster_counts_rows_that_one_of_several_judges_left_out(tmp_path: Path) -> None:
    with LoopbackServer(chat("ready"), failure(400, "too long")) as server:
        job = job_of(tmp_path, model_at(server), count=10)
        both = tuple(SeatConfig(judge=name) for name in ("form", "annotator"))
        (end,) = ends_of(replace(job, panel=replace(job.panel, seats=both)))
    assert (end.record.outcomes, end.record.unanswered) == ({Outcome.SCORED: 10}, 10)


def test_a_worker_of_a_cluster_ends_the_run_as_well(tmp_path: Path) -> None:
    with LoopbackServer(REFUSED) as server:
        first, *others = ends_of(job_of(tmp_path, model_at(server)))
        assert first.failure is not None
        with pytest.raises(RunFailedError, match="cannot be used"):
            raise first.failure.raised()
        assert others
        assert all("cannot be used" in end.record.stopped for end in others)
        assert len(server.requests) == 1


@pytest.mark.parametrize("seconds", [-1.0, float("inf"), float("nan")])
def test_an_outage_without_an_end_is_refused(seconds: float) -> None:
    with pytest.raises(ConfigError, match="0 or more seconds|must be a number"):
        FailurePolicy(max_outage=seconds)


@pytest.mark.parametrize(("share", "window"), [(-0.1, 50), (1.1, 50), (float("nan"), 50), (0.1, 0)])
def test_a_share_of_no_assessments_or_none_at_all_is_refused(share: float, window: int) -> None:
    with pytest.raises(
        ConfigError, match="must be a share, 0 to 1, of 1 or more assessments|must be a number"
    ):
        FailurePolicy(min_usable=share, usable_window=window)
