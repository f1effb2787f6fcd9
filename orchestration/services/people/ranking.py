"""A ranking of systems, from files to a report."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from spanjury.judges.core import ConfigError, DataError, Scale, unstamped
from spanjury.orchestration.services.people.marked_texts import (
    MarkedSource,
    MarkedTexts,
    other_versions_note,
    read_marked,
    row_key,
    sourceless_note,
)
from spanjury.orchestration.services.people.marks.marked_run import MarkedRun, read_readings
from spanjury.orchestration.services.people.sampled import read_chances, text_name
from spanjury.orchestration.studies.agreement.scorers import known_input_of
from spanjury.orchestration.studies.ranking.findings import annotators_caution, rank_systems
from spanjury.orchestration.studies.ranking.score_table import RankedText, score_table
from spanjury.orchestration.studies.ranking.tables import RankingFindings
from spanjury.orchestration.wiring.read_results import read_result_scores


def rank(source: MarkedSource, *, begin: Callable[[str], None] = lambda _: None) -> RankingFindings:
    """Rank systems, aspect by aspect; `begin` is called with the name of each before that.

    Raise as `read_texts_to_rank` does, and `DataError` if no text has a score.
    """
    texts = read_texts_to_rank(source)
    scored = {
        aspect: texts_of
        for aspect, texts_of in texts.aspects.items()
        if len({text.system for text in texts_of if text.score is not None}) > 1
    }
    if not scored:
        raise DataError(
            f"no two systems have a score on {', '.join(texts.aspects)}: there is nothing to rank"
        )
    rankings = []
    for aspect, texts_of in scored.items():
        begin(f"ranking by {aspect}")
        rankings.append(rank_systems(score_table(texts_of, aspect=aspect)))
    return RankingFindings(
        runs=tuple(map(str, source.results)),
        people=texts.people,
        aspects=tuple(rankings),
        notes=(*texts.notes, *_notes(texts.aspects, scored)),
    )


def _notes(
    aspects: Mapping[str, Sequence[RankedText]], scored: Mapping[str, Sequence[RankedText]]
) -> Iterator[str]:
    for aspect, texts in aspects.items():
        if aspect not in scored:
            yield f"{aspect}: no two systems have a score on it"
        if caution := annotators_caution(texts):
            yield f"{aspect}: {caution}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TextsToRank:
    """Texts to rank, aspect by aspect, and what must be known of them."""

    aspects: Mapping[str, Sequence[RankedText]]
    people: str
    notes: tuple[str, ...]


class _Row(NamedTuple):
    """A result, and people's scores of the same text."""

    name: str
    aspect: str
    text: RankedText
    signature: str
    scale: Scale | None = None


def read_texts_to_rank(source: MarkedSource) -> TextsToRank:
    """Read results, people's scores and the chances of sampled texts.

    A row without a system is of a system called as its run.

    Raise `ConfigError` if an aspect was not judged or a text was judged in two runs, and
    `DataError` if a file cannot be read, there is one system only, or people's scores are named
    and are of no text of any run.
    """
    if source.sample:  # a broken file is refused even where no run has marks yet
        read_chances(source.sample)
    reader = _Reader(source)
    rows = [row for path, name in _named(source.results) for row in reader.rows(path, name)]
    if (source.human or source.sample) and not reader.people and reader.problems:
        raise DataError(reader.problems[0])
    judged = list(dict.fromkeys(row.aspect for row in rows))
    if strange := [name for name in source.aspects if name not in judged]:
        raise ConfigError(f"{', '.join(strange)} was not judged; judged: {', '.join(judged)}")
    _refuse_twice(rows)
    systems = list(dict.fromkeys(row.text.system for row in rows))
    if len(systems) < 2:  # noqa: PLR2004  a rank takes two
        called = f"one system only, {systems[0]!r}" if systems else "no system"
        raise DataError(
            f"there is {called}: a ranking needs two; name them in the rows, under 'system', or "
            "give a run of each"
        )
    aspects = {name: [row.text for row in rows if row.aspect == name] for name in judged}
    return TextsToRank(
        aspects={name: aspects[name] for name in source.aspects or judged},
        people="; ".join(dict.fromkeys(reader.people)),
        notes=(*reader.notes(), *_panel_notes(rows)),
    )


def _named(runs: Sequence[Path]) -> list[tuple[Path, str]]:
    """Return each run with a name of its own."""
    distinct = list(dict.fromkeys(runs))
    names = [path.parent.name if path.is_file() else path.name for path in distinct]
    return [
        (path, name if name and names.count(name) == 1 else str(path))
        for path, name in zip(distinct, names, strict=True)
    ]


class _Reader:
    """Reads runs one by one, and keeps what is to be said of them."""

    def __init__(self, source: MarkedSource) -> None:
        self._source = source
        self.people: list[str] = []
        self.problems: list[str] = []
        self._other_versions = 0
        self._sourceless: list[str] = []

    def rows(self, path: Path, name: str) -> Iterator[_Row]:
        """Yield the rows of a run."""
        of_data = self._source.columns if self._source.human is None else ()
        run = MarkedRun(path, data=self._source.data, columns=of_data)
        marked = self._marked(path, run)
        yield from self._with_people(marked, name) if marked else self._bare(run, name)

    def _marked(self, path: Path, run: MarkedRun) -> MarkedTexts | None:
        """Return the run beside people's scores; None where there are none of it."""
        if self._source.human is None and not read_readings(run).chosen():
            return None
        try:
            marked = read_marked(replace(self._source, results=(path,), aspects=()))
        except DataError as error:  # of this run; another may have marks
            self.problems.append(str(error))
            return None
        self.people.append(marked.name)
        self._other_versions += marked.other_versions
        return marked

    def _with_people(self, marked: MarkedTexts, name: str) -> Iterator[_Row]:
        """Yield rows with all marks: which of them count, the table of all runs says."""
        if marked.sourceless:
            self._sourceless.append(name)
        left_out = {row_key(text.row): text.people for text in marked.left_out}
        for text in marked.texts:
            ranked = RankedText(
                system=text.row.system or name,
                source=text.source,
                score=text.row.score,
                people=left_out.get(row_key(text.row), text.people),
                chance=text.chance,
            )
            yield _Row(text.row.id, text.row.aspect, ranked, text.row.signature, text.scale)

    def _bare(self, run: MarkedRun, run_name: str) -> Iterator[_Row]:
        own = {text_name(segment): known_input_of(segment) for segment in run.segments()}
        rows = list(read_result_scores(run.results))
        sources = [own.get((row.segment_id, row.system)) for row in rows]
        if None in sources:
            self._sourceless.append(run_name)
        for row, source in zip(rows, sources, strict=True):
            ranked = RankedText(
                system=row.system or run_name,
                source=row.segment_id if source is None else source,
                score=row.score,
            )
            yield _Row(row.segment_id, row.aspect, ranked, row.signature)

    def notes(self) -> Iterator[str]:
        """Say what is left out or taken for granted."""
        if self._sourceless:
            yield sourceless_note(", ".join(self._sourceless))
        if self.people and self.problems:
            yield from self.problems
        if self._other_versions:
            yield other_versions_note(self._other_versions)


def _refuse_twice(rows: Sequence[_Row]) -> None:
    seen: set[tuple[str, str, str]] = set()
    for row in rows:
        system = row.text.system
        key = row.name, system, row.aspect
        if key in seen:
            raise ConfigError(
                f"{row.name!r} of the system {system!r} was judged twice on {row.aspect}: name"
                " runs of different systems, or one run of all; two panels on the same texts are"
                " compared by 'spanjury compare'"
            )
        seen.add(key)


def _panel_notes(rows: Sequence[_Row]) -> Iterator[str]:
    """Say where scores of different panels, or people on another scale, are beside each other."""
    by_aspect: dict[str, list[_Row]] = {}
    for row in rows:
        by_aspect.setdefault(row.aspect, []).append(row)
    for aspect, here in by_aspect.items():
        if len(panels := {unstamped(row.signature) for row in here}) > 1:
            yield (
                f"{aspect}: {len(panels)} different panels judged these texts, so systems may "
                "differ because of their judges"
            )
        scores = [score for row in here for score in row.text.people.values()]
        scale = next((row.scale for row in here if row.scale is not None), None)
        if scale and scores and not (scale.low <= min(scores) and max(scores) <= scale.high):
            yield (
                f"{aspect}: people's scores run from {min(scores):g} to {max(scores):g} and the"
                f" panel's scale from {scale.low:g} to {scale.high:g}: estimates with people are on"
                " people's scale"
            )
