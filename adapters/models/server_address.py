"""The address and the key of a server, where a request cannot carry them, and a key for none."""

import os

from spanjury.judges.core import MASK, ConfigError, without_secrets

__all__ = ["PLACEHOLDER_KEY", "key_from", "refuse_credentials"]

PLACEHOLDER_KEY = "none-needed"
"""Shown to a server for which the user has no key: it may want none."""


def refuse_credentials(base_url: str) -> None:
    """Turn away an address with a user name or password in it.

    No request could send them beside a key.

    Raises
    ------
    ConfigError
        If `base_url` holds credentials; the message does not repeat them.
    """
    safe = without_secrets(base_url)
    if f"{MASK}@" in safe:
        raise ConfigError(
            f"base URL {safe!r}: leave user name and password out, and put the server's key"
            " into the environment"
        )


def key_from(variable: str) -> str | None:
    """Return the key that an environment variable holds, or None if it holds none.

    Raises
    ------
    ConfigError
        If no header can carry it; the message does not repeat it.
    """
    key = os.environ.get(variable, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise ConfigError(f"{variable} holds characters that no HTTP header can carry")
    return key or None
