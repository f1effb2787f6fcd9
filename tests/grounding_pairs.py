"""Hand-made pairs of a faithful and a faulty text, and a panel's marks on them.

    python tests/grounding_pairs.py [dev|test|all] [JUDGE ...]

prints a table by kind: of the default panel, or of the judges that are named. `dev` may be used
for tuning; `test` is for measuring only. Both texts of a pair have one source and one split.
"""

import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import anyio
from pydantic import TypeAdapter

from spanjury import open_panel
from spanjury.judges.core import Aspect, Judge, Report, Segment
from spanjury.judges.tasks import Catalogue

FILE = Path(__file__).parent / "data" / "grounding_pairs.jsonl"
BEST = 5.0

Interval = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldSpan:
    """Place of an error, ``output[start:end]``."""

    start: int
    end: int
    text: str
    kind: Literal["contradicted", "not in the source"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A text with its source, faithful or with errors marked by hand."""

    id: str
    task: str
    kind: str
    split: Literal["dev", "test"]
    inputs: dict[str, str]
    output: str
    supported: bool
    spans: tuple[GoldSpan, ...]
    why: str

    @property
    def pair(self) -> str:
        """Name of its pair."""
        return self.id.rpartition("/")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """Marks of a panel on a row: how suspicious the text is, and where."""

    row: Row
    suspicion: float
    spans: tuple[Interval, ...]
    unlocated: int = 0

    @property
    def flagged(self) -> bool:
        """True if any error is reported."""
        return bool(self.spans or self.unlocated)

    def touches(self, gold: GoldSpan) -> bool:
        """Say whether an error is reported in the place of `gold`."""
        return any(start < gold.end and gold.start < end for start, end in self.spans)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measures:
    """Figures of a panel on some of the rows; NaN where there is nothing to count.

    Parameters
    ----------
    rows
        Number of rows.
    auroc
        Probability that a faulty text looks worse than a faithful one, ties half.
    found
        Share of contradictions with a reported span that touches them.
    precision
        Share of all reported spans that touch an error of any kind.
    flagged
        Share of faithful texts with an error reported.
    """

    rows: int
    auroc: float
    caught: float
    precision: float
    flagged: float


def read_rows(path: Path = FILE) -> list[Row]:
    """Read the pairs and check their types."""
    rows = TypeAdapter(list[Row])
    return rows.validate_json(f"[{','.join(path.read_text(encoding='utf-8').splitlines())}]")


def marked_by_panel(rows: Sequence[Row], *, judges: Sequence[str | Judge] = ()) -> list[Marked]:
    """Let the default panel, or that of `judges`, assess what the source supports."""
    return anyio.run(_assessed, rows, judges)


async def _assessed(rows: Sequence[Row], judges: Sequence[str | Judge]) -> list[Marked]:
    catalogue = Catalogue.load()
    async with open_panel(judges=judges) as panel:
        return [
            _marked(row, await panel.assess(_segment(row), _aspect(row, catalogue))) for row in rows
        ]


def _segment(row: Row) -> Segment:
    return Segment(segment_id=row.id, output=row.output, inputs=row.inputs)


def _aspect(row: Row, catalogue: Catalogue) -> Aspect:
    name = "consistency" if row.task == "summarization" else "faithfulness"
    return catalogue.aspect(row.task, name)


def _marked(row: Row, report: Report) -> Marked:
    """Take an abstention for a text without a finding: no reader is warned of it."""
    intervals = [span.interval for span in report.spans]
    return Marked(
        row=row,
        suspicion=BEST - (BEST if report.score is None else report.score),
        spans=tuple(interval for interval in intervals if interval is not None),
        unlocated=intervals.count(None),
    )


def marked_by_new_words(rows: Sequence[Row]) -> list[Marked]:
    """Mark each word that the source has not: a baseline that takes no thought."""
    return [_new_words(row) for row in rows]


def _new_words(row: Row) -> Marked:
    words_of_source = set(re.findall(r"\w+", " ".join(row.inputs.values()).lower()))
    words = list(re.finditer(r"\w+", row.output))
    new = tuple(word.span() for word in words if word.group().lower() not in words_of_source)
    return Marked(row=row, suspicion=len(new) / len(words), spans=new)


def measures(marked: Sequence[Marked]) -> Measures:
    """Count what was found and what was flagged for nothing."""
    faulty = [text for text in marked if not text.row.supported]
    faithful = [text for text in marked if text.row.supported]
    golds = [(text, gold) for text in faulty for gold in text.row.spans]
    contradicted = [(text, gold) for text, gold in golds if gold.kind == "contradicted"]
    reported = [
        any(start < gold.end and gold.start < end for gold in text.row.spans)
        for text in marked
        for start, end in text.spans
    ]
    return Measures(
        rows=len(marked),
        auroc=_share([_order(bad, good) for bad in faulty for good in faithful]),
        caught=_share([text.touches(gold) for text, gold in contradicted]),
        precision=_share(reported),
        flagged=_share([text.flagged for text in faithful]),
    )


def _order(bad: Marked, good: Marked) -> float:
    return 0.5 * ((bad.suspicion > good.suspicion) + (bad.suspicion >= good.suspicion))


def _share(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else float("nan")


def by_kind(marked: Sequence[Marked]) -> dict[str, Measures]:
    """Measure each kind, in the order of the file, and `all` of them at the end."""
    kinds = dict.fromkeys(text.row.kind for text in marked)
    table = {kind: measures([text for text in marked if text.row.kind == kind]) for kind in kinds}
    return table | {"all": measures(marked)}


def table(marked: Sequence[Marked], *, title: str) -> str:
    """Return the figures by kind as lines of text."""
    head = f"{title:24}{'rows':>6}{'AUROC':>8}{'found':>8}{'precision':>11}{'flagged':>9}"
    lines = [
        f"{kind:24}{got.rows:6}{got.auroc:8.2f}{got.caught:8.0%}{got.precision:11.0%}"
        f"{got.flagged:9.0%}"
        for kind, got in by_kind(marked).items()
    ]
    return "\n".join([head, *lines, ""])


def main(arguments: Sequence[str]) -> None:
    """Print the table of the panel, and the last line of the baseline's."""
    split, *judges = arguments or ["all"]
    rows = [row for row in read_rows() if split in {row.split, "all"}]
    if not rows:
        sys.exit(f"{split!r} is none of dev, test and all")
    marks: dict[str, Callable[[], list[Marked]]] = {
        ", ".join(judges) or "default panel": lambda: marked_by_panel(rows, judges=judges),
        "new words": lambda: marked_by_new_words(rows),
    }
    for title, mark in marks.items():
        sys.stdout.write(table(mark(), title=f"{title} ({split})") + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
