"""Comparisons: two runs on the same texts, or two judges by their exams."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from spanjury.judges.core import ConfigError, DataError
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.services.exams.flag import SEED, Parameter
from spanjury.orchestration.services.exams.functions import from_python
from spanjury.orchestration.services.exams.study import FileStudy
from spanjury.orchestration.studies.sources import TextIds, known_source_of

with lazily():
    from spanjury.orchestration.report import json
    from spanjury.orchestration.services.exams import study_report
    from spanjury.orchestration.services.judging import scorers
    from spanjury.orchestration.services.people import marked_texts
    from spanjury.orchestration.services.people.marks import marked_run
    from spanjury.orchestration.studies.comparison import changes, comparison, runs, tables


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedRuns:
    """The differences between two runs, whose files or folders `first` and `second` are."""

    first: Path
    second: Path
    differences: "tuple[runs.Difference, ...]"
    changes: "tuple[changes.Change, ...]"
    """Decisions that differ, worst first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compare(FileStudy[ComparedRuns]):
    """Compare the scores and decisions of two runs on the same texts, text by text."""

    first: Annotated[
        Path | str,
        Parameter("Folder or name of a run, file of results, or file of metric scores.", kind=Path),
    ] = field(kw_only=False)
    second: Annotated[Path | str, Parameter("The same, for another run.", kind=Path)] = field(
        kw_only=False
    )
    data: Annotated[
        Path | None,
        Parameter(
            "File of the judged texts, which names their inputs, for files outside a run's folder."
        ),
    ] = None
    seed: Annotated[int, SEED] = 1
    draws: Annotated[int, Parameter("Number of bootstrap resamples.", min=1)] = 2000
    fail_on_worse: Annotated[
        bool, Parameter("Exit with 5 if a decision is worse, or missing, in the second run.")
    ] = False

    def find(self) -> "study_report.StudyReport[ComparedRuns]":
        """Compare the runs.

        Raise `DataError` if a file cannot be read, the two have no score in common, or decisions
        must not be worse and the first has none.
        """
        first, second = Path(self.first), Path(self.second)
        scored = [scorers.read_scorers([path], ids=TextIds()) for path in (first, second)]
        sources = {**_sources(first, data=self.data), **_sources(second, data=self.data)}
        differences = runs.differences(
            *scored,
            sources=sources,
            seed=self.seed,
            draws=self.draws,
        )
        if not any(row.texts for row in differences):
            raise DataError(
                f"{first} and {second} have no score in common: scores are matched by judge,"
                " aspect, id and system; name two versions of a program alike, or not at all, to"
                " compare them"
            )
        decisions = [scorers.read_decisions(path, ids=TextIds()) for path in (first, second)]
        if self.fail_on_worse and not any(decisions[0].values()):
            raise DataError(f"{first} has no decisions, which --fail-on-worse compares")
        changed, lost = changes.changes(*decisions), changes.undecided(*decisions)
        names = {"first": str(first), "second": str(second)}
        texts = {text for scorer in (*scored[0], *scored[1]) for text in scorer.scores}
        sourceless = len(texts - sources.keys())
        notes = [marked_texts.sourceless_note(f"{sourceless:,} texts")] if sourceless else []
        notes += runs.doubts(differences, **names, undecided=len(lost))
        return study_report.file_report(
            ComparedRuns(first=first, second=second, differences=differences, changes=changed),
            name="comparison",
            document=runs.differences_report(differences, **names, changed=changed, notes=notes),
            values={
                **names,
                "differences": json.plain(differences, digits=None),
                "changes": changes.changes_json(changed),
            },
            missed=[*changes.worsened(changed), *changes.unanswered(lost)]
            if self.fail_on_worse
            else (),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareExams(FileStudy["comparison.Comparison"]):
    """Compare two judges by the effects that their exams found on the same texts.

    Parameters
    ----------
    first, second
        From Python also the reports of exams of discernment or of robustness.
    """

    first: Annotated[
        "study_report.StudyReport[object] | Path | str",
        Parameter("Output folder of one judge's exam.", "FOLDER_A", kind=Path),
    ] = field(kw_only=False)
    second: Annotated[
        "study_report.StudyReport[object] | Path | str",
        Parameter("Output folder of another judge's exam.", "FOLDER_B", kind=Path),
    ] = field(kw_only=False)
    seed: Annotated[int, SEED] = 1
    draws: Annotated[int, Parameter("Number of resamples of the texts.", min=100)] = 10_000

    def find(self) -> "study_report.StudyReport[comparison.Comparison]":
        """Compare the judges.

        Raise `DataError` if a folder holds no scores, or they cannot be read, and `ConfigError` if
        the exams have nothing in common, or a report is of no exam that has scores.
        """
        first, second = _scores(self.first), _scores(self.second)
        compared = comparison.compare(first.rows, second.rows, seed=self.seed, draws=self.draws)
        judges = first.examinee, second.examinee
        names = _name(self.first, "A"), _name(self.second, "B")
        return study_report.file_report(
            compared,
            name="comparison",
            document=tables.comparison_report(compared, judges=judges, folders=names),
            values=tables.comparison_json(compared, judges=judges),
        )


acompare, compare = from_python(Compare, name="compare")
acompare_exams, compare_exams = from_python(CompareExams, name="compare_exams")


def _sources(path: Path, *, data: Path | None) -> Mapping[str, str]:
    """Return the source of each text of a run; empty if the texts are unknown."""
    segments = marked_run.MarkedRun(path, data=data).segments()
    ids = TextIds()
    sources = (
        (ids.of(segment.segment_id, segment.system), known_source_of(segment))
        for segment in segments
    )
    return {text: source for text, source in sources if source is not None}


def _scores(exam: object) -> "study_report.ExamScores":
    if not isinstance(exam, study_report.StudyReport):
        return study_report.read_scores(Path(str(exam)))
    if exam.scores is None:
        raise ConfigError(f"{exam!r} has no scores by which judges can be compared")
    return exam.scores


def _name(exam: object, letter: str) -> str:
    return f"exam {letter}" if isinstance(exam, study_report.StudyReport) else str(exam)
