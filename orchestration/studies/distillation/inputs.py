"""Which inputs are the same, however they are written: so that none is trained on and tested on.

Inputs are told apart by the words in them, without case, marks and blanks, whatever the
headers are called. Two that share one long text, as questions about one passage do, belong
together, too.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from spanjury.judges.core import Segment, fingerprint
from spanjury.judges.text import fold

__all__ = ["InputKeys", "groups_of", "input_keys", "telling_keys"]

_NO_WORD = re.compile(r"[\W_]+")
_LONG = 20
"""Words of a text that tells by itself that two inputs belong together."""
_MANY = 10
_COMMON = 0.5
"""A text in more than this share of many inputs is an instruction, and tells nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InputKeys:
    """What an input is known by.

    Parameters
    ----------
    whole
        Digest of all its texts; of the output where a row has no inputs.
    long
        Digests of its long texts, one by one.
    """

    whole: str
    long: tuple[str, ...] = ()

    @property
    def all(self) -> frozenset[str]:
        """Every digest: two inputs that share one belong together."""
        return frozenset((self.whole, *self.long))


def input_keys(segment: Segment) -> InputKeys:
    """Return what the input of `segment` is known by."""
    texts = sorted(filter(None, map(_words, segment.inputs.values())))
    if not texts:
        return InputKeys(whole=fingerprint(_words(segment.output)))
    long = [text for text in texts if text.count(" ") >= _LONG - 1]
    return InputKeys(whole=fingerprint(*texts), long=tuple(map(fingerprint, long)))


def groups_of(keys: Iterable[InputKeys]) -> Mapping[str, str]:
    """Return for every input, by its ``whole``, the group that it belongs to.

    A group is called after the first of its inputs.
    """
    known = {one.whole: one for one in keys}
    telling = telling_keys(list(known.values()))
    leader: dict[str, str] = {}

    def led(key: str) -> str:
        while leader.setdefault(key, key) != key:
            leader[key] = key = leader[leader[key]]
        return key

    for one in known.values():
        first, *others = sorted({led(key) for key in one.all & telling})
        leader.update(dict.fromkeys(others, first))
    named: dict[str, str] = {}
    return {whole: named.setdefault(led(whole), whole) for whole in known}


def telling_keys(inputs: Sequence[InputKeys]) -> frozenset[str]:
    """Return the digests by which inputs are told apart.

    These are all but those of long texts which most of many inputs share.
    """
    counts = Counter(key for one in inputs for key in set(one.long))
    most = _COMMON * len(inputs) if len(inputs) >= _MANY else len(inputs)
    common = {key for key, count in counts.items() if count > most}
    return frozenset(
        key for one in inputs for key in one.all if key == one.whole or key not in common
    )


def _words(text: str) -> str:
    return _NO_WORD.sub(" ", fold(text)).strip()
