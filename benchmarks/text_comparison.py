"""The offline panel's comparisons of two summaries, checked against people's scores on SummEval.

``python benchmarks/text_comparison.py DATA`` with the folder of `summeval_scores.jsonl.gz` and
`summeval_docs.jsonl.gz`. For every aspect and answer, it prints the number of pairs of summaries of
one article, the number of them in which both people's mean scores and the panel's differ, and in
how many of these the panel prefers the same summary as people.
"""

import argparse
import gzip
import json
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import anyio

from spanjury import Segment, find_aspect, open_panel
from spanjury.judges.core import Result
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.services.serving.agent_tools import compared

ASPECTS = ("consistency", "fluency")
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two summaries of one article: the panel's answer, and both differences."""

    aspect: str
    is_better: bool
    panel: float
    people: float


def rows(path: Path) -> list[dict[str, object]]:
    """Read a gzipped file of JSON Lines."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def grouped(folder: Path) -> list[list[dict[str, object]]]:
    """Return the summaries of each article, with the article as their source."""
    sources = {doc["id"]: doc["source"] for doc in rows(folder / "summeval_docs.jsonl.gz")}
    by_article: dict[object, list[dict[str, object]]] = {}
    for row in rows(folder / "summeval_scores.jsonl.gz"):
        by_article.setdefault(row["doc_id"], []).append({**row, "source": sources[row["doc_id"]]})
    return list(by_article.values())


async def judged(panel: Panel, row: dict[str, object], aspect: str) -> Result:
    """Judge the summary of a row with the panel."""
    source = row["source"]
    assert isinstance(source, dict)
    inputs = {"Article": str(source["article"])}
    segment = Segment(segment_id=str(row["id"]), output=str(row["output"]), inputs=inputs)
    definition = find_aspect("summarization", aspect)
    report = await panel.assess(segment, definition)
    return Result(segment=segment, aspect=definition, report=report)


async def compare_all(groups: Iterable[list[dict[str, object]]]) -> list[Pair]:
    """Compare all pairs of summaries in each group on every aspect."""
    pairs = []
    async with open_panel() as panel:
        for group in groups:
            for aspect in ASPECTS:
                results = [(row, await judged(panel, row, aspect)) for row in group]
                for (row, a), (other, b) in combinations(results, 2):
                    answer = compared(a, b)
                    people = score(row, aspect) - score(other, aspect)
                    assert answer.difference is not None
                    is_better = answer.better in {"a", "b"}
                    pairs.append(
                        Pair(
                            aspect=aspect,
                            is_better=is_better,
                            panel=answer.difference,
                            people=people,
                        )
                    )
    return pairs


def score(row: dict[str, object], aspect: str) -> float:
    """Return the mean human score."""
    scores = row["scores"]
    assert isinstance(scores, dict)
    return float(scores[aspect])


def main() -> None:
    """Print a line for each aspect and answer."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    pairs = anyio.run(compare_all, grouped(parser.parse_args().data))
    for aspect in ASPECTS:
        for answer, is_better in (("one is better", True), ("no difference", False)):
            named = [pair for pair in pairs if (pair.aspect, pair.is_better) == (aspect, is_better)]
            differ = [pair for pair in named if abs(pair.people) > _ROUNDING and pair.panel]
            agree = sum(pair.panel * pair.people > 0 for pair in differ)
            share = agree / len(differ) if differ else float("nan")
            print(
                f"{aspect}, {answer}: {len(named)} pairs; people's scores and the panel's differ in"
                f" {len(differ)}, the same way in {agree} ({share:.2f})"
            )


if __name__ == "__main__":
    main()
