"""The texts, damages and aspects that two exams share, on which judges can be compared."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spanjury.judges.core import ConfigError
from spanjury.orchestration.studies.discernment.score_arrays import ScoreRow
from spanjury.perturbations.perturbation import Effect


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """A condition on an aspect; the condition is None where the clean text is judged twice."""

    condition: str | None
    aspect: str
    expected: Effect | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unshared:
    """Parts of two exams that are not compared; pairs are of the first and of the second.

    `texts`, `conditions`, `aspects`: names that one exam has and the other has not.
    """

    texts: tuple[tuple[str, ...], tuple[str, ...]]
    conditions: tuple[tuple[str, ...], tuple[str, ...]]
    aspects: tuple[tuple[str, ...], tuple[str, ...]]
    differing_texts: tuple[str, ...]
    """Names under which the exams showed different clean texts."""
    damages: tuple[int, int]
    """Number of texts that only one exam could damage, by condition."""
    differing_damages: int
    """Number of texts that were damaged in different ways under one name."""
    differing_effects: int
    """Number of conditions with another expected effect on an aspect."""
    unscored: tuple[int, int]
    """Number of shared rows without a score of this judge."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shared:
    """Scores of two judges on the same texts.

    `contrasts`, `texts`: the names along the axes; every contrast has a text with a drop from both
    judges.
    `clean`, `changed`: of the shape of `differences`: the scores that they are made of.
    """

    contrasts: tuple[Contrast, ...]
    texts: tuple[str, ...]
    differences: NDArray[np.float64]
    """Shape ``(2, contrasts, texts)``: clean minus damaged scores, summed over each judge's
    repeats. NaN where one of the judges has none."""
    clean: NDArray[np.float64]
    changed: NDArray[np.float64]
    harmless: NDArray[np.bool_]
    """Shape ``(contrasts,)``: whether a flag on the changed texts is a false alarm."""
    unshared: Unshared


_Key = tuple[str, str | None, str]
_Rows = Mapping[_Key, ScoreRow]


def share(first: Sequence[ScoreRow], second: Sequence[ScoreRow]) -> Shared:
    """Put side by side what two exams have in common.

    Raise `ConfigError` if there is no text with a drop from both judges under any
    condition.
    """
    exams = (_by_key(first), _by_key(second))
    keys = [key for key, row in exams[0].items() if _alike(row, exams[1].get(key))]
    differences = {key: (_drop(exams[0][key]), _drop(exams[1][key])) for key in keys}
    both = [key for key in keys if None not in differences[key]]
    if all(condition is None for _, condition, _ in both):
        raise ConfigError(_nothing(exams))
    contrasts = dict.fromkeys(_contrast(exams[0][key]) for key in both)
    numbers = {contrast: number for number, contrast in enumerate(contrasts)}
    texts = {text: number for number, text in enumerate(sorted({key[0] for key in both}))}
    values = np.full((3, 2, len(contrasts), len(texts)), np.nan)
    for key in both:
        rows = [exam[key] for exam in exams]
        scores = (differences[key], [row.clean for row in rows], [row.damaged for row in rows])
        values[:, :, numbers[_contrast(rows[0])], texts[key[0]]] = scores
    harmless = _harmless(exams[0])
    return Shared(
        contrasts=tuple(contrasts),
        texts=tuple(texts),
        differences=values[0],
        clean=values[1],
        changed=values[2],
        harmless=np.array([contrast.condition in harmless for contrast in contrasts], dtype=bool),
        unshared=_unshared(exams, differences.values()),
    )


def _by_key(rows: Iterable[ScoreRow]) -> _Rows:
    return {(row.text, row.condition, row.aspect): row for row in rows}


def _contrast(row: ScoreRow) -> Contrast:
    return Contrast(condition=row.condition, aspect=row.aspect, expected=row.expected)


def _alike(row: ScoreRow, other: ScoreRow | None) -> bool:
    """Say whether two exams showed the same and expected the same of it."""
    return (
        other is not None
        and row.clean_digest == other.clean_digest
        and row.damaged_digest == other.damaged_digest
        and row.expected == other.expected
    )


def _drop(row: ScoreRow) -> float | None:
    if row.clean is None or row.damaged is None:
        return None
    return row.clean - row.damaged


def _harmless(exam: _Rows) -> set[str | None]:
    """Return the conditions after which a flag is a false alarm.

    Files of releases until 0.2 do not say: there it is those after which no score should move.
    """
    by_condition: dict[str | None, list[ScoreRow]] = {}
    for row in exam.values():
        by_condition.setdefault(row.condition, []).append(row)
    return {
        name
        for name, rows in by_condition.items()
        if name is not None
        and all(row.expected == "unchanged" for row in rows)
        and not any(row.harmless is False for row in rows)
    }


def _unshared(
    exams: tuple[_Rows, _Rows], differences: Iterable[tuple[float | None, float | None]]
) -> Unshared:
    texts = [{row.text: row.clean_digest for row in exam.values()} for exam in exams]
    conditions = [
        dict.fromkeys(row.condition for row in exam.values() if row.condition is not None)
        for exam in exams
    ]
    aspects = [dict.fromkeys(row.aspect for row in exam.values()) for exam in exams]
    damages = [_damages(exam, texts=texts, conditions=conditions) for exam in exams]
    in_both = damages[0].keys() & damages[1].keys()
    effects = [{(row.condition, row.aspect): row.expected for row in e.values()} for e in exams]
    pairs = list(differences)
    return Unshared(
        texts=_apart(*texts),
        conditions=_apart(*conditions),
        aspects=_apart(*aspects),
        differing_texts=tuple(
            name for name, was in texts[0].items() if texts[1].get(name, was) != was
        ),
        damages=(len(damages[0].keys() - in_both), len(damages[1].keys() - in_both)),
        differing_damages=sum(damages[0][key] != damages[1][key] for key in in_both),
        differing_effects=sum(
            effects[0][key] != effects[1][key] for key in effects[0].keys() & effects[1].keys()
        ),
        unscored=(
            sum(first is None for first, _ in pairs),
            sum(second is None for _, second in pairs),
        ),
    )


def _damages(
    exam: _Rows, *, texts: Sequence[Mapping[str, str]], conditions: Sequence[Mapping[str, None]]
) -> dict[tuple[str, str], str]:
    """Return the damaged texts of the clean ones and the conditions that both exams have."""
    return {
        (row.text, row.condition): row.damaged_digest
        for row in exam.values()
        if row.condition is not None
        and all(row.condition in names for names in conditions)
        and all(digests.get(row.text) == row.clean_digest for digests in texts)
    }


def _apart(
    first: Mapping[str, object], second: Mapping[str, object]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names that only one of the two has."""
    return (
        tuple(name for name in first if name not in second),
        tuple(name for name in second if name not in first),
    )


def _nothing(exams: tuple[_Rows, _Rows]) -> str:
    """Say what it is that two exams do not have in common."""
    for what, names in (
        ("text", [{row.text for row in exam.values()} for exam in exams]),
        ("condition", [{row.condition for row in exam.values()} - {None} for exam in exams]),
        ("aspect", [{row.aspect for row in exam.values()} for exam in exams]),
    ):
        if not names[0] & names[1]:
            return f"the exams share no {what}, so there is nothing to compare"
    return (
        "the exams share no damaged text with scores of both judges, so that there is nothing "
        "to compare"
    )
