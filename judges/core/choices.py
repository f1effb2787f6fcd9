"""The end of a message about an unknown name: the nearest name, and all valid names."""

from collections.abc import Iterable
from difflib import get_close_matches

_SIMILAR = 0.6  # minimum similarity of a suggestion; 1 means equal


def choices_for(name: str, names: Iterable[str]) -> str:
    """Return the valid names for an error message, with the one that was probably meant.

    Examples
    --------
    >>> choices_for("Consistncy", ["fluency", "consistency"])
    "did you mean 'consistency'? Choose from fluency, consistency"
    >>> choices_for("rhyme", ["fluency"]), choices_for("rhyme", [])
    ('choose from fluency', 'there are none')
    """
    choices = list(names)
    if not choices:
        return "there are none"
    listed = f"from {', '.join(choices)}"
    near = nearest_name(name, choices)
    return f"did you mean {near!r}? Choose {listed}" if near else f"choose {listed}"


def nearest_name(name: str, names: Iterable[str]) -> str:
    """Return the name that was probably meant by `name`; empty if none is similar.

    Examples
    --------
    >>> nearest_name("Rogue-1", ["bleu", "rouge-1"]), nearest_name("rhyme", ["bleu"])
    ('rouge-1', '')
    """
    folded = {choice.casefold(): choice for choice in names}
    near = get_close_matches(name.casefold(), folded, n=1, cutoff=_SIMILAR)
    return folded[near[0]] if near else ""
