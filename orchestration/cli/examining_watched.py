"""An exam on the command line: watched, and ended by limits and signals as a run is."""

from collections.abc import Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

import anyio
import typer

from spanjury.judges.core import Result, RunFailedError, RunStoppedError
from spanjury.orchestration.cli.exits import ERROR, LIMIT, say
from spanjury.orchestration.cli.progress import ProgressLines
from spanjury.orchestration.cli.signals import Signals
from spanjury.orchestration.cli.standing import Watch
from spanjury.orchestration.engine.metering import Limits, Meter
from spanjury.orchestration.engine.stopping import StopToken, run_watched
from spanjury.orchestration.engine.summary import Summary

__all__ = ["Hold", "Shown", "held"]

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """Called with every result, for who watches."""

    summary: Summary
    watch: Watch

    def __call__(self, result: Result) -> None:
        """Count a result in."""
        self.summary.add(result)

    def expect(self, total: int) -> None:
        """Reckon with so many results in all from now on."""
        self.watch.total = total


class Hold(Protocol[T_co]):
    """Holds an exam, and tells of every result."""

    def __call__(
        self, *, stop_token: StopToken, meter: Meter, show: Shown
    ) -> Coroutine[object, object, T_co]:
        """Return what the exam came to; raise `RunStoppedError` if it was ended early."""
        ...


def held(hold: Hold[T], *, total: int, limits: Limits, memory: Path | None, progress: bool) -> T:
    """Hold an exam and return what it came to, or exit if it is ended early.

    Parameters
    ----------
    hold
        Holds it.
    total
        How many results there will be, unless the exam knows better.
    limits
        What it may cost.
    memory
        Where it keeps what is said; the folder is made.
    progress
        Whether it is told how far it is.
    """
    if memory is not None:
        memory.parent.mkdir(parents=True, exist_ok=True)
    stop_token, signals, summary = StopToken(), Signals(), Summary()
    meter = Meter(limits=limits, stop=stop_token.request)
    watch = Watch(total=total, summary=summary, meter=meter)
    shown = Shown(summary=summary, watch=watch)
    come_to: list[T] = []

    async def examine() -> None:
        come_to.append(await hold(stop_token=stop_token, meter=meter, show=shown))

    async def listen() -> None:
        await signals.watch(stop_token)

    try:
        with ProgressLines(watch, write=say if progress else lambda _: None):
            anyio.run(run_watched, examine, listen)
    except RunStoppedError as stopped:
        say(f"{stopped}: {summary.whole.total} assessments are kept; the same command goes on")
        raise typer.Exit(128 + signals.received if signals.received else LIMIT) from None
    except RunFailedError as failed:
        say(f"spanjury: {failed}")
        say(f"{summary.whole.total} assessments are kept; the same command goes on")
        raise typer.Exit(ERROR) from failed
    return come_to[0]
