"""Take a model's reasoning off its answer, where the two come in one text."""

import re

__all__ = ["without_reasoning"]

_TAG = r"(?:think|thinking|thought|reasoning)"
_OPENING = re.compile(rf"^[ \t]*+<{_TAG}>", re.IGNORECASE | re.MULTILINE)
_CLOSING = re.compile(rf"</{_TAG}>", re.IGNORECASE)
# Some servers swallow the opening tag. A closing one alone counts at an edge of its line:
# in the middle it may be part of a quotation.
_ORPHAN = re.compile(rf"(?:^[ \t]*+</{_TAG}>|</{_TAG}>[ \t]*+$)", re.IGNORECASE | re.MULTILINE)


def without_reasoning(reply: str) -> str | None:
    """Return `reply` without its reasoning, or None if that is never closed.

    Examples
    --------
    >>> without_reasoning("<think>Hm.</think>No Error")
    'No Error'
    """
    if "<" not in reply:
        return reply
    kept = []
    done = 0
    while opening := _OPENING.search(reply, done):
        closing = _CLOSING.search(reply, opening.end())
        if closing is None:
            return None
        kept.append(reply[done : opening.start()])
        done = closing.end()
    kept.append(reply[done:])
    return _ORPHAN.split("".join(kept))[-1]
