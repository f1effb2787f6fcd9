"""Recorded replies of four models on QAGS as results of a panel, together with the default seats.

    python -m benchmarks.recorded_judges [--data ../shared/data] [--run RUN] -o FOLDER

Writes ``texts.jsonl``, the 474 summaries with human scores in this project's format, and
``results.jsonl`` with the seats gemma, nemotron, qwen and mistral in addition to those of the
default panel. Reader and rules judge the texts, which takes some minutes, unless RUN is a run or
results of the default panel on the same rows. The models' replies are parsed by the annotator's
parser; two of them have no label in the data. The data have no token counts, so tokens are
estimated as a fourth of the characters; the time of a reply is 0.
"""

import argparse
import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import anyio

from spanjury.adapters.files.results.results import ResultWriter
from spanjury.judges.core import (
    Aspect,
    ErrorSpan,
    Evidence,
    Located,
    Outcome,
    ParseError,
    Report,
    Result,
    Segment,
    Usage,
)
from spanjury.judges.llm.parse import parse
from spanjury.judges.text import Locator
from spanjury.orchestration.engine.aggregation import mean
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.engine.rule_consolidator import RuleConsolidator
from spanjury.orchestration.engine.seats import Seat
from spanjury.orchestration.services.judging.panels import find_aspect, open_panel

__all__ = ["CORPORA", "DATA", "MODELS", "SEATS", "read_rows", "write_recorded"]

DATA = Path("../shared/data")
FILE = "judgements/qags_four_judges.jsonl.gz"
MODELS: Mapping[str, str] = {
    "gemma": "gemma-2-27b",
    "nemotron": "nemotron-70b",
    "qwen": "qwen-2.5-72b",
    "mistral": "mistral-large-2",
}
SEATS = tuple(MODELS)
CORPORA = {"cnndm": "CNN/DM", "xsum": "XSum"}
ASPECT = "consistency"
CHARACTERS_A_TOKEN = 4

Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """A judge that returns the recorded report for each text."""

    name: str
    model: str = ""
    reports: Mapping[str, Report] = field(repr=False)

    @property
    def signature(self) -> str:
        """The name and the model, because the records do not change."""
        return f"recorded|{self.name}" + (f"|model:{self.model}" if self.model else "")

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        """Return the report on `segment`."""
        del aspect
        return self.reports[segment.segment_id]


def read_rows(data: Path = DATA) -> list[Row]:
    """Read the recorded rows, 474 in all: 235 of CNN/DM, then 239 of XSum."""
    with gzip.open(data / FILE, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def text_row(row: Row) -> Row:
    """Return a text with its human score in this project's format."""
    return {
        "id": row["id"],
        "task": "summarization",
        "inputs": row["input"],
        "output": row["output"],
        "human": {ASPECT: {"": row["human"]}},
        "meta": {"corpus": CORPORA[row["id"].split("-")[0]]},
    }


def write_recorded(
    folder: Path, *, data: Path = DATA, run: Path | None = None, offline: bool = True
) -> None:
    """Write ``texts.jsonl`` and ``results.jsonl`` into `folder`, which is created.

    Parameters
    ----------
    run
        Results of the default panel on the same rows, or a run's folder; None to judge them.
    offline
        Whether to include the default panel's seats.
    """
    folder.mkdir(parents=True, exist_ok=True)
    rows = read_rows(data)
    lines = (json.dumps(text_row(row), ensure_ascii=False) + "\n" for row in rows)
    (folder / "texts.jsonl").write_text("".join(lines), encoding="utf-8")
    judge = partial(_judge, rows, folder / "results.jsonl", run=run, offline=offline)
    anyio.run(judge)


async def _judge(rows: Sequence[Row], results: Path, *, run: Path | None, offline: bool) -> None:
    aspect = find_aspect(ASPECT)
    async with AsyncExitStack() as opened:
        seats: Sequence[Seat] = ()
        if offline and run is not None:
            seats = tuple(_replayed(run))
        elif offline:
            seats = (await opened.enter_async_context(open_panel())).seats
        panel = Panel(
            seats=(*seats, *_models(rows, aspect)),
            aggregation=mean,
            aggregation_name="mean",
            consolidator=RuleConsolidator(),
        )
        with ResultWriter(results) as written:
            for row in rows:
                segment = Segment(
                    segment_id=row["id"],
                    output=row["output"],
                    inputs=row["input"],
                    task="summarization",
                )
                report = await panel.assess(segment, aspect)
                written.append(Result(segment=segment, aspect=aspect, report=report))


def _models(rows: Sequence[Row], aspect: Aspect) -> Iterator[Seat]:
    for seat, model in MODELS.items():
        reports = {row["id"]: _read(row, row["raw"][model], aspect) for row in rows}
        yield Seat(name=seat, judge=Recorded(name=seat, model=model, reports=reports))


def _read(row: Row, reply: str, aspect: Aspect) -> Report:
    """Parse a reply, and locate its quotes."""
    asked = len(row["output"]) + sum(map(len, row["input"].values()))
    usage = Usage(
        calls=1,
        prompt=round(asked / CHARACTERS_A_TOKEN),
        completion=round(len(reply) / CHARACTERS_A_TOKEN),
    )
    try:
        parsed = parse(reply, scale=aspect.scale)
    except ParseError as error:
        return Report(outcome=error.outcome, reason=str(error), reply=reply, usage=usage)
    locator = Locator(row["output"])
    spans = tuple(
        locator.span(quote=error.quote, explanation=error.explanation, severity=error.severity)
        for error in parsed.errors
    )
    return Report(score=parsed.score, spans=spans, usage=usage)


def _replayed(run: Path) -> Iterator[Seat]:
    """Yield the seats of a run of the default panel, with their recorded reports."""
    path = run / "results.jsonl" if run.is_dir() else run
    reports: dict[str, dict[str, Report]] = {}
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            for seat in row["seats"]:
                reports.setdefault(seat["judge"], {})[row["id"]] = _report(seat)
    for name, report in reports.items():
        yield Seat(name=name, judge=Recorded(name=name, reports=report))


def _report(seat: Row) -> Report:
    return Report(
        outcome=Outcome(seat["outcome"]),
        score=seat["score"],
        spans=tuple(map(_span, seat["spans"])),
        rationale=seat["rationale"],
        reason=seat["reason"],
        usage=Usage(**seat["usage"]),
        error_probability=seat["error_probability"],
    )


def _span(span: Row) -> ErrorSpan:
    evidence = tuple(Evidence(**piece) for piece in span["evidence"])
    return ErrorSpan(**{**span, "located": Located(span["located"]), "evidence": evidence})


def main() -> None:
    """Write the texts and the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--run", type=Path, help="results of the default panel, to take them from")
    parser.add_argument("-o", "--output", type=Path, required=True)
    asked = parser.parse_args()
    write_recorded(asked.output, data=asked.data, run=asked.run)
    print(f"written: {asked.output / 'texts.jsonl'}, {asked.output / 'results.jsonl'}")


if __name__ == "__main__":
    main()
