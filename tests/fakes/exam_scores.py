"""Scores of made-up exams, row by row."""

from collections.abc import Iterable, Sequence

from spanjury.judges.core import Outcome
from spanjury.orchestration.studies.discernment.score_arrays import ScoreRow
from spanjury.perturbations.perturbation import Effect

CLEAN = 4.0


def scored(
    differences: Sequence[float | None],
    *,
    condition: str | None = "typos",
    aspect: str = "fluency",
    expected: Effect | None = "falls",
    repeats: int = 1,
    texts: Iterable[str] | None = None,
    version: str = "",
    texts_each: int = 1,
) -> list[ScoreRow]:
    """Return a row for each of `differences`; None: the damaged text has no score.

    The texts are named by number if not otherwise, and were damaged as their name, the
    condition and `version` say. Each source has `texts_each` of them, in this order.
    """
    names = texts if texts is not None else (str(number) for number in range(len(differences)))
    return [
        ScoreRow(
            text=text,
            condition=condition,
            aspect=aspect,
            expected=expected,
            clean=CLEAN,
            damaged=None if drop is None else CLEAN - drop,
            repeats=repeats,
            clean_outcome=Outcome.SCORED,
            damaged_outcome=Outcome.UNPARSEABLE if drop is None else Outcome.SCORED,
            clean_digest=f"clean {text}",
            damaged_digest=f"{condition} {text} {version}",
            source=f"source {text if texts_each == 1 else number // texts_each}",
        )
        for number, (text, drop) in enumerate(zip(names, differences, strict=True))
    ]
