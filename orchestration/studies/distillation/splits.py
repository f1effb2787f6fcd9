"""Splits: inputs are dealt out to training, validation and test, and none is in two of them.

Inputs are the same if their words are, without case, marks and blanks, whatever the headers are
called. Two that share one long text, as questions about one passage do, belong together, too.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from spanjury.judges.core import Segment, fingerprint
from spanjury.judges.text import fold

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
    of_dataset: dict[str, list[str]] = {}
    for group in sorted(sizes, key=lambda group: fingerprint(str(seed), group)):
        of_dataset.setdefault(datasets[group], []).append(group)
    split: dict[str, Split] = {}
    for order in of_dataset.values():
        split.update(_kept(order, sizes, shares=shares))
    return {name: split.get(group, "train") for name, group in groups.items()}


def _kept(order: Sequence[str], sizes: Mapping[str, int], *, shares: Shares) -> dict[str, Split]:
    """Return which groups of a data set are kept from training."""
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
