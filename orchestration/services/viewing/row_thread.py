"""The thread that reads the rows of a view, and whoever waits for them."""

from array import array
from collections.abc import Callable
from threading import Condition, Event, Thread

from spanjury.judges.core import EvaluationError
from spanjury.orchestration.services.viewing.columns import NOTHING
from spanjury.orchestration.services.viewing.reading import Pairing
from spanjury.orchestration.services.viewing.texts import TextStore


class RowThread:
    """Reads all rows; those that are there can be looked at meanwhile, from any thread."""

    def __init__(self, pairing: Pairing) -> None:
        self.sources = array("i")
        """Number of each row's inputs; `NOTHING` where they are not known."""
        self.problem: EvaluationError | None = None
        """The reason why reading ended early."""
        self._pairing = pairing
        self._grown = Condition()
        self._leaving = Event()
        self._is_read = False
        self._thread = Thread(target=self._read, name="rows of a view", daemon=True)

    @property
    def rows(self) -> int:
        """The rows that are there so far."""
        return len(self.sources)

    @property
    def is_read(self) -> bool:
        """True if no more will come."""
        return self._is_read

    def start(self) -> None:
        """Begin to read."""
        self._thread.start()

    def stop(self) -> None:
        """Read no further, and return when that is so."""
        self._leaving.set()
        self._thread.join()

    def wait(
        self, is_enough: Callable[[], bool] = lambda: False, *, seconds: float | None = None
    ) -> None:
        """Wait until something holds of the rows, all are read, or the time is over."""
        with self._grown:
            self._grown.wait_for(lambda: self._is_read or is_enough(), timeout=seconds)

    def _read(self) -> None:
        try:
            for _ in self._pairing.read():
                self._add_sources()
                if self._leaving.is_set():
                    return
        except EvaluationError as error:
            self.problem = error
        finally:
            with self._grown:
                self._is_read = True
                self._grown.notify_all()

    def _add_sources(self) -> None:
        """Note the inputs of the rows that have come, which then are there for all to see."""
        main = main_store(self._pairing)
        for number in range(len(self.sources), len(self._pairing)):
            text = self._pairing.text(number)
            is_known = text is not None and text[0] is main
            self.sources.append(text[0].source(text[1]) if text and is_known else NOTHING)
        with self._grown:
            self._grown.notify_all()


def main_store(pairing: Pairing) -> TextStore | None:
    """Return the texts of the first run that has any; the inputs of others are not numbered."""
    return next((run.store for run in pairing.runs if run.store is not None), None)
