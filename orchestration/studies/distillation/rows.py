"""The rows that training data is made of: texts with their data set, split and licence."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
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
_NAMES_SHOWN = 3
OURS = "Apache-2.0"
"""Licence of reports that the rules of spanjury make."""

# As SPDX and data-set cards write them. What forbids commercial use or changes is not among
# them: whether it permits training is for a lawyer, and `accepted`, to say.
_PERMITS = re.compile(
    r"cc0|cc-?zero|public[ -]?domain|pddl|unlicense|wtfpl|0bsd|bsd(-[234]-clause)?|mit(-0)?|isc"
    r"|apache(-?2\.0)?|odc-by|odbl|dl-de-by|etalab|zlib|cc-by(-sa)?|cdla-(permissive|sharing)"
)
_VERSION = re.compile(r"[-_ ]v?\d+(\.\d+)*$")
_REFUSALS_SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFile:
    """A file of texts: its path as it was named, the data set it is, and what it holds."""

    path: str
    dataset: str
    segments: Sequence[Segment]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One text, with its task."""

    source: str
    dataset: str
    segment: Segment
    input_id: str
    split: Split
    licence: str
    """Empty where unknown."""


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

    `files`: in order; a row may name its data set and its licence in its meta.
    `licence`: licence of the rows that name none.
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
            f" ({', '.join(map(repr, names[:_NAMES_SHOWN]))}): leave them out of the training data"
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


def permits_training(licence: str, *, accepted: Collection[str] = ()) -> bool:
    """Say whether `licence` is known to permit training, or is one of `accepted`.

    Examples
    --------
    >>> permits_training("CC-BY-4.0"), permits_training("CC-BY-NC-4.0"), permits_training("")
    (True, False, False)
    """
    folded = licence.strip().casefold().replace(" ", "-")
    if folded in {name.strip().casefold().replace(" ", "-") for name in accepted}:
        return True
    bare = _VERSION.sub("", folded)
    return any(_PERMITS.fullmatch(name) is not None for name in (folded, bare))


def require_licences(owned: Iterable[tuple[str, str]], *, accepted: Collection[str] = ()) -> None:
    """Raise `ConfigError` if a licence does not permit training; the message names the first few.

    `owned` says whose licence it is, and which, empty where unknown; the user answers for those
    that are `accepted`.
    """
    refused = dict.fromkeys(
        f"{whose} ({licence or 'no licence given'})"
        for whose, licence in owned
        if not permits_training(licence, accepted=accepted)
    )
    if refused:
        named = "; ".join(list(refused)[:_REFUSALS_SHOWN])
        more = (
            f" (and {len(refused) - _REFUSALS_SHOWN} more)"
            if len(refused) > _REFUSALS_SHOWN
            else ""
        )
        raise ConfigError(f"not known to permit training: {named}{more}")
