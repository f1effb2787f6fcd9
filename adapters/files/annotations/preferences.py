"""Preferences in the row formats of two published datasets: JudgeBench and RewardBench 2.

A row is one question with two or more responses, some of which are better. Each response becomes
a segment with a human score, 1 for the better ones and 0 for the others, so that a judge's
preferences and scores can be compared with them.

Sources: Tan et al. (2024), JudgeBench, doi:10.48550/arXiv.2410.12784; Malik et al. (2025),
RewardBench 2, doi:10.48550/arXiv.2506.01937.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from pydantic import BaseModel

from spanjury.adapters.files.annotations.annotators import checked_row, collected, json_rows
from spanjury.adapters.files.limits import USUAL, DataLimits
from spanjury.judges.core import DataError, Segment

_TASK = "question-answering"
_RATER = ""  # the only one, who is anonymous


def read_judgebench(path: Path, /, *, limits: DataLimits = USUAL) -> Iterator[Segment | DataError]:
    """Read pairs of responses of which one is correct, as JSON Lines, plain or gzip.

    Yields all faulty rows first, then the two responses of each row, under the systems ``A`` and
    ``B``, with people's score of *correctness*. The whole file is held in memory.

    Raises `DataError` at once if the file does not exist, cannot be read, or has no rows.
    """
    return collected(path, json_rows(path, _pair_segments, limits=limits))


def read_rewardbench(path: Path, /, *, limits: DataLimits = USUAL) -> Iterator[Segment | DataError]:
    """Read chosen and rejected responses, as JSON Lines, plain or gzip.

    Yields the responses of a row under the systems ``chosen-1``, ``rejected-1`` and so on, with
    people's score of the aspect *answer-quality*. Otherwise it is like `read_judgebench`.
    """
    return collected(path, json_rows(path, _choice_segments, limits=limits))


class _Pair(BaseModel):
    """A row of JudgeBench."""

    pair_id: str
    source: str = ""
    question: str
    response_model: str = ""
    response_A: str  # noqa: N815  the name in the file
    response_B: str  # noqa: N815
    label: Literal["A>B", "B>A"]


class _Choice(BaseModel):
    """A row of RewardBench 2."""

    id: str
    prompt: str
    chosen: list[str]
    rejected: list[str]
    subset: str = ""


def _pair_segments(read: object) -> Iterator[Segment]:
    row = checked_row(_Pair, read, strict=True)
    for name, response in (("A", row.response_A), ("B", row.response_B)):
        yield Segment(
            segment_id=f"{row.pair_id}/{name}",
            task=_TASK,
            inputs={"Question": row.question},
            output=response,
            system=name,
            human={"correctness": {_RATER: float(row.label.startswith(name))}},
            meta={"source": row.source, "response_model": row.response_model},
        )


def _choice_segments(read: object) -> Iterator[Segment]:
    row = checked_row(_Choice, read, strict=True)
    for kind, responses, score in (("chosen", row.chosen, 1.0), ("rejected", row.rejected, 0.0)):
        for number, response in enumerate(responses, 1):
            yield Segment(
                segment_id=f"{row.id}/{kind}-{number}",
                task=_TASK,
                inputs={"Question": row.prompt},
                output=response,
                system=f"{kind}-{number}",
                human={"answer-quality": {_RATER: score}},
                meta={"subset": row.subset},
            )
