"""Processes that end together: those that die are replaced, and a signal ends all of them.

uvicorn's supervisor is not used: it runs only uvicorn's own servers, waits for them without a time
limit, and ignores a second signal.
"""

import multiprocessing
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from types import FrameType

from spanjury.judges.core import ConfigError, EvaluationError, EventLog, ServiceError

log = EventLog()

Work = Callable[[int, Connection], None]
"""The work of a process, which receives its number and the argument for `say_ready`."""
_TICK = 0.1
"""Seconds between two checks for signals."""
_SPAWN = multiprocessing.get_context("spawn")


class _Process:
    def __init__(self, work: Work, number: int) -> None:
        self.news, sender = _SPAWN.Pipe(duplex=False)
        self.process = _SPAWN.Process(target=work, args=(number, sender))
        self.process.start()
        sender.close()  # so that the pipe closes when the process ends
        self.is_ready = False

    def read(self) -> None:
        """Read whether the process is ready; raise the error that it reports."""
        if self.is_ready or not self.news.poll():
            return
        try:
            is_usage, problem = self.news.recv()
        except EOFError:
            self.process.join()
            code = self.process.exitcode
            raise ServiceError(f"a process ended with {code} before it was ready") from None
        if problem:
            raise (ConfigError if is_usage else ServiceError)(problem)
        self.is_ready = True


def supervise(
    work: Work,
    *,
    count: int,
    opened: Callable[[], None],
    replaced: Callable[[int], None],
    ending: Callable[[int], None],
) -> int:
    """Have processes do `work` until a signal; return 0, or the number of a second signal.

    A process that was ready and has died is replaced. At the first signal each gets SIGTERM; at the
    second each is killed.

    `opened` is called when all are ready for the first time, `replaced` with the id of a process
    that has died, and `ending` with the first signal.

    Raise `ConfigError` or `ServiceError` if a process cannot start; the others are ended.
    """
    with _signals() as signals:
        processes = [_Process(work, number) for number in range(count)]
        try:
            is_open = False
            while not signals:
                wait([each.process.sentinel for each in processes], _TICK)
                for number, each in enumerate(processes):
                    each.read()
                    if each.process.exitcode is not None:
                        log.error("process.ended", code=each.process.exitcode)
                        replaced(each.process.pid or 0)
                        processes[number] = _Process(work, number)
                if not is_open and all(each.is_ready for each in processes):
                    is_open = True
                    opened()
            ending(signals[0])
            for each in processes:
                each.process.terminate()
            while len(signals) == 1 and any(each.process.is_alive() for each in processes):
                wait(
                    [each.process.sentinel for each in processes if each.process.is_alive()], _TICK
                )
        finally:
            for each in processes:
                each.process.kill()
                each.process.join()
    return signals[1] if len(signals) > 1 else 0


@contextmanager
def _signals() -> Iterator[list[int]]:
    """Yield a list that collects the signals which should end the program."""
    signals: list[int] = []

    def note(sig: int, frame: FrameType | None) -> None:
        del frame
        signals.append(sig)

    before = {sig: signal.signal(sig, note) for sig in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield signals
    finally:
        for sig, handler in before.items():
            signal.signal(sig, handler)


def say_ready(news: Connection) -> None:
    """Report to the supervisor that the process is ready."""
    news.send((False, ""))


@contextmanager
def report_errors(news: Connection) -> Iterator[None]:
    """Report our errors to the supervisor, and exit without a traceback."""
    try:
        yield
    except EvaluationError as error:
        news.send((isinstance(error, ConfigError), str(error)))
        sys.exit(1)


def has_parent() -> bool:
    """Return whether the supervisor of this process is alive."""
    parent = multiprocessing.parent_process()
    return parent is not None and parent.is_alive()
