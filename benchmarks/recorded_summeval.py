"""Recorded labels of three models on SummEval as results of a panel, together with a rule judge.

    python -m benchmarks.recorded_summeval [--data ../shared/data] -o FOLDER

Writes ``texts.jsonl``, 1,600 summaries of 100 articles by 16 systems with experts' scores in this
project's format, and ``results.jsonl``: the seats gemma, nemotron and qwen, whose labels were
recorded, and `grounding`, which judges within a minute. The cost of the labels is unknown, so each
counts as one call without tokens.
"""

import argparse
import gzip
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import anyio
from benchmarks.recorded_judges import DATA, MODELS, Row

from spanjury.adapters.files.results.results import ResultWriter
from spanjury.judges.core import Aspect, Outcome, Report, Result, Segment, Usage
from spanjury.judges.rules.grounding import GroundingJudge
from spanjury.orchestration.engine.aggregation import mean
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.engine.rule_consolidator import RuleConsolidator
from spanjury.orchestration.engine.seats import Seat
from spanjury.orchestration.services.judging.panels import find_aspect

__all__ = ["ASPECTS", "write_recorded"]

LABELS, SCORES, DOCUMENTS = (
    "judgements/label_pairs.jsonl.gz",
    "scores/summeval_scores.jsonl.gz",
    "scores/summeval_docs.jsonl.gz",
)
ASPECTS = {
    "consistency": "factual_consistency",
    "coherence": "coherence",
    "relevance": "relevance",
}
NAMES = {"gemma": "gemma", "nemotron": "nemo", "qwen": "qwen"}
UNREAD = Report(outcome=Outcome.UNPARSEABLE, reason="no label was read", usage=Usage(calls=1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """A judge that returns the recorded label for each text and aspect."""

    model: str
    labels: Mapping[tuple[str, str], int] = field(repr=False)

    @property
    def signature(self) -> str:
        """The model, because the labels do not change."""
        return f"recorded|model:{self.model}"

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        """Return the label of `segment` as a report without spans."""
        # The labels' ids lack the slash between document and system.
        label = self.labels.get((segment.segment_id.replace("/", ""), aspect.name))
        return Report(score=label, usage=Usage(calls=1)) if label else UNREAD


def write_recorded(folder: Path, *, data: Path = DATA) -> None:
    """Write ``texts.jsonl`` and ``results.jsonl`` into `folder`, which is created."""
    folder.mkdir(parents=True, exist_ok=True)
    articles = {row["id"]: row["source"] for row in _rows(data / DOCUMENTS)}
    texts = [_text(row, articles) for row in _rows(data / SCORES)]
    lines = (json.dumps(text, ensure_ascii=False) + "\n" for text in texts)
    (folder / "texts.jsonl").write_text("".join(lines), encoding="utf-8")
    anyio.run(_judge, texts, _labels(data), folder / "results.jsonl")


def _rows(path: Path) -> Iterator[Row]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _text(row: Row, articles: Mapping[str, Mapping[str, str]]) -> Row:
    return {
        "id": row["id"],
        "task": "summarization",
        "system": row["system"],
        "inputs": articles[row["doc_id"]],
        "output": row["output"],
        "human": {name: {"": row["scores"][name]} for name in ASPECTS},
        "meta": {"doc_id": row["doc_id"]},
    }


def _labels(data: Path) -> Mapping[str, Mapping[tuple[str, str], int]]:
    """Return model -> id and aspect -> label; if repeated labels differ, the first is used."""
    scores: defaultdict[str, dict[tuple[str, str], int]] = defaultdict(dict)
    ours = {theirs: name for name, theirs in ASPECTS.items()}
    for row in _rows(data / LABELS):
        if row.get("ds") == "summeval":
            base = row["b"] if isinstance(row["b"], int) else next(filter(None, row["b"]), 0)
            scores[row["m"]][row["id"], ours[row["asp"]]] = base
    return scores


async def _judge(
    texts: Sequence[Row], labels: Mapping[str, Mapping[tuple[str, str], int]], results: Path
) -> None:
    models = (
        Seat(name=name, judge=Labelled(model=MODELS[name], labels=labels[theirs]))
        for name, theirs in NAMES.items()
    )
    panel = Panel(
        seats=(Seat(name="grounding", judge=GroundingJudge()), *models),
        aggregation=mean,
        aggregation_name="mean",
        consolidator=RuleConsolidator(),
    )
    aspects = [find_aspect("summarization", name) for name in ASPECTS]
    with ResultWriter(results) as written:
        for text in texts:
            segment = Segment(
                segment_id=text["id"],
                output=text["output"],
                inputs=text["inputs"],
                system=text["system"],
                task="summarization",
            )
            for aspect in aspects:
                report = await panel.assess(segment, aspect)
                written.append(Result(segment=segment, aspect=aspect, report=report))


def main() -> None:
    """Write the texts and the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("-o", "--output", type=Path, required=True)
    asked = parser.parse_args()
    write_recorded(asked.output, data=asked.data)
    print(f"written: {asked.output / 'texts.jsonl'}, {asked.output / 'results.jsonl'}")


if __name__ == "__main__":
    main()
