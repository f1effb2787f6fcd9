"""Comparisons of two runs, or of two systems of one run, by their scores on the same texts."""

import math
from array import array
from collections import defaultdict
from collections.abc import Mapping
from threading import Lock

from spanjury.judges.core import ConfigError
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.services.viewing.reading import NOTHING, Names, Pairing

with lazily():
    from spanjury.orchestration.studies.comparison import runs as studies

_Scores = Mapping[int, Mapping[str, float]]
"""Aspect -> key of the pairing -> score."""


class Comparisons:
    """Comparisons of the scores of a view, each computed once.

    All rows of the `pairing` must have been read; `sources` are the numbers of their inputs.
    """

    def __init__(self, pairing: Pairing, *, names: Names, sources: "array[int]") -> None:
        self._pairing = pairing
        self._names = names
        self._sources = sources
        self._computed: dict[tuple[str, str], dict[str, object]] = {}
        self._lock = Lock()

    def of(self, first: str, second: str) -> dict[str, object]:
        """Compare two runs (``run:0`` and ``run:1``) or systems (``system:A`` and ``system:B``).

        Raise `ConfigError` if there is no such run or system, or one is a run and one a system.
        """
        kinds = {name.partition(":")[0] for name in (first, second)}
        if len(kinds) > 1 or not kinds <= {"run", "system"}:
            raise ConfigError(
                f"got {first!r} and {second!r}, expected run:0 and run:1, or system:A and system:B"
            )
        with self._lock:
            if (first, second) not in self._computed:
                self._computed[first, second] = self._compared(first, second)
            return self._computed[first, second]

    def _compared(self, first: str, second: str) -> dict[str, object]:
        left, right = self._scores(first), self._scores(second)
        sources = self._sources_of(first)
        compared = {
            aspect: studies.mean_difference(scores, right[aspect], sources=sources)
            for aspect, scores in left.items()
            if aspect in right
        }
        rows = [
            {
                "aspect": self._names.aspects.values[aspect][1],
                "task": self._names.aspects.values[aspect][0],
                "texts": difference.texts,
                **{
                    name: _finite(getattr(difference, name))
                    for name in ("first", "second", "difference", "low", "high")
                },
            }
            for aspect, difference in compared.items()
        ]
        return {
            "first": first,
            "second": second,
            "rows": rows,
            "note": self._note(first, is_any=any(row["texts"] for row in rows)),
        }

    def _note(self, first: str, *, is_any: bool) -> str:
        is_of_runs = first.startswith("run:")
        if not is_any and not is_of_runs:
            return (
                "the two systems have no known inputs in common: systems are paired by equal "
                "inputs, so their texts must be available"
            )
        if not is_any:
            return "the two runs have no text with scores of both"
        over = "texts with scores of both" if is_of_runs else "inputs for which both have scores"
        return f"second minus first over the {over}; 95 % interval of a bootstrap over inputs"

    def _sources_of(self, first: str) -> Mapping[str, int]:
        """Return the input of each row; empty for systems, whose scores are by input already."""
        if not first.startswith("run:"):
            return {}
        return {
            str(index): source for index, source in enumerate(self._sources) if source != NOTHING
        }

    def _scores(self, named: str) -> _Scores:
        kind, _, name = named.partition(":")
        if kind == "run":
            if not name.isdecimal() or int(name) >= len(self._pairing.runs):
                raise ConfigError(f"there is no {named}: the runs are numbered from run:0")
            return self._of_run(int(name))
        if name not in self._names.systems.values:
            systems = ", ".join(self._names.systems.values)
            raise ConfigError(f"there is no system {name!r}; known: {systems}")
        return self._of_system(self._names.systems.of(name))

    def _of_run(self, number: int) -> _Scores:
        """Return the scores of a run, keyed by the number of the row in the view."""
        run, rows = self._pairing.runs[number], self._pairing.rows[number]
        scores: defaultdict[int, dict[str, float]] = defaultdict(dict)
        for index, row in enumerate(rows):
            if row != NOTHING and (score := run.columns.score(row)) is not None:
                scores[run.columns.aspects[row]][str(index)] = score
        return scores

    def _of_system(self, system: int) -> _Scores:
        """Return the scores of a system in the first run, averaged by input."""
        run, rows = self._pairing.runs[0], self._pairing.rows[0]
        scores: defaultdict[int, defaultdict[str, list[float]]] = defaultdict(
            lambda: defaultdict(list)
        )
        for index, row in enumerate(rows):
            source = self._sources[index]
            if NOTHING in {row, source} or run.columns.systems[row] != system:
                continue
            if (score := run.columns.score(row)) is not None:
                scores[run.columns.aspects[row]][str(source)].append(score)
        return {
            aspect: {source: math.fsum(some) / len(some) for source, some in by_source.items()}
            for aspect, by_source in scores.items()
        }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
