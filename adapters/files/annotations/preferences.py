"""Preferences in the row formats of two published datasets: JudgeBench and RewardBench 2.

A row is one question with two or more responses, some of which are better. Each response becomes
a segment with a human score, 1 for the better ones and 0 for the others, so that a judge's
preferences and scores can be compared with them.

Sources: Tan et al. (2024), JudgeBench, doi:10.48550/arXiv.2410.12784; Malik et al. (2025),
RewardBench 2, doi:10.48550/arXiv.2506.01937.
"""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import BaseModel, ValidationError

from spanjury.adapters.files.annotations.annotators import collected
from spanjury.adapters.files.limits import USUAL, DataLimits
from spanjury.adapters.files.lines import read_lines
from spanjury.adapters.files.strict_json import excerpt, parse_json
from spanjury.judges.core import DataError, Segment

_TASK = "question-answering"
_BETTER, _WORSE = 1.0, 0.0
_LABEL = ""  # the name of the only, anonymous rater

R = TypeVar("R", bound=BaseModel)


def read_judgebench(path: Path, /, *, limits: DataLimits = USUAL) -> Iterator[Segment | DataError]:
    """Read pairs of responses of which one is correct, as JSON Lines, plain or gzip.

    Yields all faulty rows first. Then it yields the two responses of each row, under the systems
    ``A`` and ``B``, with people's score of the aspect *correctness*. The whole file is held in
    memory.

    Raises `DataError` at once if the file does not exist, cannot be read, or has no rows.
    """
    return collected(path, _rows(path, limits, partial(_segments, _Pair, _pair_segments)))


def read_rewardbench(path: Path, /, *, limits: DataLimits = USUAL) -> Iterator[Segment | DataError]:
    """Read chosen and rejected responses, as JSON Lines, plain or gzip.

    Yields the responses of a row under the systems ``chosen-1``, ``rejected-1`` and so on, with
    people's score of the aspect *answer-quality*. Otherwise it is like `read_judgebench`.
    """
    return collected(path, _rows(path, limits, partial(_segments, _Choice, _choice_segments)))


def _rows(
    path: Path, limits: DataLimits, read: Callable[[object], Iterator[Segment]]
) -> Iterator[tuple[int, Segment | DataError]]:
    for line in read_lines(path, limits=limits):
        if line.fault:
            yield line.number, DataError(line.fault)
        elif text := line.text.strip():
            try:
                for segment in read(parse_json(text, depth=limits.depth)):
                    yield line.number, segment
            except DataError as error:
                yield line.number, error


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


def _segments(
    kind: type[R], segments: Callable[[R], Iterator[Segment]], row: object
) -> Iterator[Segment]:
    """Yield the responses of a row; raise `DataError` if the row does not fit its model."""
    try:
        read = kind.model_validate(row, strict=True)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_context=False)[0]
        field = ".".join(map(str, problem["loc"]))
        raise DataError(f"{field}: got {excerpt(problem['input'])}: {problem['msg']}") from error
    yield from segments(read)


def _pair_segments(row: _Pair) -> Iterator[Segment]:
    for name, response in (("A", row.response_A), ("B", row.response_B)):
        yield Segment(
            segment_id=f"{row.pair_id}/{name}",
            task=_TASK,
            inputs={"Question": row.question},
            output=response,
            system=name,
            human={"correctness": {_LABEL: _BETTER if row.label.startswith(name) else _WORSE}},
            meta={"source": row.source, "response_model": row.response_model},
        )


def _choice_segments(row: _Choice) -> Iterator[Segment]:
    for kind, responses, score in (
        ("chosen", row.chosen, _BETTER),
        ("rejected", row.rejected, _WORSE),
    ):
        for number, response in enumerate(responses, 1):
            yield Segment(
                segment_id=f"{row.id}/{kind}-{number}",
                task=_TASK,
                inputs={"Question": row.prompt},
                output=response,
                system=f"{kind}-{number}",
                human={"answer-quality": {_LABEL: score}},
                meta={"subset": row.subset},
            )
