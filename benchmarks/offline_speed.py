"""Pairs of segment and aspect that the offline judges assess per second of CPU time.

Run as ``python -m benchmarks.offline_speed [FILE]``. FILE is qags_four_judges.jsonl.gz, whose
articles are all different; caches of texts are cleared before every round, so that no source occurs
twice. For shared sources, the 1,600 rows of SummEval (16 systems, 100 articles) are judged in
random order, compared with a baseline of their own. Panels are measured with consolidation, batch
and result rows. The first rows are of the command ``spanjury evaluate``, per pair beyond its start,
which a run of a sixteenth of the rows measures. "beside the baseline" is the ratio of a pair's time
to that of splitting article and summary into words and intersecting the two sets. The judge
`reader` is slow, so it and the default panel judge every eighth row; "reader, windows" counts
windows, not pairs, and its model's cache is cleared, too.
"""

import gc
import gzip
import json
import re
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import anyio
import numpy as np
from benchmarks.apart import commanded

import spanjury
from spanjury import Aspect, Segment
from spanjury.adapters.files.results.results import ResultWriter
from spanjury.adapters.reading.onnx_model import OnnxModel
from spanjury.adapters.reading.onnx_reader import open_reader
from spanjury.judges.reader.windows import sentence_windows
from spanjury.judges.rules.form import FormJudge
from spanjury.judges.rules.grounding import GroundingJudge
from spanjury.judges.text.kept import KeptByText
from spanjury.orchestration.engine.batch import evaluate

DATA = Path(__file__).parents[2] / "shared" / "data"
QAGS = DATA / "judgements" / "qags_four_judges.jsonl.gz"
WEIGHTS = Path(__file__).parents[1] / "adapters" / "reading" / "weights"
SUMMEVAL = DATA / "scores"
CONSISTENCY = spanjury.find_aspect("summarization", "consistency")
FLUENCY = spanjury.find_aspect("summarization", "fluency")
ROUNDS = 5
EVERY = 8  # every n-th segment for the reader and the default panel, which are slow
FEW = 16  # every n-th segment in the run that measures the command's start

Work = Callable[[Sequence[Segment]], Awaitable[int]]


async def baseline(segments: Sequence[Segment]) -> int:
    """Split articles and summaries into words, and intersect the sets."""
    for segment in segments:
        source = " ".join(segment.inputs.values())
        _ = {*re.findall(r"\w+", source.lower())} & {*re.findall(r"\w+", segment.output.lower())}
    return len(segments)


async def grounding(segments: Sequence[Segment]) -> int:
    """Judge whether the articles support the summaries."""
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


def panel(*aspects: Aspect, judges: Sequence[str] = ()) -> Work:
    """Return a function from segments to rows, by a panel of `judges` or else the default panel."""

    async def work(segments: Sequence[Segment]) -> int:
        pairs = [(segment, aspect) for segment in segments for aspect in aspects]
        with tempfile.TemporaryDirectory() as folder:
            async with spanjury.open_panel(judges=judges) as opened:
                with ResultWriter(Path(folder) / "results.jsonl") as results:
                    await evaluate(opened, pairs, write=results.append)
        return len(pairs)

    return work


def windows(segments: Sequence[Segment]) -> Work:
    """Return a function that runs only the shipped model, and counts windows."""
    reader = open_reader(WEIGHTS)
    cut = [
        sentence.window
        for segment in segments
        for sentence in sentence_windows(segment.output, segment.inputs)
        if not sentence.is_copy
    ]

    async def work(_: Sequence[Segment]) -> int:
        return len(reader.read(cut))

    return work


def shared_sources(folder: Path) -> list[Segment]:
    """Read SummEval, with 16 summaries of each article, in random order."""
    with gzip.open(folder / "summeval_docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        articles = {row["id"]: row["source"] for row in map(json.loads, lines)}
    with gzip.open(folder / "summeval_scores.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [*map(json.loads, lines)]
    return [
        Segment(segment_id=row["id"], output=row["output"], inputs=articles[row["doc_id"]])
        for row in (rows[at] for at in np.random.default_rng(0).permutation(len(rows)))
    ]


def forget() -> None:
    """Clear the caches of texts."""
    for kept in gc.get_objects():
        if isinstance(kept, KeptByText):
            kept.clear()
        elif isinstance(kept, OnnxModel):
            kept.run.cache_clear()


async def seconds_a_pair(segments: Sequence[Segment], work: Work) -> float:
    """Return the CPU seconds per pair in the best of several rounds."""
    best = float("inf")
    for _ in range(ROUNDS):
        forget()
        begun = time.process_time()
        pairs = await work(segments)
        best = min(best, (time.process_time() - begun) / pairs)
    return best


def of_the_command(segments: Sequence[Segment], *judges: str) -> float:
    """Return the CPU seconds that `spanjury evaluate` takes per additional segment."""
    few = segments[::FEW]
    seconds = []
    with tempfile.TemporaryDirectory() as name:
        data, results = Path(name) / "rows.jsonl", Path(name) / "results.jsonl"
        flags = [flag for judge in judges for flag in ("--judge", judge)]
        flags += ["--aspect", CONSISTENCY.name, "--no-memory", "--no-progress", "--show", "none"]
        for chosen in (few, segments):
            rows = (
                {"id": s.segment_id, "inputs": dict(s.inputs), "output": s.output} for s in chosen
            )
            data.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
            seconds.append(commanded("evaluate", str(data), "-o", str(results), *flags))
            results.unlink()
    return (seconds[1] - seconds[0]) / (len(segments) - len(few))


async def main(path: Path) -> None:
    """Print the table."""
    different = [*spanjury.read_segments(path)]
    shared = shared_sources(SUMMEVAL)
    some = different[::EVERY]
    both = (CONSISTENCY, FLUENCY)
    rules = ("grounding", "form")
    works: dict[str, tuple[Sequence[Segment], Work]] = {
        "baseline": (different, baseline),
        "grounding, sources all different": (different, grounding),
        "form": (different, form),
        "panel of both, consistency": (different, panel(CONSISTENCY, judges=rules)),
        "panel of both, fluency": (different, panel(FLUENCY, judges=rules)),
        "panel of both, both aspects": (different, panel(*both, judges=rules)),
        "baseline, SummEval": (shared, baseline),
        "grounding, shared sources shuffled": (shared, grounding),
        "reader, windows": (some, windows(some)),
        "reader, consistency": (some, panel(CONSISTENCY, judges=("reader",))),
        "default panel, consistency": (some, panel(CONSISTENCY)),
        "default panel, both aspects": (some, panel(*both)),
    }
    print(f"{'work':<36}{'pairs a CPU s':>14}{'beside the baseline':>21}{'CPU ms':>9}")
    commands: dict[str, tuple[Sequence[Segment], Sequence[str]]] = {
        "evaluate, grounding": (different, ("grounding",)),
        "evaluate, both rules": (different, rules),
        "evaluate, default panel": (some, ()),
    }
    for name, (judged, judges) in commands.items():
        bare, took = await seconds_a_pair(judged, baseline), of_the_command(judged, *judges)
        print(f"{name:<36}{1 / took:>14.0f}{took / bare:>21.1f}{1e3 * took:>9.2f}", flush=True)
    for name, (segments, work) in works.items():
        bare = await seconds_a_pair(segments, baseline)
        took = await seconds_a_pair(segments, work)
        print(f"{name:<36}{1 / took:>14.0f}{took / bare:>21.1f}{1e3 * took:>9.2f}", flush=True)


if __name__ == "__main__":
    anyio.run(main, Path(sys.argv[1]) if len(sys.argv) > 1 else QAGS)
