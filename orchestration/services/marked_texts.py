"""A run's results beside what people said of the same texts: the data of every study of a panel.

People's scores and spans come from the marks beside the run, or from a file of texts. A text that
no one marked is there too, so that a judge's word on all texts can be weighed with people's on a
few.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from spanjury.judges.core import ConfigError, DataError, ErrorSpan, Scale, Segment
from spanjury.orchestration.services.exam_texts import read_texts
from spanjury.orchestration.services.marks.marked_run import MarkedRun, MarkedText
from spanjury.orchestration.services.marks.readings import Reading, read_readings
from spanjury.orchestration.services.view.aspects import KnownAspects
from spanjury.orchestration.services.view.sources import ViewedRun, find_runs
from spanjury.orchestration.studies.agreement.ratings import input_of
from spanjury.orchestration.wiring.read_results import ReportedRow, read_reported_rows

SAMPLING = "sampling"
"""Key of a row's meta that says how the row was drawn, and with what probability."""
_INCLUSION = "inclusion"


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedText:
    """A text with the panel's report on one aspect, and what people said of it.

    Parameters
    ----------
    row
        The panel's result, with its seats.
    segment
        The text itself; None where no file with the texts is at hand.
    source
        What the text was made of: texts of one source are never in two folds.
    people
        Rater -> score, on people's own scale; empty where no one scored it.
    spans
        Errors that people marked; None where no one looked for any.
    inclusion
        Probability with which the text was drawn for people to mark; 1 where all were.
    """

    row: ReportedRow
    scale: Scale
    source: str
    segment: Segment | None = None
    people: Mapping[str, float] = field(default_factory=dict)
    spans: tuple[ErrorSpan, ...] | None = None
    inclusion: float = 1.0

    @property
    def is_marked(self) -> bool:
        """Whether a person scored it, or looked for errors."""
        return bool(self.people) or self.spans is not None

    @property
    def human(self) -> float | None:
        """The mean of people's scores; None without any."""
        return sum(self.people.values()) / len(self.people) if self.people else None

    @property
    def aspect(self) -> tuple[str, str]:
        """Task and name of the aspect: one word in two tasks is two aspects."""
        return self.row.task, self.row.aspect


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedTexts:
    """The rows of one run, with people's marks where there are any.

    Parameters
    ----------
    name
        Whose marks they are, and where they stand.
    other_versions
        Marks of other texts, or other versions of these, that were left out.
    """

    name: str
    texts: tuple[JudgedText, ...]
    other_versions: int = 0

    @property
    def marked(self) -> tuple[JudgedText, ...]:
        """The texts that people marked."""
        return tuple(one for one in self.texts if one.is_marked)

    @property
    def aspects(self) -> tuple[tuple[str, str], ...]:
        """Task and name of each aspect on which people marked a text, in order."""
        return tuple(dict.fromkeys(one.aspect for one in self.marked))

    def on(self, task: str, aspect: str) -> tuple[JudgedText, ...]:
        """Return the texts judged on an aspect, marked or not."""
        return tuple(one for one in self.texts if one.aspect == (task, aspect))


class _Said(NamedTuple):
    """People's word on one text and one aspect."""

    segment: Segment
    people: Mapping[str, float]
    spans: tuple[ErrorSpan, ...] | None


def read_marked(
    results: Path,
    *,
    human: Path | None = None,
    data: Path | None = None,
    columns: Sequence[str] = (),
    aspects: Sequence[str] = (),
) -> MarkedTexts:
    """Read a run's results beside people's marks of its texts.

    Raise `ConfigError` if no one marked an aspect that is asked for, and `DataError` if a file
    cannot be read, no text of the run was marked, or all marks are of other versions of its texts.

    Parameters
    ----------
    results
        A folder or the name of a run, or a file of results.
    human
        Texts with people's scores or spans, in any form that is read; None for the run's own
        marks.
    data, columns
        The texts of a bare file of results, and what the columns of `human` or `data` are called.
    aspects
        The names of those to read; none for all that were marked.
    """
    (run,) = find_runs([results], data=data, columns=columns if human is None else ())
    rows = list(read_reported_rows(run.results))
    if not rows:
        raise DataError(f"{run.results}: there is no result in it")
    if human is not None:
        said = _said_in(human, rows=rows, run=run, columns=columns)
    else:
        said = _said_beside(MarkedRun(results, data=data, columns=columns))
    judged = set(said.by_row) & {_key(row) for row in rows}
    _check(said, rows=rows, matched=judged, aspects=aspects)
    known = KnownAspects(run.aspects_files)
    texts = tuple(
        _judged(row, said, known=known) for row in rows if not aspects or row.aspect in aspects
    )
    return MarkedTexts(name=said.name, texts=texts, other_versions=said.other_versions)


RowKey = tuple[str, str, str]
"""Id of the segment, its system, and the aspect."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _People:
    """All that people said, and the texts of the run as far as they are known."""

    name: str
    by_row: Mapping[RowKey, _Said]
    segments: Mapping[tuple[str, str], Segment]
    aspects: frozenset[str]
    other_versions: int = 0


def _key(row: ReportedRow) -> RowKey:
    return row.id, row.system, row.aspect


def _judged(row: ReportedRow, said: _People, *, known: KnownAspects) -> JudgedText:
    aspect = known.find(row.task, row.aspect)
    about = said.by_row.get(_key(row))
    segment = about.segment if about else said.segments.get((row.id, row.system))
    return JudgedText(
        row=row,
        scale=aspect.scale if aspect else Scale(),
        source=input_of(segment) if segment else row.id,
        segment=segment,
        people=about.people if about else {},
        spans=about.spans if about else None,
        inclusion=_inclusion(segment),
    )


def _inclusion(segment: Segment | None) -> float:
    """Return the probability with which a text was drawn, as its row says."""
    drawn = segment.meta.get(SAMPLING) if segment else None
    value = drawn.get(_INCLUSION) if isinstance(drawn, Mapping) else None
    if value is None:
        return 1.0
    if not isinstance(value, int | float) or not 0.0 < value <= 1.0:
        name = segment.segment_id if segment else ""
        raise DataError(f"{name!r}: a text is drawn with a probability over 0, got {value!r}")
    return float(value)


def _said_beside(run: MarkedRun) -> _People:
    """Take the finished marks beside the run."""
    read = read_readings(run) if run.marks.exists() else None
    readings = read.chosen() if read else ()
    if not readings or read is None:
        raise ConfigError(
            f"{run.named} has no finished marks of people: make some with"
            f" 'spanjury view {run.named}', or name texts with people's scores by --human"
        )
    grouped = groupby(readings, key=lambda one: (one.text.segment.segment_id, one.aspect))
    said = {}
    for (name, aspect), group in grouped:
        of_text = list(group)
        text: MarkedText = of_text[0].text
        said[name, text.segment.system, aspect] = _read(of_text)
    who = ", ".join(sorted({one.annotator for one in readings}))
    return _People(
        name=f"marks of {who} in {run.marks}",
        by_row=said,
        segments=_by_name(one.segment for one in run.texts),
        aspects=frozenset(one.aspect for one in readings),
        other_versions=read.other_versions,
    )


def _read(readings: Sequence[Reading]) -> _Said:
    looked = [one for one in readings if not one.mark.scores_only]
    spans = tuple(span.error_span(one.annotator) for one in looked for span in one.mark.spans)
    scores = {one.annotator: one.mark.score for one in readings if one.mark.score is not None}
    return _Said(readings[0].text.segment, scores, spans if looked else None)


def _said_in(
    human: Path, *, rows: Sequence[ReportedRow], run: ViewedRun, columns: Sequence[str]
) -> _People:
    """Take people's scores and spans from a file of texts."""
    marked = _by_name(read_texts(human, columns=columns))
    has_spans = any(one.gold for one in marked.values())
    own = _own_texts(run, human=human)
    said: dict[RowKey, _Said] = {}
    others: set[tuple[str, str]] = set()
    for row in rows:
        segment = marked.get((row.id, row.system)) or marked.get((row.id, ""))
        if segment is None:
            continue
        if _is_other_text(row, segment, own.get((row.id, row.system))):
            others.add((row.id, row.system))
            continue
        people = segment.human.get(row.aspect, {})
        if people or has_spans:
            spans = segment.gold if has_spans else None
            said[_key(row)] = _Said(segment, people, spans)
    return _People(
        name=str(human),
        by_row=said,
        segments={**own, **marked},
        aspects=frozenset(aspect for one in marked.values() for aspect in one.human),
        other_versions=len(others),
    )


def _own_texts(run: ViewedRun, *, human: Path) -> Mapping[tuple[str, str], Segment]:
    """Return the texts that the run judged, where its folder says where they are."""
    texts = run.texts
    if texts is None or not texts.data.is_file() or texts.data.absolute() == human.absolute():
        return {}
    return _by_name(read_texts(texts.data, columns=texts.columns))


def _by_name(segments: Iterable[Segment]) -> dict[tuple[str, str], Segment]:
    return {(one.segment_id, one.system): one for one in segments}


def _is_other_text(row: ReportedRow, segment: Segment, own: Segment | None) -> bool:
    """Say whether people read another version: by the run's text, or by what judges quote."""
    if own is not None:
        return own.output != segment.output
    return any(segment.output[start:end] != text for start, end, text in _quotes(row))


def _quotes(row: ReportedRow) -> Iterator[tuple[int, int, str]]:
    for spans in (row.spans, *(seat.spans for seat in row.seats)):
        for span in spans:
            if span.start is not None and span.end is not None:
                yield span.start, span.end, span.text


def _check(
    said: _People,
    *,
    rows: Sequence[ReportedRow],
    matched: set[RowKey],
    aspects: Sequence[str],
) -> None:
    judged = Counter(row.aspect for row in rows)
    if strange := [name for name in aspects if name not in judged]:
        raise ConfigError(
            f"{', '.join(strange)} was not judged; judged: {', '.join(judged) or 'nothing'}"
        )
    if not matched and said.other_versions:
        raise DataError(
            f"{said.name}: all {said.other_versions} marked texts are other versions of the texts"
            " that the run judged"
        )
    if not matched and said.aspects and not said.aspects & judged.keys():
        raise DataError(
            f"{said.name}: people marked {', '.join(sorted(said.aspects))}, and the run judged"
            f" {', '.join(judged)}: the names of aspects must be the same"
        )
    if not matched:
        raise DataError(
            f"{said.name}: no text of it with people's scores or spans was judged in the run: the"
            " ids of rows must be the same"
        )
    marked = {aspect for _, _, aspect in matched}
    if missing := [name for name in aspects if name not in marked]:
        raise ConfigError(
            f"no one marked {', '.join(missing)}; marked: {', '.join(sorted(marked))}"
        )
