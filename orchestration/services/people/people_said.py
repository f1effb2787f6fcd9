"""People's word on the texts of a run: the marks beside it, or a file of texts.

Marks of other versions of the texts are no word on these, and are counted.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from spanjury.judges.core import ConfigError, DataError, ErrorSpan, Segment
from spanjury.orchestration.services.judging.exam_texts import Texts, read_texts
from spanjury.orchestration.services.people.marks.marked_run import MarkedRun
from spanjury.orchestration.services.people.marks.readings import Reading, read_readings
from spanjury.orchestration.services.people.sampling import TextName
from spanjury.orchestration.services.viewing.sources import ViewedRun
from spanjury.orchestration.studies.agreement.ratings import known_input_of
from spanjury.orchestration.studies.sampling import chance_of
from spanjury.orchestration.wiring.read_results import ReportedRow

RowKey = tuple[str, str, str]
"""Id of the segment, its system, and the aspect."""


class Judgement(NamedTuple):
    """People's judgement of one text on one aspect."""

    segment: Segment
    people: Mapping[str, float]
    spans: tuple[ErrorSpan, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """All that people said, and the texts as far as they are known.

    Parameters
    ----------
    own
        The texts that the run judged.
    rows
        The texts as people's file has them.
    other_versions
        Marks of other texts, or other versions of these, that were left out.
    """

    name: str
    by_row: Mapping[RowKey, Judgement]
    own: Mapping[TextName, Segment]
    rows: Mapping[TextName, Segment]
    aspects: frozenset[str]
    other_versions: int = 0

    def text(self, row: ReportedRow) -> Segment | None:
        """Return the text of a row, as the run has it or else people; None where neither does."""
        return next(iter(self._segments_of(row)), None)

    def source(self, row: ReportedRow) -> str | None:
        """Return the input that a text is for, as the run's text says or else people's."""
        sources = map(known_input_of, self._segments_of(row))
        return next((source for source in sources if source is not None), None)

    def chance(self, row: ReportedRow) -> float | None:
        """Return the chance that people's row of a text keeps, or else the run's own."""
        chances = map(chance_of, reversed(self._segments_of(row)))
        return next((chance for chance in chances if chance is not None), None)

    def _segments_of(self, row: ReportedRow) -> list[Segment]:
        of_run = self.own.get((row.id, row.system))
        of_people = self.rows.get((row.id, row.system)) or self.rows.get((row.id, ""))
        return [segment for segment in (of_run, of_people) if segment is not None]


def row_key(row: ReportedRow) -> RowKey:
    """Return the name of the text and the aspect of a row."""
    return row.id, row.system, row.aspect


def said_beside(run: MarkedRun) -> People:
    """Take the finished marks beside a run; raise `ConfigError` where there are none."""
    read = read_readings(run) if run.marks.exists() else None
    readings = read.chosen() if read else ()
    if not readings or read is None:
        raise ConfigError(
            f"{run.named} has no finished marks of people: make some with"
            f" 'spanjury view {run.named}', or name texts with people's scores by --human"
        )
    by_row = {name: _read(list(group)) for name, group in groupby(readings, key=_row_of)}
    who = ", ".join(sorted({reading.annotator for reading in readings}))
    return People(
        name=f"marks of {who} in {run.marks}",
        by_row=by_row,
        own=_by_name(text.segment for text in run.texts),
        rows={},
        aspects=frozenset(reading.aspect for reading in readings),
        other_versions=read.other_versions,
    )


def _row_of(reading: Reading) -> RowKey:
    segment = reading.text.segment
    return segment.segment_id, segment.system, reading.aspect


def _read(readings: Sequence[Reading]) -> Judgement:
    looked = [reading for reading in readings if not reading.mark.scores_only]
    spans = tuple(
        span.error_span(reading.annotator) for reading in looked for span in reading.mark.spans
    )
    scores = {
        reading.annotator: reading.mark.score
        for reading in readings
        if reading.mark.score is not None
    }
    return Judgement(readings[0].text.segment, scores, spans if looked else None)


def said_in(
    human: Path | Texts, *, rows: Sequence[ReportedRow], run: ViewedRun, columns: Sequence[str]
) -> People:
    """Take people's scores and spans from a file of texts."""
    marked = _by_name(read_texts(human, columns=columns))
    has_spans = any(each.gold for each in marked.values())
    own = {} if _is_file_of(run, human) else own_texts(run)
    by_row: dict[RowKey, Judgement] = {}
    others: set[TextName] = set()
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
            by_row[row_key(row)] = Judgement(segment, people, spans)
    return People(
        name=str(human),
        by_row=by_row,
        own=own,
        rows=marked,
        aspects=frozenset(aspect for each in marked.values() for aspect in each.human),
        other_versions=len(others),
    )


def own_texts(run: ViewedRun) -> Mapping[TextName, Segment]:
    """Return the texts that a run judged; none where nothing says in which file they are."""
    texts = run.texts
    if texts is None or not texts.data.is_file():
        return {}
    return _by_name(read_texts(texts.data, columns=texts.columns))


def _is_file_of(run: ViewedRun, human: Path | Texts) -> bool:
    if run.texts is None or isinstance(human, Texts):
        return False
    return run.texts.data.absolute() == human.absolute()


def _by_name(segments: Iterable[Segment]) -> dict[TextName, Segment]:
    """Return the texts by id and system."""
    return {(segment.segment_id, segment.system): segment for segment in segments}


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


def check_said(
    people: People,
    *,
    rows: Sequence[ReportedRow],
    matched: set[RowKey],
    aspects: Sequence[str],
) -> None:
    """Raise `ConfigError` or `DataError` where people's word is not on what was judged.

    Parameters
    ----------
    matched
        The rows of which people said something.
    aspects
        Those that are asked for.
    """
    judged = Counter(row.aspect for row in rows)
    if strange := [name for name in aspects if name not in judged]:
        raise ConfigError(
            f"{', '.join(strange)} was not judged; judged: {', '.join(judged) or 'nothing'}"
        )
    if not matched and people.other_versions:
        raise DataError(
            f"{people.name}: all {people.other_versions} marked texts are other versions of the"
            " texts"
            " that the run judged"
        )
    if not matched and people.aspects and not people.aspects & judged.keys():
        raise DataError(
            f"{people.name}: people marked {', '.join(sorted(people.aspects))}, and the run judged"
            f" {', '.join(judged)}: the names of aspects must be the same"
        )
    if not matched:
        raise DataError(
            f"{people.name}: none of its texts with people's scores or spans was judged in the "
            "run; the ids of rows must be the same"
        )
    marked = {aspect for _, _, aspect in matched}
    if missing := [name for name in aspects if name not in marked]:
        raise ConfigError(
            f"no one marked {', '.join(missing)}; marked: {', '.join(sorted(marked))}"
        )
