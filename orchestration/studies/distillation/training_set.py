"""A training set: inputs dealt out to splits, none in two of them, and its files.

Inputs are the same if their words are, without case, marks and blanks, whatever the headers are
called. Two that share one long text, as questions about one passage do, belong together, too.
A split is JSON Lines, one `Example` a line, without what has its usual value; one more file says
what the splits hold.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Literal, TypeVar, get_args

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from spanjury.judges.core import (
    DataError,
    Message,
    Report,
    Scale,
    Segment,
    fingerprint,
    first_problem,
)
from spanjury.judges.llm.distilled_form import Reading
from spanjury.judges.text import fold
from spanjury.orchestration.studies.estimates import grouped

Split = Literal["train", "validation", "test"]
"""The use of an example; no input is in two of them."""

SPLITS: tuple[Split, ...] = get_args(Split)

_FEW = 3  # groups below which there is nothing to deal out


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """The shares of the inputs that are kept from training, each in ``[0, 1)``.

    Raises `ValueError` if a share is out of its range, or nothing is left to train on.
    """

    validation: float = 0.1
    test: float = 0.1

    def __post_init__(self) -> None:
        if min(self.validation, self.test) < 0 or self.validation + self.test >= 1:
            raise ValueError(f"shares must be 0 or more and leave some, got {self!r}")


def dealt(
    groups: Mapping[str, str], datasets: Mapping[str, str], *, shares: Shares, seed: int
) -> Mapping[str, Split]:
    """Return the split of each input.

    `groups`: input -> group; what is of one group stays together.
    `datasets`: input -> data set; each is dealt out on its own, with the groups that begin in it.
    `shares`: how much of a data set's inputs is kept; at least one of three groups or more. A group
    that is larger than what is still wanted is trained on.
    """
    sizes = Counter(groups.values())
    drawn = sorted(sizes, key=lambda group: fingerprint(str(seed), group))
    split: dict[str, Split] = {}
    for order in grouped(drawn, datasets.__getitem__).values():
        split.update(_kept(order, sizes, shares=shares))
    return {name: split.get(group, "train") for name, group in groups.items()}


def _kept(order: Sequence[str], sizes: Mapping[str, int], *, shares: Shares) -> dict[str, Split]:
    wanted: dict[Split, float] = {"test": shares.test, "validation": shares.validation}
    inputs = sum(sizes[group] for group in order)
    kept: dict[str, Split] = {}
    for name, share in wanted.items():
        room = max(1, round(share * inputs)) if share and len(order) >= _FEW else 0
        for group in order:
            if group not in kept and sizes[group] <= room:
                kept[group] = name
                room -= sizes[group]
    return kept


_NO_WORD = re.compile(r"[\W_]+")
_LONG = 20
"""Words of a text that tells by itself that two inputs belong together."""
_MANY = 10
_COMMON = 0.5
"""A text in more than this share of many inputs is an instruction, and tells nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InputKeys:
    """The digests by which an input is known."""

    whole: str
    """Digest of all its texts; of the output where a row has no inputs."""
    long: tuple[str, ...] = ()
    """Digests of its long texts, one by one."""

    @property
    def all(self) -> frozenset[str]:
        """Every digest: two inputs that share one belong together."""
        return frozenset((self.whole, *self.long))


def input_keys(segment: Segment) -> InputKeys:
    """Return the digests of the input of `segment`."""
    texts = sorted(filter(None, map(_words, segment.inputs.values())))
    if not texts:
        return InputKeys(whole=fingerprint(_words(segment.output)))
    long = [text for text in texts if text.count(" ") >= _LONG - 1]
    return InputKeys(whole=fingerprint(*texts), long=tuple(map(fingerprint, long)))


def groups_of(keys: Iterable[InputKeys]) -> Mapping[str, str]:
    """Return for every input, by its ``whole``, the group that it belongs to.

    A group is called after the first of its inputs.
    """
    inputs = {each.whole: each for each in keys}
    telling = telling_keys(list(inputs.values()))
    leader: dict[str, str] = {}

    def led(key: str) -> str:
        while leader.setdefault(key, key) != key:
            leader[key] = key = leader[leader[key]]
        return key

    for each in inputs.values():
        first, *others = sorted({led(key) for key in each.all & telling})
        leader.update(dict.fromkeys(others, first))
    named: dict[str, str] = {}
    return {whole: named.setdefault(led(whole), whole) for whole in inputs}


def telling_keys(inputs: Sequence[InputKeys]) -> frozenset[str]:
    """Return the digests that tell inputs apart.

    These are all but those of long texts which most of many inputs share.
    """
    counts = Counter(key for keys in inputs for key in set(keys.long))
    most = _COMMON * len(inputs) if len(inputs) >= _MANY else len(inputs)
    common = {key for key, count in counts.items() if count > most}
    return frozenset(
        key for keys in inputs for key in keys.all if key == keys.whole or key not in common
    )


def _words(text: str) -> str:
    return _NO_WORD.sub(" ", fold(text)).strip()


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
        raise DataError(f"row {row!r} cannot be written to a file: {error}") from error


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
        raise DataError(f"{where}: not a training example: {first_problem(error)}") from error


def split_file(split: Split) -> str:
    """Return the name of the file of `split`."""
    return f"{split}.jsonl"


def read_split(folder: Path, split: Split) -> Iterator[Example]:
    """Read the examples of one split.

    Raise `DataError` as `read_lines` does, and at an example of another split.
    """
    path = folder / split_file(split)
    for number, example in enumerate(read_lines(path, _EXAMPLE), start=1):
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
            raise DataError(f"{path}: does not match {SEAL}; build the data again")


def read_seal(folder: Path) -> Mapping[str, object]:
    """Read the file that says what the others hold; raise `DataError` if it cannot be read."""
    try:
        return _SEAL.validate_json((folder / SEAL).read_bytes())
    except OSError as error:
        raise DataError(f"{folder}: no complete training set ({SEAL}: {error.strerror})") from error
    except ValidationError as error:
        raise DataError(f"{folder / SEAL}: not what `distil build` writes") from error


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from error
