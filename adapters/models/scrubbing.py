"""Take keys and passwords out of a message before anyone can read or log it."""

import os
import re
from collections.abc import Iterable

__all__ = ["MASK", "scrub", "without_credentials"]

MASK = "[hidden]"

_SHORTEST_SECRET = 6  # shorter values would be found inside ordinary words
_SECRET_NAME = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS?)$", re.IGNORECASE)
_CREDENTIALS = re.compile(r"(?<=://)[^/\s]*@")
_SCHEME = re.compile(r"\b(bearer|basic)\s+[^\s\"',;}]+", re.IGNORECASE)
_KEY = re.compile(r"\b(?:sk|pk|rk|gsk|hf|xai|AIza)[-_]?[A-Za-z0-9_-]{16,}")


def scrub(text: str, *, known: Iterable[str] = ()) -> str:
    """Return `text` with every secret replaced by `MASK`.

    Hidden are the `known` secrets, the values of environment variables that are named as
    secrets are (``…_API_KEY``, ``…_TOKEN``), credentials in addresses, what follows
    ``Bearer``, and whatever looks like a provider's key.

    Examples
    --------
    >>> scrub("no access to http://me:pass@host/v1 with Bearer abc123")
    'no access to http://[hidden]@host/v1 with Bearer [hidden]'
    """
    for secret in sorted({*_secrets_of_environment(), *filter(None, known)}, key=len, reverse=True):
        text = text.replace(secret, MASK)
    text = _CREDENTIALS.sub(f"{MASK}@", text)
    text = _SCHEME.sub(rf"\1 {MASK}", text)
    return _KEY.sub(MASK, text)


def without_credentials(url: str) -> str:
    """Return `url` without user name and password.

    Examples
    --------
    >>> without_credentials("http://me:pass@host:8000/v1")
    'http://host:8000/v1'
    """
    return _CREDENTIALS.sub("", url)


def _secrets_of_environment() -> set[str]:
    return {
        value
        for name, value in os.environ.items()
        if _SECRET_NAME.search(name) and len(value) >= _SHORTEST_SECRET
    }
