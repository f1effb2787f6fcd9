"""Lone surrogates, which are not characters."""

import re

_SURROGATE = re.compile("[\ud800-\udfff]")


def without_lone_surrogates(text: str) -> str:
    r"""Return the text with a replacement character for each lone surrogate.

    A lone surrogate is not a character: it cannot be written in UTF-8, and tokenizers refuse it.

    Examples
    --------
    >>> without_lone_surrogates("a\ud800b") == "a\ufffdb"
    True
    """
    return _SURROGATE.sub("\ufffd", text)
