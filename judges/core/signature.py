"""Signatures: what computes a number, in one readable line.

A signature names what computes and holds no version of spanjury, so that a release by itself
changes none. People are shown it `stamped`, with the version at its end.
"""

import hashlib

from spanjury.judges.core.version import VERSION

_STAMP = "|spanjury:"


def fingerprint(*texts: str) -> str:
    """Return 12 hexadecimal digits that change whenever one of `texts` does.

    Examples
    --------
    >>> fingerprint("a", "b") == fingerprint("ab")
    False
    """
    whole: list[bytes] = []
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        whole += (len(data).to_bytes(8, "big"), data)
    return hashlib.sha256(b"".join(whole)).hexdigest()[:12]


def signature(name: str, /, **parts: object) -> str:
    """Write a signature, ``name|key:value|…``.

    Examples
    --------
    >>> signature("grounding", order=3)
    'grounding|order:3'
    """
    return "|".join([name, *(f"{key}:{value}" for key, value in parts.items())])


def stamped(signature: str) -> str:
    """Return `signature` as people are shown it: with the version of spanjury at its end.

    Examples
    --------
    >>> unstamped(stamped("grounding|order:3"))
    'grounding|order:3'
    """
    return f"{signature}{_STAMP}{VERSION}"


def unstamped(signature: str) -> str:
    """Return `signature` without the version of spanjury, whichever it is."""
    return signature.partition(_STAMP)[0]
