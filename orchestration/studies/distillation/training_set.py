"""A training set on disk: a file for each split, and one that says what they hold.

A split is JSON Lines, one `Example` a line, without what has its usual value.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from spanjury.judges.core import DataError, Message, Report, Scale
from spanjury.judges.llm.percent import Reading
from spanjury.orchestration.studies.distillation.splits import SPLITS, Split

T = TypeVar("T")
FORMAT = 1
SEAL = "tables.json"
"""File with the tables and digests of the others; it is there iff they are whole."""
_SEAL: TypeAdapter[dict[str, object]] = TypeAdapter(dict[str, object])


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """The origin of an example."""

    source: str
    row: str
    panel: str = ""
    """Signature of the panel whose report is learnt; empty for damage."""
    damages: tuple[str, ...] = ()
    """The damage to the text, in order; empty for a text as it was."""
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Licences:
    """The terms under which an example may be used."""

    source: str = ""
    """Licence of the text; empty where unknown."""
    teachers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Judge or model of the panel -> licence of what it says; empty for damage, which has no
    teacher."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A prompt, the reply that is due, and all that they were made of.

    `inputs`, `output`: the text to judge; the prompt shows of the inputs what the aspect may look
    at.
    """

    dataset: str
    input_id: str
    """Digest of the inputs; the same for inputs that differ in spelling only."""
    system: str = ""
    """The system that wrote the text; empty where the row names none."""
    inputs: Mapping[str, str]
    output: str
    task: str
    aspect: str
    definition: str
    report: Report
    """The right answer: spans with offsets, and the score as it was before it was rounded, on the
    scale of the aspect."""
    messages: tuple[Message, ...]
    target: str
    split: Split
    provenance: Provenance
    licences: Licences = field(default_factory=Licences)
    labels: tuple[str, ...] = Scale().labels
    """The labels of the aspect's scale, worst first."""
    reading: Reading = "stretched"
    """The rule by which the score became the number in `target`."""


_EXAMPLE: TypeAdapter[Example] = TypeAdapter(Example)


def example_line(example: Example) -> bytes:
    """Return `example` as a line of JSON, its end included.

    Raise `DataError` if it holds what cannot be written as UTF-8; the message names the
    row.
    """
    try:
        return _EXAMPLE.dump_json(example, exclude_defaults=True) + b"\n"
    except (PydanticSerializationError, UnicodeEncodeError) as error:
        row = example.provenance.row
        raise DataError(f"row {row!r} holds what a file cannot: {error}") from error


def read_examples(path: Path) -> Iterator[Example]:
    """Read a file of examples line by line; raise as `read_lines` does."""
    return read_lines(path, _EXAMPLE)


def read_lines(path: Path, form: TypeAdapter[T]) -> Iterator[T]:
    """Read a file of examples of one form line by line.

    Raise `DataError` if the file cannot be read, or a line is not an example; the message
    names file and line.
    """
    try:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                yield _example(line, form, where=f"{path}, line {number}")
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from error


def _example(line: bytes, form: TypeAdapter[T], *, where: str) -> T:
    try:
        return form.validate_json(line)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        path = ".".join(map(str, problem["loc"]))
        raise DataError(f"{where}: not a training example: {path} {problem['msg']}") from error


def split_file(split: Split) -> str:
    """Return the name of the file of `split`."""
    return f"{split}.jsonl"


def read_split(folder: Path, split: Split) -> Iterator[Example]:
    """Read the examples of one split.

    Raise `DataError` as `read_examples` does, and at an example of another split.
    """
    path = folder / split_file(split)
    for number, example in enumerate(read_examples(path), start=1):
        if example.split != split:
            raise DataError(f"{path}, line {number}: an example for {example.split!r}")
        yield example


def require_whole(folder: Path) -> None:
    """See that the files in `folder` are those that were built together.

    Raise `DataError` if there is no training set, or a file is not as it was when it was
    built.
    """
    files = read_seal(folder).get("files")
    for split in SPLITS:
        path = folder / split_file(split)
        entry = files.get(path.name) if isinstance(files, dict) else None
        if not isinstance(entry, dict) or entry.get("sha256") != _digest(path):
            raise DataError(f"{path}: not the file that {SEAL} tells of; build the data again")


def read_seal(folder: Path) -> Mapping[str, object]:
    """Read the file that says what the others hold; raise `DataError` if it cannot be read."""
    try:
        return _SEAL.validate_json((folder / SEAL).read_bytes())
    except OSError as error:
        raise DataError(
            f"{folder}: no whole training set is there ({SEAL}: {error.strerror})"
        ) from error
    except ValidationError as error:
        raise DataError(f"{folder / SEAL}: not what `distil build` writes") from error


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from error
