"""All runs of a folder side by side: the judged data, scores, decisions and cost of each."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Condition, Event, Thread
from typing import Self

import msgspec

from spanjury.judges.core import DataError, Decision, EvaluationError, Outcome, Usage
from spanjury.orchestration.engine.summary import Figures, Row, Summary
from spanjury.orchestration.services.runs.run_folder import job_of
from spanjury.orchestration.services.runs.run_list import RunEntry, runs_in
from spanjury.orchestration.services.viewing.sources import ViewedRun, find_runs
from spanjury.orchestration.wiring.runs import RunFolder
from spanjury.orchestration.wiring.seats import seat_prices


class _Seat(msgspec.Struct):
    judge: str
    outcome: Outcome
    usage: Usage


class _Row(msgspec.Struct):
    """The part of a result row that is counted."""

    task: str
    aspect: str
    system: str
    outcome: Outcome
    score: float | None
    reason: str
    spans: list[msgspec.Raw]
    seats: list[_Seat]
    decision: Decision | None = None  # rows of earlier runs have none


_ROW = msgspec.json.Decoder(_Row)
_NO_FIGURES: Mapping[str, object] = {
    "judges": [],
    "aspects": [],
    "calls": None,
    "tokens": None,
    "dollars": None,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFigures:
    """The figures of one run.

    `dollars` is the cost of the replies when they were first made; None if the price of a model is
    unknown. `problem` says why figures are missing.
    """

    summary: Summary
    data: str = ""
    dollars: float | None = 0.0
    problem: str = ""


def run_figures(entry: RunEntry, *, is_stopped: Callable[[], bool] = lambda: False) -> RunFigures:
    """Count the results of a run; an unreadable run has a problem and no figures.

    `is_stopped` is called before each row; True ends the count early.
    """
    summary = Summary()
    if entry.problem:
        return RunFigures(summary=summary, problem=entry.problem)
    try:
        (run,) = find_runs([entry.run.path])
        damaged = _count(run, summary, is_stopped=is_stopped)
    except EvaluationError as error:
        return RunFigures(summary=summary, problem=str(error))
    return RunFigures(
        summary=summary,
        data=run.texts.data.name if run.texts else "",
        dollars=_dollars(entry.run, summary.usage),
        problem=f"{damaged} damaged rows are not counted" if damaged else "",
    )


def _count(run: ViewedRun, summary: Summary, *, is_stopped: Callable[[], bool]) -> int:
    """Count the rows of a run; return the number of damaged lines."""
    damaged = 0
    try:
        with run.results.open("rb") as lines:
            for line in lines:
                if is_stopped():
                    break
                if not line.endswith(b"\n") and not run.is_done:
                    break  # a row that is still being written
                try:
                    summary.count(_figures(_ROW.decode(line)))
                except (msgspec.MsgspecError, UnicodeDecodeError):
                    damaged += 1
    except OSError as error:
        raise DataError(f"{run.results}: cannot be read: {error.strerror}") from error
    return damaged


def _figures(row: _Row) -> Figures:
    return Figures(
        task=row.task,
        aspect=row.aspect,
        system=row.system,
        outcome=row.outcome,
        score=row.score,
        reason=row.reason,
        spans=len(row.spans),
        decision=row.decision,
        risk=None,
        seats=[(seat.judge, seat.outcome, seat.usage) for seat in row.seats],
    )


def _dollars(run: RunFolder, usage: Mapping[str, Usage]) -> float | None:
    """Return the cost of the calls of all seats; None if the price of one is unknown."""
    asking = {name: spent for name, spent in usage.items() if spent.calls}
    if not asking:
        return 0.0
    try:
        prices = seat_prices(job_of(run).panel, asking)
    except EvaluationError:  # a run on a cluster or of another release
        return None
    if prices.keys() != asking.keys():
        return None
    return sum(prices[name].price.cost(spent) for name, spent in asking.items())


class RunsView:
    """The runs of a folder with their figures, as a context manager with a reader thread.

    All methods may be called from any thread. Entering raises `DataError` if there is no run in the
    folder, and `StoreError` if it cannot be read.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._entries: Sequence[RunEntry] = ()
        self._figures: list[RunFigures] = []
        self._grown = Condition()
        self._leaving = Event()
        self._thread = Thread(target=self._read, name="figures of runs", daemon=True)

    def __enter__(self) -> Self:
        self._entries = runs_in(self._folder)[1] if self._folder.is_dir() else ()
        if not self._entries:
            raise DataError(
                f"there is no run in {self._folder}: begin one with 'spanjury evaluate DATA', or"
                " name a run or another folder of runs"
            )
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._leaving.set()
        self._thread.join()

    def __len__(self) -> int:
        return len(self._entries)

    def _read(self) -> None:
        for entry in self._entries:
            figures = run_figures(entry, is_stopped=self._leaving.is_set)
            if self._leaving.is_set():
                return
            with self._grown:
                self._figures.append(figures)
                self._grown.notify_all()

    def wait(self, *, beyond: int | None = None, seconds: float | None = None) -> None:
        """Wait until more than `beyond` runs are counted, or all are; at most `seconds`."""
        most = len(self) if beyond is None else min(beyond + 1, len(self))
        with self._grown:
            self._grown.wait_for(lambda: len(self._figures) >= most, timeout=seconds)

    def folder_of(self, name: str) -> Path | None:
        """Return the folder of the run called `name`; None if there is no such run."""
        return next((e.run.path for e in self._entries if e.run.path.name == name), None)

    def described(self) -> dict[str, object]:
        """Return the runs, newest first, with the figures counted so far, for JSON."""
        counted = list(self._figures)
        waiting = [None] * (len(self) - len(counted))
        return {
            "counted": len(counted),
            "runs": [
                {**_entry(entry), **(_described(figures) if figures else _NO_FIGURES)}
                for entry, figures in zip(self._entries, [*counted, *waiting], strict=True)
            ],
        }


def _entry(entry: RunEntry) -> dict[str, object]:
    return {
        "name": entry.run.path.name,
        "state": entry.state,
        "begun": (entry.begun or entry.written).isoformat(timespec="seconds"),
        "rows": entry.rows,
        "of": entry.of,
        "data": Path(entry.data).name,  # until the figures name it
        "is_marked": entry.contents.marks,
        "problem": entry.problem,
    }


def _described(figures: RunFigures) -> dict[str, object]:
    summary = figures.summary
    usage = sum(summary.usage.values(), Usage())
    if not summary.whole.total:
        return {**_NO_FIGURES, "problem": figures.problem}
    return {
        **({"data": figures.data} if figures.data else {}),
        "judges": list(summary.seats),
        "aspects": [
            {"task": task, "name": name, **_shares(row)}
            for (task, name), row in summary.by_aspect().items()
        ],
        "calls": usage.calls,
        "tokens": usage.prompt + usage.completion,
        "dollars": figures.dollars,
        "problem": figures.problem,
    }


def _shares(row: Row) -> dict[str, object]:
    shares = {decision.value: row.share(decision) for decision in Decision}
    return {"rows": row.total, "scored": row.scored, "mean": row.mean, "shares": shares}
