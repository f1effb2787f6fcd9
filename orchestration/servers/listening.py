"""Listening sockets, and whether programs on other machines can reach them."""

import ipaddress
import os
import socket
import sys
from pathlib import Path

from spanjury.judges.core import ConfigError, ServiceError
from spanjury.judges.core.errors import reason_of
from spanjury.orchestration.servers.tokens import VARIABLE, Tokens, read_tokens

BACKLOG = 2_048
"""Most connections that wait to be accepted."""
LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
"""Host names by which programs on this machine address a loopback server."""


def is_loopback(host: str) -> bool:
    """Return whether only programs on this machine can reach a server that listens at `host`."""
    if host in LOOPBACK:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:  # a host name
        return False


def require_access(host: str, tokens: Tokens) -> None:
    """Raise `ConfigError` if anyone could use the server, from elsewhere and without a token."""
    if not is_loopback(host) and not tokens:
        raise ConfigError(
            f"{host} is not a loopback address: anyone who reaches it could spend your models' "
            f"money; set a token in {VARIABLE} or with --token-file"
        )


def access_to(host: str, token_file: Path | None) -> Tokens:
    """Return the tokens of the environment and a file; see `read_tokens` and `require_access`."""
    tokens = read_tokens(os.environ.get(VARIABLE), token_file)
    require_access(host, tokens)
    return tokens


def url_of(host: str, port: int) -> str:
    """Return the URL of a server.

    Examples
    --------
    >>> url_of("::1", 80)
    'http://[::1]:80'
    """
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def listening(host: str, port: int) -> socket.socket:
    """Return a listening socket, as a context manager; port 0 selects a free port.

    Raise `ServiceError` if the socket cannot listen.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio disables Nagle's algorithm, which delays answers by 40 ms, only if TCP is named here.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if sys.platform != "win32":  # on Windows it would let two servers share a port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(BACKLOG)
    except (OSError, OverflowError) as error:
        listener.close()
        raise ServiceError(f"{host}:{port}: cannot listen there: {reason_of(error)}") from error
    listener.settimeout(0.0)  # non-blocking, as the event loop requires
    return listener
