"""Score arrays: the attempts on one judge, side by side."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spanjury.orchestration.studies.robustness.attempts import Attempt

BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoreArrays:
    """The attempts on one judge; every array has the shape ``(attempts,)``.

    Parameters
    ----------
    sources
        The number of the source of each text, from 0: attempts on one are not independent.
    scored, has_room, can_rise, has_spans
        Whether there was a score without the attack; whether the attack could succeed; by the
        score; by spans.
    succeeded, rose, vanished, denied, fell
        As in `Attempt`.
    control
        1 or 0: whether the plain addition succeeded that is about as long; NaN without one.
    """

    judge: str
    attacks: NDArray[np.str_]
    families: NDArray[np.str_]
    aspects: NDArray[np.str_]
    sources: NDArray[np.intp]
    scored: BoolArray
    has_room: BoolArray
    can_rise: BoolArray
    has_spans: BoolArray
    succeeded: BoolArray
    rose: BoolArray
    vanished: BoolArray
    denied: BoolArray
    fell: BoolArray
    control: NDArray[np.float64]


def collect_scores(rows: Sequence[Attempt], *, judge: str) -> ScoreArrays:
    """Put the attempts on `judge` into arrays."""
    own = [row for row in rows if row.judge == judge]
    plain = {(row.text, row.aspect, row.attack): row.succeeded for row in own if not row.control}
    numbers = {source: number for number, source in enumerate(dict.fromkeys(r.source for r in own))}
    matched = [plain.get((row.text, row.aspect, row.control)) for row in own]

    def flags(name: str) -> BoolArray:
        return np.array([getattr(row, name) for row in own], dtype=bool)

    def names(name: str) -> NDArray[np.str_]:
        return np.array([getattr(row, name) for row in own], dtype=np.str_)

    scored = np.array([row.before is not None for row in own], dtype=bool)
    return ScoreArrays(
        judge=judge,
        attacks=names("attack"),
        families=names("family"),
        aspects=names("aspect"),
        sources=np.array([numbers[row.source] for row in own], dtype=np.intp),
        scored=scored,
        has_room=flags("has_room"),
        can_rise=flags("can_rise"),
        has_spans=scored & np.array([row.spans > 0 for row in own], dtype=bool),
        succeeded=flags("succeeded"),
        rose=flags("rose"),
        vanished=flags("vanished"),
        denied=flags("denied"),
        fell=flags("fell"),
        control=np.array([np.nan if hit is None else hit for hit in matched], dtype=np.float64),
    )
