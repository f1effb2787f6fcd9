"""The summary of a training set: the tables 2 and 12 of OpeNLGauge, for the data that was built.

Source: Kartáč et al. (2025), section 5.1 and Appendix D.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import starmap

from spanjury.judges.core import PanelReport
from spanjury.judges.llm.distilled_form import written_number
from spanjury.orchestration.engine.aggregation import far_from_all
from spanjury.orchestration.report import (
    Bullets,
    Entry,
    Paragraph,
    Report,
    Table,
    left,
    numeric,
    right,
    table,
    table_of,
)
from spanjury.orchestration.studies.distillation.training_set import SPLITS, Example


@dataclass(slots=True)
class TaskCounts:
    """Counts for one task: a row of Table 2, and what lies behind it."""

    datasets: set[str] = field(default_factory=set)
    inputs: set[str] = field(default_factory=set)
    systems: set[tuple[str, str]] = field(default_factory=set)
    outputs: set[tuple[str, str]] = field(default_factory=set)
    aspects: Counter[str] = field(default_factory=Counter)
    splits: Counter[str] = field(default_factory=Counter)
    error_free: int = 0
    spans: int = 0

    @property
    def examples(self) -> int:
        """Return the number of examples."""
        return self.splits.total()

    def add(self, example: Example) -> None:
        """Count one example in."""
        self.datasets.add(example.dataset)
        self.inputs.add(example.input_id)
        if example.system:
            self.systems.add((example.dataset, example.system))
        self.outputs.add((example.input_id, example.output))
        self.aspects[example.aspect] += 1
        self.splits[example.split] += 1
        self.error_free += not example.report.spans
        self.spans += len(example.report.spans)

    def plain(self) -> Mapping[str, object]:
        """Return the counts as JSON can write them."""
        return {
            "datasets": sorted(self.datasets),
            "systems": len(self.systems),
            "inputs": len(self.inputs),
            "outputs": len(self.outputs),
            "aspects": dict(sorted(self.aspects.items())),
            "examples": self.examples,
            **{split: self.splits[split] for split in SPLITS},
            "error_free": self.error_free,
            "spans": self.spans,
        }


@dataclass(slots=True)
class SeatScores:
    """The scores of a seat in one task, and the outliers among them: a cell of Table 12."""

    scores: int = 0
    far: int = 0

    @property
    def share(self) -> float:
        """Share of the outliers, 0 to 1."""
        return self.far / self.scores


@dataclass(slots=True)
class Inventory:
    """Counts of the examples that were made, and of the results that make none."""

    tasks: defaultdict[str, TaskCounts] = field(default_factory=lambda: defaultdict(TaskCounts))
    numbers: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    seats: defaultdict[tuple[str, str], SeatScores] = field(
        default_factory=lambda: defaultdict(SeatScores)
    )
    """(seat, task) -> its scores."""

    @property
    def examples(self) -> int:
        """Return the number of examples in all."""
        return sum(counts.examples for counts in self.tasks.values())

    def add(self, example: Example) -> None:
        """Count one example in."""
        self.tasks[example.task].add(example)
        self.numbers[written_number(example.target)] += 1

    def add_scores(self, task: str, report: PanelReport) -> None:
        """Count the scores of a panel's seats in."""
        scored = [(s.seat, s.report.score) for s in report.seats if s.report.score is not None]
        far = far_from_all([score for _, score in scored])
        for (seat, _), is_far in zip(scored, far, strict=True):
            self.seats[seat, task].scores += 1
            self.seats[seat, task].far += is_far

    def cautions(self) -> Iterator[str]:
        """Say what a model will not learn from this."""
        counts = self.tasks.values()
        free, total = sum(task.error_free for task in counts), self.examples
        if free in {0, total}:
            yield f"one class only: {'every' if free else 'no'} example is error-free"
        elif len(self.numbers) == 1:
            yield f"every example has the score {next(iter(self.numbers))}"
        for split in SPLITS:
            if not any(task.splits[split] for task in counts):
                yield f"there is no example for {split}"

    def plain(self) -> Mapping[str, object]:
        """Return all of it as JSON can write it."""
        return {
            "tasks": {name: counts.plain() for name, counts in sorted(self.tasks.items())},
            "scores": {number: self.numbers[number] for number in sorted(self.numbers, key=int)},
            "outliers": [
                {"seat": seat, "task": task, "scores": stats.scores, "outliers": stats.far}
                for (seat, task), stats in sorted(self.seats.items())
            ],
            "left_out": dict(self.skipped.most_common()),
            "cautions": list(self.cautions()),
        }


def training_set_report(inventory: Inventory) -> Report:
    """Return the tables 2 and 12 of OpeNLGauge, and cautions."""
    tasks = sorted(inventory.tasks.items())
    return Report(
        title="Training set",
        sections=[
            table_of(starmap(_sizes, tasks), title="Training set"),
            table_of(starmap(_splits, tasks), title="Where it goes"),
            _outliers(inventory),
            *(
                Paragraph(f"skipped: {count} x {reason}", tone="faint")
                for reason, count in inventory.skipped.most_common()
            ),
            Bullets(list(inventory.cautions()), tone="caution"),
        ],
    )


def _sizes(task: str, counts: TaskCounts) -> Iterator[Entry]:
    yield left("task", task)
    yield right("data sets", len(counts.datasets), ",")
    yield right("systems", len(counts.systems), ",")
    yield right("outputs", len(counts.outputs), ",")
    yield right("aspects", len(counts.aspects), ",")
    yield right("examples", counts.examples, ",")


def _splits(task: str, counts: TaskCounts) -> Iterator[Entry]:
    yield left("task", task)
    yield right("inputs", len(counts.inputs), ",")
    for split in SPLITS:
        yield right(split, counts.splits[split], ",")
    yield right("error-free", counts.error_free / counts.examples, ".0%")


def _outliers(inventory: Inventory) -> Table:
    shares = {key: f"{scores.share:.2%}" for key, scores in inventory.seats.items()}
    tasks = sorted({task for _, task in shares})
    return table(
        ["seat", *numeric(*tasks)],
        (
            (seat, *(shares.get((seat, task)) for task in tasks))
            for seat in sorted({seat for seat, _ in shares})
        ),
        title="Scores that were outliers, by seat",
    )
