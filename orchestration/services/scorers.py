"""Scorers from files: the metrics of a file of scores, the panel and its seats of a run."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from spanjury.judges.core import DataError
from spanjury.orchestration.services.metric_scores import (
    are_metric_scores,
    read_metric_scores,
)
from spanjury.orchestration.studies.agreement.ratings import Scorer
from spanjury.orchestration.wiring.read_results import read_result_scores

PANEL = "panel"
"""Name of a panel of several seats."""


def read_scorers(paths: Iterable[Path]) -> list[Scorer]:
    """Read the scorers in some files.

    Raise `DataError` if a file cannot be read, or there is no score in any.

    Returns
    -------
    list of Scorer
        Of a run the panel and each seat, aspect by aspect; a single seat is the panel.
        `names_apart` makes their names differ.
    """
    found = [(path, scorer) for path in paths for scorer in _read(path)]
    if not any(scorer.scores for _, scorer in found):
        raise DataError("there is no score in " + ", ".join(map(str, paths)))
    names = names_apart([(path, scorer.name, scorer.aspect) for path, scorer in found])
    return [replace(scorer, name=name) for name, (_, scorer) in zip(names, found, strict=True)]


def names_apart(found: Sequence[tuple[Path, str, str]]) -> list[str]:
    """Return names that say who is who: with their file's where two have one name on an aspect.

    Parameters
    ----------
    found
        File, name and aspect of each.
    """
    names = Counter((name, aspect) for _, name, aspect in found)
    stems = Counter(path.stem for path in {path for path, _, _ in found})
    return [
        name
        if names[name, aspect] == 1
        else f"{name} ({path.stem if stems[path.stem] == 1 else path})"
        for path, name, aspect in found
    ]


def results_file(path: Path) -> Path:
    """Return the file of results that a path names, itself or as a run's folder."""
    return path / "results.jsonl" if path.is_dir() else path


def _read(path: Path) -> Iterator[Scorer]:
    file = results_file(path)
    return _metrics(file) if are_metric_scores(file) else _judges(file, run=str(path))


def _metrics(path: Path) -> Iterator[Scorer]:
    head, rows = read_metric_scores(path)
    for name, described in head.metrics.items():
        scores = {row.id: row.scores.get(name) for row in rows}
        known = {segment: score for segment, score in scores.items() if score is not None}
        if known:
            yield Scorer(
                name=name,
                scores=known,
                lower_is_better=described.better == "lower",
                signature=described.signature,
            )


def _judges(path: Path, *, run: str) -> Iterator[Scorer]:
    scorers: dict[tuple[str, str], Scorer] = {}
    scores: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for row in read_result_scores(path):
        is_panel = len(row.seats) != 1
        by_name = {PANEL: row.score, **row.seats} if is_panel else row.seats
        for name, score in by_name.items():
            key = name, row.aspect
            if key not in scorers:
                scorers[key] = Scorer(
                    name=name,
                    scores=scores[key],
                    aspect=row.aspect,
                    signature=row.signature,
                    run=run if is_panel and name in row.seats else "",
                )
            if score is not None:
                scores[key][row.segment_id] = score
    yield from scorers.values()
