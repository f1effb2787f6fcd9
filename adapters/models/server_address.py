"""The address of a server, where a request cannot carry all of it, and a key for one without."""

from spanjury.judges.core import MASK, ConfigError, without_secrets

__all__ = ["PLACEHOLDER_KEY", "refuse_credentials"]

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
