"""The rows that training data is made of: texts with their data set, split and licence."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from spanjury.judges.core import ConfigError, DataError, Segment
from spanjury.orchestration.studies.distillation.splits import (
    Shares,
    Split,
    dealt,
    groups_of,
    input_keys,
    telling_keys,
)

_LICENCE = ("licence", "license")
_DATASET = "dataset"
_SHOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFile:
    """A file of texts: its path as it was named, the data set it is, and what it holds."""

    path: str
    dataset: str
    segments: Sequence[Segment]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One text, with its task.

    Parameters
    ----------
    licence
        Empty where unknown.
    """

    source: str
    dataset: str
    segment: Segment
    input_id: str
    split: Split
    licence: str


def rows_of(
    files: Sequence[DataFile],
    *,
    task: str | None = None,
    licence: str = "",
    shares: Shares | None = None,
    seed: int = 1,
) -> tuple[Row, ...]:
    """Return all texts of `files`, each dealt to one split with all that share its input.

    Raise `ConfigError` if a row has no task, and `DataError` if there are no rows.

    Parameters
    ----------
    files
        In order; a row may name its data set and its licence in its meta.
    licence
        Of the rows that name none.
    """
    texts = [(file, _tasked(segment, task)) for file in files for segment in file.segments]
    if not texts:
        named = ", ".join(file.path for file in files)
        raise DataError(f"there is no row in {named}")
    keys = [input_keys(segment) for _, segment in texts]
    datasets: dict[str, str] = {}
    for (file, segment), key in zip(texts, keys, strict=True):
        datasets.setdefault(key.whole, _dataset(file, segment))
    split = dealt(groups_of(keys), datasets, shares=shares or Shares(), seed=seed)
    return tuple(
        Row(
            source=file.path,
            dataset=_dataset(file, segment),
            segment=segment,
            input_id=key.whole,
            split=split[key.whole],
            licence=_text(segment.meta, *_LICENCE) or licence,
        )
        for (file, segment), key in zip(texts, keys, strict=True)
    )


def refuse_overlap(rows: Iterable[Row], evaluation: Sequence[DataFile]) -> None:
    """See that no row shares its input with a text of an evaluation set.

    Raise `DataError` if one does; the message counts them and names the first.
    """
    theirs = [(file.path, input_keys(segment)) for file in evaluation for segment in file.segments]
    ours = [(row, input_keys(row.segment)) for row in rows]
    telling = telling_keys([keys for _, keys in (*theirs, *ours)])
    paths = {key: path for path, keys in theirs for key in keys.all & telling}
    shared = [(row, paths[key]) for row, keys in ours for key in sorted(keys.all & paths.keys())]
    if shared:
        names = list(dict.fromkeys(row.segment.segment_id for row, _ in shared))
        files = ", ".join(dict.fromkeys(path for _, path in shared))
        raise DataError(
            f"inputs of {len(names)} rows are evaluated on in {files}"
            f" ({', '.join(map(repr, names[:_SHOWN]))}): leave them out of the training data"
        )


def _tasked(segment: Segment, task: str | None) -> Segment:
    name = task or segment.task
    if not name:
        raise ConfigError(f"row {segment.segment_id!r} names no task: name one with --task")
    return segment if segment.task == name else replace(segment, task=name)


def _dataset(file: DataFile, segment: Segment) -> str:
    return _text(segment.meta, _DATASET) or file.dataset


def _text(meta: Mapping[str, object], *names: str) -> str:
    return next((value for name in names if isinstance(value := meta.get(name), str)), "")
