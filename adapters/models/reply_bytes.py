"""Bytes of an answer: the size that a request allows, and receiving no more than that.

The server decides how long its answer is, so the answer is cut at the limit and never held as a
whole. The limit applies to decompressed bytes, because a few compressed bytes can become very many.
"""

import zlib
from collections.abc import Mapping

from spanjury.judges.core import Decoding, PermanentModelError, TransientModelError

IDENTITY = {"Accept-Encoding": "identity"}
"""Asks a server not to compress: answers are short, and decompressing can be expensive."""

_MOST_ERROR_BYTES = 2**16
"""Number of bytes to read of an error's body; the rest is skipped."""

_ENVELOPE = 2**20  # around the reply: ids, usage, a server's own fields
# Far more bytes than a token takes: the longest tokens are about 100 blanks, or a few letters as
# \uXXXX, and some servers write the text twice.
_TOKEN = 2**8
_LOGPROB = 2**8  # a token, its logarithm, and its bytes as a list of numbers
_PACKED = frozenset({"gzip", "x-gzip", "deflate"})
_EITHER_HEADER = 32 + zlib.MAX_WBITS  # lets zlib detect a gzip or zlib header


def most_bytes(decoding: Decoding) -> int:
    """Return the maximum size in bytes of a request's answer; generous, so that no reply is cut.

    Examples
    --------
    >>> most_bytes(Decoding(max_tokens=1024))
    1310720
    """
    logprobs = _LOGPROB * (1 + decoding.logprobs) if decoding.logprobs else 0
    return _ENVELOPE + decoding.max_tokens * (_TOKEN + logprobs)


class ReplyBytes:
    """The bytes of one answer, decompressed and limited as they arrive.

    If it `succeeded`, the answer is a reply, which must be complete, and is limited by the
    request's decoding. Of a failed answer, only the beginning is read, which says what went wrong.

    Raises `TransientModelError` if a reply has an unrequested compression that is unsupported.
    """

    def __init__(
        self, headers: Mapping[str, str], *, succeeded: bool, decoding: Decoding, source: str
    ) -> None:
        self._most = most_bytes(decoding) if succeeded else _MOST_ERROR_BYTES
        self._succeeded = succeeded
        self._max_tokens = decoding.max_tokens
        self._source = source
        self._received = 0
        self._packed = _is_packed(headers, source=source)
        # Created only if needed: most replies are not compressed, and a decompressor takes 40 kB.
        self._unpacker = zlib.decompressobj(_EITHER_HEADER) if self._packed else None

    @property
    def is_full(self) -> bool:
        """True if nothing more needs to be read."""
        return self._received >= self._most and not self._succeeded

    def receive(self, chunk: bytes) -> bytes:
        """Return the bytes that `chunk` adds to the answer, up to the limit.

        Raises `PermanentModelError` if a reply exceeds the limit, since a retry would, too. Raises
        `zlib.error` if the body is not compressed as its header says.
        """
        room = self._most - self._received + 1
        piece = self._unpacked(chunk, room) if self._packed else chunk[:room]
        self._received += len(piece)
        if self._received > self._most and self._succeeded:
            raise PermanentModelError(
                f"{self._source}: the reply is longer than {self._most} bytes, more than"
                f" {self._max_tokens} tokens can take: the server does not keep to max_tokens, or"
                " its address is not a model's"
            )
        return piece

    def _unpacked(self, chunk: bytes, room: int) -> bytes:
        """Decompress `chunk`, which may have the end of a gzip member and the start of others."""
        pieces = bytearray()
        assert self._unpacker is not None
        while chunk and len(pieces) < room:
            if self._unpacker.eof:
                self._unpacker = zlib.decompressobj(_EITHER_HEADER)
            pieces += self._unpacker.decompress(chunk, room - len(pieces))
            chunk = self._unpacker.unused_data if self._unpacker.eof else b""
        return bytes(pieces)


def _is_packed(headers: Mapping[str, str], *, source: str) -> bool:
    """Return whether an answer is compressed; raise if it cannot be decompressed in pieces."""
    encoding = headers.get("Content-Encoding", "").strip().lower()
    if encoding in {"", "identity"}:
        return False
    if encoding not in _PACKED:
        raise TransientModelError(
            f"{source}: the reply is packed as {encoding[:20]!r}, though it was asked for unpacked"
        )
    return True
