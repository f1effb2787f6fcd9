"""A run with people's marks, made without judges: texts, results, and a file of marks."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from fakes.rows import summary

from spanjury.orchestration.services.people.marks.mark import Mark, MarkedSpan, mark_json
from spanjury.orchestration.services.people.marks.marked_run import MarkedRun
from spanjury.orchestration.wiring.marks import MarksStore

ASPECTS = ("consistency", "fluency")


def write_texts(folder: Path, outputs: Sequence[str], *, systems: Sequence[str] = ()) -> MarkedRun:
    """Write ``texts.jsonl`` and results of it on two aspects; return the run of them."""
    rows = [
        summary(
            f"text-{number}",
            output,
            article=f"The source of {number}.",
            system=systems[number] if systems else "bart",
        )
        for number, output in enumerate(outputs)
    ]
    names = ("id", "task", "system")
    results = [
        {**{name: row[name] for name in names}, "aspect": aspect, "signature": "s"}
        for row in rows
        for aspect in ASPECTS
    ]
    _write(folder / "texts.jsonl", rows)
    _write(folder / "results.jsonl", results)
    return MarkedRun(folder / "results.jsonl", data=folder / "texts.jsonl")


def put_marks(run: MarkedRun, marks: Mapping[tuple[str, int, str], Mark]) -> None:
    """Keep marks by annotator, number of the text, and aspect."""
    with MarksStore(run.marks) as store:
        for (who, number, aspect), mark in marks.items():
            key = run.texts[number].key(who, aspect)
            stored = store.get(key)
            store.put(key, mark_json(mark), based_on=stored.revision if stored else 0)


def span(output: str, start: int, end: int, *, severity: int = 3, category: str = "") -> MarkedSpan:
    """Return a person's own span."""
    return MarkedSpan(
        start=start, end=end, text=output[start:end], severity=severity, category=category
    )


def _write(path: Path, rows: Iterable[Mapping[str, object]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
