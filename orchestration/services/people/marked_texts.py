"""A run's results beside people's judgements of the same texts: the data of panel studies.

People's scores and spans come from the marks beside the run, or from a file of texts. Unmarked
texts are included, so that judges' results on all texts can be corrected by people's on a few.
Marks of other versions of the texts are ignored; a note counts them.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from spanjury.judges.core import (
    Aspect,
    ConfigError,
    DataError,
    ErrorSpan,
    Scale,
    Segment,
    StoreError,
)
from spanjury.orchestration.services.judging.exam_texts import Texts, read_texts
from spanjury.orchestration.services.people.marks.marked_run import (
    MarkedRun,
    Reading,
    read_readings,
)
from spanjury.orchestration.services.people.sampled import none_in_sample, read_chances
from spanjury.orchestration.services.viewing.sources import KnownAspects, ViewedRun, find_runs
from spanjury.orchestration.studies.sampling import (
    chance_of,
    left_out_note,
    which_count,
)
from spanjury.orchestration.studies.sources import (
    TextName,
    by_name,
    judged_twice,
    known_source_of,
    name_of,
    text_name,
)
from spanjury.orchestration.wiring.read_results import ReportedRow, read_reported_rows

RowKey = tuple[str, str, str]
"""Name of the text, and the aspect."""


class Judgement(NamedTuple):
    """People's judgement of one text on one aspect."""

    segment: Segment
    people: Mapping[str, float]
    spans: tuple[ErrorSpan, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """All judgements of people, and the texts that are available.

    `other_versions` counts marks of other texts or versions, which are left out.
    """

    name: str
    by_row: Mapping[RowKey, Judgement]
    own: Mapping[TextName, Segment]
    rows: Mapping[TextName, Segment]
    aspects: frozenset[str]
    other_versions: int = 0

    def text(self, row: ReportedRow) -> Segment | None:
        """Return the text of a row, from the run or else from people; None if neither has it."""
        return next(iter(self._segments_of(row)), None)

    def source(self, row: ReportedRow) -> str | None:
        """Return the input of a text, from the run's text or else from people's."""
        sources = map(known_source_of, self._segments_of(row))
        return next((source for source in sources if source is not None), None)

    def chance(self, row: ReportedRow) -> float | None:
        """Return the sampling probability in people's row of a text, or else in the run's own."""
        chances = map(chance_of, reversed(self._segments_of(row)))
        return next((chance for chance in chances if chance is not None), None)

    def _segments_of(self, row: ReportedRow) -> list[Segment]:
        of_run = self.own.get(_name(row))
        of_people = self.rows.get(_name(row)) or self.rows.get((row.id, ""))
        return [segment for segment in (of_run, of_people) if segment is not None]


def row_key(row: ReportedRow) -> RowKey:
    """Return the name of a row's text, and the aspect."""
    return (*_name(row), row.aspect)


def people_of_run(run: MarkedRun) -> People:
    """Return the finished marks beside a run; raise `ConfigError` if there are none."""
    read = read_readings(run)
    readings = read.chosen()
    if not readings:
        raise ConfigError(
            f"{run.named} has no finished marks of people: make some with"
            f" 'spanjury view {run.named}', or name texts with people's scores by --human"
        )
    by_row = {
        name: _read(list(group))
        for name, group in groupby(
            readings, key=lambda reading: (*text_name(reading.text.segment), reading.aspect)
        )
    }
    who = ", ".join(sorted({reading.annotator for reading in readings}))
    return People(
        name=f"marks of {who} in {run.marks}",
        by_row=by_row,
        own=by_name(text.segment for text in run.texts),
        rows={},
        aspects=frozenset(reading.aspect for reading in readings),
        other_versions=read.other_versions,
    )


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


def people_of_file(
    human: Path | Texts, *, rows: Sequence[ReportedRow], run: ViewedRun, columns: Sequence[str]
) -> People:
    """Return people's scores and spans from a file of texts."""
    marked = by_name(read_texts(human, columns=columns))
    has_spans = any(each.gold for each in marked.values())
    rated = frozenset(aspect for each in marked.values() for aspect in each.human)
    data = run.texts.data.absolute() if run.texts else None
    own = {} if isinstance(human, Path) and human.absolute() == data else own_texts(run)
    by_row: dict[RowKey, Judgement] = {}
    others: set[TextName] = set()
    for row in rows:
        segment = marked.get(_name(row)) or marked.get((row.id, ""))
        if segment is None:
            continue
        if _is_other_text(row, segment, own.get(_name(row))):
            others.add(_name(row))
            continue
        people = segment.human.get(row.aspect, {})
        # Spans name no aspect: if people also gave scores, they are about the scored aspects.
        looked = has_spans and (not rated or row.aspect in rated)
        if people or looked:
            by_row[row_key(row)] = Judgement(segment, people, segment.gold if looked else None)
    return People(
        name=str(human),
        by_row=by_row,
        own=own,
        rows=marked,
        aspects=rated,
        other_versions=len(others),
    )


def own_texts(run: ViewedRun) -> Mapping[TextName, Segment]:
    """Return the texts that a run judged; empty if their file is unknown."""
    texts = run.texts
    if texts is None or not texts.data.is_file():
        return {}
    return by_name(read_texts(texts.data, columns=texts.columns))


def _is_other_text(row: ReportedRow, segment: Segment, own: Segment | None) -> bool:
    """Return whether people read another version, by the run's text or by judges' quotes."""
    if own is not None:
        return own.output != segment.output
    return any(
        segment.output[span.start : span.end] != span.text
        for spans in (row.spans, *(seat.spans for seat in row.seats))
        for span in spans
        if span.interval is not None
    )


def check_people(
    people: People, *, rows: Sequence[ReportedRow], matched: set[RowKey], aspects: Sequence[str]
) -> None:
    """Raise `ConfigError` or `DataError` if people did not judge what the run judged.

    `matched` are the rows that people judged.
    """
    judged = Counter(row.aspect for row in rows)
    if strange := [name for name in aspects if name not in judged]:
        raise ConfigError(
            f"{', '.join(strange)} was not judged; judged: {', '.join(judged) or 'nothing'}"
        )
    if not matched and people.other_versions:
        raise DataError(
            f"{people.name}: all {people.other_versions} marked texts are other versions of the"
            " texts that the run judged"
        )
    if not matched and people.aspects and not people.aspects & judged.keys():
        raise DataError(
            f"{people.name}: people marked {', '.join(sorted(people.aspects))}, and the run judged"
            f" {', '.join(judged)}: the names of aspects must be the same"
        )
    if not matched:
        raise DataError(
            f"{people.name}: none of its texts with people's scores or spans was judged in the "
            "run; the ids and systems of rows must be the same"
        )
    marked = {aspect for _, _, aspect in matched}
    if missing := [name for name in aspects if name not in marked]:
        raise ConfigError(
            f"no one marked {', '.join(missing)}; marked: {', '.join(sorted(marked))}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedSource:
    """Runs, and people's judgements of their texts.

    `human` names texts with people's scores or spans, in any readable format; None for the runs'
    own marks. `sample` names the texts that were drawn for people, with their sampling
    probabilities; None for the probabilities in the rows themselves. `columns` are those of `human`
    or `data`. Without `aspects`, all marked aspects are read.
    """

    results: tuple[Path, ...]
    human: Path | Texts | None = None
    sample: Path | None = None
    data: Path | None = None
    columns: tuple[str, ...] = ()
    aspects: tuple[str, ...] = ()

    @property
    def first(self) -> Path:
        """The first run."""
        return self.results[0]

    def with_columns_of_run(self) -> "MarkedSource":
        """Return it with the columns by which a run read `human`, if that is the data of the run.

        Of two columns for the same name, and of two shapes, its own is kept.
        """
        if not isinstance(self.human, Path):
            return self
        for named in self.results:
            with suppress(DataError, StoreError):  # they are raised when the results are read
                (run,) = find_runs([named])
                if run.texts is not None and run.texts.data == self.human.absolute():
                    return replace(self, columns=_together(self.columns, run.texts.columns))
        return self


def _together(own: Sequence[str], others: Iterable[str]) -> tuple[str, ...]:
    """Return settings ``NAME=COLUMN`` or shapes, and those of `others` that contradict none."""
    taken = {part for setting in own for part in setting.split("=", 1)}
    has_shape = any("=" not in setting for setting in own)
    added = (
        setting
        for setting in others
        if taken.isdisjoint(setting.split("=", 1)) and not (has_shape and "=" not in setting)
    )
    return (*own, *added)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedText:
    """A text with the panel's report on one aspect, and people's judgement of it.

    `row` is the panel's result, with its seats. `segment` is None if no available file has the
    text, and `meaning`, the aspect with its definition, if no aspects file has it. Texts of one
    `source`, the input that they were made from, are never in two folds. `people` has the score of
    each rater, on people's own scale, and `spans` the errors that people marked; None if no one
    looked for any. `chance` is the probability with which the text was drawn to be marked, if
    known.
    """

    row: ReportedRow
    scale: Scale
    source: str
    segment: Segment | None = None
    meaning: Aspect | None = None
    people: Mapping[str, float] = field(default_factory=dict)
    spans: tuple[ErrorSpan, ...] | None = None
    chance: float | None = None

    @property
    def is_marked(self) -> bool:
        """True if a person scored it, or looked for errors."""
        return bool(self.people) or self.spans is not None

    @property
    def human(self) -> float | None:
        """The mean of people's scores; None without scores."""
        return sum(self.people.values()) / len(self.people) if self.people else None

    @property
    def aspect(self) -> tuple[str, str]:
        """Task and name of the aspect: one name in two tasks means two aspects."""
        return self.row.task, self.row.aspect


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedTexts:
    """The rows of one run, with people's marks if there are any.

    `name` gives the annotators and the file of the marks; it is empty without marks. The `left_out`
    texts are marked, but count as unmarked in `texts`: they have no sampling probability although
    others do. `other_versions` counts marks of other texts or versions, which were left out;
    `sourceless` and `marked_sourceless` count texts with unknown input, and the marked ones of
    them.
    """

    name: str
    texts: tuple[JudgedText, ...]
    left_out: tuple[JudgedText, ...] = ()
    other_versions: int = 0
    sourceless: int = 0
    marked_sourceless: int = 0

    @property
    def marked(self) -> tuple[JudgedText, ...]:
        """The texts that people marked."""
        return tuple(text for text in self.texts if text.is_marked)

    @property
    def aspects(self) -> tuple[tuple[str, str], ...]:
        """Task and name of each aspect on which people marked a text, in order."""
        return tuple(dict.fromkeys(text.aspect for text in self.marked))

    def on(self, task: str, aspect: str) -> tuple[JudgedText, ...]:
        """Return the texts judged on an aspect, marked or not."""
        return tuple(text for text in self.texts if text.aspect == (task, aspect))

    def notes(self, *, of_marked: bool = False) -> Iterator[str]:
        """Yield notes on marks left out, and on assumptions about all or only marked texts."""
        if self.other_versions:
            yield other_versions_note(self.other_versions)
        if self.left_out:
            yield left_out_note(len({_name(text.row) for text in self.left_out}))
        if count := self.marked_sourceless if of_marked else self.sourceless:
            yield sourceless_note(f"{count:,} texts")


def other_versions_note(texts: int) -> str:
    """Return a note that marks of other versions of the texts are left out."""
    return (
        f"{texts} marked texts are left out: they are other versions of the texts that the run"
        " judged"
    )


def sourceless_note(texts: str) -> str:
    """Return a note that the inputs of `texts` are unknown, and what follows."""
    return (
        f"{texts}: they have no input id, so each id counts as one input: name a file of the "
        "texts with their inputs with --data"
    )


def read_marked(source: MarkedSource) -> MarkedTexts:
    """Read the results of the first run beside people's marks of its texts.

    Raise `ConfigError` if no one marked a requested aspect, and `DataError` if a file cannot be
    read, no text of the run or none of the sample was marked, or all marks are of other versions of
    its texts.
    """
    results, human, sample = source.first, source.human, source.sample
    data, columns, aspects = source.data, source.columns, source.aspects
    (run,) = find_runs([results], data=data, columns=columns if human is None else ())
    chances = read_chances(sample) if sample else None
    rows = _rows_of(run.results)
    if human is not None:
        people = people_of_file(human, rows=rows, run=run, columns=columns)
    else:
        people = people_of_run(MarkedRun(results, data=data, columns=columns))
    judged = set(people.by_row) & set(map(row_key, rows))
    check_people(people, rows=rows, matched=judged, aspects=aspects)
    definitions = KnownAspects(run.aspects_files, rubrics=[run.rubric])
    texts = [_judged(row, people, definitions=definitions, chances=chances) for row in rows]
    # Whether texts were drawn is a question about the whole run, whichever aspects are requested.
    both = [
        (text, counts)
        for text, counts in zip(texts, _counted(texts), strict=True)
        if not aspects or text.row.aspect in aspects
    ]
    if sample and not any(text.is_marked and text.chance is not None for text, _ in both):
        raise DataError(none_in_sample(people.name, sample))
    counted = tuple(counts for _, counts in both)
    return MarkedTexts(
        name=people.name,
        texts=counted,
        left_out=tuple(text for text, counts in both if text.is_marked > counts.is_marked),
        other_versions=people.other_versions,
        sourceless=_sourceless((text.row for text in counted), people),
        marked_sourceless=_sourceless((text.row for text in counted if text.is_marked), people),
    )


def read_unmarked(
    results: Path, *, data: Path | None = None, columns: Sequence[str] = ()
) -> MarkedTexts:
    """Read a run's results beside its texts, without any marks.

    Raise `DataError` if a file cannot be read.
    """
    (run,) = find_runs([results], data=data, columns=columns if data else ())
    nothing = People(name="", by_row={}, own=own_texts(run), rows={}, aspects=frozenset())
    aspects = KnownAspects(run.aspects_files, rubrics=[run.rubric])
    rows = _rows_of(run.results)
    return MarkedTexts(
        name="",
        texts=tuple(_judged(row, nothing, definitions=aspects, chances=None) for row in rows),
        sourceless=_sourceless(rows, nothing),
    )


def _rows_of(results: Path) -> list[ReportedRow]:
    rows = list(read_reported_rows(results))
    if not rows:
        raise DataError(f"{results} holds no result")
    seen: set[tuple[str, RowKey]] = set()
    for row in rows:
        if (result := (row.task, row_key(row))) in seen:
            raise judged_twice(str(results), text=row.id, aspect=row.aspect)
        seen.add(result)
    return rows


def _name(row: ReportedRow) -> TextName:
    return name_of(row.id, row.system)


def _judged(
    row: ReportedRow,
    people: People,
    *,
    definitions: KnownAspects,
    chances: Mapping[TextName, float] | None,
) -> JudgedText:
    aspect = definitions.find(row.task, row.aspect)
    about = people.by_row.get(row_key(row))
    source = people.source(row)
    return JudgedText(
        row=row,
        scale=aspect.scale if aspect else Scale(),
        source=row.id if source is None else source,
        segment=about.segment if about else people.text(row),
        meaning=aspect,
        people=about.people if about else {},
        spans=about.spans if about else None,
        chance=people.chance(row) if chances is None else chances.get(_name(row)),
    )


def _counted(texts: Sequence[JudgedText]) -> Iterator[JudgedText]:
    """Yield the texts; those whose marks do not count become unmarked."""
    marked = [text for text in texts if text.is_marked]
    counts = iter(which_count([text.chance for text in marked]))
    for text in texts:
        yield text if not text.is_marked or next(counts) else replace(text, people={}, spans=None)


def _sourceless(rows: Iterable[ReportedRow], people: People) -> int:
    return len({_name(row) for row in rows if people.source(row) is None})
