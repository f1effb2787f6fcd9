"""A run session: the memory, meter and guard of one run, and the ways in which it may end early."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol, TypeVar

from spanjury.judges.core import (
    UNANSWERED,
    Aspect,
    Memory,
    Outcome,
    PairJudge,
    Result,
    RunStoppedError,
    Segment,
    StoreError,
)
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.engine.deferral import Deferral
from spanjury.orchestration.engine.metering import Limits, Meter
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.engine.stopping import FailurePolicy, StopToken, Work, run_in_time
from spanjury.orchestration.wiring.config import ModelConfig, PanelConfig
from spanjury.orchestration.wiring.models import Guard, guard_of, open_generator
from spanjury.orchestration.wiring.panels import open_configured_panel
from spanjury.orchestration.wiring.runs import RunFolder, SqliteMemory

with lazily():
    from spanjury.orchestration.engine import batch, comparing
    from spanjury.orchestration.studies import generation, judging
    from spanjury.orchestration.wiring import pair_judges

T = TypeVar("T")


class RunTerms(Protocol):
    """The terms of a run, which every job has."""

    @property
    def memory(self) -> Path | None:
        """The file of replies and reports, from which an interrupted run resumes; or None."""

    @property
    def limits(self) -> Limits:
        """The limits of cost, tokens and time."""

    @property
    def failures(self) -> FailurePolicy:
        """The measures against models that fail."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSession:
    """One run under way: it opens panels and models, and runs the work that uses them.

    `memory` may be None to store nothing, and `max_seconds` for no limit of time.
    """

    memory: Memory | None
    meter: Meter
    guard: Guard
    stop_token: StopToken
    max_seconds: float | None

    def open_panel(
        self,
        panel: PanelConfig,
        *,
        draw: str = "",
        again: frozenset[Outcome] = UNANSWERED,
        silent: bool = False,
        deferral: Deferral | None = None,
    ) -> AbstractAsyncContextManager[Panel]:
        """Open a panel for ``async with``; `open_configured_panel` explains the parameters."""
        return open_configured_panel(
            panel,
            memory=self.memory,
            meter=self.meter,
            guard=self.guard,
            draw=draw,
            again=again,
            silent=silent,
            deferral=deferral,
        )

    async def judge(
        self,
        panel: PanelConfig,
        pairs: Iterable[tuple[Segment, Aspect]],
        *,
        write: Callable[[Result], None],
    ) -> str:
        """Have a panel judge segments, each on an aspect, and return its signature.

        `write` is called with each result, in order. Raise `ConfigError` if the panel cannot be
        opened, and the errors of `run`.
        """

        async def work() -> str:
            async with self.open_panel(panel) as opened:
                await batch.evaluate(
                    opened, pairs, write=write, workers=panel.workers, stop_token=self.stop_token
                )
                return opened.signature

        return await self.run(work)

    def opener(self, panel: PanelConfig) -> "judging.OpenPanel":
        """Return a function that opens `panel` for a given draw."""
        return lambda draw: self.open_panel(panel, draw=draw)

    def open_pair_judge(
        self, judge: str | PairJudge, panel: PanelConfig
    ) -> "AbstractAsyncContextManager[comparing.PairSeat]":
        """Open a pair judge for ``async with``; `pair_judges.open_pair_judge` explains both."""
        return pair_judges.open_pair_judge(
            judge, panel, memory=self.memory, meter=self.meter, guard=self.guard
        )

    def generator(self, model: ModelConfig) -> "generation.TextGenerator":
        """Return `model` as a generator of texts that shares the memory, meter and guard."""
        return generation.TextGenerator(
            name=model.name,
            open=partial(
                open_generator, model, memory=self.memory, meter=self.meter, guard=self.guard
            ),
            workers=PanelConfig(models=(model,)).workers,
        )

    async def run(self, work: Work[T]) -> T:
        """Run `work` under the stop token, the clock and the guard, and return its result.

        Raise `RunStoppedError` if a limit or the stop token ended it early, and `RunFailedError` if
        a model cannot be used or does not answer for too long.
        """
        result = await run_in_time(work, self.stop_token, seconds=self.max_seconds)
        self.guard.require_success()
        if self.stop_token.interrupted:
            raise RunStoppedError(self.stop_token.reason)
        return result


@contextmanager
def open_session(
    terms: RunTerms, *, stop_token: StopToken | None = None, meter: Meter | None = None
) -> Iterator[RunSession]:
    """Open the memory of a run and begin the run.

    Without `meter`, a new one counts calls, with the limits of `terms`.

    Raise `StoreError` if the memory cannot be opened.
    """
    stop_token = stop_token or StopToken()
    guard = guard_of(terms.failures, memory=terms.memory)  # before the memory creates its file
    meter = meter or Meter(limits=terms.limits, stop_token=stop_token)
    with ExitStack() as stack:
        memory = None
        if terms.memory is not None:
            memory = stack.enter_context(SqliteMemory(terms.memory))
            stack.enter_context(meter.kept_in(memory))
        try:
            yield RunSession(
                memory=memory,
                meter=meter,
                guard=guard,
                stop_token=stop_token,
                max_seconds=terms.limits.max_seconds,
            )
        finally:
            learnt: dict[str, Mapping[str, object]] = {
                "template_tokens": guard.tokenizers,
                "reply_forms": guard.forms,
                "log_probabilities": guard.log_probabilities,
            }
            if terms.memory and any(learnt.values()):
                with suppress(StoreError):  # no run was created, or the disk is full
                    RunFolder(terms.memory.parent).note(**learnt)
