"""Sessions of judges: limits and signals end them, with an exit code."""

import shlex
import signal
import sys
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import TypeVar

import anyio
import typer
from anyio import open_signal_receiver, sleep_forever

from spanjury.judges.core import RunFailedError, RunStoppedError
from spanjury.orchestration.cli.exits import BY_SIGNAL, COVERAGE, ERROR, LIMIT, say
from spanjury.orchestration.cli.progress import judging
from spanjury.orchestration.engine.metering import Limits, Meter
from spanjury.orchestration.engine.stopping import GRACE, StopToken, run_watched
from spanjury.orchestration.engine.summary import Summary
from spanjury.orchestration.services.exams.study import Live
from spanjury.orchestration.wiring.config import PanelConfig
from spanjury.orchestration.wiring.seats import asked_models

_SIGNALS = {signal.SIGINT: "interrupted", signal.SIGTERM: "asked to end"}
T = TypeVar("T")


class Session:
    """A counter of calls that stops judges at a limit or a signal.

    After the first signal, no call is sent, and work under way is finished; a second one drops it,
    and a third has its default effect.
    """

    def __init__(self, limits: Limits, *, stop_token: StopToken | None = None) -> None:
        self.stop_token = stop_token or StopToken()
        self.meter = Meter(limits=limits, stop_token=self.stop_token)
        self._signal = 0

    def run(self, work: Callable[[], Coroutine[object, object, None]]) -> None:
        """Run `work` until it is done or stopped; raise its exceptions."""
        anyio.run(run_watched, work, self._stop_at_signals)

    @property
    def exit_code(self) -> int:
        """The exit code of a stopped session, by a signal or by a limit."""
        return BY_SIGNAL + self._signal if self._signal else LIMIT

    async def _stop_at_signals(self) -> None:
        if sys.platform != "win32":  # on Windows, Ctrl-C stays a KeyboardInterrupt
            with open_signal_receiver(*_SIGNALS) as signals:
                async for number in signals:
                    if self._signal:
                        self.stop_token.request(_SIGNALS[number], grace=0.0)
                        break
                    self._signal = number
                    self.stop_token.request(_SIGNALS[number], grace=GRACE)
                    say(
                        f"{_SIGNALS[number]}: running assessments have {GRACE:g} s to finish,"
                        " without further calls; Ctrl-C again to drop them"
                    )
        await sleep_forever()


def run_until_signal(work: Callable[[], Coroutine[object, object, T]]) -> T:
    """Run `work` and return its result; at a signal, cancel it, and exit with the signal's code.

    Raise the exceptions of `work`.
    """
    received: list[int] = []

    async def watch() -> None:
        if sys.platform != "win32":  # as in `Session`
            with open_signal_receiver(*_SIGNALS) as signals:
                async for number in signals:
                    received.append(number)
                    say(f"{_SIGNALS[number]}: no report is made")
                    raise RunStoppedError(_SIGNALS[number])
        await sleep_forever()

    try:
        return anyio.run(run_watched, work, watch)
    except RunStoppedError:
        if not received:
            raise
        raise typer.Exit(BY_SIGNAL + received[0]) from None


def require_coverage(coverage: float, *, at_least: float, panel: PanelConfig | None = None) -> None:
    """Exit with 3 if too few assessments have a score, or none; print how to find out why."""
    if coverage < at_least or not coverage:
        say(f"coverage {coverage:.1%}: too few assessments have a score")
        say_how_to_see_why(panel)
        if panel is not None and not asked_models(panel):
            say("or add --model NAME: a model judges every aspect, in any language")
        raise typer.Exit(COVERAGE)


def say_how_to_see_why(panel: PanelConfig | None) -> None:
    """Print the command that shows why judges of a panel do not answer, if there is one."""
    if panel is None:
        return
    models = [*asked_models(panel).values()][::-1]
    if not models:
        say("see what each judge can judge: spanjury judges")
        return
    flags = [part for model in models for part in ("--model", model.name)]
    addresses = {model.base_urls for model in models}
    for url in filter(None, addresses.pop() if len(addresses) == 1 else ()):
        flags += ["--model-base-url", url]
    say(f"see which models answer: spanjury doctor {shlex.join(flags)}")


def run_exam(
    exam: Callable[[Live], Awaitable[T]],
    *,
    total: int,
    limits: Limits,
    memory: Path | None,
    quiet: bool,
    panel: PanelConfig | None = None,
) -> tuple[T, Summary]:
    """Run an exam, or exit if it is ended early; return its result and a summary of assessments.

    The folder of `memory` is created. The advice after a failure names the models of `panel`.
    `exam` reports every result to the given run, and raises `RunStoppedError` if it was ended
    early.
    """
    if memory is not None:
        memory.parent.mkdir(parents=True, exist_ok=True)
    session = Session(limits)
    live = Live(total=total, stop_token=session.stop_token, meter=session.meter)
    results: list[T] = []

    async def work() -> None:
        results.append(await exam(live))

    try:
        with judging(live.tracker, quiet=quiet):
            session.run(work)
    except RunStoppedError as stopped:
        _say_what_is_kept(live, f"{stopped}: ")
        raise typer.Exit(session.exit_code) from None
    except RunFailedError as failed:
        say(f"spanjury: {failed}")
        _say_what_is_kept(live)
        say_how_to_see_why(panel)
        raise typer.Exit(ERROR) from failed
    return results[0], live.summary


def _say_what_is_kept(live: Live, reason: str = "") -> None:
    done = live.summary.whole.total
    say(f"{reason}{done} assessments are kept; run the same command to continue")
