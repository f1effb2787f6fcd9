"""Milliseconds from the end of a sentence to its report, while a scripted model writes.

Run as ``python -m benchmarks.stream``. The model writes 4 characters every 15 ms, as one that is
read at 65 tokens a second. The delay is the time from the piece with which the end of a sentence is
certain to the event with its report, by the default panel, which is open and warm. The texts are
those of ``spanjury demo``; for the long source, all articles are joined until there are 100,000
characters. The second table shows CPU time by the length of the text, without pauses, and that of
judging the whole text again after each sentence.
"""

import json
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path

import anyio
import numpy as np

from spanjury import JudgedSentence, StreamEnd, TextPiece, acheck, astream, open_panel
from spanjury.judges.text.sentences import sentences
from spanjury.orchestration.engine.panel import Panel

ROWS = Path(__file__).parents[1] / "orchestration" / "demo" / "summaries.jsonl"
PIECE = 4
PAUSE = 0.015
LONG = 100_000
LENGTHS = (20, 40, 80, 160)
AGAIN = 80
"""Sentences up to which the whole text is judged again after each: that takes long."""


async def written(text: str, *, pause: float) -> AsyncIterator[str]:
    """Write a text as a model does."""
    for at in range(0, len(text), PIECE):
        await anyio.sleep(pause)
        yield text[at : at + PIECE]


async def delays(panel: Panel, text: str, *, source: str) -> tuple[list[float], float]:
    """Return the seconds from the end of each sentence to its report, and those of the whole."""
    sentence_delays: list[float] = []
    whole, began = 0.0, time.perf_counter()
    async for event in astream(written(text, pause=PAUSE), source=source, panel=panel):
        now = time.perf_counter()
        if isinstance(event, JudgedSentence):
            sentence_delays.append(now - began)
        elif isinstance(event, StreamEnd):
            whole = now - began
        if not isinstance(event, TextPiece):
            now = time.perf_counter()
        began = now
    return sentence_delays[:-1], whole  # the last one ends with the text, after a pause of its own


async def delay_lines(
    panel: Panel, texts: Sequence[str], sources: dict[str, Sequence[str]]
) -> None:
    """Print a row for each kind of source."""
    print("| source | sentences | median ms | 90 % | 99 % | first of a new source | whole text |")
    print("|---|---|---|---|---|---|---|")
    for name, of_texts in sources.items():
        first: list[float] = []
        later: list[float] = []
        wholes: list[float] = []
        for text, source in zip(texts, of_texts, strict=True):
            (new, *others), whole = await delays(panel, text, source=source)
            first.append(new)
            later += others
            wholes.append(whole)
        median, most, nearly_all = np.percentile(later, [50, 90, 99]) * 1000
        print(
            f"| {name} | {len(later)} | {median:.0f} | {most:.0f} | {nearly_all:.0f}"
            f" | {np.median(first) * 1000:.0f} | {np.median(wholes) * 1000:.0f} |"
        )


async def streamed(panel: Panel, text: str, *, source: str) -> None:
    """Judge a text while it is written without pauses."""
    async for _ in astream(written(text, pause=0), source=source, panel=panel):
        pass


async def judged_again(panel: Panel, text: str, *, source: str) -> None:
    """Judge all of a text again after each of its sentences."""
    for sentence in sentences(text):
        await acheck(text[: sentence.end], source=source, panel=panel)


async def cpu_lines(panel: Panel, texts: Sequence[str], source: str) -> None:
    """Print CPU milliseconds a sentence by the number of sentences."""
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
        yield " ".join([row["output"]] * 3), row["inputs"]["Article"]


async def measure() -> None:
    """Print both tables."""
    texts, articles = zip(*demo_rows(), strict=True)
    joined = "\n\n".join(articles)
    long = (joined * (LONG // len(joined) + 1))[:LONG]
    longs = [f"{article}\n\n{long}" for article in articles]
    async with open_panel() as panel:
        await acheck("It is cold.", source="It is warm.", panel=panel)
        await delay_lines(panel, texts, {"an article": articles, "100,000 characters": longs})
        print()
        await cpu_lines(panel, texts, joined)


def main() -> None:
    """Measure, and print Markdown."""
    anyio.run(measure)


if __name__ == "__main__":
    main()
