"""Replay: a panel assesses again from recorded replies, and all model calls are recorded."""

from contextvars import ContextVar
from dataclasses import dataclass, field

from spanjury.judges.core import Aspect, ChatModel, ChatRequest, Judge, Reply, Report, Segment

_SEAT: ContextVar[str] = ContextVar("seat", default="")


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call to a model; `seat` is empty for a call of the consolidator."""

    seat: str
    request: ChatRequest
    reply: Reply


@dataclass(slots=True)
class Recorder:
    """The calls of a panel, in the order in which they were answered."""

    calls: list[Call] = field(default_factory=list)

    def model(self, model: ChatModel) -> ChatModel:
        """Wrap `model` so that its calls are recorded."""
        return _RecordedModel(model, self)

    def judge(self, judge: Judge, *, seat: str) -> Judge:
        """Wrap `judge` so that its calls are recorded under the name of a seat."""
        return _SeatedJudge(judge, seat)


@dataclass(frozen=True, slots=True)
class NoMemory:
    """A memory that keeps nothing, so that every report is made again."""

    def get(self, key: str) -> None:
        """Return None."""

    async def put(self, key: str, value: bytes) -> None:
        """Do nothing."""

    async def put_soon(self, key: str, value: bytes) -> None:
        """Do nothing."""


@dataclass(frozen=True, slots=True)
class _RecordedModel:
    model: ChatModel
    recorder: Recorder

    @property
    def signature(self) -> str:
        return self.model.signature

    async def complete(self, request: ChatRequest) -> Reply:
        reply = await self.model.complete(request)
        self.recorder.calls.append(Call(seat=_SEAT.get(), request=request, reply=reply))
        return reply


@dataclass(frozen=True, slots=True)
class _SeatedJudge:
    judge: Judge
    seat: str

    @property
    def signature(self) -> str:
        return self.judge.signature

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        token = _SEAT.set(self.seat)
        try:
            return await self.judge.assess(segment, aspect)
        finally:
            _SEAT.reset(token)
