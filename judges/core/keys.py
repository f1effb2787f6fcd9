"""Keys under which a memory stores the answers of judges and models.

A key consists of everything that an answer depends on and nothing else. It must stay the same from
release to release, because the replies stored under it were paid for.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from functools import cache
from itertools import chain
from json.encoder import encode_basestring_ascii
from types import MappingProxyType

from spanjury.judges.core.aspect import Aspect, Task
from spanjury.judges.core.chat import ChatRequest, Decoding, Message, ToolCall, ToolSpec
from spanjury.judges.core.identity_cache import IdentityCache
from spanjury.judges.core.ports import Judge, KeyedJudge
from spanjury.judges.core.scale import Scale
from spanjury.judges.core.segment import Segment
from spanjury.judges.core.span import ErrorSpan

_LAYOUT = b"1"
"""Version of the keys, raised when they change, so that entries under former keys are ignored."""

_FIRST_FIELDS: Mapping[type, tuple[str, ...]] = MappingProxyType(
    {
        Aspect: (
            *("name", "task", "definition", "kind", "confusable"),
            *("worst", "best", "inputs", "needs", "scale"),
        ),
        ChatRequest: ("messages", "prefix", "decoding", "tools"),
        Decoding: ("temperature", "seed", "max_tokens", "grammar", "logprobs"),
        ErrorSpan: (
            *("text", "explanation", "severity", "start", "end"),
            *("category", "located", "found_by"),
        ),
        Message: ("role", "content", "tool_calls", "call_id"),
        Scale: ("labels",),
        Task: (
            *("name", "description", "output_header"),
            *("input_headers", "aliases", "default_aspects"),
        ),
        ToolCall: ("call_id", "name", "arguments"),
        ToolSpec: ("name", "description", "parameters"),
    }
)
"""Fields that are always written, in this order: those of version 0.1.0.

A field that is not listed here was added later and is written only if it differs from its default,
so requests that do not use it keep their keys. Nothing may ever be added here. A field whose
metadata has ``in_keys=False`` is never written."""


def digest(*parts: str | bytes) -> str:
    """Return 32 hexadecimal digits, because the 12 of `fingerprint` are too few for 10^8 keys."""
    whole = [_LAYOUT]
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        whole += (len(data).to_bytes(8, "big"), data)
    return hashlib.blake2b(b"".join(whole), digest_size=16).hexdigest()


def canonical(value: ChatRequest | Aspect | Scale | tuple[ErrorSpan, ...]) -> bytes:
    """Serialize `value` for a key: identical in every release, however many fields are added."""
    if isinstance(value, ChatRequest) and not (value.tools or value.forced):
        return _chat(value).encode()
    return json.dumps(value, default=_plain).encode()


def _chat(request: ChatRequest) -> str:
    """Write a plain request as ``json.dumps`` would, but faster: each model call needs one."""
    written = f'{{"messages": [{", ".join(map(_message, request.messages))}]'
    prefix, decoding = encode_basestring_ascii(request.prefix), _DECODINGS.of(request.decoding)
    return f'{written}, "prefix": {prefix}, "decoding": {decoding}, "tools": []}}'


def _message(message: Message) -> str:
    if message.tool_calls or message.call_id:
        return json.dumps(message, default=_plain)
    role, content = encode_basestring_ascii(message.role), encode_basestring_ascii(message.content)
    return f'{{"role": {role}, "content": {content}, "tool_calls": [], "call_id": ""}}'


def asked_about(segment: Segment, aspect: bytes) -> tuple[str | bytes, ...]:
    """Return all that a judge may see of `segment`, and an aspect in its `canonical` form."""
    return (
        aspect,
        segment.output,
        segment.system,
        segment.task,
        str(len(segment.inputs)),  # otherwise a reference could pass for an input
        *chain.from_iterable(segment.inputs.items()),
        *segment.references,
        *(() if segment.before is None else ("before", segment.before)),
    )


def report_key(judge: Judge, segment: Segment, aspect: Aspect) -> str:
    """Return a digest of everything that the report of `judge` on `segment` depends on."""
    if isinstance(judge, KeyedJudge):
        return digest(judge.signature, judge.report_key(segment, aspect))
    return digest(judge.signature, *asked_about(segment, canonical(aspect)))


def _plain(value: object) -> object:
    """Return a dataclass or a mapping as a dict, and a member of an enumeration as its value."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Enum):
        return value.value
    first, later = _fields(type(value))  # type: ignore[arg-type]  # every class is hashable
    written = {name: getattr(value, name) for name in first}
    for field in later:
        if (content := getattr(value, field.name)) != _default(field):
            written[field.name] = content
    return written


@cache
def _fields(kind: type) -> tuple[tuple[str, ...], tuple["Field[object]", ...]]:
    """Return the fields of version 0.1.0 of a dataclass, and its later fields sorted by name."""
    if not is_dataclass(kind):
        raise TypeError(f"a key cannot hold {kind.__name__}")
    first = _FIRST_FIELDS.get(kind, ())
    later = (
        field
        for field in fields(kind)
        if field.name not in first and field.metadata.get("in_keys", True)
    )
    return first, tuple(sorted(later, key=lambda field: field.name))


_DECODINGS = IdentityCache[Decoding, str](lambda decoding: json.dumps(decoding, default=_plain))


def _default(field: "Field[object]") -> object:
    """Return the default of `field`; `MISSING` if it has none, so that its value always differs."""
    return field.default if field.default_factory is MISSING else field.default_factory()
