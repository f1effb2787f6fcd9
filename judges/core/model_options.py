"""Options by which a model is reached, the same for every backend, and addresses of servers.

A user gives the address of a server plainly, or names an environment variable that holds it. It is
stored with a run and printed in messages, so it must not contain a secret. An address that needs
one is put into a variable and given as ``env:NAME``, which is all that is stored.
"""

import os
import re
from dataclasses import dataclass

from spanjury.judges.core.addresses import without_secrets
from spanjury.judges.core.errors import ConfigError
from spanjury.judges.core.scrubbing import hide

_NAMED = re.compile(r"env:(?P<name>\w+)")
_WEB = re.compile(r"https?://[^/?#]", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """Connection options of a model.

    Raises `ValueError` if a number is not positive, or the minimum exceeds the maximum.

    Parameters
    ----------
    base_url
        Address of the server; None for the provider's own.
    max_connections
        Maximum number of concurrent calls to each server.
    min_connections
        Number of concurrent calls that stay allowed, however overloaded the server says it is.
    timeout
        Seconds that one attempt may take, from request to last byte.
    attempts
        Maximum number of tries of a call that fails with transient errors, the first included.
    requests_per_minute, tokens_per_minute
        Maximum number of requests, and of prompt and reply tokens together, per minute over all
        servers of the model; None for no limit.
    """

    base_url: str | None = None
    max_connections: int = 8
    min_connections: int = 1
    timeout: float = 120.0
    attempts: int = 4
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None

    def __post_init__(self) -> None:
        counts = (self.max_connections, self.min_connections, self.attempts)
        rates = (self.requests_per_minute, self.tokens_per_minute)
        if self.timeout <= 0 or any(n is not None and n < 1 for n in (*counts, *rates)):
            raise ValueError(
                "max_connections, timeout, attempts and what a minute allows must be positive:"
                f" {self!r}"
            )
        if self.min_connections > self.max_connections:
            raise ValueError(f"min_connections must not exceed max_connections: {self!r}")


def check_address(url: str) -> None:
    """Check that `url` is an address of a server and contains nothing that looks like a secret.

    Raises `ConfigError` if it does not; the message does not repeat the secret.
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

    Raises `ConfigError` if the variable is not set, or contains no address of a server.
    """
    named = None if url is None else _NAMED.fullmatch(url)
    if named is None:
        return url
    address = os.environ.get(named["name"], "").strip()
    if not _WEB.match(address):
        raise ConfigError(f"base URL {url!r}: {named['name']} holds no address of a server")
    return address
