"""Milliseconds from the end of a sentence to its report, while a scripted model writes.

Run as ``python -m benchmarks.stream``. The model writes 4 characters every 15 ms, which is about 65
tokens per second. The delay is the time from the piece that makes the end of a sentence certain to
the event with its report, by the default panel, already open and warm; CPU is the process's use in
that time. For each sentence the minimum of four rounds counts, to exclude other programs; each
round has different sources. The texts are those of ``spanjury demo``; for the long source, all
articles are joined up to 100,000 characters. The second table shows CPU time by the length of the
text, without pauses, compared with judging the whole text again after each sentence.
"""

import json
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from pathlib import Path

import anyio
import numpy as np
from numpy.typing import NDArray

from spanjury import TextPiece, acheck, astream, open_panel
from spanjury.judges.text.sentences import sentences
from spanjury.orchestration.engine.panel import Panel

ROWS = Path(__file__).parents[1] / "orchestration" / "demo" / "summaries.jsonl"
PIECE = 4
PAUSE = 0.015
LONG = 100_000
ROUNDS = 4
LENGTHS = (20, 40, 80, 160)
AGAIN = 80
"""Maximum number of sentences for judging the whole text again after each, which is slow."""


FloatArray = NDArray[np.float64]
Sources = Mapping[str, Callable[[str, int], str]]
"""Kind of source -> function from an article and a round to the source."""


async def written(text: str, *, pause: float) -> AsyncIterator[str]:
    """Yield a text in pieces, like a model."""
    for at in range(0, len(text), PIECE):
        await anyio.sleep(pause)
        yield text[at : at + PIECE]


async def delays(panel: Panel, text: str, *, source: str) -> FloatArray:
    """Return the milliseconds from the end of each sentence to its report, and the CPU time.

    The shape is ``(events, 2)``; the last row is for the report on the whole text.
    """
    times: list[tuple[float, float]] = []
    began, used = time.perf_counter(), time.process_time()
    async for event in astream(written(text, pause=PAUSE), source=source, panel=panel):
        if not isinstance(event, TextPiece):
            times.append((time.perf_counter() - began, time.process_time() - used))
        began, used = time.perf_counter(), time.process_time()
    return 1000 * np.asarray(times)


async def delay_lines(panel: Panel, rows: Sequence[tuple[str, str]], sources: Sources) -> None:
    """Print the rows for each kind of source."""
    print("| source | sentences | | median | 90 % | slowest | first of a new source | whole text |")
    print("|---|---|---|---|---|---|---|---|")
    for name, source_of in sources.items():
        least: list[FloatArray] = []
        for text, article in rows:
            turns = range(ROUNDS)
            rounds = [await delays(panel, text, source=source_of(article, at)) for at in turns]
            least.append(np.min(rounds, axis=0))
        later = np.concatenate([times[1:-1] for times in least])
        ends = [np.median([times[at] for times in least], axis=0) for at in (0, -1)]
        table = np.vstack([np.percentile(later, [50, 90, 100], axis=0), *ends])
        for kind, column in zip(("ms", "CPU ms"), table.T, strict=True):
            cells = " | ".join(f"{value:.0f}" for value in column)
            print(f"| {name} | {len(later)} | {kind} | {cells} |")


async def streamed(panel: Panel, text: str, *, source: str) -> None:
    """Judge a text as a stream without pauses."""
    async for _ in astream(written(text, pause=0), source=source, panel=panel):
        pass


async def judged_again(panel: Panel, text: str, *, source: str) -> None:
    """Judge the whole text so far after each of its sentences."""
    for sentence in sentences(text):
        await acheck(text[: sentence.end], source=source, panel=panel)


async def cpu_lines(panel: Panel, texts: Sequence[str], source: str) -> None:
    """Print CPU milliseconds per sentence by the number of sentences."""
    print("| sentences | characters | CPU ms a sentence | judged again |")
    print("|---|---|---|---|")
    cut = [part.text for text in texts for part in sentences(text)]
    for number in LENGTHS:
        text = " ".join(f"{at}, {cut[at % len(cut)]}" for at in range(number))
        figures = []
        for judge in (streamed, judged_again)[: 1 + (number <= AGAIN)]:
            began = time.process_time()
            await judge(panel, text, source=source)
            figures.append(f"{(time.process_time() - began) * 1000 / number:.0f}")
        print(f"| {number} | {len(text):,} | {' | '.join([*figures, ''][:2])} |")


def demo_rows() -> Iterator[tuple[str, str]]:
    """Yield the texts with their articles."""
    for line in ROWS.read_text("utf-8").splitlines():
        row = json.loads(line)
        yield row["output"], row["inputs"]["Article"]


async def measure() -> None:
    """Print both tables."""
    rows = [*demo_rows()]
    joined = "\n\n".join(article for _, article in rows)
    long = (joined * (LONG // len(joined) + 1))[:LONG]
    sources: Sources = {
        "an article": lambda article, turn: f"{article}\n\nEdition {turn}.",
        "100,000 characters": lambda article, turn: f"Edition {turn}. {article}\n\n{long}",
    }
    async with open_panel() as panel:
        await acheck("It is cold.", source="It is warm.", panel=panel)
        await delay_lines(panel, rows, sources)
        print()
        await cpu_lines(panel, [text for text, _ in rows], joined)


def main() -> None:
    """Measure, and print Markdown."""
    anyio.run(measure)


if __name__ == "__main__":
    main()
