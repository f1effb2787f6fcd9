"""Time and memory that a hostile answer, file or text can cost."""

import gzip
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
from benchmarks.trials.trial import Harm, Trial

from spanjury.adapters.models.fast_model import open_fast
from spanjury.adapters.models.litellm_model import open_litellm
from spanjury.judges.core import (
    Aspect,
    ChatRequest,
    Judge,
    Message,
    ModelError,
    ModelOptions,
    Segment,
    Task,
)
from spanjury.judges.rules.form import FormJudge
from spanjury.judges.rules.grounding import GroundingJudge

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
from loopback.answers import chat
from loopback.endless import EndlessServer
from loopback.server import LoopbackServer

__all__ = ["trials"]

_MB = 10**6
_REPLY = 50 * _MB
_TOLERATED = 100 * _MB  # bytes by which memory may grow
_LONGEST_STALL = 0.05  # seconds
_LONGEST_STALL_OF_A_MEGABYTE = 1.0
_REPEATS = 3
_BEAT = 0.001  # seconds
_REQUEST = ChatRequest(messages=(Message(role="user", content="Judge this."),))
_TASK = Task(name="summarization", description="Summarize the article.")
_JUDGES: tuple[tuple[Judge, Aspect], ...] = (
    (FormJudge(), Aspect(name="fluency", task=_TASK, definition="Well written.", kind="form")),
    (
        GroundingJudge(),
        Aspect(name="consistency", task=_TASK, definition="Supported.", kind="grounding"),
    ),
)
_PROSE = "The board was pleased with the growth in Paris, where 1,200 cars were sold in April. "
# Contents that could make a reader hold a great deal in memory, by name of the file.
_BOMBS: dict[str, Callable[[int], bytes]] = {
    "line.jsonl": lambda size: b'{"output": "' + b"x" * size + b'"}\n',
    "deep.jsonl": lambda size: b'{"output": "x", "y": ' + b"[" * size,
    "cell.csv": lambda size: b'output\n"' + (b"x" * 99 + b"\n") * (size // 100),
    "record.csv": lambda size: b'output\n"' + (b"x" * 96 + b'\n","') * (size // 100),
    "columns.csv": lambda size: b"output" + b"," * size,
    "columns.tsv": lambda size: b"output" + b"\t" * size,
    "line.txt": lambda size: b"x" * size,
    "line.mqm.tsv": lambda size: b"\t" * size,
    "line.factgenie.jsonl": lambda size: b'{"output": "' + b"x" * size,
}


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _replies(name: str) -> Trial:
    """Request twelve endless replies concurrently, together with twelve honest ones."""
    open_model = open_fast if name.startswith("openai-compatible/") else open_litellm
    outcomes: list[str] = []

    async def ask(base_url: str) -> None:
        async with open_model(name, options=ModelOptions(base_url=base_url)) as model:
            try:
                outcomes.append((await model.complete(_REQUEST)).text)
            except ModelError as error:
                outcomes.append("cut" if "longer than" in str(error) else str(error))

    async def ask_all(endless: str, honest: str) -> None:
        await ask(honest)  # warm-up: imports at the first call are not measured
        async with anyio.create_task_group() as asking:
            for _ in range(12):
                asking.start_soon(ask, endless)
                asking.start_soon(ask, honest)

    with EndlessServer(size=_REPLY) as endless, LoopbackServer(chat("fine")) as honest:
        anyio.run(ask_all, honest.base_url, honest.base_url)
        outcomes.clear()
        before, begun = _peak(), time.perf_counter()
        anyio.run(ask_all, endless.base_url, honest.base_url)
        took, grown = time.perf_counter() - begun, _peak() - before
    harmed = 24 - outcomes.count("cut") - (outcomes.count("fine") - 1)
    return Trial(
        harm=Harm.BURNT,
        name=f"12 replies of 50 MB beside 12 honest ones, {name}",
        tries=24,
        harmed=24 if grown > _TOLERATED else harmed,
        note=f"{grown / _MB:.0f} MB more, {took:.1f} s, {sum(endless.sent) / _MB:.0f} MB sent",
    )


def _bomb(name: str, make: Callable[[int], bytes], *, folder: Path) -> tuple[int, float]:
    """Return the memory and the seconds that a compressed file of 120 MB costs the command."""
    path = folder / f"{name}.gz"
    with gzip.open(path, "wb", 1) as file:
        whole = make(40 * _MB)
        for _ in range(3):
            file.write(whole)
        del whole
    measure = (
        "import resource, subprocess, sys;"
        "subprocess.run(sys.argv[1:], capture_output=True);"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    command = (sys.executable, "-m", "spanjury", "evaluate", str(path), "--task", "summarization")
    output = ("--output", str(folder / "results.jsonl"))
    begun = time.perf_counter()
    finished = subprocess.run(  # noqa: S603  the program itself
        [sys.executable, "-c", measure, *command, *output],
        capture_output=True,
        text=True,
        check=True,
    )
    path.unlink()
    return int(finished.stdout) * 1024, time.perf_counter() - begun


def _bombs() -> Trial:
    with TemporaryDirectory() as folder:
        costs = [_bomb(name, make, folder=Path(folder)) for name, make in _BOMBS.items()]
    memory, seconds = max(cost[0] for cost in costs), max(cost[1] for cost in costs)
    return Trial(
        harm=Harm.BURNT,
        name="packed files of 120 MB, one a form",
        tries=len(costs),
        harmed=sum(cost[0] > 300 * _MB for cost in costs),
        note=f"at most {memory / _MB:.0f} MB in all, {seconds:.1f} s",
    )


async def _stall(judge: Judge, aspect: Aspect, texts: list[str]) -> float:
    """Return the longest time that another task waits while `texts` are judged concurrently."""
    longest = 0.0

    async def beat() -> None:
        nonlocal longest
        while True:
            begun = time.perf_counter()
            await anyio.sleep(_BEAT)
            longest = max(longest, time.perf_counter() - begun - _BEAT)

    async with anyio.create_task_group() as beating:
        beating.start_soon(beat)
        async with anyio.create_task_group() as judging:
            for number, text in enumerate(texts):
                segment = Segment(segment_id=str(number), output=text, inputs={"Article": text})
                judging.start_soon(judge.assess, segment, aspect)
        beating.cancel_scope.cancel()
    return longest


def _stalls(backend: str) -> list[Trial]:
    measured = []
    for count, length in ((200, 950), (50, 4_000), (1, _MB)):
        texts = [(_PROSE * (length // len(_PROSE) + 1))[:length]] * count
        # The least of a few, since other programs on the machine also delay the loop.
        stalls = [
            min(anyio.run(_stall, judge, aspect, texts, backend=backend) for _ in range(_REPEATS))
            for judge, aspect in _JUDGES
        ]
        # With a megabyte, Python's searches and memory clean-up cannot be interrupted, so
        # only a stall as long as judging used to take counts as harm. See docs/judges.md.
        tolerated = _LONGEST_STALL if length < _MB else _LONGEST_STALL_OF_A_MEGABYTE
        measured.append(
            Trial(
                harm=Harm.BURNT,
                name=f"{count} texts of {length} characters at once, {backend}",
                tries=len(stalls),
                harmed=sum(stall > tolerated for stall in stalls),
                note=f"the event loop waits {1000 * max(stalls):.0f} ms at most",
            )
        )
    return measured


def trials() -> list[Trial]:
    """Test the program with endless answers, files and texts."""
    roads = ("openai-compatible/loop", "openai/loop", "hosted_vllm/loop")
    return [*map(_replies, roads), _bombs(), *_stalls("asyncio"), *_stalls("trio")]
