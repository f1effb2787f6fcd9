"""Rankings from few marks, simulated on texts that people have scored completely.

    python -m benchmarks.marked_few RUN --human TEXTS [--data TEXTS] [--aspect NAME]
        [--marks 160] [--draws 100] [--seed 1]

TEXTS have people's scores of all texts of RUN, which judged them. Each draw hides all but a random
selection of marks, and ranks the systems. Prints how many 95 % intervals contain the means and the
differences of all people's scores, their width compared with those of people alone, and how many
pairs are correctly or wrongly shown to differ. Then it prints the same for the judges' scores
alone.
"""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean

import numpy as np

from spanjury.orchestration.services.exams.ranking import read_texts_to_rank
from spanjury.orchestration.services.people.marked_texts import MarkedSource
from spanjury.orchestration.studies.ranking.findings import AspectRanking, PairFinding, rank_systems
from spanjury.orchestration.studies.ranking.score_table import (
    RankedText,
    ScoreTable,
    judged_mean,
    score_table,
)


@dataclass(slots=True)
class Figures:
    """Values of named figures over draws, shown as their means."""

    values: dict[str, list[float]] = field(default_factory=dict)

    def add(self, name: str, value: float) -> None:
        """Add a value of a figure."""
        self.values.setdefault(name, []).append(value)

    def lines(self) -> Iterator[str]:
        """Yield a line per figure."""
        for name, values in self.values.items():
            yield f"  {name:<58}{fmean(values):8.3f}"


def main() -> None:
    """Print the figures of each aspect."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path)
    parser.add_argument("--human", type=Path, required=True)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--aspect", action="append", default=[])
    for name, usual in (("--marks", 160), ("--draws", 100), ("--seed", 1)):
        parser.add_argument(name, type=int, default=usual)
    given = parser.parse_args()
    read = read_texts_to_rank(
        MarkedSource(
            results=(given.run,),
            human=given.human,
            data=given.data,
            aspects=tuple(given.aspect),
        )
    )
    for aspect, texts in read.aspects.items():
        marked = [text for text in texts if text.people]
        if marked:
            print(f"{aspect}: {given.marks} marks of {len(marked)} texts, {given.draws} draws")
            figures = _figures(marked, marks=given.marks, draws=given.draws, seed=given.seed)
            print(*figures.lines(), sep="\n")


def _figures(texts: Sequence[RankedText], *, marks: int, draws: int, seed: int) -> Figures:
    truth = _truth(texts)
    rng = np.random.default_rng(seed)
    figures = Figures()
    for _ in range(draws):
        kept = set(rng.choice(len(texts), marks, replace=False).tolist())
        hidden = [
            text if number in kept else replace(text, people={})
            for number, text in enumerate(texts)
        ]
        table = score_table(hidden, aspect="")
        _add_textbook(figures, table, truth)
        _add(figures, rank_systems(table), truth)
    _add_judges(figures, rank_systems(score_table(_unmarked(texts), aspect="")), truth)
    return figures


def _truth(texts: Sequence[RankedText]) -> Mapping[str, float]:
    scores: dict[str, list[float]] = {}
    for text in texts:
        scores.setdefault(text.system, []).append(text.mark or 0.0)
    return {system: fmean(marks) for system, marks in scores.items()}


def _unmarked(texts: Sequence[RankedText]) -> list[RankedText]:
    return [replace(text, people={}) for text in texts]


def _add_textbook(figures: Figures, table: ScoreTable, truth: Mapping[str, float]) -> None:
    """Add the coverage of Student's interval for each system's own marks."""
    for system, marks in zip(table.systems, table.people, strict=True):
        mean = judged_mean(marks, table.inputs)
        if mean.inputs > 1:
            figures.add("systems: the textbook's hold", mean.low <= truth[system] <= mean.high)


def _add(figures: Figures, ranking: AspectRanking, truth: Mapping[str, float]) -> None:
    for system in ranking.systems:
        powered, right = system.powered, truth[system.system]
        if powered is None or not powered.error > 0:
            continue
        figures.add("systems: people alone hold", powered.plain_low <= right <= powered.plain_high)
        figures.add("systems: people and judges hold", powered.low <= right <= powered.high)
        figures.add("systems: width, people alone", powered.plain_high - powered.plain_low)
        figures.add("systems: width, people and judges", powered.high - powered.low)
        figures.add("systems: squared error, people alone", (powered.plain - right) ** 2)
        figures.add("systems: squared error, people and judges", (powered.value - right) ** 2)
        figures.add("systems: bias, people and judges", powered.value - right)
    for pair in ranking.pairs:
        if pair.powered is not None and pair.powered.error > 0:
            right = truth[pair.first] - truth[pair.second]
            powered = pair.powered
            figures.add("pairs: people and judges hold", powered.low <= right <= powered.high)
    figures.add("pairs shown to differ, rightly", _shown(ranking, truth, rightly=True))
    figures.add("pairs shown to differ, wrongly", _shown(ranking, truth, rightly=False))


def _add_judges(figures: Figures, ranking: AspectRanking, truth: Mapping[str, float]) -> None:
    for system in ranking.systems:
        held = system.judged.low <= truth[system.system] <= system.judged.high
        figures.add("judges alone: systems hold", held)
    for pair in ranking.pairs:
        right = truth[pair.first] - truth[pair.second]
        figures.add("judges alone: pairs hold", pair.judged.low <= right <= pair.judged.high)
    figures.add(
        "judges alone: pairs shown to differ, rightly", _shown(ranking, truth, rightly=True)
    )
    figures.add(
        "judges alone: pairs shown to differ, wrongly", _shown(ranking, truth, rightly=False)
    )


def _shown(ranking: AspectRanking, truth: Mapping[str, float], *, rightly: bool) -> int:
    return sum(
        pair.is_apart(ranking.basis) and _is_right(pair, ranking, truth) == rightly
        for pair in ranking.pairs
    )


def _is_right(pair: PairFinding, ranking: AspectRanking, truth: Mapping[str, float]) -> bool:
    return pair.value_on(ranking.basis) * (truth[pair.first] - truth[pair.second]) > 0


if __name__ == "__main__":
    main()
