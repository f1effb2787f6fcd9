"""The aspects of rows, with their definitions and scales."""

from collections.abc import Iterable
from pathlib import Path

from spanjury.judges.core import Aspect, ConfigError, Scale, Task
from spanjury.judges.tasks import Catalogue, Rubric
from spanjury.judges.tasks.table import Table


class KnownAspects:
    """The aspects that are built in, and those of some files.

    Files `of_runs` that cannot be read are named in `problems`. A criterion has the scale of the
    first of `rubrics` that contains it.

    Raises `ConfigError` if one of the `named` files cannot be read.
    """

    def __init__(
        self,
        named: Iterable[Path],
        *,
        of_runs: Iterable[Path] = (),
        rubrics: Iterable[Rubric | None] = (),
    ) -> None:
        self.problems: list[str] = []
        self._catalogue = Catalogue.load(*named)
        for file in dict.fromkeys(of_runs):
            try:
                self._catalogue = self._catalogue.extended([Table.read(file)])
            except ConfigError as error:
                self.problems.append(f"aspects are not read: {error}")
        self._rubrics = tuple(filter(None, rubrics))

    def find(self, task: str, name: str) -> Aspect | None:
        """Return an aspect of a task; None if it is unknown."""
        rubric = next((each for each in self._rubrics if name in each.aspects), None)
        try:
            return self._catalogue.with_rubric(rubric).aspect(task, name)
        except ConfigError:
            return None

    def task(self, name: str) -> Task | None:
        """Return a task; None if it is unknown."""
        try:
            return self._catalogue.task(name)
        except ConfigError:
            return None

    def described(self, task: str, name: str) -> dict[str, object]:
        """Return an aspect for a page; an unknown aspect has the default scale."""
        aspect = self.find(task, name)
        scale = aspect.scale if aspect else Scale()
        return {
            "name": name,
            "task": task,
            "definition": aspect.definition if aspect else "",
            "low": scale.low,
            "high": scale.high,
            "labels": list(scale.labels) if scale.labels else None,
        }
