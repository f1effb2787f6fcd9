"""Keys of remembered reports and former models, and turns at having something said.

The form of keys is that of `spanjury.judges.core.keys`.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache

from anyio import Lock

from spanjury.judges.core import Aspect, Judge, KeyedJudge, Segment
from spanjury.judges.core.keys import asked_about, canonical, digest

__all__ = ["ReportKeys", "Turns", "former_models"]

_FORMER_STAMP = "|spanjury:0.1.0"
"""The end of signatures in 0.1.0, the only release with its version in keys."""

_FORMER_CLIENTS = ("", *(f"|litellm:1.106.{patch}" for patch in range(2, 11)))
"""The part before it: for a model behind LiteLLM, a version of LiteLLM that 0.1.0 accepted."""

_MOST_ASPECTS = 1000
"""How many aspects a judge keeps as text, should each segment come with its own."""


class Turns:
    """One asker a key at a time."""

    def __init__(self) -> None:
        self._locks: dict[str, Lock] = {}

    @asynccontextmanager
    async def one(self, key: str) -> AsyncIterator[None]:
        """Wait for the turn at `key`, and hold it inside the context."""
        lock = self._locks.setdefault(key, Lock(fast_acquire=True))
        try:
            async with lock:
                yield
        finally:
            if not lock.locked():  # nobody waits: it was not handed on
                self._locks.pop(key, None)


class ReportKeys:
    """The keys of a judge's reports.

    Parameters
    ----------
    judge
        Its signature is read once: it cannot change while the judge sits.
    place
        Tells apart judges of one signature on one panel.
    """

    def __init__(self, judge: Judge, *, place: str) -> None:
        self._keyed = judge if isinstance(judge, KeyedJudge) else None
        self._signature = judge.signature
        self._place = place
        self._aspects: dict[int, tuple[Aspect, bytes]] = {}

    def of(
        self,
        segment: Segment,
        aspect: Aspect,
        *,
        what: str = "report",
        more: tuple[bytes, ...] = (),
    ) -> str:
        """Return the key of the report, or of something else that also depends on `more`."""
        depends = self._depends(segment, aspect)
        return digest(what, *more, self._signature, self._place, *depends)

    def former(self, segment: Segment, aspect: Aspect) -> str | None:
        """Return the key under which 0.1.0 kept the report; None if it must not be taken.

        A judge with a `report_key` makes its reports again of the replies. What any other
        said may have been paid for and be nowhere else.
        """
        if self._keyed is not None:
            return None
        name = f"{self._signature}{_FORMER_STAMP}"
        return digest("report", name, self._place, *self._depends(segment, aspect))

    def _depends(self, segment: Segment, aspect: Aspect) -> tuple[str | bytes, ...]:
        if self._keyed is not None:
            return (self._keyed.report_key(segment, aspect),)
        return asked_about(segment, self._text(aspect))

    def _text(self, aspect: Aspect) -> bytes:
        """Return all that `aspect` says: the same few come with every segment."""
        known = self._aspects.get(id(aspect))  # held here, so that no other gets its id
        if known is not None:
            return known[1]
        if len(self._aspects) >= _MOST_ASPECTS:
            self._aspects.clear()
        text = canonical(aspect)
        self._aspects[id(aspect)] = aspect, text
        return text


@cache
def former_models(signature: str) -> tuple[str, ...]:
    """Return the signatures that 0.1.0 may have given the model that `signature` names."""
    bare = signature.startswith("openai-compatible/")  # a lane that must not take longer for it
    clients = _FORMER_CLIENTS[:1] if bare else _FORMER_CLIENTS
    return tuple(f"{signature}{client}{_FORMER_STAMP}" for client in clients)
