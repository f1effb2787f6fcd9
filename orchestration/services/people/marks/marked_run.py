"""The run that people mark: its file of marks, and its texts with the aspects judged."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path

from spanjury.judges.core import ConfigError, DataError, Scale, Segment
from spanjury.orchestration.services.viewing.aspects import KnownAspects
from spanjury.orchestration.services.viewing.marking import version_of
from spanjury.orchestration.services.viewing.sources import PART, Texts, ViewedRun, find_runs
from spanjury.orchestration.wiring.marks import MARKS_NAME, MarkKey, result_names
from spanjury.orchestration.wiring.sources import open_source


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedText:
    """A text of a run, with its task and the scales of the aspects on which it is judged."""

    segment: Segment
    task: str
    aspects: Mapping[str, Scale]

    def key(self, annotator: str, aspect: str) -> MarkKey:
        """Return where the mark of `annotator` on `aspect` is kept."""
        return MarkKey(
            annotator=annotator,
            segment=self.segment.segment_id,
            system=self.segment.system,
            task=self.task,
            aspect=aspect,
            version=version_of(self.segment.output),
        )


class MarkedRun:
    """A run, or a bare file of results, whose texts people mark.

    Raises `DataError` or `StoreError` if there is none, or it has no results yet.

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
        (self._run,) = find_runs([named], data=data, columns=columns)

    @property
    def marks(self) -> Path:
        """The file of the marks."""
        return marks_of(self._run)

    @property
    def results(self) -> Path:
        """The file of results, or what there is of it."""
        return self._run.results

    @property
    def data(self) -> Path | None:
        """The file of the texts; None where nothing says which it is."""
        return self._run.texts.data if self._run.texts else None

    def segments(self) -> Iterator[Segment]:
        """Yield the rows of the data, as they are; none where nothing says where they are."""
        return _segments(self._run.texts) if self._run.texts else iter(())

    @cached_property
    def texts(self) -> tuple[MarkedText, ...]:
        """The texts that were judged, in the order of the data.

        Raise `DataError` if they or the results cannot be read, and `ConfigError` where they must
        be named.
        """
        if self._run.texts is None:
            raise ConfigError(
                f"{self.named} holds no texts: name the file of them with --data FILE"
            )
        names = self._judged()
        texts = tuple(self._matched(self._run.texts, names))
        if names and not texts:
            data = self._run.texts.data
            raise DataError(f"{data}: no text has an id and a system of {self.named}")
        return texts

    def _judged(self) -> dict[tuple[str, str], dict[str, list[str]]]:
        """Return id and system -> task -> its aspects, of every row of the results."""
        names: dict[tuple[str, str], dict[str, list[str]]] = {}
        for segment, system, task, aspect in result_names(self._run.results):
            names.setdefault((segment, system), {}).setdefault(task, []).append(aspect)
        return names

    def _matched(
        self, texts: Texts, names: Mapping[tuple[str, str], Mapping[str, Sequence[str]]]
    ) -> Iterator[MarkedText]:
        definitions = KnownAspects(self._run.aspects_files, rubrics=[self._run.rubric])
        scales: dict[tuple[str, str], Scale] = {}
        for segment in _segments(texts):
            for task, aspects in names.get((segment.segment_id, segment.system), {}).items():
                for aspect in aspects:
                    if (task, aspect) not in scales:
                        declared = definitions.find(task, aspect)
                        scales[task, aspect] = declared.scale if declared else Scale()
                fitted = definitions.task(task)
                yield MarkedText(
                    segment=fitted.fit(segment) if fitted else segment,
                    task=task,
                    aspects={aspect: scales[task, aspect] for aspect in aspects},
                )


def marks_of(run: ViewedRun) -> Path:
    """Return the file of the marks of a run: in its folder, or beside a bare file of results."""
    if run.folder is not None:
        return run.folder / MARKS_NAME
    return run.results.with_name(f"{run.results.name.removesuffix(PART)}.{MARKS_NAME}")


def _segments(texts: Texts) -> Iterator[Segment]:
    """Yield the texts that were judged; rows that cannot be read were none of them."""
    rows = islice(open_source(texts.data, columns=texts.columns), texts.limit)
    segments = (row for row in rows if isinstance(row, Segment))
    return segments if texts.shard is None else texts.shard.of_rows(segments)
