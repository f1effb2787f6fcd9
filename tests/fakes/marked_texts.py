"""Ten texts whose errors are marked, and what one judge says of them, small enough to add up."""

import json
from collections.abc import Mapping
from pathlib import Path

from spanjury.judges.core import Decision, Outcome
from spanjury.judges.tasks import Catalogue
from spanjury.orchestration.services.judging.panels import read_segments
from spanjury.orchestration.studies.span_bench.gold import (
    Answer,
    BenchText,
    Failure,
    FoundSpan,
    bench_text,
)

ENTITY = {"start": 0, "end": 2, "text": "aa", "kind": "EntE", "extent": "extrinsic"}
ROWS: tuple[dict[str, object], ...] = (
    {"id": "one", "group": 1, "output": "aa bb cc", "spans": [ENTITY], "human": {"consistency": 1}},
    {"id": "clean", "group": 1, "output": "aa bb", "supported": True, "human": {"consistency": 5}},
    {"id": "alarm", "group": 2, "output": "aa bb", "spans": [], "human": {"consistency": 4}},
    {
        "id": "overlap",
        "group": 2,
        "output": "aa bb cc dd",
        "human": {"factual consistency": 2},
        "spans": [
            {"start": 0, "end": 5, "kind": "PredE", "extent": "intrinsic"},
            {"start": 3, "end": 8, "category": "EntE", "extent": "extrinsic"},
        ],
    },
    {"id": "failed", "group": 3, "output": "aa bb", "spans": [ENTITY], "human": {"consistency": 1}},
    {"id": "unknown", "group": 3, "output": "aa bb", "supported": None, "spans": []},
    {"id": "unmarked", "group": 4, "output": "aa bb", "supported": False},
    {"id": "omission", "group": 4, "output": "aa bb", "spans": [{"category": "Omission"}]},
    {"id": "wordless", "group": 5, "output": "...", "supported": True, "spans": []},
    {"id": "missed", "group": 5, "output": "aa bb", "spans": [ENTITY]},
)
"""Rows of a file, without their input, which is ``aa``."""


def spot(start: int, end: int, category: str = "") -> FoundSpan:
    return FoundSpan(start=start, end=end, category=category)


ANSWERS: Mapping[str, Answer | Failure] = {
    "one": Answer(spans=(spot(0, 5, "name"),), suspicion=3, decision=Decision.FAULTY),
    "clean": Answer(probability=0.1),
    "alarm": Answer(
        spans=(spot(3, 5, "number"),), suspicion=2, probability=0.4, decision=Decision.UNSURE
    ),
    "overlap": Answer(
        spans=(spot(3, 8, "name"), spot(6, 11, "number")),
        suspicion=4,
        probability=0.3,
        decision=Decision.FAULTY,
    ),
    "failed": Failure(outcome=Outcome.UNPARSEABLE, reason="no score"),
    "unmarked": Answer(spans=(spot(0, 2),), suspicion=3, decision=Decision.FAULTY),
    "omission": Answer(unlocated=1, suspicion=1, probability=0.9, decision=Decision.UNSURE),
    "wordless": Answer(spans=(spot(0, 3),), suspicion=1, decision=Decision.FAULTY),
    "missed": Answer(),
}
"""Id of a row -> what the judge says of it."""


def write_rows(path: Path) -> Path:
    """Write the rows, with their input."""
    lines = (json.dumps({"inputs": {"Source": "aa"}, **row}) for row in ROWS)
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def marked_texts(path: Path) -> tuple[BenchText, ...]:
    """Return the texts of a file, as the bench takes them."""
    catalogue = Catalogue.load()
    aspect = catalogue.aspect("summarization", "consistency")
    return tuple(bench_text(row, aspect, catalogue=catalogue) for row in read_segments(path))
