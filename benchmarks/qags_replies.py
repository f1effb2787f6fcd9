"""Parse four real judges' replies on 474 summaries, and locate their quotes.

Run ``python benchmarks/qags_replies.py [FILE]``. The file is QAGS (235 summaries of CNN/DM
articles, then 239 of XSum) with the raw replies of four open-weight models, the labels that its
authors read from them, and people's ratings of factual consistency.
"""

import gzip
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean

from pydantic import TypeAdapter
from rich.console import Console
from rich.table import Table
from scipy.stats import spearmanr

from spanjury.judges.core import Located, Scale
from spanjury.judges.llm.parse import parse
from spanjury.judges.llm.parsed import ParsedReply
from spanjury.judges.text import Locator

FILE = Path(__file__).parents[2] / "shared/data/judgements/qags_four_judges.jsonl.gz"
CNN_DM = 235
SCALE = Scale()


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One summary with its ratings; a label that could not be read is missing."""

    output: str
    human: float
    scores: dict[str, int | None]
    raw: dict[str, str]


@dataclass(slots=True, kw_only=True)
class Counts:
    """Counts over one judge's parsed replies."""

    labels: int = 0
    same: int = 0
    more: Counter[int | None] = field(default_factory=Counter)
    locations: int = 0
    quotes: int = 0
    errors: Counter[Located] = field(default_factory=Counter)
    described: int = 0

    def take(self, row: Row, *, judge: str) -> ParsedReply:
        """Parse the judge's reply, count its parts, and return it."""
        reply = row.raw[judge]
        read = parse(reply, scale=SCALE)
        label = row.scores.get(judge)
        if label is None:
            self.more[read.score] += 1
        else:
            self.labels += 1
            self.same += read.score == label
        self.locations += sum(line.startswith("Location") for line in reply.splitlines())
        self.quotes += sum(bool(error.quote) for error in read.errors)
        self._locate(read, output=row.output)
        return read

    def _locate(self, read: ParsedReply, *, output: str) -> None:
        locator = Locator(output)
        for error in read.errors:
            passage = locator.find(error.quote)
            self.errors[passage.located if passage else Located.UNLOCATED] += 1
            self.described += passage is None and not (error.quoted and error.quote)


def tell(counts_by_judge: dict[str, Counts]) -> Table:
    """Return a table with one row per judge."""
    table = Table(title="Replies of four judges on QAGS")
    table.add_column("judge")
    heads = ("labels read right", "others read as", "quotes of locations", *Located, "no quote")
    for head in heads:
        table.add_column(head, justify="right")
    for judge, counts in counts_by_judge.items():
        more = ", ".join(f"{count} x {score}" for score, count in counts.more.items())
        shares = (f"{counts.errors[located] / counts.errors.total():.2%}" for located in Located)
        quotes = f"{counts.quotes}/{counts.locations}"
        right = f"{counts.same}/{counts.labels}"
        table.add_row(judge, right, more, quotes, *shares, str(counts.described))
    return table


def main(path: Path) -> None:
    """Print the counts, and the agreement of the mean of the four scores with people."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [TypeAdapter(Row).validate_json(line) for line in lines]
    counts_by_judge: dict[str, Counts] = {}
    means = []
    begun = time.process_time()
    for row in rows:
        reads = [
            counts_by_judge.setdefault(judge, Counts()).take(row, judge=judge) for judge in row.raw
        ]
        means.append(fmean(read.score for read in reads if read.score is not None))
    spent = time.process_time() - begun
    console = Console(width=140)
    console.print(tell(counts_by_judge))
    human = [row.human for row in rows]
    for name, part in {"CNN/DM": slice(CNN_DM), "XSum": slice(CNN_DM, None)}.items():
        agreement = float(spearmanr(means[part], human[part]).statistic)
        console.print(f"Spearman, mean of the four scores with people, {name}: {agreement:.3f}")
    console.print(f"{sum(len(row.raw) for row in rows) / spent:.0f} replies a CPU second")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FILE)
