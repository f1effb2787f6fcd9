"""Agreement that the judge `likelihood` adds to the default panel, and accuracy of its spans.

    python benchmarks/likelihood.py [MODEL] [ROWS]

The default MODEL is `local/embedded`. Prints Spearman's rho with people on the first ROWS rows
(100) of QAGS CNN/DM and XSum, for the judge, the panel and the mean of their ranks. Then it prints
precision, recall and F1 by character on 60 rows of CLIFF, compared with those of marking all words
that the source lacks.
"""

import gzip
import json
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio
import numpy as np
from scipy.stats import rankdata, spearmanr

from spanjury import open_panel
from spanjury.judges.core import Aspect, Report, Segment, Task
from spanjury.judges.text.words import words
from spanjury.orchestration.engine.panel import Panel

DATA = Path(__file__).parents[2] / "shared" / "data"
CNN_ROWS = 235
CLIFF_ROWS = 30  # of each corpus
CONSISTENCY = Aspect(
    name="consistency",
    task=Task(name="summarization", description="Summarize an article.", output_header="Summary"),
    definition="The summary says nothing that the article does not.",
    kind="grounding",
)
Interval = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """An output with people's rating, or with the intervals that they marked."""

    segment: Segment
    human: float = 0.0
    marked: tuple[Interval, ...] = ()


def lines(path: Path) -> list[dict[str, object]]:
    """Read a gzipped file of JSON rows."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def qags(most: int) -> dict[str, list[Row]]:
    """Read the first rows of each corpus of QAGS."""
    rows = [
        Row(segment=_segment(row, "input"), human=float(str(row["human"])))
        for row in lines(DATA / "judgements" / "qags_four_judges.jsonl.gz")
    ]
    corpora = {"CNN/DM": rows[:CNN_ROWS], "XSum": rows[CNN_ROWS:]}
    return {name: corpus[:most] for name, corpus in corpora.items()}


def cliff(name: str = "dev_cliff") -> dict[str, list[Row]]:
    """Read the first rows of each corpus of CLIFF."""
    corpora: dict[str, list[Row]] = {"CNN/DM": [], "XSum": []}
    for row in lines(DATA / "support" / f"{name}.jsonl.gz"):
        spans = row["spans"]
        assert isinstance(spans, list)
        marked = tuple((span["start"], span["end"]) for span in spans)
        corpus = "XSum" if "xsum" in str(row["dataset"]) else "CNN/DM"
        corpora[corpus].append(Row(segment=_segment(row, "inputs"), marked=marked))
    return {name: rows[:CLIFF_ROWS] for name, rows in corpora.items()}


def _segment(row: dict[str, object], inputs: str) -> Segment:
    texts = row[inputs]
    assert isinstance(texts, dict)
    return Segment(segment_id=str(row["id"]), output=str(row["output"]), inputs=texts)


def agreement(values: Sequence[float], rows: Sequence[Row]) -> float:
    """Return Spearman's rho with people."""
    return float(spearmanr(values, [row.human for row in rows]).statistic)


def characters(intervals: Iterable[Interval]) -> set[int]:
    """Return the offsets of all characters in the intervals."""
    return {offset for start, end in intervals for offset in range(start, end)}


def right(rows: Sequence[Row], marked: Sequence[Iterable[Interval]]) -> str:
    """Compare error intervals with those that people marked."""
    hits = claimed = due = flagged = clean = 0
    for row, intervals in zip(rows, marked, strict=True):
        ours, theirs = characters(intervals), characters(row.marked)
        hits, claimed, due = hits + len(ours & theirs), claimed + len(ours), due + len(theirs)
        clean, flagged = clean + (not theirs), flagged + bool(ours and not theirs)
    precision, recall = hits / max(1, claimed), hits / max(1, due)
    f1 = 2 * hits / max(1, claimed + due)
    return f"P {precision:.2f} R {recall:.2f} F1 {f1:.3f}; error-free flagged {flagged} of {clean}"


def new_words(row: Row) -> list[Interval]:
    """Return the words of four or more letters that the source lacks."""
    seen = {word.folded for text in row.segment.inputs.values() for word in words(text)}
    return [
        (word.start, word.end)
        for word in words(row.segment.output)
        if len(word.text) > 3 and word.folded not in seen  # noqa: PLR2004
    ]


def placed(report: Report) -> list[Interval]:
    """Return the intervals of a report's located spans."""
    return [span.interval for span in report.spans if span.interval is not None]


async def reports(judge: Panel, rows: Sequence[Row]) -> list[Report]:
    """Return the judge's report on each row."""
    return [await judge.assess(row.segment, CONSISTENCY) for row in rows]


def scores(judged: Sequence[Report]) -> list[float]:
    """Return the scores; a report without one counts as the middle of the scale."""
    return [3.0 if report.score is None else report.score for report in judged]


async def print_agreement(model: str, most: int) -> None:
    """Print the agreement with people on QAGS."""
    async with (
        open_panel(judges=["likelihood"], models=[model]) as judge,
        open_panel() as panel,
    ):
        for corpus, rows in qags(most).items():
            began = time.perf_counter()
            ours = scores(await reports(judge, rows))
            seconds = (time.perf_counter() - began) / len(rows)
            theirs = scores(await reports(panel, rows))
            both = np.asarray(rankdata(ours)) + np.asarray(rankdata(theirs))
            rhos = [agreement(values, rows) for values in (ours, theirs, both.tolist())]
            print(
                f"QAGS {corpus}, {len(rows)}: likelihood {rhos[0]:.3f}, panel {rhos[1]:.3f},"
                f" mean of ranks {rhos[2]:.3f}; {seconds:.2f} s a pair",
                flush=True,
            )


async def print_spans(model: str) -> None:
    """Print how well the spans match those that people marked on CLIFF."""
    async with open_panel(judges=["likelihood:spans=true"], models=[model]) as judge:
        for corpus, rows in cliff().items():
            marked = [placed(report) for report in await reports(judge, rows)]
            new = [new_words(row) for row in rows]
            print(f"CLIFF {corpus}, likelihood: {right(rows, marked)}", flush=True)
            print(f"CLIFF {corpus}, new words: {right(rows, new)}", flush=True)


async def main(model: str, most: int) -> None:
    """Print both tables."""
    await print_agreement(model, most)
    await print_spans(model)


if __name__ == "__main__":
    given = dict(enumerate(sys.argv[1:]))
    anyio.run(main, given.get(0, "local/embedded"), int(given.get(1, "100")))
