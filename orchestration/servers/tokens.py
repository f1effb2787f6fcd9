"""Tokens: they authenticate clients and identify their tenants.

Each token belongs to a tenant, and a tenant sees only its own batches. Tokens are stored as digests
and compared in constant time.
"""

import hmac
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from hashlib import sha256
from pathlib import Path
from urllib.parse import parse_qsl, unquote_to_bytes

import msgspec

from spanjury.judges.core import ConfigError
from spanjury.orchestration.services.serving.quotas import Quotas

VARIABLE = "SPANJURY_SERVE_TOKEN"
"""Environment variable with the token of the tenant `SOLE`."""
SOLE = "default"
"""Name of the tenant of a token without a name."""
LOCAL = "local"
"""Name of the tenant of a service without tokens."""

_SHORTEST = 16
_TENANT = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_SPACE_BEFORE_LIMIT = re.compile(r"\s+(?=[a-z]+=\S*(?:\s|$))")
_TOKEN = re.compile(r"[\x21-\x7e]+")
_SUSPECT = re.compile(r"(^|[_-])(api[_-]?key|auth|authorization|bearer|key|token)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of a service: tenant by digest of the token, and quotas by tenant."""

    _tenants: Mapping[bytes, str] = field(default_factory=dict)
    quotas: Mapping[str, Quotas] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self._tenants)

    @property
    def are_shared(self) -> bool:
        """True if they belong to several tenants."""
        return len(set(self._tenants.values())) > 1

    def tenant(self, token: bytes) -> str | None:
        """Return the tenant of a token, or None, in constant time."""
        asked, owner = _digest(token), None
        for digest, tenant in self._tenants.items():
            if hmac.compare_digest(digest, asked):
                owner = tenant
        return owner

    def bearer(self, authorization: Sequence[str]) -> str | None:
        """Return the tenant of the token in a request's ``Authorization`` headers, or None.

        Two headers are rejected: a proxy may have checked the other one.
        """
        if len(authorization) != 1:
            return None
        scheme, _, token = authorization[0].partition(" ")
        tenant = self.tenant(token.strip().encode("utf-8", "replace"))
        return tenant if scheme.lower() == "bearer" else None

    def is_in_address(self, path: bytes, query: bytes) -> bool:
        """Return whether a URL contains one of these tokens, or a parameter named like one."""
        pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
        if any(_SUSPECT.search(name) for name, _ in pairs):
            return True
        texts = [unquote_to_bytes(part) for part in path.split(b"/")]
        texts += [text.encode("utf-8", "replace") for pair in pairs for text in pair]
        return any(self.tenant(text) is not None for text in texts if text)


def read_tokens(variable: str | None, file: Path | None) -> Tokens:
    """Return the tokens in the environment and in a file.

    `variable` is the value of the environment variable. The file has one ``TENANT:TOKEN`` a line; a
    line with only a token belongs to the tenant `SOLE`. Quotas may follow, as ``calls=1000
    dollars=5 rows=100000 disk=1000000000 per=day``. Blank lines and lines that begin with ``#`` are
    skipped. Raise `ConfigError`, whose message shows no token, if the file cannot be read or has no
    token, a token is too short, not printable ASCII or belongs to two tenants, or quotas are
    invalid.
    """
    tenants: dict[bytes, str] = {}
    quotas: dict[str, Quotas] = {}
    if variable:
        _add(tenants, SOLE, variable.strip(), origin=VARIABLE)
    for number, line in enumerate(_lines(file), start=1):
        if line and not line.startswith("#"):
            client, *limits = _SPACE_BEFORE_LIMIT.split(line)
            tenant, colon, token = client.partition(":")
            origin = f"{file}, line {number}"
            owner, token = (tenant.strip(), token.strip()) if colon else (SOLE, client)
            _add(tenants, owner, token, origin=origin)
            if limits:
                given = _quotas(limits, origin)
                if quotas.setdefault(owner, given) != given:
                    raise ConfigError(f"{origin}: this tenant has other quotas in an earlier line")
    if file is not None and not tenants:
        raise ConfigError(f"{file} holds no token; expected one TENANT:TOKEN per line")
    return Tokens(tenants, quotas)


def _lines(file: Path | None) -> list[str]:
    if file is None:
        return []
    try:
        return [line.strip() for line in file.read_text(encoding="utf-8").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        problem = getattr(error, "strerror", None) or "it is not UTF-8"
        raise ConfigError(f"the token file {file} cannot be read: {problem}") from error


def _add(tenants: dict[bytes, str], tenant: str, token: str, *, origin: str) -> None:
    if not _TENANT.fullmatch(tenant):
        raise ConfigError(f"{origin}: expected TENANT:TOKEN, with a tenant of letters and digits")
    if not _TOKEN.fullmatch(token) or len(token) < _SHORTEST:
        raise ConfigError(
            f"{origin}: a token has {_SHORTEST} printable ASCII characters or more, and no spaces"
        )
    if tenants.setdefault(_digest(token.encode()), tenant) != tenant:
        raise ConfigError(f"{origin}: this token already belongs to another tenant")


def _quotas(limits: list[str], origin: str) -> Quotas:
    given = dict(limit.split("=", 1) for limit in limits)
    names = [quota.name for quota in fields(Quotas)]
    if len(given) < len(limits) or not given.keys() <= set(names):
        raise ConfigError(f"{origin}: expected {', '.join(names)}, each once, as calls=1000")
    try:
        return msgspec.convert(given, Quotas, strict=False)
    except (msgspec.ValidationError, ConfigError) as error:
        raise ConfigError(f"{origin}: {error}") from error


def _digest(token: bytes) -> bytes:
    return sha256(token).digest()
