"""Pairs of segment and aspect that the offline panel judges in a second of CPU time.

Run as ``python benchmarks/offline_speed.py [FILE]``. FILE is qags_four_judges.jsonl.gz. Its
articles are all different, so that the small cache of indexed sources does not help. The
panel is the default one, consolidation, batch and result rows included; "beside the
baseline" is the time a pair takes beside cutting article and summary into words and
intersecting the two sets.
"""

import re
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import anyio

import spanjury
from spanjury import Aspect, Segment
from spanjury.adapters.files.results.results import ResultWriter
from spanjury.judges.rules.form import FormJudge
from spanjury.judges.rules.grounding import GroundingJudge
from spanjury.orchestration.engine.batch import evaluate

QAGS = Path(__file__).parents[2] / "shared" / "data" / "judgements" / "qags_four_judges.jsonl.gz"
CONSISTENCY = spanjury.find_aspect("summarization", "consistency")
FLUENCY = spanjury.find_aspect("summarization", "fluency")
ROUNDS = 5

Work = Callable[[Sequence[Segment]], Awaitable[int]]


async def baseline(segments: Sequence[Segment]) -> int:
    """Cut articles and summaries into words and intersect them."""
    for segment in segments:
        source = " ".join(segment.inputs.values())
        _ = {*re.findall(r"\w+", source.lower())} & {*re.findall(r"\w+", segment.output.lower())}
    return len(segments)


async def grounding(segments: Sequence[Segment]) -> int:
    """Judge what the articles support."""
    judge = GroundingJudge()
    for segment in segments:
        await judge.assess(segment, CONSISTENCY)
    return len(segments)


async def form(segments: Sequence[Segment]) -> int:
    """Judge the form of the summaries."""
    judge = FormJudge()
    for segment in segments:
        await judge.assess(segment, FLUENCY)
    return len(segments)


def panel(*aspects: Aspect) -> Work:
    """Return the work of the default panel, from segment to row of a file."""

    async def work(segments: Sequence[Segment]) -> int:
        pairs = [(segment, aspect) for segment in segments for aspect in aspects]
        with tempfile.TemporaryDirectory() as folder:
            async with spanjury.open_panel() as opened:
                with ResultWriter(Path(folder) / "results.jsonl") as results:
                    await evaluate(opened, pairs, write=results.append)
        return len(pairs)

    return work


async def seconds_a_pair(segments: Sequence[Segment], work: Work) -> float:
    """Return the CPU seconds of one pair in the best of some rounds."""
    best = float("inf")
    for _ in range(ROUNDS):
        begun = time.process_time()
        pairs = await work(segments)
        best = min(best, (time.process_time() - begun) / pairs)
    return best


async def main(path: Path) -> None:
    """Print the table."""
    segments = [*spanjury.read_segments(path)]
    works = {
        "baseline": baseline,
        "grounding alone": grounding,
        "form alone": form,
        "panel, consistency": panel(CONSISTENCY),
        "panel, fluency": panel(FLUENCY),
        "panel, both aspects": panel(CONSISTENCY, FLUENCY),
    }
    bare = await seconds_a_pair(segments, baseline)
    print(f"{'work':<22}{'pairs a CPU s':>14}{'beside the baseline':>21}")
    for name, work in works.items():
        took = await seconds_a_pair(segments, work)
        print(f"{name:<22}{1 / took:>14.0f}{took / bare:>21.1f}")


if __name__ == "__main__":
    anyio.run(main, Path(sys.argv[1]) if len(sys.argv) > 1 else QAGS)
