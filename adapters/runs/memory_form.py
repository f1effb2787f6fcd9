"""The form of a memory: values under keys, each with a checksum."""

import zlib
from typing import cast

from spanjury.adapters.runs.database import Form
from spanjury.adapters.runs.sqlite_pages import Row

ANY = "SELECT 1 FROM memory LIMIT 1"
PUT = "INSERT OR REPLACE INTO memory (key, value, checksum) VALUES (?, ?, ?)"
GET = "SELECT value, checksum FROM memory WHERE key = ?"


def checksum_of(key: str, value: bytes) -> int:
    """Return the checksum that is kept beside `value`."""
    return zlib.crc32(value, zlib.crc32(key.encode("utf-8", "surrogatepass")))


def _checksum(row: Row) -> int:
    return checksum_of(*cast("tuple[str, bytes]", row))  # the form says so


MEMORY = Form(
    holds="memory",
    application=int.from_bytes(b"SpJm", "big"),
    layout=1,
    table=(
        "CREATE TABLE memory (key TEXT PRIMARY KEY, value BLOB NOT NULL,"
        " checksum INTEGER NOT NULL) STRICT"
    ),
    checksum=_checksum,
)
