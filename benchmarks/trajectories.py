"""Error rates on written trajectories: those of the default panel, and of the judge `calls`.

    python benchmarks/trajectories.py [FILE…]

Judges each FILE; the default is the files on which the rules were developed. A row is flagged if
any aspect is *faulty*. It is marked if `calls` marks an error in the turn of the planted one, or
any error if none is planted. Prints both by kind of error. Then it prints the errors marked by
`calls` by category, as tables for ``judges/rules/precision.toml``: an error is right if it is in
the turn of a planted one, and is not counted in a later turn, as it may be a consequence. Last, it
prints the calibration of the probabilities on each file when they are fitted to the other files.
"""

import json
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
WRITTEN = Path(__file__).with_name("written")
DEVELOPMENT = (
    ROOT / "perturbations" / "demo" / "trajectories.jsonl",
    WRITTEN / "trajectories.jsonl",
    WRITTEN / "trajectories_more.jsonl",
    WRITTEN / "trajectories_dev.jsonl",
    WRITTEN / "trajectories_work.jsonl",
)
PRIOR = 2
"""Prior numbers of right and of wrong errors in each category, as in `judges/rules/calls.py`."""

Row = dict[str, Any]


class Finding(NamedTuple):
    """An error marked by `calls`: its category, and whether it is right."""

    category: str
    is_right: bool


def rows_of(path: Path) -> list[Row]:
    """Return the rows of a file."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def judged(path: Path) -> list[Row]:
    """Return the results of the default panel on a file."""
    with TemporaryDirectory() as folder:
        results = Path(folder) / "results.jsonl"
        command = [sys.executable, "-m", "spanjury", "evaluate", str(path), "--no-memory"]
        command += ["--no-progress", "--show", "none", "-o", str(results)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # noqa: S603
        return rows_of(results)


def flagged(results: Sequence[Row]) -> set[str]:
    """Return the ids of rows with any *faulty* aspect."""
    return {result["id"] for result in results if result["decision"] == "faulty"}


def marked(rows: Sequence[Row], results: Sequence[Row]) -> set[str]:
    """Return the ids of rows that `calls` marks rightly, or at all if none is planted in them."""
    return {
        row["id"]
        for row in rows
        if any(f.is_right or not row["errors"] for f in findings([row], results))
    }


def counts(rows: Sequence[Row], chosen: set[str]) -> str:
    """Return the number of rows that are among `chosen`, in total and by kind of error."""
    total: Counter[str] = Counter()
    caught: Counter[str] = Counter()
    for row in rows:
        total[row["label"]] += 1
        caught[row["label"]] += row["id"] in chosen
    kinds = [f"{kind} {caught[kind]}/{count}" for kind, count in total.items() if kind != "clean"]
    errors = sum(count for kind, count in caught.items() if kind != "clean")
    return (
        f"errors {errors}/{total.total() - total['clean']},"
        f" clean {caught['clean']}/{total['clean']}; {', '.join(kinds)}"
    )


def findings(rows: Sequence[Row], results: Sequence[Row]) -> Iterator[Finding]:
    """Yield the errors marked by `calls`, each category once per row and turn."""
    turns = {row["id"]: [error["turn"] for error in row["errors"]] for row in rows}
    errors = {
        (result["id"], span["category"], span["at"]["turn"])
        for result in results
        if result["id"] in turns
        for span in result["spans"]
        if "calls" in span["found_by"] and "at" in span
    }
    for row, category, turn in sorted(errors):
        planted = turns[row]
        if turn in planted or not planted or turn < min(planted):
            yield Finding(category, turn in planted)


def precision(listed: Sequence[Finding]) -> dict[str, tuple[int, int]]:
    """Return category -> number of right errors, and of all."""
    by_category: defaultdict[str, list[bool]] = defaultdict(list)
    for finding in listed:
        by_category[finding.category].append(finding.is_right)
    return {name: (sum(rights), len(rights)) for name, rights in sorted(by_category.items())}


def probability(right: int, count: int) -> float:
    """Return the probability that an error of such a category is right."""
    return (right + PRIOR) / (count + 2 * PRIOR)


def main(paths: Sequence[Path]) -> None:
    """Print the figures of the files."""
    by_file: dict[str, list[Finding]] = {}
    for path in paths:
        rows, results = rows_of(path), judged(path)
        print(f"{path.name}, flagged: {counts(rows, flagged(results))}")
        print(f"{path.name}, marked: {counts(rows, marked(rows, results))}")
        by_file[str(path)] = [*findings(rows, results)]
    for category, (right, count) in precision([*chain(*by_file.values())]).items():
        share = round(right / count, 2)
        print(f'\n[[calls]]\ncategory = "{category}"\nprecision = {share}\nspans = {count}')
    for name, own in by_file.items():
        others = precision(
            [f for other, theirs in by_file.items() if other != name for f in theirs]
        )
        stated = [probability(*others.get(finding.category, (0, 0))) for finding in own]
        if own and len(by_file) > 1:
            share = fmean(finding.is_right for finding in own)
            print(f"\n{Path(name).name}: {share:.2f} are right, {fmean(stated):.2f} were expected")


if __name__ == "__main__":
    main([*map(Path, sys.argv[1:])] or DEVELOPMENT)
