"""The schema of a memory: values under keys, each with a checksum of its stored form.

A value is compressed if that saves space. The first byte tells its form: 1 for raw DEFLATE with
the dictionary, 0 if the following bytes are the value. Any other first byte belongs to a
value that is stored unchanged. Layout 1 has only such values, so a file may mix both layouts.
"""

import zlib
from importlib.resources import files
from typing import cast

from spanjury.adapters.runs.database import Form
from spanjury.adapters.runs.sqlite_pages import Row

ANY = "SELECT 1 FROM memory LIMIT 1"
PUT = "INSERT OR REPLACE INTO memory (key, value, checksum) VALUES (?, ?, ?)"
GET = "SELECT value, checksum FROM memory WHERE key = ?"

_AS_IT_IS, _DEFLATED = b"\x00", b"\x01"
_LEAST = 128
"""Minimum size in bytes for compression; a ledger, which changes often, is smaller."""
_LEVEL = 1
"""Higher levels save 10 % more space, but take 50 % more time."""
_MOST = 2**30
"""Maximum size in bytes of an unpacked value: SQLite's own limit."""
_DICTIONARY = files("spanjury.adapters.runs").joinpath("dictionary.txt").read_text("ascii").encode()
"""Text that reports, replies and rows have in common.

Never change it, or stored values become unreadable.
"""


def packed(key: str, value: bytes) -> tuple[str, bytes, int]:
    """Return the row for `value`: its key, its stored form, and the checksum of both."""
    stored = _AS_IT_IS + value if value[:1] in {_AS_IT_IS, _DEFLATED} else value
    if len(value) >= _LEAST:
        compressor = zlib.compressobj(_LEVEL, wbits=-zlib.MAX_WBITS, zdict=_DICTIONARY)
        compressed = _DEFLATED + compressor.compress(value) + compressor.flush()
        stored = compressed if len(compressed) < len(value) else stored
    return key, stored, checksum_of(key, stored)


def unpacked(key: str, stored: bytes, checksum: int) -> bytes | None:
    """Return the value of a row; None if it is damaged."""
    if checksum != checksum_of(key, stored):
        return None
    kind = stored[:1]
    if kind == _DEFLATED:
        return _decompressed(stored)
    return stored[1:] if kind == _AS_IT_IS else stored


def checksum_of(key: str, stored: bytes) -> int:
    """Return the checksum of a key and its stored form."""
    return zlib.crc32(stored, zlib.crc32(key.encode("utf-8", "surrogatepass")))


def _decompressed(stored: bytes) -> bytes | None:
    decompressor = zlib.decompressobj(wbits=-zlib.MAX_WBITS, zdict=_DICTIONARY)
    try:
        value = decompressor.decompress(memoryview(stored)[1:], _MOST)
    except zlib.error:  # e.g. a later version's dictionary
        return None
    return value if decompressor.eof else None


def _checksum(row: Row) -> int:
    return checksum_of(*cast("tuple[str, bytes]", row))  # checked by the form's types


MEMORY = Form(
    holds="memory",
    application=int.from_bytes(b"SpJm", "big"),
    layout=2,
    older=frozenset({1}),
    table=(
        "CREATE TABLE memory (key TEXT PRIMARY KEY, value BLOB NOT NULL,"
        " checksum INTEGER NOT NULL) STRICT"
    ),
    checksum=_checksum,
)
