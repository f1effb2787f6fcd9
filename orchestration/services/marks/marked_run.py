"""The run that people mark: its file of marks, and its texts with the aspects judged."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from spanjury.judges.core import Aspect, ConfigError, DataError, Segment, StoreError
from spanjury.judges.core.keys import digest
from spanjury.judges.tasks import Catalogue
from spanjury.orchestration.services.evaluate import pairs
from spanjury.orchestration.services.panels import read_segments
from spanjury.orchestration.services.runs import job_of
from spanjury.orchestration.wiring.marks import MARKS_NAME, MarkKey, result_names
from spanjury.orchestration.wiring.runs import RunFolder, find_run

_PART = ".part"


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedText:
    """A text of a run, and the aspects on which it is judged, by name."""

    segment: Segment
    aspects: Mapping[str, Aspect]

    def key(self, annotator: str, aspect: str) -> MarkKey:
        """Return where the mark of `annotator` on `aspect` is kept."""
        return MarkKey(
            annotator=annotator,
            segment=self.segment.segment_id,
            system=self.segment.system,
            task=self.aspects[aspect].task.name,
            aspect=aspect,
            version=version_of(self.segment.output),
        )


def version_of(output: str) -> str:
    """Return what tells one version of an output from another."""
    return digest("output", output)


def marks_beside(results: Path) -> Path:
    """Return the file of the marks on a file of results: its run's, or one beside it."""
    whole = results.with_name(results.name.removesuffix(_PART))
    folder = RunFolder(whole.parent)
    if folder.exists and whole.name == folder.results.name:
        return folder.path / MARKS_NAME
    return whole.with_name(f"{whole.name}.{MARKS_NAME}")


class MarkedRun:
    """A run, or a bare file of results, whose texts people mark.

    Raises `StoreError` if there is none.

    Parameters
    ----------
    named
        A folder or the name of a run, or a file of results.
    data, columns
        The texts of a bare file of results, which holds none, and what its columns are called.
    """

    def __init__(
        self, named: Path, *, data: Path | None = None, columns: Sequence[str] = ()
    ) -> None:
        self.named = named
        self._data = data
        self._columns = tuple(columns)
        self._folder = None if named.is_file() else find_run(named)

    @property
    def marks(self) -> Path:
        """The file of the marks."""
        if self._folder is None:
            return marks_beside(self.named)
        return self._folder.path / MARKS_NAME

    @property
    def results(self) -> Path:
        """The file of results, or what there is of it; raise `StoreError` if there is none."""
        if self._folder is None:
            return self.named
        results = job_of(self._folder).output
        for path in (results, results.with_name(f"{results.name}{_PART}")):
            if path.is_file():
                return path
        raise StoreError(f"{self.named} has no results yet, or {results} has gone elsewhere")

    @cached_property
    def texts(self) -> tuple[MarkedText, ...]:
        """The texts that were judged, in the order of the data.

        Raise `DataError` if they cannot be read, and `ConfigError` where they must be named.
        """
        judged: dict[str, tuple[Segment, dict[str, Aspect]]] = {}
        for segment, aspect in self._pairs():
            judged.setdefault(segment.segment_id, (segment, {}))[1][aspect.name] = aspect
        return tuple(MarkedText(segment=one, aspects=aspects) for one, aspects in judged.values())

    def _pairs(self) -> Iterator[tuple[Segment, Aspect]]:
        if self._folder is not None:
            job = job_of(self._folder)
            return pairs(
                job if self._data is None else replace(job, data=self._data, columns=self._columns)
            )
        if self._data is None:
            raise ConfigError(
                f"{self.named} holds no texts: name the file of them with --data FILE"
            )
        return self._judged(self._data)

    def _judged(self, data: Path) -> Iterator[tuple[Segment, Aspect]]:
        """Yield the texts of `data` that the results are of."""
        names: dict[tuple[str, str], list[tuple[str, str]]] = {}
        for name, system, task, aspect in result_names(self.named):
            names.setdefault((name, system), []).append((task, aspect))
        catalogue, found = Catalogue.load(), False
        for segment in read_segments(data, columns=self._columns):
            for task, aspect in names.get((segment.segment_id, segment.system), ()):
                found = True
                yield segment, catalogue.aspect(task, aspect)
        if not found:
            raise DataError(f"{data}: no text has an id and a system of {self.named}")
