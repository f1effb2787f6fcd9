"""Keys, shared by the forms of a word."""

from collections.abc import Mapping
from types import MappingProxyType

from spanjury.judges.text.kept import KeptByWord
from spanjury.judges.text.stems import stem

_FORMS = MappingProxyType(
    dict(
        pair.split(":")
        for pair in """
        arose:arise ate:eat eaten:eat beaten:beat bitten:bite bit:bite chased:chase forbade:forbid
        forbidden:forbid forgot:forget forgotten:forget hidden:hide hid:hide lent:lend liked:like
        likes:like lowest:low sank:sink sunk:sink shrank:shrink shrunk:shrink shook:shake
        shaken:shake sat:sit slept:sleep swept:sweep tells:tell told:tell victories:victory
        """.split()  # noqa: SIM905 - so many read best so
    )
)
"""Irregular form -> the form whose key it shares."""


def key(word: str) -> str:
    """Return the key that all forms of a folded word share.

    Examples
    --------
    >>> key("beaten") == key("beat"), key("fell") == key("falling")
    (True, True)
    """
    return KEYS[word]


def _key(word: str) -> str:
    return stem(_FORMS.get(word, word))


KEYS = KeptByWord(_key)
"""Folded word -> its key."""


def keys_of(words: str) -> frozenset[str]:
    """Return the keys of folded words, which blanks separate."""
    return frozenset(map(key, words.split()))


def excluding(lines: str) -> Mapping[str, frozenset[str]]:
    """Map the key of each word to the keys of the words that exclude it.

    The words of a line are divided by slashes: those between two slashes may stand for one
    another, all others of the line exclude them. A word may stand between several slashes.

    Examples
    --------
    >>> excluding("red scarlet / blue")[key("blue")] == {key("red"), key("scarlet")}
    True
    """
    excluded: dict[str, set[str]] = {}
    for line in lines.strip().splitlines():
        groups = [*map(keys_of, line.split("/"))]
        every = frozenset[str]().union(*groups)
        for word in every:
            like = frozenset[str]().union(*(group for group in groups if word in group))
            excluded.setdefault(word, set()).update(every - like)
    return MappingProxyType({word: frozenset(others) for word, others in excluded.items()})
