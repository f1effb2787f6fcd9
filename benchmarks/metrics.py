"""CPU time of metrics: compared with common programs, as a panel, and in the permutation test.

Run as ``python -m benchmarks.metrics [--pairs N] [--only TABLE]``. Every figure is of one process,
one thread and new texts of 25 and 60 words. Their words recur as in natural language, or are all
new where stated; values are compared, too. pycocoevalcap and torchmetrics, which we do not install,
are left out if missing.
"""

import argparse
import json
import os
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar
from unittest.mock import patch
from zlib import crc32

import numpy as np
from benchmarks.apart import commanded
from benchmarks.metrics_corpus import samples_of
from benchmarks.metrics_peers import Comparison, Texts, absent_peers, comparisons

from spanjury.judges.core import Sample, SegmentMetric
from spanjury.judges.metrics.corpus import Corpus
from spanjury.judges.metrics.edits import character, eed
from spanjury.judges.metrics.edits.native import KERNELS
from spanjury.judges.metrics.named import NamedMetric
from spanjury.judges.metrics.scores import measured
from spanjury.orchestration.wiring.metrics import availability, metric_cards, open_metric
from spanjury.stats.correlations.metric_permutation import perm_both

T = TypeVar("T")

WORDS = (25, 60)
WARMING = 10  # pairs
ROUNDS = 5  # parts of the pairs; the best counts, as other programs interfere
START = 100  # pairs in the run that measures the command's start
CHUNK = 500  # samples per call, as in a run
SINGLE = 50  # pairs to measure one by one
OPTIONS = {"carburacy": ":emissions_kg=0.0004"}
APART = frozenset({"meteor", "ter"})  # not included in the panel
COMPARING = frozenset({"character", "eed"})  # compare almost every pair of characters
SYSTEMS, DOCUMENTS, DRAWS = 16, 100, 1000


def timed(work: Callable[[], T]) -> tuple[float, T]:
    """Return the CPU seconds of `work`, and its result."""
    begun = time.process_time()
    made = work()
    return time.process_time() - begun, made


def compare(pairs: int) -> None:
    """Print our speed relative to others, and the largest difference between values."""
    print(f"{'':<44}{'25 words':>9}{'60 words':>9}{'bar':>6}{'us a pair, ours':>18}{'apart':>9}")
    for comparison in comparisons():
        count = max(1, min(pairs, comparison.pairs or pairs) // ROUNDS)
        timings = [_beside(comparison, words, pairs=count) for words in WORDS]
        ratios = "".join(f"{theirs / ours:>8.1f}x" for ours, theirs, _ in timings)
        own = "".join(f"{1e6 * ours / count:>9.1f}" for ours, _, _ in timings)
        apart = max(apart for _, _, apart in timings)
        print(f"{comparison.name:<44}{ratios}{comparison.bar:>6g}{own}{apart:>9.0e}", flush=True)
    if missing := absent_peers():
        print(f"not installed, so not compared: {', '.join(missing)}")


def _beside(comparison: Comparison, words: int, *, pairs: int) -> tuple[float, float, float]:
    """Return the least seconds of alternating rounds, ours and theirs, and the difference."""
    seed = crc32(comparison.name.encode())
    for work in (comparison.ours, comparison.theirs):  # one-time loading is not counted
        work(Texts.of(samples_of(words=words, pairs=WARMING, seed=seed, language=1)))
    rounds = []
    for number in range(1, ROUNDS + 1):
        texts = Texts.of(
            samples_of(words=words, pairs=pairs, seed=seed + number, language=1, new=comparison.new)
        )
        theirs, expected = timed(partial(comparison.theirs, texts))
        ours, scores = timed(partial(comparison.ours, texts))
        apart = max(abs(score - other) for score, other in zip(scores, expected, strict=True))
        rounds.append((ours, theirs, apart))
    ours, theirs, _ = map(min, zip(*rounds, strict=True))
    return ours, theirs, max(apart for *_, apart in rounds)


def compiled(pairs: int) -> None:
    """Print the speed of compiled EED and CharacTER, in batches and one by one."""
    if KERNELS is None:
        print("\nEED and CharacTER were not compiled")
        return
    print(f"\n{'us a segment':<24}{'words':>9}{'compiled':>10}{'Python':>9}{'ratio':>8}")
    for metric in (eed.Eed(), character.Character()):
        for at_once in (CHUNK, 1):
            for words in WORDS:
                count = min(pairs, CHUNK) if at_once > 1 else min(pairs, SINGLE)
                fast, slow = _both_roads(metric, words, pairs=count, at_once=at_once)
                name = f"{type(metric).__name__}{'' if at_once > 1 else ', one by one'}"
                print(f"{name:<24}{words:>9}{fast:>10.1f}{slow:>9.1f}{slow / fast:>7.1f}x")


def _both_roads(
    metric: SegmentMetric, words: int, *, pairs: int, at_once: int
) -> tuple[float, float]:
    """Return the least microseconds per segment of alternating rounds, compiled and in Python."""
    rounds = []
    for seed in range(1, ROUNDS + 1):
        samples = samples_of(words=words, pairs=pairs, seed=seed)
        batches = [samples[start : start + at_once] for start in range(0, pairs, at_once)]
        work = partial(_scores, metric, batches)
        fast, result = timed(work)
        with patch.object(eed, "KERNELS", None), patch.object(character, "KERNELS", None):
            slow, expected = timed(work)
        if result != expected:
            raise ValueError(f"{metric.signature} differs from its values in Python")
        rounds.append((1e6 * fast / pairs, 1e6 * slow / pairs))
    fast, slow = map(min, zip(*rounds, strict=True))
    return fast, slow


def _scores(metric: SegmentMetric, batches: Sequence[Sequence[Sample]]) -> list[float]:
    return [score for batch in batches for score in metric.score_segments(batch)]


def panel(pairs: int) -> None:
    """Print the time of each metric without weights, measured in chunks together with all others.

    The first metric that needs a text's words pays for splitting it. In texts of new words, each
    word occurs in only one text, which is the worst case for caching words.
    """
    metrics = [
        open_metric(name + OPTIONS.get(name, ""))
        for name, card in metric_cards().items()
        if not card.weights and not availability(card) and name not in APART
    ]
    columns = [
        (f"{words}{', new' if new else ''}", _least_spent(metrics, words, pairs=pairs, new=new))
        for new in (False, True)
        for words in WORDS
    ]
    print(f"\n{'us a segment':<24}" + "".join(f"{title:>9}" for title, _ in columns) + "  words")
    for name in sorted(columns[0][1], key=lambda name: -columns[0][1][name]):
        print(f"{name:<24}" + "".join(f"{1e6 * spent[name]:>9.1f}" for _, spent in columns))
    kept = frozenset(named.name for named in metrics)
    for names, what in ((kept, ""), (kept - COMPARING, ", without EED and CharacTER")):
        speeds = [1 / sum(spent[name] for name in names) for _, spent in columns]
        print(f"{'segments a CPU second':<24}" + "".join(f"{speed:>9,.0f}" for speed in speeds))
        print(f"  of {len(names)} metrics without TER and METEOR{what}")


def _least_spent(
    metrics: Sequence[NamedMetric], words: int, *, pairs: int, new: bool
) -> dict[str, float]:
    """Return each metric's seconds per segment in the best of several rounds."""
    rounds = []
    for seed in range(ROUNDS):
        samples = samples_of(words=words, pairs=pairs, seed=seed, language=1, new=new)
        spent = dict.fromkeys((named.name for named in metrics), 0.0)
        for start in range(0, pairs, CHUNK):
            shared = Corpus.of(samples[start : start + CHUNK])
            for named in metrics:
                spent[named.name] += timed(partial(measured, named, shared))[0] / pairs
        rounds.append(spent)
    return min(rounds, key=lambda spent: sum(spent.values()))


def command(pairs: int) -> None:
    """Print the time of `spanjury metrics score` with all these metrics: per segment, and to start.

    The command also reads the texts, passes chunks of them to a process, resamples each metric's
    corpus score a thousand times, and writes the scores.
    """
    specs = [
        ("--metric", f"{name}{OPTIONS.get(name, '')}")
        for name, card in metric_cards().items()
        if not card.weights and not availability(card) and name not in APART
    ]
    print(f"\n{'spanjury metrics score':<24}{'start, s':>9}{'segments a CPU second':>24}  words")
    for words in WORDS:
        start, whole = (
            _commanded([*chain.from_iterable(specs)], samples_of(words=words, pairs=count))
            for count in (START, pairs)
        )
        speed = (pairs - START) / (whole - start)
        print(f"{f'{len(specs)} metrics':<24}{start:>9.2f}{speed:>24,.0f}  {words}", flush=True)


def _commanded(flags: Sequence[str], samples: Sequence[Sample]) -> float:
    """Return the CPU seconds of the command on some samples, including its process."""
    with TemporaryDirectory() as folder:
        data, scores = Path(folder) / "texts.jsonl", Path(folder) / "scores.jsonl"
        rows = (
            {"output": each.output, "reference": each.references[0], "source": each.source}
            for each in samples
        )
        data.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
        flags = [*flags, "--workers", "1", "--no-progress", "-o", str(scores)]
        return commanded("metrics", "score", str(data), *flags)


def permutation() -> None:
    """Print the time of PERM-BOTH."""
    rng = np.random.default_rng(1)
    people = rng.normal(size=(SYSTEMS, DOCUMENTS))
    metrics = people + rng.normal(size=(2, SYSTEMS, DOCUMENTS))
    print(f"\nPERM-BOTH, {SYSTEMS} systems, {DOCUMENTS} documents, {DRAWS:,} draws, CPU seconds")
    for level in ("system", "by-input"):
        seconds, _ = timed(partial(perm_both, people, metrics, level=level, rng=rng, draws=DRAWS))
        print(f"{level:<24}{seconds:>9.2f}")


TABLES: dict[str, Callable[[int], None]] = {
    "peers": compare,
    "compiled": compiled,
    "panel": lambda pairs: panel(min(pairs, 2 * CHUNK)),
    "command": command,
    "permutation": lambda _: permutation(),
}


def main() -> None:
    """Print all tables, or those selected."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--only", choices=TABLES, help="one table")
    options = parser.parse_args()
    for name, show in TABLES.items():
        if options.only in {None, name}:
            show(options.pairs)


if __name__ == "__main__":
    os.environ["RAYON_NUM_THREADS"] = "1"  # read when ROUGE first runs
    main()
