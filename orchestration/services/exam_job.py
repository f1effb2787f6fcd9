"""The job of an exam: the panel, its texts and the terms, which the jobs of all exams share."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from spanjury.judges.core import Aspect, ConfigError, Segment
from spanjury.judges.tasks import Catalogue
from spanjury.orchestration.engine.metering import Limits
from spanjury.orchestration.engine.stopping import FailurePolicy
from spanjury.orchestration.services.exam_texts import Texts, read_texts
from spanjury.orchestration.wiring.config import PanelConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelExamJob:
    """A panel, and the texts that it is examined on.

    Parameters
    ----------
    task, aspects, aspects_files, columns, limit
        As in `evaluate.Job`, or aspects themselves; without any those of the exam or the task.
    """

    data: Path | Texts
    panel: PanelConfig
    memory: Path | None = None
    task: str | None = None
    aspects: tuple[str | Aspect, ...] = ()
    aspects_files: tuple[Path, ...] = ()
    columns: tuple[str, ...] = ()
    limit: int | None = None
    limits: Limits = Limits()
    failures: FailurePolicy = FailurePolicy()

    def read(
        self, *, task: str = "", aspects: Sequence[str] = ()
    ) -> tuple[tuple[Segment, ...], tuple[Aspect, ...]]:
        """Read the texts, and find the aspects that they are judged on.

        Raise `DataError` if the data cannot be read, and `ConfigError` if a name is
        unknown, or the texts are not of one task.

        Parameters
        ----------
        task, aspects
            Those of the exam, where neither the job nor the texts name any.
        """
        segments = tuple(islice(read_texts(self.data, columns=self.columns), self.limit))
        task = _task(segments, self.task or "", default=task)
        catalogue = Catalogue.load(*self.aspects_files)
        names = self.aspects or aspects or catalogue.task(task).default_aspects
        segments = tuple(map(catalogue.task(task).fit, segments))
        return segments, tuple(
            one if isinstance(one, Aspect) else catalogue.aspect(task, one) for one in names
        )


def _task(segments: Iterable[Segment], named: str, *, default: str) -> str:
    """Return the task that is `named`, or that of the texts, `default` for those without one."""
    tasks = {named or segment.task or default for segment in segments}
    if len(tasks) != 1 or "" in tasks:
        names = ", ".join(sorted(tasks - {""})) or "none"
        raise ConfigError(f"an exam is of one task, and the data has {names}: name it with --task")
    return tasks.pop()
