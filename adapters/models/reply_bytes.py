"""The bytes of an answer: how many a request allows, and how they are received without more.

A server decides how long its answer is, so the answer is cut at the first byte too many and
never held as a whole. Bounded are the bytes as unpacked: a few that were packed can become
very many.
"""

import zlib
from collections.abc import Mapping

from spanjury.judges.core import Decoding, PermanentModelError, TransientModelError

IDENTITY = {"Accept-Encoding": "identity"}
"""Asks a server not to pack its answer: answers are short, and unpacking them can be expensive."""

_MOST_ERROR_BYTES = 2**16
"""Bytes that are read of the answer that says what went wrong; the rest is not asked for."""

_ENVELOPE = 2**20  # what stands around the reply: ids, usage, a server's own fields
# Far above what a token takes: the longest are some 100 blanks, or a few letters as \uXXXX,
# and some servers write the text twice.
_TOKEN = 2**8
_LOGPROB = 2**8  # a token, its logarithm and its bytes, as a list of numbers
_PACKED = frozenset({"gzip", "x-gzip", "deflate"})
_EITHER_HEADER = 32 + zlib.MAX_WBITS  # gzip's or zlib's


def most_bytes(decoding: Decoding) -> int:
    """Return how many bytes the answer to a request may have: generous, so that none is cut.

    Examples
    --------
    >>> most_bytes(Decoding(max_tokens=1024))
    1310720
    """
    logprobs = _LOGPROB * (1 + decoding.logprobs) if decoding.logprobs else 0
    return _ENVELOPE + decoding.max_tokens * (_TOKEN + logprobs)


class ReplyBytes:
    """The bytes of one answer as they arrive, unpacked and bounded.

    An answer that `succeeded` is a reply, which must be whole and is bounded by the request's
    decoding; of another one, which says what went wrong, the beginning is enough.

    Raises `TransientModelError` if a reply is packed in a manner that was not asked for.
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
        # Most replies are not, and what unpacks them takes 40 kB.
        self._unpacker = zlib.decompressobj(_EITHER_HEADER) if self._packed else None

    @property
    def is_full(self) -> bool:
        """True if nothing more need be read."""
        return self._received >= self._most and not self._succeeded

    def receive(self, chunk: bytes) -> bytes:
        """Return what `chunk` adds to the answer, and no more of it than may be.

        Raises `PermanentModelError` if a reply becomes longer than its request allows: it would
        again. Raises `zlib.error` if it says that it is packed and is not.
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
        """Unpack `chunk`, which may hold the end of one gzip member and the start of others."""
        pieces = bytearray()
        assert self._unpacker is not None
        while chunk and len(pieces) < room:
            if self._unpacker.eof:
                self._unpacker = zlib.decompressobj(_EITHER_HEADER)
            pieces += self._unpacker.decompress(chunk, room - len(pieces))
            chunk = self._unpacker.unused_data if self._unpacker.eof else b""
        return bytes(pieces)


def _is_packed(headers: Mapping[str, str], *, source: str) -> bool:
    """Tell whether an answer is packed in a manner that can be unpacked piece by piece."""
    encoding = headers.get("Content-Encoding", "").strip().lower()
    if encoding in {"", "identity"}:
        return False
    if encoding not in _PACKED:
        raise TransientModelError(
            f"{source}: the reply is packed as {encoding[:20]!r}, though it was asked for unpacked"
        )
    return True
