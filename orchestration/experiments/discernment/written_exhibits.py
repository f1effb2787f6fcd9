"""Exhibits of which a model writes the damage, where a treatment has something to ask it for.

What a model does not manage is left out and counted: no rule stands in for it unnoticed.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field

import structlog
from anyio import create_task_group

from spanjury.judges.core import (
    ChatModel,
    ModelError,
    ModelRefusedError,
    PermanentModelError,
    PerturbationError,
    RunStoppedError,
    Segment,
)
from spanjury.orchestration.braking import Brake
from spanjury.orchestration.experiments.discernment.exhibits import (
    Exhibit,
    LeftOut,
    Treatment,
    exhibit_of,
    exhibits,
)
from spanjury.orchestration.watching import first_error_alone
from spanjury.perturbations.perturbation import Case, NothingToDamageError
from spanjury.perturbations.written import WrittenPerturbation

__all__ = ["Writer", "written_exhibits"]

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """A model that writes damage.

    Parameters
    ----------
    name
        What it is called in the report.
    open
        Opens it.
    workers
        How many texts it is asked about at once.
    """

    name: str
    open: Callable[[], AbstractAsyncContextManager[ChatModel]]
    workers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Order:
    """A damage that the writer is asked for."""

    segment: Segment
    treatment: Treatment
    written: WrittenPerturbation
    k: int


async def written_exhibits(
    segments: Sequence[Segment],
    treatments: Sequence[Treatment],
    *,
    seed: int,
    writer: Writer,
    brake: Brake,
) -> list[Exhibit | LeftOut]:
    """Damage every segment in every way, by `writer` where it can be asked and else by rules.

    Parameters
    ----------
    segments, treatments
        As in `exhibits`, whose order is kept.
    seed
        Of the rules' random numbers; passed to servers that take one.
    writer
        Who is asked. Texts for which it fails, or twice does something else, are left out.
    brake
        Ends it early: nobody is asked anything new once it is pulled.

    Raises
    ------
    PerturbationError
        If a rule fails, or `k` is no number of changes.
    PermanentModelError
        If the writer cannot be asked, as by a wrong key; names the text.
    ModelError
        If it answers nothing at all.
    RunStoppedError
        If the brake came before the end.
    """
    ruled = [treatment for treatment in treatments if treatment.written is None]
    by_rule = iter(list(exhibits(segments, ruled, seed=seed)))  # first: if it fails, nobody is paid
    orders = [
        _Order(segment=segment, treatment=treatment, written=treatment.written, k=_k(treatment))
        for treatment in treatments
        if treatment.written is not None
        for segment in segments
    ]
    by_model = iter(await _written(orders, seed=seed, writer=writer, brake=brake))
    return [
        next(by_rule if treatment.written is None else by_model)
        for treatment in treatments
        for _ in segments
    ]


async def _written(
    orders: Sequence[_Order], *, seed: int, writer: Writer, brake: Brake
) -> list[Exhibit | LeftOut]:
    """Have all orders carried out, many at once; return what came of each, in their order."""
    shown: dict[int, Exhibit | LeftOut] = {}
    todo = enumerate(orders)  # one for all workers, so that each order is taken once

    async def work(asking: _Asking) -> None:
        for number, order in todo:
            if brake.is_pulled:
                brake.has_cut = True
                break
            shown[number] = await asking.carry_out(order)

    async with writer.open() as model:
        asking = _Asking(model=model, name=writer.name, seed=seed)
        with first_error_alone(), brake:
            async with create_task_group() as group:
                for _ in range(writer.workers):
                    group.start_soon(work, asking)
    if brake.has_cut:
        raise RunStoppedError(brake.reason)
    if asking.failures and len(asking.failures) == asking.asked:
        raise ModelError(f"{writer.name} wrote nothing: {asking.failures[0]}")
    return [shown[number] for number in range(len(orders))]


@dataclass(slots=True, kw_only=True)
class _Asking:
    """Asks a model for damage, and keeps count of how often it failed."""

    model: ChatModel
    name: str
    seed: int
    asked: int = 0
    failures: list[ModelError] = field(default_factory=list)

    async def carry_out(self, order: _Order) -> Exhibit | LeftOut:
        segment, treatment, written = order.segment, order.treatment, order.written
        case = Case(text=segment.output, inputs=segment.inputs)
        self.asked += bool(case.text.strip())
        try:
            damage = await written.damage(case, self.model, k=order.k, seed=self.seed)
        except PerturbationError as error:
            reason = _unfit(order, error)
        except ModelError as error:
            reason = self._failed(order, error)
        else:
            return exhibit_of(segment, treatment, damage=damage, written_by=self.name)
        return LeftOut(
            segment_id=segment.segment_id,
            treatment=treatment.name,
            reason=reason,
            written_by=self.name,
        )

    def _failed(self, order: _Order, error: ModelError) -> str:
        """Return the reason to leave a text out, unless every other would fail as well."""
        _log(order, error)
        if isinstance(error, PermanentModelError) and not isinstance(error, ModelRefusedError):
            name = f"{order.treatment.name} of {order.segment.segment_id!r}"
            raise PermanentModelError(f"{name} cannot be written: {error}") from error
        self.failures.append(error)
        return f"the model failed: {error.outcome.value}"


def _unfit(order: _Order, error: PerturbationError) -> str:
    """Return one of few reasons, for texts are counted by them; the log has the whole of it."""
    if isinstance(error, NothingToDamageError):
        return str(error)
    _log(order, error)
    return f"the model, asked twice, did no {order.written.kind}"


def _log(order: _Order, error: ModelError | PerturbationError) -> None:
    log.warning(
        "damage.failed",
        treatment=order.treatment.name,
        segment_id=order.segment.segment_id,
        error=str(error),
    )


def _k(treatment: Treatment) -> int:
    k = treatment.options.get("k", 1)
    if not isinstance(k, int) or k < 1:
        raise PerturbationError(f"{treatment.name}: a model is asked for k changes, not {k!r}")
    return k
