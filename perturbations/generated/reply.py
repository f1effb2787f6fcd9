"""What a model meant as its text, without what models put around it."""

import re

__all__ = ["cleaned"]

_FENCE = re.compile(r"```[\w-]*\n(?P<text>.*?)\n?```", re.DOTALL)
_PREAMBLE = re.compile(
    r"(?:sure|certainly|okay|of course|here(?:'s| is| are)|the (?:changed|revised|modified)|changed"
    r"|revised|modified)\b[^\n]{0,80}?:\s+",
    re.IGNORECASE,
)
_QUOTES = (('"', '"'), ("“", "”"), ("'", "'"), ("‘", "’"), ("«", "»"))


def cleaned(reply: str, *, text: str, marks: tuple[str, ...] = ()) -> str:
    r"""Return the text that `reply` gives as the changed form of `text`.

    Code fences, quotation marks around all of it, words that announce it and lines that hold
    one of `marks` are taken off, each only where `text` itself has nothing of the kind.

    Examples
    --------
    >>> cleaned('Here is the changed text:\n"Bo left."', text="Ann left.")
    'Bo left.'
    """
    lines = (line for line in reply.splitlines() if not any(mark in line for mark in marks))
    told = "\n".join(lines).strip()
    fenced = _FENCE.search(told)
    if fenced and "```" not in text:
        told = fenced["text"].strip()
    if not _PREAMBLE.match(text):
        told = _PREAMBLE.sub("", told, count=1) if _PREAMBLE.match(told) else told
    return _unquoted(told, text=text.strip())


def _unquoted(told: str, *, text: str) -> str:
    for opening, closing in _QUOTES:
        quoted = told.startswith(opening) and told.endswith(closing) and len(told) > 1
        if quoted and not (text.startswith(opening) and text.endswith(closing)):
            return told[1:-1].strip()
    return told
