"""Commits that many tasks share: while one is written to disk, the next is collected."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from anyio import CancelScope, CapacityLimiter, Event, Lock, sleep, to_thread
from anyio.lowlevel import checkpoint_if_cancelled

from spanjury.judges.core import StoreError

B = TypeVar("B")

_GATHERING = 0.002
"""Seconds that a commit waits for more writes, if the last one had several: a commit costs as much
processor time as thirty writes.
"""


@dataclass(slots=True)
class _Commit:
    """A commit's result, and the number of tasks that wait for it; the first of them runs it."""

    tasks: int = 0
    ended: Event = field(default_factory=Event)
    problem: str = "the commit broke off"


class SharedCommits(Generic[B]):
    """Commits what many tasks of one event loop write, each commit in one worker thread.

    A task adds to `gathering`, the batch of the next commit, and then awaits `written`; `writing`
    is the batch that is written now, or an empty one. `empty` makes an empty batch. `commit` writes
    a batch to disk, or raises `StoreError`; one thread calls it at a time. If it has failed, `kept`
    returns what the next commit is to write of that batch and of what was collected since.
    """

    def __init__(
        self, empty: Callable[[], B], commit: Callable[[B], None], *, kept: Callable[[B, B], B]
    ) -> None:
        self.gathering = empty()
        self.writing = empty()
        self._empty = empty
        self._commit = commit
        self._kept = kept
        self._next: _Commit | None = None
        self._is_shared = False  # whether several tasks waited for the last commit
        self._turn = Lock()
        self._thread = CapacityLimiter(1)

    async def written(self) -> None:
        """Return once all that is collected now is on disk, and raise `StoreError` if that fails.

        It is written completely even if the task is cancelled meanwhile.
        """
        commit = self._next
        if commit is None:
            commit = self._next = _Commit(tasks=1)
            with CancelScope(shield=True):
                await self._run(commit)
            await checkpoint_if_cancelled()
        else:
            commit.tasks += 1
            await commit.ended.wait()
        if commit.problem:
            raise StoreError(commit.problem)

    async def _run(self, commit: _Commit) -> None:
        try:
            if self._is_shared:
                await sleep(_GATHERING)
            async with self._turn:
                self.writing, self.gathering, self._next = self.gathering, self._empty(), None
                self._is_shared = commit.tasks > 1
                try:
                    await to_thread.run_sync(self._commit, self.writing, limiter=self._thread)
                except StoreError:
                    self.gathering = self._kept(self.writing, self.gathering)
                    raise
                finally:
                    self.writing = self._empty()
            commit.problem = ""
        except StoreError as error:
            commit.problem = str(error)
        finally:
            commit.ended.set()
