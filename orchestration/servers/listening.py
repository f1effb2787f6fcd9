"""Listening: the socket of a server, and whether others than programs on this machine reach it."""

import ipaddress
import os
import socket
import sys
from pathlib import Path

from spanjury.judges.core import ConfigError, ServiceError
from spanjury.orchestration.servers.tokens import VARIABLE, Tokens, read_tokens

BACKLOG = 2_048
"""Connections that may wait to be taken on."""
LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
"""Names by which programs on this machine ask a server that listens to them alone."""


def is_loopback(host: str) -> bool:
    """Say whether only programs on this machine reach a server that listens at `host`.

    Examples
    --------
    >>> is_loopback("localhost"), is_loopback("127.8.0.1"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host in LOOPBACK:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def require_access(host: str, tokens: Tokens) -> None:
    """Raise `ConfigError` if anyone could use the server: from elsewhere, and without a token."""
    if not is_loopback(host) and not tokens:
        raise ConfigError(
            f"{host} is not a loopback address: anyone who reaches it could spend your models' "
            f"money; set a token in {VARIABLE} or with --token-file"
        )


def access_to(host: str, token_file: Path | None) -> Tokens:
    """Return the tokens of the environment and a file; raise as `read_tokens`, `require_access`."""
    tokens = read_tokens(os.environ.get(VARIABLE), token_file)
    require_access(host, tokens)
    return tokens


def url_of(host: str, port: int) -> str:
    """Return the address of a server on the web.

    Examples
    --------
    >>> url_of("::1", 80)
    'http://[::1]:80'
    """
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens there, for ``with``; port 0 is any that is free.

    Raise `ServiceError` if that cannot be.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Named as TCP, or asyncio would hold answers back for 40 ms (Nagle's algorithm).
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if sys.platform != "win32":  # where it would let two servers share a port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(BACKLOG)
    except (OSError, OverflowError) as error:
        listener.close()
        problem = getattr(error, "strerror", None) or error
        raise ServiceError(f"{host}:{port}: cannot listen there: {problem}") from error
    listener.settimeout(0.0)  # the event loop waits for it
    return listener
