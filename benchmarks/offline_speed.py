"""How many (segment, aspect) pairs the offline judges assess in a second of CPU time.

    python benchmarks/offline_speed.py [FILE]

FILE is qags_four_judges.jsonl.gz. Its articles are all different, so that the small cache
of indexed sources does not help. `times baseline` is the time a pair takes beside cutting
article and summary into words and intersecting the two sets.
"""

import gzip
import json
import re
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import anyio

from spanjury.judges.core import Aspect, Segment, Task
from spanjury.judges.rules.form import FormJudge
from spanjury.judges.rules.grounding import GroundingJudge

QAGS = Path(__file__).parents[2] / "shared" / "data" / "judgements" / "qags_four_judges.jsonl.gz"
TASK = Task(name="summarization", description="Summarize an article.")
CONSISTENCY = Aspect(name="consistency", task=TASK, definition="", kind="grounding")
FLUENCY = Aspect(name="fluency", task=TASK, definition="", kind="form", inputs=())
ROUNDS = 5


def read_segments(path: Path) -> list[Segment]:
    """Read articles and their summaries."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [
        Segment(segment_id=row["id"], output=row["output"], inputs=row["input"]) for row in rows
    ]


async def baseline(segment: Segment) -> object:
    """Cut article and summary into words and intersect them."""
    source = " ".join(segment.inputs.values())
    return {*re.findall(r"\w+", source.lower())} & {*re.findall(r"\w+", segment.output.lower())}


async def ground(segment: Segment) -> object:
    """Judge what the article supports."""
    return await GroundingJudge().assess(segment, CONSISTENCY)


async def form(segment: Segment) -> object:
    """Judge the form of the summary."""
    return await FormJudge().assess(segment, FLUENCY)


async def seconds_a_pair(
    segments: Sequence[Segment], work: Callable[[Segment], Awaitable[object]]
) -> float:
    """Return the CPU seconds of one piece of work in the best of some rounds."""
    best = float("inf")
    for _ in range(ROUNDS):
        begun = time.process_time()
        for segment in segments:
            await work(segment)
        best = min(best, time.process_time() - begun)
    return best / len(segments)


async def main(path: Path) -> None:
    """Print the table."""
    segments = read_segments(path)
    bare = await seconds_a_pair(segments, baseline)
    print(f"{'judge':<12}{'pairs a CPU s':>14}{'times baseline':>16}")
    for name, work in {"baseline": baseline, "grounding": ground, "form": form}.items():
        took = await seconds_a_pair(segments, work)
        print(f"{name:<12}{1 / took:>14.0f}{took / bare:>16.1f}")


if __name__ == "__main__":
    anyio.run(main, Path(sys.argv[1]) if len(sys.argv) > 1 else QAGS)
