"""The address that a server listens at, and who may use it."""

import hmac
import ipaddress
import re
import socket
from dataclasses import dataclass

from spanjury.judges.core import ConfigError, EvaluationError

PORT = 8766
_PORTS = range(1 << 16)
_TOKEN = re.compile(r"[\x21-\x7e]{16,}")
_ADDRESS = re.compile(
    r"(?P<host>\[[0-9a-fA-F:.%]+\]|[\w.-]*[a-zA-Z.][\w.-]*)?:?(?P<port>[0-9]{1,5})?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A host and a port; port 0 is a free one."""

    host: str = "127.0.0.1"
    port: int = PORT

    @classmethod
    def parse(cls, text: str) -> "Address":
        """Read ``HOST:PORT``, ``HOST``, ``PORT`` or ``[::1]:PORT``; raise `ConfigError`."""
        match = _ADDRESS.fullmatch(text)
        if match is None or int(match["port"] or 0) not in _PORTS:
            raise ConfigError(f"{text!r} is no address: expected HOST:PORT, as 127.0.0.1:{PORT}")
        host = (match["host"] or "").removeprefix("[").removesuffix("]")
        return cls(host=host or cls().host, port=int(match["port"] or PORT))

    @property
    def is_loopback(self) -> bool:
        """Whether only programs on this machine reach it."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def url_host(self) -> str:
        """The host as it stands in an address of the web."""
        return f"[{self.host}]" if ":" in self.host else self.host

    def bound(self) -> socket.socket:
        """Return a socket that listens there; raise `EvaluationError` if that cannot be."""
        try:
            return socket.create_server(
                (self.host, self.port), family=self._family, backlog=2048, reuse_port=False
            )
        except OSError as error:
            problem = (error.strerror or str(error)).partition(" (while")[0]
            raise EvaluationError(
                f"{self.url_host}:{self.port} cannot be used: {problem}"
            ) from error

    @property
    def _family(self) -> socket.AddressFamily:
        return socket.AF_INET6 if ":" in self.host else socket.AF_INET


def check_access(address: Address, token: str | None) -> None:
    """Raise `ConfigError` if others could use the server: without a token, or guessing one."""
    if token and not _TOKEN.fullmatch(token):
        raise ConfigError(
            "SPANJURY_SERVE_TOKEN: a token has 16 printable ASCII characters or more, and no spaces"
        )
    if not address.is_loopback and not token:
        raise ConfigError(
            f"{address.host} can be reached from other machines: set SPANJURY_SERVE_TOKEN to a"
            " secret that clients send as a bearer token"
        )


def is_bearer(header: str, token: str) -> bool:
    """Say whether an ``Authorization`` header holds `token`, in a time that tells nothing of it."""
    scheme, _, given = header.partition(" ")
    return scheme.lower() == "bearer" and hmac.compare_digest(
        given.strip().encode(), token.encode()
    )
