"""The run that people mark, and its marks matched to its texts by annotator and version."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from spanjury.judges.core import Aspect, ConfigError, DataError, ErrorSpan, Scale, Segment
from spanjury.orchestration.services.people.marks.mark import (
    Mark,
    MarkedSpan,
    Origin,
    check_mark,
    mark_of_json,
)
from spanjury.orchestration.services.viewing.marking import version_of
from spanjury.orchestration.services.viewing.sources import (
    KnownAspects,
    Texts,
    ViewedRun,
    find_runs,
)
from spanjury.orchestration.studies.agreement.people import (
    KeptSpans,
    SpanVerdict,
    Verdict,
    kept_spans,
)
from spanjury.orchestration.studies.sources import source_of
from spanjury.orchestration.wiring.marks import (
    MARKS_NAME,
    MarkKey,
    StoredMark,
    mark_name,
    read_marks,
    result_names,
)
from spanjury.orchestration.wiring.read_results import read_reported_rows
from spanjury.orchestration.wiring.runs import PART

_OWN_RUN = 0
"""Number of the marked run in a view: a second run is shown for comparison only."""

_RowName = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedText:
    """A text of a run, with its task and the scales of the aspects on which it is judged."""

    segment: Segment
    task: str
    aspects: Mapping[str, Scale]

    def key(self, annotator: str, aspect: str) -> MarkKey:
        """Return the key under which the mark of `annotator` on `aspect` is stored."""
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

    `data` and `columns` name the texts of a bare file of results, which contains none.

    Raises `DataError` or `StoreError` if there is no run, or it has no results yet.
    """

    def __init__(
        self, named: Path, *, data: Path | None = None, columns: Sequence[str] = ()
    ) -> None:
        self.named = named
        (self._run,) = find_runs([named], data=data, columns=columns)
        self.marks = marks_of(self._run)
        """The file of the marks."""
        self.results = self._run.results
        """The file of results, or of the results so far."""
        self.data = self._run.texts.data if self._run.texts else None
        """The file of the texts; None if it is unknown."""

    def segments(self) -> Iterator[Segment]:
        """Yield the rows of the data unchanged; none if their file is unknown."""
        return self._run.texts.segments() if self._run.texts else iter(())

    @cached_property
    def texts(self) -> tuple[MarkedText, ...]:
        """The texts that were judged, in the order of the data.

        Raise `DataError` if they or the results cannot be read, and `ConfigError` if their file
        must be named.
        """
        if self._run.texts is None:
            raise ConfigError(
                f"{self.named} holds no texts: name the file of them with --data FILE"
            )
        names: dict[tuple[str, str], dict[str, list[str]]] = {}
        for segment, system, task, aspect in result_names(self._run.results):
            names.setdefault((segment, system), {}).setdefault(task, []).append(aspect)
        texts = tuple(self._matched(self._run.texts, names))
        if names and not texts:
            data = self._run.texts.data
            raise DataError(f"{data}: no text has an id and a system of {self.named}")
        return texts

    @cached_property
    def aspects(self) -> tuple[Aspect, ...]:
        """The aspects on which the run was judged, except those without a definition.

        Raise `DataError` if the results cannot be read.
        """
        names = dict.fromkeys(
            (task, aspect) for _, _, task, aspect in result_names(self._run.results)
        )
        defined = (self._definitions.find(task, aspect) for task, aspect in names)
        return tuple(aspect for aspect in defined if aspect is not None)

    @cached_property
    def _definitions(self) -> KnownAspects:
        return KnownAspects(self._run.aspects_files, rubrics=[self._run.rubric])

    def _matched(
        self, texts: Texts, names: Mapping[tuple[str, str], Mapping[str, Sequence[str]]]
    ) -> Iterator[MarkedText]:
        definitions = self._definitions
        scales: dict[tuple[str, str], Scale] = {}
        for segment in texts.segments():
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
    """Return the marks file of a run: in its folder, or beside a bare file of results."""
    if run.folder is not None:
        return run.folder / MARKS_NAME
    return run.results.with_name(f"{run.results.name.removesuffix(PART)}.{MARKS_NAME}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A mark of a text of the run."""

    annotator: str
    aspect: str
    text: MarkedText
    mark: Mark


@dataclass(frozen=True, slots=True, kw_only=True)
class Readings:
    """The marks of a run.

    They are ordered by text, aspect and annotator. `other_versions` counts marks of texts or
    versions that the run's data do not contain; `damaged` names marks that cannot be read or do not
    fit their text.
    """

    readings: tuple[Reading, ...]
    other_versions: int
    damaged: tuple[str, ...]

    @property
    def annotators(self) -> tuple[str, ...]:
        """All annotators, sorted."""
        return tuple(sorted({reading.annotator for reading in self.readings}))

    def chosen(
        self, *, annotators: Sequence[str] = (), with_unfinished: bool = False
    ) -> tuple[Reading, ...]:
        """Return the readings of `annotators`, or all readings if none is named.

        Raise `DataError` if an annotator marked nothing.
        """
        if strange := [name for name in annotators if name not in self.annotators]:
            choices = ", ".join(self.annotators) or "none"
            raise DataError(f"{', '.join(strange)} marked nothing; annotators: {choices}")
        return tuple(
            reading
            for reading in self.readings
            if (with_unfinished or reading.mark.is_done)
            and (not annotators or reading.annotator in annotators)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The work of one annotator: numbers of marks, of finished marks, and of spans in them."""

    annotator: str
    marks: int
    done: int
    spans: int


def read_readings(run: MarkedRun, *, without_damaged: bool = False) -> Readings:
    """Read the marks of a run; raises as `MarkedRun.texts` and `MarksStore` do.

    Raise `StoreError` if marks are damaged on disk, unless `without_damaged` leaves them out.
    """
    stored = read_marks(run.marks, are_whole=not without_damaged)
    if not stored.marks:
        return Readings(readings=(), other_versions=0, damaged=stored.damaged)
    by_key = {mark.key: mark for mark in stored.marks}
    names = sorted({key.annotator for key in by_key})
    matched = [*_matched(run.texts, names, by_key)]
    sound = [reading for _, reading in matched if reading is not None]
    unfit = (mark_name(astuple(key)) for key, reading in matched if reading is None)
    return Readings(
        readings=tuple(sound),
        other_versions=len(by_key) - len(matched),
        damaged=(*stored.damaged, *unfit),
    )


def progress(path: Path) -> tuple[list[Progress], tuple[str, ...]]:
    """Count the marks in a file, annotator by annotator, and name those that are damaged."""
    stored = read_marks(path)
    damaged = list(stored.damaged)
    marks, done, spans = Counter[str](), Counter[str](), Counter[str]()
    for entry in stored.marks:
        try:
            mark = mark_of_json(entry.content)
        except DataError:
            damaged.append(mark_name(astuple(entry.key)))
            continue
        marks[entry.key.annotator] += 1
        done[entry.key.annotator] += mark.is_done
        spans[entry.key.annotator] += len(mark.spans)
    names = sorted(marks)
    rows = [
        Progress(annotator=name, marks=marks[name], done=done[name], spans=spans[name])
        for name in names
    ]
    return rows, tuple(damaged)


def _matched(
    texts: Sequence[MarkedText], names: Sequence[str], by_key: dict[MarkKey, StoredMark]
) -> Iterator[tuple[MarkKey, Reading | None]]:
    """Yield the key of each mark of a text, and its reading; None if it cannot be read."""
    for text in texts:
        for aspect in text.aspects:
            for name in names:
                key = text.key(name, aspect)
                if key not in by_key:
                    continue
                try:
                    mark = mark_of_json(by_key[key].content)
                    check_mark(mark, output=text.segment.output)
                except DataError:
                    yield key, None
                else:
                    yield key, Reading(annotator=name, aspect=aspect, text=text, mark=mark)


class JudgesSpans(NamedTuple):
    """Shares of the spans that people keep, judge by judge.

    Finished marks are `stale`, and left out, if the run's results have changed since they were
    made.
    """

    judges: tuple[KeptSpans, ...]
    stale: int = 0


def judges_spans(run: MarkedRun) -> JudgesSpans:
    """Count the verdicts on judges' spans of people who looked for errors.

    Unfinished marks do not count; if no finished mark holds a verdict, nothing is counted. Raise
    the errors of `read_readings`, and `DataError` if the results cannot be read.
    """
    looked = [reading for reading in read_readings(run).chosen() if not reading.mark.scores_only]
    if not any(_origins(reading.mark) for reading in looked):
        return JudgesSpans(())
    rows = {
        (row.id, row.system, row.task, row.aspect): row.spans
        for row in read_reported_rows(run.results)
    }
    fitting = [reading for reading in looked if _fits(reading.mark, rows.get(_row_of(reading), ()))]
    return JudgesSpans(kept_spans(_all(fitting, rows)), stale=len(looked) - len(fitting))


def _all(
    readings: Sequence[Reading], rows: Mapping[_RowName, Sequence[ErrorSpan]]
) -> Iterator[SpanVerdict]:
    for reading in readings:
        for number, span in enumerate(rows.get(_row_of(reading), ())):
            verdict = _verdict(reading.mark, number, span)
            for judge in span.found_by:
                yield SpanVerdict(
                    aspect=reading.aspect,
                    judge=judge,
                    source=source_of(reading.text.segment),
                    verdict=verdict,
                )


def _row_of(reading: Reading) -> _RowName:
    text = reading.text
    return text.segment.segment_id, text.segment.system, text.task, reading.aspect


def _origins(mark: Mark) -> list[Origin]:
    """Return the spans of the marked run on which a mark has a verdict."""
    taken = [span.origin for span in mark.spans if span.origin is not None]
    return [origin for origin in (*taken, *mark.rejected) if origin.run == _OWN_RUN]


def _fits(mark: Mark, spans: Sequence[ErrorSpan]) -> bool:
    """Return whether a mark's verdicts are on these spans, as far as it stores them."""
    if any(origin.span >= len(spans) for origin in _origins(mark)):
        return False
    return all(
        _is_at(span, spans[span.origin.span])
        for span in mark.spans
        if span.verdict == "accepted" and span.origin and span.origin.run == _OWN_RUN
    )


def _verdict(mark: Mark, number: int, span: ErrorSpan) -> Verdict | None:
    """Return the verdict on a span; accepting a span also accepts others at its position."""
    origin = Origin(run=_OWN_RUN, span=number)
    if origin in mark.rejected:
        return "rejected"
    for span_mark in mark.spans:
        is_at = (
            span.start is not None and span_mark.verdict == "accepted" and _is_at(span_mark, span)
        )
        if (span_mark.origin == origin or is_at) and span_mark.verdict != "own":
            return span_mark.verdict
    return None


def _is_at(marked: MarkedSpan, span: ErrorSpan) -> bool:
    return (marked.start, marked.end) == (span.start, span.end)
