"""What `spanjury distil train` does once its flags are read."""

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import typer

from spanjury.judges.core import ConfigError
from spanjury.orchestration.cli.exits import INTERRUPTED, say
from spanjury.orchestration.cli.logging import log_to
from spanjury.orchestration.services.train import same_answers, training_job
from spanjury.orchestration.wiring.training import Progress, TrainingOptions, require, training

__all__ = ["train_distilled"]

_EVERY = 10.0  # seconds between two words of how far it is
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def train_distilled(
    *,
    data: Path,
    base: str,
    output: Path,
    no_progress: bool,
    log_file: Path | None,
    **options: object,
) -> None:
    """Train a model on examples, and say what became of it; `options` are `TrainingOptions`."""
    log_to(log_file)
    require(training)
    try:
        told = TrainingOptions(**options)  # type: ignore[arg-type]  # the command line has checked
    except ValueError as error:
        raise ConfigError(str(error)) from error
    job = training_job(data, base=base, folder=output, options=told)
    say(f"{len(job.pairs)} examples to learn from, {len(job.validation)} to validate on")
    if same_answers(job):
        say("all of them have the same answer: a model that learns it will give no other")
    teller = _Teller(quiet=no_progress)
    with _stopping() as stop:
        trained = training.train(job, tell=teller.tell, stopped=stop.asked)
    if trained.cut or trained.skipped:
        say(f"too long: {trained.cut} sources cut, {trained.skipped} examples left out")
    if not trained.finished:
        say(
            f"stopped after step {trained.progress.step} of {trained.steps}; the same command"
            " goes on from there"
        )
        raise typer.Exit(INTERRUPTED)
    say(f"the model is in {output}; its card is {output / 'README.md'}")


class _Teller:
    """Say how far training is, every now and then; and at once what else there is to say."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._last = time.monotonic()

    def tell(self, progress: Progress, steps: int, line: str) -> None:
        """Take note of a step, or of a line."""
        if line:
            say(line)
            return
        ended = progress.step == steps
        if self._quiet or (time.monotonic() - self._last < _EVERY and not ended):
            return
        self._last = time.monotonic()
        pace = progress.seconds / progress.step
        say(
            f"step {progress.step}/{steps}: loss {progress.losses[-1][1]:.4f},"
            f" {progress.tokens / progress.seconds:.0f} tokens/s,"
            f" {(steps - progress.step) * pace:.0f} s to go"
        )


class _Stop:
    """Whether somebody has asked for an end; the second time a signal has its usual effect."""

    def __init__(self) -> None:
        self._asked = False

    def asked(self) -> bool:
        """Whether training is to end."""
        return self._asked

    def hear(self, number: int, frame: FrameType | None) -> None:
        """Take note of a signal."""
        del frame
        self._asked = True
        signal.signal(number, signal.default_int_handler)
        say("the step that is under way is ended first; Ctrl-C again to drop it")


@contextmanager
def _stopping() -> Iterator[_Stop]:
    """Listen for Ctrl-C and its like for the block."""
    stop = _Stop()
    before = {number: signal.signal(number, stop.hear) for number in _SIGNALS}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
