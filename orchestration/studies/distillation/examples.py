"""One example that a distilled judge is trained on, and the file that holds many.

JSON Lines, one `Example` a line, without what has its usual value.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Literal, get_args

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from spanjury.judges.core import DataError, Message, Report, Scale
from spanjury.judges.llm.percent import Reading

__all__ = ["SPLITS", "Example", "Licences", "Provenance", "Split", "example_line", "read_examples"]

Split = Literal["train", "validation", "test"]
"""What an example is for; no input is in two of them."""

SPLITS: tuple[Split, ...] = get_args(Split)


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where an example comes from.

    Parameters
    ----------
    source, row
        File and row of the text that it was made of.
    panel
        Signature of the panel whose report is learnt; empty for damage.
    damages
        What was done to the text, in order; empty for a text as it was.
    seed
        Of all that was drawn at random.
    """

    source: str
    row: str
    panel: str = ""
    damages: tuple[str, ...] = ()
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Licences:
    """Under which terms an example may be used.

    Parameters
    ----------
    source
        Licence of the text; empty where nobody told.
    teachers
        Judge or model of the panel -> licence of what it says; empty for damage, which has
        no teacher.
    """

    source: str = ""
    teachers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A prompt, the reply that is due, and all that they were made of.

    Parameters
    ----------
    dataset
        The data set that the text is from.
    input_id
        Digest of the inputs; the same for inputs that differ in spelling only.
    system
        Who wrote the text; empty where the row names nobody.
    inputs, output
        What is judged; the prompt shows of the inputs what the aspect may look at.
    task, aspect, definition
        What is asked.
    report
        What is to be found: spans with offsets, and the score as it was before it was
        rounded, on the scale of the aspect.
    messages, target
        The prompt, and the reply that is due.
    split
        What the example is for.
    provenance, licences
        Where it comes from, and what may be done with it.
    labels
        The labels of the aspect's scale, worst first.
    reading
        How the score became the number in `target`.
    """

    dataset: str
    input_id: str
    system: str = ""
    inputs: Mapping[str, str]
    output: str
    task: str
    aspect: str
    definition: str
    report: Report
    messages: tuple[Message, ...]
    target: str
    split: Split
    provenance: Provenance
    licences: Licences = field(default_factory=Licences)
    labels: tuple[str, ...] = Scale().labels
    reading: Reading = "stretched"


_EXAMPLE: TypeAdapter[Example] = TypeAdapter(Example)


def example_line(example: Example) -> bytes:
    """Return `example` as a line of JSON, its end included.

    Raises
    ------
    DataError
        If it holds what cannot be written as UTF-8; names the row.
    """
    try:
        return _EXAMPLE.dump_json(example, exclude_defaults=True) + b"\n"
    except (PydanticSerializationError, UnicodeEncodeError) as error:
        row = example.provenance.row
        raise DataError(f"row {row!r} holds what a file cannot: {error}") from error


def read_examples(path: Path) -> Iterator[Example]:
    """Read a file of examples line by line.

    Raises
    ------
    DataError
        If the file cannot be read, or a line is no example; names file and line.
    """
    try:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                yield _example(line, where=f"{path}, line {number}")
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from error


def _example(line: bytes, *, where: str) -> Example:
    try:
        return _EXAMPLE.validate_json(line)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        place = ".".join(map(str, problem["loc"]))
        raise DataError(f"{where}: not a training example: {place} {problem['msg']}") from error
