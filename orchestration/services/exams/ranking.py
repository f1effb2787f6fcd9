"""A ranking of systems by a panel's scores and people's, or by comparisons of a pair judge."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, ClassVar, NamedTuple

from spanjury.judges.core import ConfigError, DataError, unstamped
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.services.exams.flag import Parameter
from spanjury.orchestration.services.exams.functions import from_python
from spanjury.orchestration.services.exams.study import MarkedStudy
from spanjury.orchestration.studies.sources import known_source_of, name_of, text_name

with lazily():
    from spanjury.orchestration.services.exams import pairs, study_report, terms
    from spanjury.orchestration.services.people import marked_texts, sampled
    from spanjury.orchestration.services.people.marks import marked_run
    from spanjury.orchestration.studies import estimates
    from spanjury.orchestration.studies.pairs import comparing
    from spanjury.orchestration.studies.pairs import ranking as pair_ranking
    from spanjury.orchestration.studies.ranking import findings, score_table, tables
    from spanjury.orchestration.wiring import read_results


@dataclass(frozen=True, slots=True, kw_only=True)
class Rank(MarkedStudy["tables.RankingFindings | pair_ranking.PairRankings"]):
    """Rank systems by a panel's scores, with intervals, and name those not shown to differ.

    The panel's scores are corrected by people's if people marked some of the texts. The estimates
    are then unbiased even for a bad panel, and more precise than people's alone for a good one.
    With --pairwise, systems are ranked by the comparisons of 'spanjury pairs'.
    """

    results_help: ClassVar[str] = (
        "Folders or names of runs, or files of results, each with one system or several; folders"
        " of 'spanjury pairs' with --pairwise."
    )
    aspect_help: ClassVar[str] = "Aspect to rank by; all by default; repeatable."

    pairwise: Annotated[
        bool, Parameter("Rank by the comparisons of 'spanjury pairs' (Bradley-Terry).")
    ] = False

    def find(
        self,
    ) -> "study_report.StudyReport[tables.RankingFindings | pair_ranking.PairRankings]":
        """Rank the systems; raise as `MarkedStudy.find` does."""
        if self.pairwise:
            return self._by_pairs()
        ranked = self._by_scores()
        return study_report.file_report(
            ranked,
            name="ranking",
            document=tables.ranking_report(ranked),
            values=tables.ranking_json(ranked),
        )

    def _by_scores(self) -> "tables.RankingFindings":
        """Rank systems by the panel's scores and people's, aspect by aspect."""
        texts = read_texts_to_rank(self.source)
        scored = {
            aspect: texts_of
            for aspect, texts_of in texts.aspects.items()
            if len({text.system for text in texts_of if text.score is not None}) > 1
        }
        if not scored:
            names = ", ".join(texts.aspects)
            raise DataError(f"no two systems have a score on {names}: there is nothing to rank")
        rankings = []
        for aspect, texts_of in scored.items():
            self.begin(f"ranking by {aspect}")
            table = score_table.score_table(texts_of, aspect=aspect, is_drawn=texts.are_drawn)
            rankings.append(findings.rank_systems(table))
        return tables.RankingFindings(
            runs=tuple(map(str, self.source.results)),
            people=texts.people,
            aspects=tuple(rankings),
            notes=(*texts.notes, *_notes(texts.aspects, scored)),
        )

    def _by_pairs(
        self,
    ) -> "study_report.StudyReport[tables.RankingFindings | pair_ranking.PairRankings]":
        if self.human is not None or self.sample is not None or self.data is not None:
            raise ConfigError("--pairwise ranks by comparisons alone: leave out people's scores")
        paths = terms.paths_of(self.results)
        compared = [row for path in paths for row in pairs.read_comparisons(path)]
        ranked = pair_ranking.PairRankings(
            results=tuple(map(str, paths)),
            aspects=tuple(_rankings(compared, paths, aspects=terms.names_of(self.aspects))),
        )
        return study_report.file_report(
            ranked,
            name="ranking",
            document=pair_ranking.pair_rankings_report(ranked),
            values=pair_ranking.pair_rankings_json(ranked),
        )


arank, rank = from_python(Rank, name="rank")


def _rankings(
    compared: "list[comparing.ComparisonRow]", paths: tuple[Path, ...], *, aspects: tuple[str, ...]
) -> "list[pair_ranking.PairRanking]":
    """Return the ranking on each aspect.

    Raise `ConfigError` if an aspect was not compared or two texts were compared twice, and
    `DataError` if no comparison has a preference.
    """
    by_aspect = estimates.grouped(compared, lambda row: row.aspect)
    if strange := [name for name in aspects if name not in by_aspect]:
        names = ", ".join(by_aspect)
        raise ConfigError(f"{', '.join(strange)} was not compared; compared: {names}")
    made = Counter((row.aspect, row.source, row.system_a, row.system_b) for row in compared)
    if twice := next((key for key, count in made.items() if count > 1), None):
        aspect, source, first, second = twice
        raise ConfigError(
            f"{first!r} and {second!r} were compared twice on {aspect} over the source {source!r}:"
            " name one folder of comparisons, or folders of different texts"
        )
    asked = [by_aspect[name] for name in aspects or by_aspect]
    ranked = [rows for rows in asked if any(row.preference is not None for row in rows)]
    if not ranked:
        names = ", ".join(map(str, paths))
        raise DataError(f"{names}: no comparison has a preference: there is nothing to rank")
    return [pair_ranking.rank_by_pairs(rows) for rows in ranked]


def _notes(
    aspects: "Mapping[str, Sequence[score_table.RankedText]]",
    scored: "Mapping[str, Sequence[score_table.RankedText]]",
) -> Iterator[str]:
    for aspect, texts in aspects.items():
        if aspect not in scored:
            yield f"{aspect}: no two systems have a score on it"
        if caution := findings.annotators_caution(texts):
            yield f"{aspect}: {caution}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TextsToRank:
    """Texts to rank, aspect by aspect, and what must be known of them."""

    aspects: "Mapping[str, Sequence[score_table.RankedText]]"
    are_drawn: bool
    """True if any marked text, on any aspect of any run, has a sampling probability."""
    people: str
    notes: tuple[str, ...]


class _Row(NamedTuple):
    """A result, and people's scores of the same text."""

    name: str
    aspect: str
    text: "score_table.RankedText"
    signature: str


def read_texts_to_rank(source: "marked_texts.MarkedSource") -> TextsToRank:
    """Read results, people's scores and the chances of sampled texts.

    A row without a system is of a system called as its run.

    Raise `ConfigError` if an aspect was not judged or a text was judged in two runs, and
    `DataError` if a file cannot be read, there is one system only, or people's scores are named
    and are of no text of any run.
    """
    if source.sample:  # a broken file is refused even where no run has marks yet
        sampled.read_chances(source.sample)
    reader, rows = _Reader(source), list[_Row]()
    names = [path.parent.name if path.is_file() else path.name for path in source.results]
    for path, name in zip(source.results, names, strict=True):
        is_own = name and names.count(name) == 1
        rows += reader.rows(path, name if is_own else str(path))
    if (source.human or source.sample) and not reader.people and reader.problems:
        raise DataError(reader.problems[0])
    by_aspect = estimates.grouped(rows, lambda row: row.aspect)
    if strange := [name for name in source.aspects if name not in by_aspect]:
        raise ConfigError(f"{', '.join(strange)} was not judged; judged: {', '.join(by_aspect)}")
    made = Counter((row.name, row.text.system, row.aspect) for row in rows)
    if twice := next((key for key, count in made.items() if count > 1), None):
        text, system, aspect = twice
        raise ConfigError(
            f"{text!r} of the system {system!r} was judged twice on {aspect}: name runs of"
            " different systems, or one run of all; two panels on the same texts are compared by"
            " 'spanjury compare'"
        )
    systems = list(dict.fromkeys(row.text.system for row in rows))
    if len(systems) < 2:  # noqa: PLR2004  a rank takes two
        called = f"one system only, {systems[0]!r}" if systems else "no system"
        raise DataError(
            f"there is {called}: a ranking needs two; name them in the rows, under 'system', or "
            "give a run of each"
        )
    return TextsToRank(
        aspects={
            name: [row.text for row in by_aspect[name]] for name in source.aspects or by_aspect
        },
        are_drawn=reader.are_drawn,
        people="; ".join(dict.fromkeys(reader.people)),
        notes=(*reader.notes(), *_panel_notes(rows)),
    )


class _Reader:
    """Reads runs one by one, and keeps what is to be said of them."""

    def __init__(self, source: "marked_texts.MarkedSource") -> None:
        self._source = source
        self.people: list[str] = []
        self.problems: list[str] = []
        self.are_drawn = False
        self._other_versions = 0
        self._sourceless: list[str] = []

    def rows(self, path: Path, name: str) -> Iterator[_Row]:
        """Yield the rows of a run."""
        of_data = self._source.columns if self._source.human is None else ()
        run = marked_run.MarkedRun(path, data=self._source.data, columns=of_data)
        marked = self._marked(path, run)
        yield from self._with_people(marked, name) if marked else self._bare(run, name)

    def _marked(self, path: Path, run: "marked_run.MarkedRun") -> "marked_texts.MarkedTexts | None":
        """Return the run beside people's scores; None without any."""
        if self._source.human is None and not marked_run.read_readings(run).chosen():
            return None
        try:
            marked = marked_texts.read_marked(replace(self._source, results=(path,), aspects=()))
        except DataError as error:  # of this run; another may have marks
            self.problems.append(str(error))
            return None
        self.people.append(marked.name)
        self._other_versions += marked.other_versions
        return marked

    def _with_people(self, marked: "marked_texts.MarkedTexts", name: str) -> Iterator[_Row]:
        """Yield rows with all marks: which of them count, the table of all runs says."""
        if marked.sourceless:
            self._sourceless.append(name)
        self.are_drawn |= any(text.chance is not None for text in marked.marked)
        left_out = {marked_texts.row_key(text.row): text.people for text in marked.left_out}
        for text in marked.texts:
            key = marked_texts.row_key(text.row)
            ranked = score_table.RankedText(
                system=text.row.system or name,
                source=text.source,
                score=text.row.score,
                people=left_out.get(key, text.people),
                chance=text.chance,
                scale=text.scale,
            )
            yield _Row(key[0], text.row.aspect, ranked, text.row.signature)

    def _bare(self, run: "marked_run.MarkedRun", run_name: str) -> Iterator[_Row]:
        own = {text_name(segment): known_source_of(segment) for segment in run.segments()}
        rows = list(read_results.read_result_scores(run.results))
        sources = [own.get(name_of(row.segment_id, row.system)) for row in rows]
        if None in sources:
            self._sourceless.append(run_name)
        scales = {(each.task.name, each.name): each.scale for each in run.aspects}
        for row, source in zip(rows, sources, strict=True):
            ranked = score_table.RankedText(
                system=row.system or run_name,
                source=row.segment_id if source is None else source,
                score=row.score,
                scale=scales.get((row.task, row.aspect)),
            )
            yield _Row(name_of(row.segment_id, row.system)[0], row.aspect, ranked, row.signature)

    def notes(self) -> Iterator[str]:
        """Say what is left out or taken for granted."""
        if self._sourceless:
            yield marked_texts.sourceless_note(", ".join(self._sourceless))
        if self.people and self.problems:
            yield from self.problems
        if self._other_versions:
            yield marked_texts.other_versions_note(self._other_versions)


def _panel_notes(rows: Sequence[_Row]) -> Iterator[str]:
    """Say where scores of different panels, or people on another scale, are beside each other."""
    for aspect, here in estimates.grouped(rows, lambda row: row.aspect).items():
        if len(panels := {unstamped(row.signature) for row in here}) > 1:
            yield (
                f"{aspect}: {len(panels)} different panels judged these texts, so systems may "
                "differ because of their judges"
            )
        scores = [score for row in here for score in row.text.people.values()]
        scale = next((row.text.scale for row in here if row.text.scale), None)
        if scale and scores and not (scale.low <= min(scores) and max(scores) <= scale.high):
            yield (
                f"{aspect}: people's scores run from {min(scores):g} to {max(scores):g} and the"
                f" panel's scale from {scale.low:g} to {scale.high:g}: estimates with people are on"
                " people's scale"
            )
