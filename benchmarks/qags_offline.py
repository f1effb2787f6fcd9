"""Agreement of the offline grounding judge, and of plain overlaps, with people on QAGS.

    python benchmarks/qags_offline.py [FILE]

FILE is qags_four_judges.jsonl.gz. Prints Spearman's rho with the human score.
"""

import gzip
import json
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio
from scipy.stats import spearmanr

from spanjury.judges.core import Aspect, Segment, Task
from spanjury.judges.rules.grounding import GroundingJudge

QAGS = Path(__file__).parents[2] / "shared" / "data" / "judgements" / "qags_four_judges.jsonl.gz"
CNN_ROWS = 235
CONSISTENCY = Aspect(
    name="consistency",
    task=Task(name="summarization", description="Summarize an article."),
    definition="The summary says nothing that the article does not.",
    kind="grounding",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A summary of an article, and the share of people who found it consistent."""

    segment: Segment
    human: float


def read_rows(path: Path) -> list[Row]:
    """Read the file; its first 235 rows are CNN/DM, the others XSum."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [
        Row(
            segment=Segment(segment_id=row["id"], output=row["output"], inputs=row["input"]),
            human=float(row["human"]),
        )
        for row in rows
    ]


def overlap(row: Row, *, order: int) -> float:
    """Return the share of the summary's n-grams that occur in the article."""
    source, grams = (
        [tuple(words[at : at + order]) for at in range(len(words) - order + 1)]
        for words in (
            re.findall(r"[a-z0-9]+", text.lower())
            for text in (*row.segment.inputs.values(), row.segment.output)
        )
    )
    seen = set(source)
    return sum(gram in seen for gram in grams) / len(grams) if grams else 1.0


def judged(row: Row) -> float:
    """Return the judge's score."""
    score = anyio.run(GroundingJudge().assess, row.segment, CONSISTENCY).score
    if score is None:
        raise ValueError(f"{row.segment.segment_id} has no score")
    return score


def agreement(rows: Sequence[Row], score: Callable[[Row], float]) -> float:
    """Return Spearman's rho between a score and the human score."""
    rho = spearmanr([score(row) for row in rows], [row.human for row in rows])
    return float(rho.statistic)


def main(path: Path) -> None:
    """Print the table."""
    rows = read_rows(path)
    scores: dict[str, Callable[[Row], float]] = {
        "unigram overlap": partial(overlap, order=1),
        "bigram overlap": partial(overlap, order=2),
        "trigram overlap": partial(overlap, order=3),
        "sum of the three": lambda row: sum(overlap(row, order=order) for order in (1, 2, 3)),
        "grounding": judged,
    }
    print(f"{'score':<20}{'CNN/DM':>8}{'XSum':>8}")
    for name, score in scores.items():
        parts = (rows[:CNN_ROWS], rows[CNN_ROWS:])
        print(f"{name:<20}" + "".join(f"{agreement(part, score):>8.3f}" for part in parts))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else QAGS)
