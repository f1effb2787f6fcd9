"""Cascades of the four recorded judges on QAGS, with the reader first, over many fold assignments.

    python -m benchmarks.recorded_judges -o FOLDER
    python -m benchmarks.cascades FOLDER [--seeds 20] [--share 0.6]

Prints, for each first stage, which share of the four judges' calls, and of their agreement with
people, remains on held-out folds: the median, minimum and maximum over fold assignments.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from benchmarks.recorded_judges import SEATS

from spanjury.orchestration.services.people.marked_texts import MarkedSource
from spanjury.orchestration.services.people.panel_cascade import fit_panel_cascade
from spanjury.orchestration.studies.panel_study.cascades import Kept
from spanjury.orchestration.studies.panel_study.seats import Settings

FIRST = (("reader",), ("reader", "grounding"))
"""Seats without model calls, which judge first."""


def kept(folder: Path, first: tuple[str, ...], *, seed: int, share: float) -> tuple[Kept, ...]:
    """Return the shares kept by a cascade: the seats of `first`, then one judge per stage."""
    fitted = fit_panel_cascade(
        MarkedSource(results=(folder / "results.jsonl",), human=folder / "texts.jsonl"),
        stages=(first, *((seat,) for seat in SEATS)),
        share=share,
        within="corpus",
        settings=Settings(level="pooled", draws=0, seed=seed),
    )
    return fitted.findings.chosen.kept


def lines(folder: Path, *, seeds: int, share: float) -> Iterator[str]:
    """Yield the rows of the table."""
    yield "| first | texts | calls | of the four's agreement | of all seats' |"
    yield "|---|---|---:|---:|---:|"
    for first in FIRST:
        drawn = [kept(folder, first, seed=1 + number, share=share) for number in range(seeds)]
        for parts in zip(*drawn, strict=True):
            cells = (
                _spread([getattr(part, name) for part in parts])
                for name in ("cost", "of_paid", "of_whole")
            )
            yield f"| {' + '.join(first)} | {parts[0].part} | {' | '.join(cells)} |"


def _spread(values: list[float]) -> str:
    return f"{median(values):.1%} ({min(values):.1%} to {max(values):.1%})"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--share", type=float, default=0.6)
    asked = parser.parse_args()
    for line in lines(asked.folder, seeds=asked.seeds, share=asked.share):
        print(line, flush=True)


if __name__ == "__main__":
    main()
