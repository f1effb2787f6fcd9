"""Generated texts: a model is asked for what an exam changes, and its failures are kept.

Each failure has a reason, so that its text can be skipped and counted: no rule stands in for the
model unnoticed.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from spanjury.judges.core import (
    ChatModel,
    ChatRequest,
    EventLog,
    ModelError,
    ModelRefusedError,
    PermanentModelError,
    PerturbationError,
    Reply,
    kind_of,
)

log = EventLog()

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class TextGenerator:
    """A model that generates what is changed in an exam."""

    name: str
    open: Callable[[], AbstractAsyncContextManager[ChatModel]]
    workers: int
    """Number of texts that it is asked about at once, where it is asked before any judge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationRequest(Generic[T]):
    """One text to be generated."""

    condition: str
    segment_id: str
    unfit: str
    """The reason that is given if the model does something else each time it is asked."""
    ask: Callable[[ChatModel], Awaitable[T]]
    """Asks the model; a `PerturbationError` says that it has done something else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationFailed:
    """A text that the model did not manage; of few reasons, for texts are counted by them."""

    reason: str


@dataclass(slots=True, kw_only=True)
class Generation:
    """A generator at work, and what became of the requests."""

    name: str
    model: "_AnswerNoting"
    failures: list[ModelError] = field(default_factory=list)

    async def generate(self, request: GenerationRequest[T]) -> T | GenerationFailed:
        """Return what the model makes of a request.

        Raise `PermanentModelError` if the model cannot be asked, as by a wrong key, so that
        every other request would fail as well; the message names the condition and the
        text.
        """
        try:
            return await request.ask(self.model)
        except PerturbationError as error:
            _log(request, error)
            return GenerationFailed(reason=request.unfit)
        except ModelError as error:
            _log(request, error)
            if isinstance(error, PermanentModelError) and not isinstance(error, ModelRefusedError):
                what = f"{request.condition} of {request.segment_id!r}"
                raise PermanentModelError(f"{what} cannot be written: {error}") from error
            self.failures.append(error)
            return GenerationFailed(reason=f"the model failed: {error.outcome.value}")


@asynccontextmanager
async def open_generation(generator: TextGenerator) -> AsyncIterator[Generation]:
    """Open a generator; raise `ModelError` at the end if it was asked and has answered nothing."""
    async with generator.open() as model:
        generation = Generation(name=generator.name, model=_AnswerNoting(model=model))
        yield generation
        if generation.failures and not generation.model.has_answered:
            raise ModelError(f"{generator.name} wrote nothing: {generation.failures[0]}")


@dataclass(slots=True, kw_only=True)
class _AnswerNoting:
    """A model that notes whether it has ever answered."""

    model: ChatModel
    has_answered: bool = False

    @property
    def signature(self) -> str:
        return self.model.signature

    async def complete(self, request: ChatRequest) -> Reply:
        reply = await self.model.complete(request)
        self.has_answered = True
        return reply


def _log(request: GenerationRequest[T], error: ModelError | PerturbationError) -> None:
    log.warning(
        "generation.failed",
        condition=request.condition,
        segment_id=request.segment_id,
        error=kind_of(error),
    )
