"""The schema of a memory: values under keys, each with a checksum of its stored form.

A value is compressed if that saves space. The first byte tells its form: 1 for raw DEFLATE with
the dictionary below, 0 if the following bytes are the value. Any other first byte belongs to a
value that is stored unchanged. Layout 1 has only such values, so a file may mix both layouts.
"""

import zlib
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
_DICTIONARY = (
    b"is not about the form of the textThe number does not occur in the source. of its content"
    b" words are missing from the source. places without support. The source has 71% of what is"
    b" said (numbers, dates, names doubly) and 21% of the sequences of words.The source says "
    b'{"text":"Error 1:\\nLocation: \\"\\"\\nExplanation: The \\nSeverity: 5\\n\\nError 2:'
    b'\\nLocation: \\"\\"\\nExplanation: \\nSeverity: 4\\n\\nError 3:\\nOverall score: Good'
    b'\\nExplanation of the score: ","finish":"stop","reasoning":"","usage":{"calls":0,'
    b'"prompt":0,"cached":0,"completion":0,"reasoning":0},"logprobs":[],"tool_calls":[]}'
    b'{"outcome":"abstained","score":null,"spans":[],"rationale":"'
    b'{"outcome":"scored","score":3,"spans":[{"text":"","explanation":"The ","severity":4,'
    b'"start":0,"end":1,"category":"unsupported number","located":"exact","found_by":[],'
    b'"evidence":[{"input":"Source","start":0,"end":1,"text":""}],"probability":null},'
    b'{"text":"","explanation":"","severity":3,"start":0,"end":1,"category":"",'
    b'"located":"exact","found_by":[],"evidence":[],"probability":0.9}],"rationale":"",'
    b'"reason":"","reply":"Error 1:\\nLocation: \\"","usage":{"calls":1,"prompt":1,"cached":0,'
    b'"completion":1,"reasoning":0},"error_probability":null,"unverified":[{"start":0,"end":1,'
    b'"text":"","probability":0.6,"reason":"","words":["","number"]}]}'
    b'{"id": "row-", "aspect": "consistency", "score": 3.0, "outcome": "scored", "spans":'
    b' [{"start": 0, "end": 1, "text": "", "explanation": "", "severity": 4, "category":'
    b' "contradicted number", "located": "exact", "evidence": [{"input": "Source", "start": 0,'
    b' "end": 1, "text": ""}], "probability": null, "found_by": ["annotator:"]}], "seats":'
    b' [{"judge": "annotator:", "signature": "annotator|model:|prompt:|temperature:0.0|seed:None'
    b'|max_tokens:1024|form:auto|parser:3|max_spans:8|rules:|code:|spanjury:0.2.0", "outcome":'
    b' "scored", "score": 3, "spans": [{"start": 0, "end": 1, "text": "", "explanation": "",'
    b' "severity": 3, "category": "", "located": "exact", "evidence": [], "probability": null}],'
    b' "rationale": "", "usage": {"calls": 1, "prompt": 0, "cached": 0, "completion": 0,'
    b' "reasoning": 0}, "seconds": 0.0, "reason": "", "reply": null, "error_probability": null,'
    b' "unverified": []}], "aggregation": "probability", "aggregation": "mean", "consolidator":'
    b' "rules", "task": "summarization", "system": "", "reason": "", "signature":'
    b' "panel|seats:|aggregation:mean|consolidator:|probability:|decision:|spanjury:0.2.0",'
    b' "set_aside": [], "left_out": 0, "decision": "faulty", "error_probability": null,'
    b' "decision_basis": {"ground": "probability", "reason": "The probability of an error is 0.90,'
    b' 0.81 or more.", "threshold": null, "measured_on": "968 texts without error of six sets that'
    b' were left out of training", "ground": "spans", "reason": "An error of severity 4 or 5 is'
    b' marked.", "threshold": null, "false_alarms": null, "measured_on": "", "misses": null,'
    b' "spread": null}, "unasked": null, "unverified": []}\n'
)
"""Text that reports, replies and rows have in common.

Never change it, or stored values become unreadable.
"""


def packed(key: str, value: bytes) -> tuple[str, bytes, int]:
    """Return the row for `value`: its key, its stored form, and the checksum of both."""
    stored = _compressed(value) if len(value) >= _LEAST else value
    if stored is value and value[:1] in {_AS_IT_IS, _DEFLATED}:
        stored = _AS_IT_IS + value
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


def _compressed(value: bytes) -> bytes:
    """Return the compressed value, or `value` itself if compression saves nothing."""
    compressor = zlib.compressobj(_LEVEL, wbits=-zlib.MAX_WBITS, zdict=_DICTIONARY)
    stored = _DEFLATED + compressor.compress(value) + compressor.flush()
    return stored if len(stored) < len(value) else value


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
