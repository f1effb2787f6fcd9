"""Signatures: one readable line that describes how a number was computed.

A signature contains no version of spanjury, so that a release alone changes none. People see it
`stamped`, with the version at its end.
"""

import hashlib

from spanjury.judges.core.version import VERSION

_STAMP = "|spanjury:"


def fingerprint(*texts: str) -> str:
    """Return 12 hexadecimal digits that change whenever one of `texts` does."""
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
    """Return `signature` as people see it, with the version of spanjury at its end."""
    return f"{signature}{_STAMP}{VERSION}"


def unstamped(signature: str) -> str:
    """Return `signature` without the version of spanjury."""
    return signature.partition(_STAMP)[0]
