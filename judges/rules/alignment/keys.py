"""Keys, shared by the forms of a word."""

from types import MappingProxyType

from spanjury.judges.text.kept import KeptByWord
from spanjury.judges.text.stems import stem

_FORMS = MappingProxyType(
    {
        "arose": "arise",
        "ate": "eat",
        "eaten": "eat",
        "beaten": "beat",
        "bitten": "bite",
        "bit": "bite",
        "chased": "chase",
        "forbade": "forbid",
        "forbidden": "forbid",
        "forgot": "forget",
        "forgotten": "forget",
        "hidden": "hide",
        "hid": "hide",
        "lent": "lend",
        "liked": "like",
        "likes": "like",
        "lowest": "low",
        "sank": "sink",
        "sunk": "sink",
        "shrank": "shrink",
        "shrunk": "shrink",
        "shook": "shake",
        "shaken": "shake",
        "sat": "sit",
        "slept": "sleep",
        "swept": "sweep",
        "tells": "tell",
        "told": "tell",
        "victories": "victory",
    }
)


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
