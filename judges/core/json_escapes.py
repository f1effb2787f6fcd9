"""Escapes in JSON that name no character: parsers differ in what they make of them."""

import re

# Keeps surrogate pairs and all other escapes, and finds lone surrogates.
_ESCAPE = re.compile(
    r"(\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\[^u])"
    r"|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)


def without_lone_escapes(text: str) -> str:
    r"""Return JSON in which the escape of a lone surrogate is that of U+FFFD.

    JSON can express a lone surrogate (``"\ud800"``) and UTF-8 cannot. Offsets into the texts stay
    valid.

    Examples
    --------
    >>> without_lone_escapes(r'"a\ud800b, \ud83d\ude00"')
    '"a\\ufffdb, \\ud83d\\ude00"'
    """
    return _ESCAPE.sub(lambda escape: escape[1] or r"\ufffd", text) if "\\u" in text else text
