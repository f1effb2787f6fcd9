"""Writing: what a model is asked to write for an exam, and what comes of its failures.

What a model does not manage is told with the reason, so that it can be left out and counted:
no rule stands in for it unnoticed.
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

__all__ = ["Order", "Unwritten", "Writer", "Writing", "open_writing"]

log = EventLog()

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """A model that writes what is changed in an exam.

    Parameters
    ----------
    name
        What it is called in the report.
    open
        Opens it.
    workers
        How many texts it is asked about at once, where it is asked before anybody judges.
    """

    name: str
    open: Callable[[], AbstractAsyncContextManager[ChatModel]]
    workers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Order(Generic[T]):
    """What a writer is asked for.

    Parameters
    ----------
    condition, segment_id
        Of what; an error names both.
    unfit
        The reason that is told if it does something else each time it is asked.
    write
        Asks it; a `PerturbationError` says that it has done something else.
    """

    condition: str
    segment_id: str
    unfit: str
    write: Callable[[ChatModel], Awaitable[T]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unwritten:
    """What a writer did not manage; of few reasons, for texts are counted by them."""

    reason: str


@dataclass(slots=True, kw_only=True)
class Writing:
    """A writer at work, and what became of what it was asked."""

    name: str
    model: "_Noted"
    failures: list[ModelError] = field(default_factory=list)

    async def carry_out(self, order: Order[T]) -> T | Unwritten:
        """Have an order carried out.

        Raises
        ------
        PermanentModelError
            If the model cannot be asked, as by a wrong key, so that every other order would
            fail as well; names the condition and the text.
        """
        try:
            return await order.write(self.model)
        except PerturbationError as error:
            _log(order, error)
            return Unwritten(reason=order.unfit)
        except ModelError as error:
            _log(order, error)
            if isinstance(error, PermanentModelError) and not isinstance(error, ModelRefusedError):
                what = f"{order.condition} of {order.segment_id!r}"
                raise PermanentModelError(f"{what} cannot be written: {error}") from error
            self.failures.append(error)
            return Unwritten(reason=f"the model failed: {error.outcome.value}")

    def require_an_answer(self) -> None:
        """Raise `ModelError` if the model has failed and never answered."""
        if self.failures and not self.model.has_answered:
            raise ModelError(f"{self.name} wrote nothing: {self.failures[0]}")


@asynccontextmanager
async def open_writing(writer: Writer) -> AsyncIterator[Writing]:
    """Open a writer; raise `ModelError` at the end if it was asked and has answered nothing."""
    async with writer.open() as model:
        writing = Writing(name=writer.name, model=_Noted(model=model))
        yield writing
        writing.require_an_answer()


@dataclass(slots=True, kw_only=True)
class _Noted:
    """A model of which it is noted whether it has ever answered."""

    model: ChatModel
    has_answered: bool = False

    @property
    def signature(self) -> str:
        return self.model.signature

    async def complete(self, request: ChatRequest) -> Reply:
        reply = await self.model.complete(request)
        self.has_answered = True
        return reply


def _log(order: Order[T], error: ModelError | PerturbationError) -> None:
    log.warning(
        "writing.failed",
        condition=order.condition,
        segment_id=order.segment_id,
        error=kind_of(error),
    )
