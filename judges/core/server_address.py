"""The address of a server as a user gives it: literal, or named by an environment variable.

An address is stored with a run and printed in messages, so it must not hold a secret. A user puts
an address with a secret into an environment variable and writes ``env:NAME``, and only that is
stored.
"""

import os
import re

from spanjury.judges.core.addresses import without_secrets
from spanjury.judges.core.errors import ConfigError
from spanjury.judges.core.scrubbing import hide

_NAMED = re.compile(r"env:(?P<name>\w+)")
_WEB = re.compile(r"https?://[^/?#]", re.IGNORECASE)


def check_address(url: str) -> None:
    """Check that `url` is an address of a server and contains nothing that looks like a secret.

    Raises
    ------
    ConfigError
        If it does not; the message does not repeat the secret.

    Examples
    --------
    >>> check_address("http://localhost:8000/v1")
    >>> check_address("env:JUDGE_ADDRESS")
    """
    if _NAMED.fullmatch(url):
        return
    safe = hide(without_secrets(url))
    if safe != url:
        raise ConfigError(
            f"base URL {safe!r} holds a secret, or what looks like one, and would be stored with"
            " the run: put the server's key into the environment; where the address itself is"
            " secret, put it into a variable and write env:VARIABLE"
        )
    if not _WEB.match(url):
        raise ConfigError(
            f"base URL {safe.rpartition('@')[2]!r}: expected an address, as"
            " http://localhost:8000/v1, or env:VARIABLE"
        )


def address_of(url: str | None) -> str | None:
    """Return `url`, or the address in the environment variable that it names.

    Raises
    ------
    ConfigError
        If the variable is not set, or contains no address of a server.
    """
    named = None if url is None else _NAMED.fullmatch(url)
    if named is None:
        return url
    address = os.environ.get(named["name"], "").strip()
    if not _WEB.match(address):
        raise ConfigError(f"base URL {url!r}: {named['name']} holds no address of a server")
    return address
