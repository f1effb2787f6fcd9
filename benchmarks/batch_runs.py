"""Whole runs, on the road that the command line takes: a file of rows, a job, a file of results."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
from anyio.lowlevel import checkpoint
from benchmarks.batch_process import Spent, apart, peak_mb, resident_mb, spending
from benchmarks.batch_rows import write_rows
from benchmarks.batch_server import reply

from spanjury.judges.core import Aspect, ChatRequest, Reply, Report, Result, Segment, Usage
from spanjury.judges.llm.annotator import Annotator
from spanjury.orchestration.services.evaluate import Job, plan, run
from spanjury.orchestration.wiring.config import ModelConfig, PanelConfig, SeatConfig

__all__ = [
    "CONNECTIONS",
    "Measured",
    "fixed_panel",
    "measured_run",
    "offline_panel",
    "stub_panel",
    "trivial_panel",
]

CONNECTIONS = 64
_WARM_UP = 50
_SAMPLES = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A run: its reading alone (done once more before it), itself, and its memory.

    `resident` is in MB at every tenth of the rows.
    """

    rows: int
    planned: Spent
    judged: Spent
    resident: Sequence[float]
    peak: float

    @property
    def read_us(self) -> float:
        """CPU microseconds of reading a row once."""
        return self.planned.cpu / self.rows * 1e6

    @property
    def cpu_us(self) -> float:
        """CPU microseconds of a row, with the reading that goes before."""
        return (self.planned.cpu + self.judged.cpu) / self.rows * 1e6


@dataclass(frozen=True, slots=True)
class FixedModel:
    """A model in this process that costs next to nothing; no two replies are alike."""

    signature: str = "fixed"
    _numbers: Iterator[int] = field(default_factory=count)

    async def complete(self, request: ChatRequest) -> Reply:
        """Let others run, then reply."""
        del request
        await checkpoint()
        usage = Usage(calls=1, prompt=1100, completion=100)
        return Reply(text=reply(next(self._numbers)), usage=usage)


@dataclass(frozen=True, slots=True)
class TrivialJudge:
    """A judge that says the same of everything."""

    signature: str = "trivial"

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        """Let others run, then say it."""
        del segment, aspect
        await checkpoint()
        return Report(score=3, rationale="Two facts are not those of the article.")


def stub_panel(address: str) -> PanelConfig:
    """Return an annotator over the lean client."""
    model = ModelConfig(
        name="openai-compatible/stub", base_url=f"{address}/v1", max_connections=CONNECTIONS
    )
    return PanelConfig(models=(model,))


def fixed_panel() -> PanelConfig:
    """Return an annotator whose model is no more than a function."""
    return PanelConfig(seats=(SeatConfig(judge=Annotator(model=FixedModel()), name="annotator"),))


def trivial_panel() -> PanelConfig:
    """Return a judge that costs next to nothing, so that the engine is all there is."""
    return PanelConfig(seats=(SeatConfig(judge=TrivialJudge(), name="trivial"),))


def offline_panel() -> PanelConfig:
    """Return the judges that need no model."""
    return PanelConfig()


def measured_run(
    panel: Callable[[], PanelConfig], *, rows: int, folder: Path, remembers: bool = False
) -> Measured:
    """Judge `rows` rows in a process of its own, which makes the `panel`.

    The rows, the results and the memory are in `folder`; a memory that is there already is
    used.
    """
    if not (data := folder / f"{rows}.jsonl").exists():
        write_rows(data, rows)
    return apart(_measure, panel, data, rows=rows, remembers=remembers)


def _measure(
    panel: Callable[[], PanelConfig], data: Path, *, rows: int, remembers: bool
) -> Measured:
    os.environ["OPENAI_COMPATIBLE_API_KEY"] = "none-needed"
    _warm_up(panel())
    job = _job(data, panel=panel(), remembers=remembers)
    resident = [resident_mb()]
    done = count(1)

    def note(result: Result) -> None:
        del result
        if next(done) % max(1, rows // _SAMPLES) == 0:
            resident.append(resident_mb())

    with spending() as planned:
        plan(job)
    with spending() as judged:
        anyio.run(run, job, note)
    return Measured(
        rows=rows, planned=planned, judged=judged, resident=tuple(resident), peak=peak_mb()
    )


def _warm_up(panel: PanelConfig) -> None:
    """Have everything loaded that is loaded once a process."""
    with TemporaryDirectory() as folder:
        data = Path(folder) / "rows.jsonl"
        write_rows(data, _WARM_UP)
        job = _job(data, panel=panel, remembers=True)
        plan(job)
        anyio.run(run, job, lambda _: None)


def _job(data: Path, *, panel: PanelConfig, remembers: bool) -> Job:
    return Job(
        data=data,
        panel=panel,
        output=data.with_name("results.jsonl"),
        aspects=("consistency",),
        memory=data.with_name("memory.sqlite3") if remembers else None,
    )
