"""Scorers from files: the metrics of a file of scores, the panel and its seats of a run."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from spanjury.judges.core import DataError
from spanjury.orchestration.services.metric_scores import (
    are_metric_scores,
    read_metric_scores,
)
from spanjury.orchestration.studies.agreement.ratings import Scorer
from spanjury.orchestration.wiring.results import read_result_scores

__all__ = ["PANEL", "names_apart", "read_scorers", "results_file"]

PANEL = "panel"
"""What a panel of several seats is called."""


def read_scorers(paths: Iterable[Path]) -> list[Scorer]:
    """Read everybody who scored anything in some files.

    Parameters
    ----------
    paths
        Results of runs, the folders of runs, or scores of metrics.

    Returns
    -------
    list of Scorer
        Of a run the panel and each seat, aspect by aspect; a single seat is the panel.
        Names are told apart as `names_apart` does.

    Raises
    ------
    DataError
        If a file cannot be read, or there is no score in any.
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
                falls=described.better == "lower",
                signature=described.signature,
            )


@dataclass(slots=True)
class _Heard:
    signature: str
    run: str
    scores: dict[str, float] = field(default_factory=dict)


def _judges(path: Path, *, run: str) -> Iterator[Scorer]:
    heard: dict[tuple[str, str], _Heard] = {}
    for row in read_result_scores(path):
        told = row.seats if len(row.seats) == 1 else {PANEL: row.score, **row.seats}
        for name, score in told.items():
            sat = run if name in row.seats and len(row.seats) > 1 else ""
            one = heard.setdefault((name, row.aspect), _Heard(row.signature, sat))
            if score is not None:
                one.scores[row.segment_id] = score
    for (name, aspect), one in heard.items():
        yield Scorer(
            name=name, scores=one.scores, aspect=aspect, signature=one.signature, run=one.run
        )
