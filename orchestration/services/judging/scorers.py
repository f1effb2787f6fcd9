"""Scorers from files: the metrics in a file of scores, or the panel and the seats of a run."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from spanjury.judges.core import DataError, Decision, unstamped
from spanjury.orchestration.services.judging.metrics import are_metric_scores, read_metric_scores
from spanjury.orchestration.studies.agreement.scorers import PANEL, Scorer
from spanjury.orchestration.studies.comparison.changes import Judged
from spanjury.orchestration.studies.sources import TextIds, judged_twice
from spanjury.orchestration.wiring.read_results import ResultScores, read_result_scores
from spanjury.orchestration.wiring.runs import runs_home


def read_scorers(
    paths: Sequence[Path],
    *,
    ids: TextIds,
    judges: Mapping[Path, Sequence[Scorer]] = MappingProxyType({}),
) -> list[Scorer]:
    """Read the scorers in some files.

    A run has the scorers of `JudgeScores`, aspect by aspect. The scorers in `judges` were read
    before, so their files are not read again.

    Raise `DataError` if a file cannot be read or holds two results for one text and aspect, or no
    file has a score.
    """
    scorers = [
        (path, scorer)
        for path in paths
        for scorer in (judges[path] if path in judges else _read(path, ids))
    ]
    if not any(scorer.scores for _, scorer in scorers):
        raise DataError("there is no score in " + ", ".join(map(str, paths)))
    names = names_apart([(path, scorer.name, scorer.aspect) for path, scorer in scorers])
    return [replace(scorer, name=name) for name, (_, scorer) in zip(names, scorers, strict=True)]


def names_apart(scorers: Sequence[tuple[Path, str, str]]) -> list[str]:
    """Return unambiguous names: the file is added if two scorers have one name on an aspect.

    Each scorer is given by its file, name and aspect.
    """
    names = Counter((name, aspect) for _, name, aspect in scorers)
    stems = Counter(path.stem for path in {path for path, _, _ in scorers})
    return [
        name
        if names[name, aspect] == 1
        else f"{name} ({path.stem if stems[path.stem] == 1 else path})"
        for path, name, aspect in scorers
    ]


def results_file(path: Path) -> Path:
    """Return the results file of `path`: the file itself, or that of a run's folder or name."""
    folders = () if path.is_file() else (path, runs_home() / path)
    return next((folder / "results.jsonl" for folder in folders if folder.is_dir()), path)


class JudgeScores:
    """The scores of a run, collected row by row."""

    def __init__(self, *, run: str, ids: TextIds) -> None:
        self._run = run
        self._ids = ids
        self._seen: set[tuple[str, str, str]] = set()
        self._signatures: dict[tuple[str, str], str] = {}
        self._scores: dict[tuple[str, str], dict[str, float]] = {}

    def add(self, row: ResultScores) -> str:
        """Add the scores of one row, and return the id of its text.

        Raise `DataError` if the text already has a result on the aspect.
        """
        text = self._ids.of(row.segment_id, row.system)
        if (result := (text, row.task, row.aspect)) in self._seen:
            raise judged_twice(self._run, text=text, aspect=row.aspect)
        self._seen.add(result)
        for name, score in ((PANEL, row.score), *row.seats.items()):
            key = name, row.aspect
            self._signatures.setdefault(key, row.signatures.get(name) or row.signature)
            scores = self._scores.setdefault(key, {})
            if score is not None:
                scores[text] = score
        return text

    def scorers(self) -> tuple[Scorer, ...]:
        """Return the panel and each seat, aspect by aspect.

        The only seat of a run stands for the panel if the panel's scores are its own. They are
        others if they were computed from spans or calibrated. The score of a rubric has no seat.
        """
        judges = {name for name, _ in self._scores if name != PANEL}
        is_alone = len(judges) == 1 and all(
            self._scores[PANEL, aspect] == scores for (_, aspect), scores in self._scores.items()
        )
        judge = judges.pop() if is_alone else None
        return tuple(
            Scorer(
                name=name,
                scores=scores,
                aspect=aspect,
                signature=self._signature(name, aspect, is_alone=is_alone),
                run="" if judge else self._run,
                is_own=name in {PANEL, judge},
            )
            for (name, aspect), scores in self._scores.items()
            if name != PANEL or (judge, aspect) not in self._scores
        )

    def _signature(self, name: str, aspect: str, *, is_alone: bool) -> str:
        """Return the signature of a scorer; a lone judge's has also what the panel decides by."""
        own = self._signatures[name, aspect]
        if name == PANEL or not is_alone:
            return own
        _, *parts = unstamped(self._signatures[PANEL, aspect]).split("|")
        return "|".join(
            [unstamped(own), *(part for part in parts if not part.startswith("seats:"))]
        )


def read_decisions(path: Path, *, ids: TextIds) -> dict[Judged, Decision | None]:
    """Return the decision on each text and aspect of a run; empty for a file of metric scores.

    Raise `DataError` if the file cannot be read.
    """
    file = results_file(path)
    if are_metric_scores(file):
        return {}
    return {
        Judged(ids.of(row.segment_id, row.system), row.task, row.aspect): row.decision
        for row in read_result_scores(file)
    }


def _read(path: Path, ids: TextIds) -> Iterable[Scorer]:
    file = results_file(path)
    if are_metric_scores(file):
        return _metrics(file, ids)
    scores = JudgeScores(run=str(path), ids=ids)
    for row in read_result_scores(file):
        scores.add(row)
    return scores.scorers()


def _metrics(path: Path, ids: TextIds) -> Iterator[Scorer]:
    head, rows = read_metric_scores(path)
    for name, described in head.metrics.items():
        scores = {ids.of(row.id, row.system): row.scores.get(name) for row in rows}
        defined = {segment: score for segment, score in scores.items() if score is not None}
        if defined:
            yield Scorer(
                name=name,
                scores=defined,
                lower_is_better=described.better == "lower",
                signature=described.signature,
            )
