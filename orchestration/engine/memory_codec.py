"""The content of a memory: reports, rescorings and replies as JSON, and their keys.

They are written by field name and parsed by hand: validating JSON libraries reject the lone
surrogates and the non-finite numbers that models and broken judges produce.
"""

import json
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from typing import TypeVar

import msgspec
from anyio import Event

from spanjury.judges.core import (
    Aspect,
    ErrorSpan,
    EventLog,
    Evidence,
    Finish,
    Judge,
    KeyedJudge,
    Located,
    Memory,
    Outcome,
    Reply,
    Report,
    Rescoring,
    RescoringMethod,
    Segment,
    StoreError,
    TemplateTokens,
    TokenLogprob,
    ToolCall,
    Unverified,
    Usage,
)
from spanjury.judges.core.identity_cache import IdentityCache
from spanjury.judges.core.keys import asked_about, canonical, digest

log = EventLog()

T = TypeVar("T")

_FORMER_STAMP = "|spanjury:0.1.0"
"""The end of signatures in 0.1.0, the only release with its version in keys."""

_FORMER_CLIENTS = ("", *(f"|litellm:1.106.{patch}" for patch in range(2, 11)))
"""The part before it: for a model behind LiteLLM, a version of LiteLLM that 0.1.0 accepted."""


def written(value: Report | Rescoring | Reply | TemplateTokens) -> bytes:
    """Return every field of `value` as JSON, including fields that are added to its type later.

    Examples
    --------
    >>> written(Reply(text="Score: Good"))[:36]
    b'{"text":"Score: Good","finish":"stop'
    """
    if _is_strict(value):
        with suppress(*_UNFIT):  # surrogates, numbers of other types
            return _STRICT.encode(value)
    return _LENIENT.encode(value).encode()


def _is_strict(value: Report | Rescoring | Reply | TemplateTokens) -> bool:
    """Return whether all numbers are finite: strict JSON would write null for the others."""
    if isinstance(value, Report):
        return value.score is None or math.isfinite(value.score)
    return isinstance(value, Reply) and all(map(_is_finite, value.logprobs))


def _is_finite(token: TokenLogprob) -> bool:
    return math.isfinite(token.logprob) and all(map(math.isfinite, token.top.values()))


def read_report(value: bytes) -> Report:
    """Return the report that was written; raise `StoreError` if it is not one."""
    with _reading("report"):
        row = json.loads(value)
        row["outcome"] = Outcome(row["outcome"])
        for span in row["spans"]:
            span["located"] = Located(span["located"])
            span["found_by"] = tuple(span["found_by"])
            span["evidence"] = tuple(Evidence(**evidence) for evidence in span.get("evidence", ()))
        row["spans"] = tuple(ErrorSpan(**span) for span in row["spans"])
        row["unverified"] = tuple(
            Unverified(**{**sentence, "words": tuple(sentence["words"])})
            for sentence in row.get("unverified", ())
        )
        row["usage"] = Usage(**row["usage"])
        return Report(**row)


def read_rescoring(value: bytes) -> Rescoring:
    """Return the rescoring that was written; raise `StoreError` if it is not one."""
    with _reading("rescoring"):
        row = json.loads(value)
        row["report"] = read_report(json.dumps(row["report"]).encode())
        name = row.pop("method" if "method" in row else "road")  # `road` until release 0.2
        row["method"] = RescoringMethod(name)
        return Rescoring(**row)


def read_reply(value: bytes) -> Reply:
    """Return the reply that was written; raise `StoreError` if it is not one."""
    with _reading("reply"):
        row = json.loads(value)
        row["finish"] = Finish(row["finish"])
        row["usage"] = Usage(**row["usage"])
        row["logprobs"] = tuple(TokenLogprob(**token) for token in row["logprobs"])
        row["tool_calls"] = tuple(ToolCall(**call) for call in row["tool_calls"])
        return Reply(**row)


def read_tokens(value: bytes) -> TemplateTokens:
    """Return the tokens that were written; raise `StoreError` if the value holds none."""
    with _reading("list of special tokens"):
        row = json.loads(value)
        return TemplateTokens(tokens=tuple(map(str, row["tokens"])), source=str(row["source"]))


@contextmanager
def _reading(what: str) -> Iterator[None]:
    try:
        yield
    except (ValueError, KeyError, TypeError) as error:
        raise StoreError(f"the remembered value is not a {what}: {error!r}") from error


def _plain(value: object) -> object:
    """Return a dataclass or a mapping as a dict, and a member of an enumeration as its value."""
    names = _names(type(value))  # type: ignore[arg-type]  # every class is hashable
    if names:
        return {name: getattr(value, name) for name in names}
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Enum):
        return value.value
    raise TypeError(f"JSON cannot hold {type(value).__name__}")


@cache
def _names(kind: type) -> tuple[str, ...]:
    """Return the names of a dataclass's fields; empty for any other class."""
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else ()


_STRICT = msgspec.json.Encoder()
_UNFIT = (msgspec.MsgspecError, TypeError, ValueError, OverflowError)
_LENIENT = json.JSONEncoder(default=_plain)


class ReportKeys:
    """The keys of a judge's reports.

    Parameters
    ----------
    judge
        Its signature is read once: it cannot change while the judge is on a panel.
    """

    def __init__(self, judge: Judge, *, place: str) -> None:
        self._keyed = judge if isinstance(judge, KeyedJudge) else None
        self._signature = judge.signature
        self._place = place
        self._aspects = IdentityCache[Aspect, bytes](canonical)

    def of(
        self,
        segment: Segment,
        aspect: Aspect,
        *,
        what: str = "report",
        more: tuple[bytes, ...] = (),
    ) -> str:
        """Return the key of the report, or of another result that also depends on `more`."""
        depends = self._depends(segment, aspect)
        return digest(what, *more, self._signature, self._place, *depends)

    def former(self, segment: Segment, aspect: Aspect) -> str | None:
        """Return the key under which 0.1.0 stored the report; None if that report must not be used.

        A judge with a `report_key` makes its reports again from the replies. The reports of any
        other judge may have been paid for and may exist nowhere else.
        """
        if self._keyed is not None:
            return None
        name = f"{self._signature}{_FORMER_STAMP}"
        return digest("report", name, self._place, *self._depends(segment, aspect))

    def _depends(self, segment: Segment, aspect: Aspect) -> tuple[str | bytes, ...]:
        if self._keyed is not None:
            return (self._keyed.report_key(segment, aspect),)
        return asked_about(segment, self._aspects.of(aspect))


@cache
def former_models(signature: str) -> tuple[str, ...]:
    """Return the signatures that 0.1.0 may have used for the model of `signature`."""
    bare = signature.startswith("openai-compatible/")  # the fast client must stay fast
    clients = _FORMER_CLIENTS[:1] if bare else _FORMER_CLIENTS
    return tuple(f"{signature}{client}{_FORMER_STAMP}" for client in clients)


class KeptValues:
    """Values of a memory; one task at a time computes each of them.

    Unreadable values are ignored, with one warning. They are not damaged, which the memory itself
    would detect: another version of spanjury wrote them, with other fields.
    """

    def __init__(self, memory: Memory, *, whose: str) -> None:
        self._memory = memory
        self._whose = whose
        self._has_warned = False
        self._turns: dict[str, Event | None] = {}

    def get(self, key: str, read: Callable[[bytes], T]) -> T | None:
        """Return the value under `key`, decoded by `read`; None if missing or unreadable."""
        value = self._memory.get(key)
        if value is None:
            return None
        try:
            return read(value)
        except StoreError as error:
            problem = str(error)
        self._warn(key, problem)
        return None

    def turn(self, key: str) -> "_Turn":
        """Return a lock for `key`, to be used with ``async with``.

        Its value is True if another task held the lock meanwhile, so that an earlier look-up may be
        outdated.
        """
        return _Turn(self._turns, key)

    def _warn(self, key: str, problem: str) -> None:
        if self._has_warned:
            return
        self._has_warned = True
        log.error(
            "memory.value_unreadable",
            key=key,
            whose=self._whose,
            problem=problem,
            remedy="it is requested again, like every other such value",
        )


class _Turn:
    """A task's lock on a key; `turns` maps locked keys to events for waiting tasks."""

    __slots__ = ("_key", "_turns")

    def __init__(self, turns: dict[str, Event | None], key: str) -> None:
        self._turns = turns
        self._key = key

    async def __aenter__(self) -> bool:
        has_waited = False
        while self._key in self._turns:
            ended = self._turns[self._key] = self._turns[self._key] or Event()
            await ended.wait()
            has_waited = True
        self._turns[self._key] = None
        return has_waited

    async def __aexit__(self, *_: object) -> None:
        if ended := self._turns.pop(self._key):
            ended.set()
