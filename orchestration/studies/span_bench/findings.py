"""Findings: how good the spans and decisions of judges are, beside baselines; cautions; values."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from spanjury.judges.core import ConfigError, choices_for, counted
from spanjury.orchestration.report.json import plain, versions
from spanjury.orchestration.studies.card import SHARE, SIGNED, Gate, Measure, Ranges, measured
from spanjury.orchestration.studies.estimates import DEFAULTS, Settings, estimates
from spanjury.orchestration.studies.judging import Examinee, ExamRun, JudgedText, require_distinct
from spanjury.orchestration.studies.span_bench.figures import (
    FIGURES,
    SHORT_NAMES,
    SPEARMAN,
    Arrays,
    Coverage,
    Cut,
    Group,
    KindDecisions,
    TextGroup,
    arrays_of,
    coverage_of,
    cut_of,
    decisions_by_kind,
    effects_of,
    gains_of,
    groups_of,
    text_groups,
)
from spanjury.orchestration.studies.span_bench.gold import (
    BASELINES,
    PANEL,
    RIVAL,
    Answer,
    BenchSet,
    BenchText,
    Failure,
    answers_in,
)
from spanjury.stats.resampling import Estimate

Role = Literal["panel", "seat", "baseline"]
Record = Mapping[str, object]
Answers = Mapping[tuple[str, str], Answer | Failure]
"""Judge and id of the text -> answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One judge on one set.

    `categories`, `kinds`, `extents`: precision by the judge's category, recall by kind and by
    extent of the errors.
    """

    judge: str
    role: Role
    coverage: Coverage
    failures: Mapping[str, int]
    """Outcome -> assessments that ended so, without a score: they are in no figure."""
    figures: Mapping[str, Estimate]
    """Name, as in `FIGURES` -> figure."""
    categories: tuple[Group, ...]
    kinds: tuple[Group, ...]
    extents: tuple[Group, ...]
    cut: Cut
    """The decisions that count as "has an error" in `decision.balanced_accuracy`."""
    decisions: tuple[KindDecisions, ...]
    """Those on the texts with an error of each kind."""
    groups: tuple[TextGroup, ...]
    """The same judge on each group of the texts; none for trivial baselines."""
    gains: Mapping[str, Estimate]
    """Figure -> by how much it is greater than that of `RIVAL`; empty for a baseline."""
    unlocated: int
    """Errors that it reports without a place: they flag a text, and mark nothing in it."""

    def has(self, figure: str) -> bool:
        """Say whether a figure is defined."""
        return not math.isnan(self.figures[figure].value)


@dataclass(frozen=True, slots=True, kw_only=True)
class SetFindings:
    """All judges and baselines on one set."""

    name: str
    texts: int
    sources: int
    error_free: int
    faulty: int
    places: int
    rated: int
    unknown: int
    """Texts of which nothing is known, which were not judged."""
    findings: tuple[Finding, ...]

    @property
    def judges(self) -> tuple[Finding, ...]:
        """Those that gave an answer to any text."""
        return tuple(finding for finding in self.findings if finding.coverage.texts[0])

    @property
    def has_marks(self) -> bool:
        """True if any place of an error is known."""
        return self.places > 0

    @property
    def is_decided(self) -> bool:
        """True if any text is known to have an error, or none."""
        return self.error_free + self.faulty > 0

    @property
    def scope(self) -> str:
        """Its texts, in a phrase."""
        parts = [f"{self.texts} texts of {self.sources} sources"]
        if self.is_decided:
            parts.append(
                f"{self.faulty} with errors, at {self.places} places, {self.error_free} without"
            )
        if self.rated:
            parts.append(f"{self.rated} with people's scores")
        return "; ".join(parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """The results of a bench."""

    sets: tuple[SetFindings, ...]
    settings: Settings


def findings_of(
    sets: Sequence[BenchSet],
    answers: Answers,
    *,
    judges: Sequence[str],
    settings: Settings = DEFAULTS,
) -> Findings:
    """Compare answers with what people found.

    The first of the judges is the panel; its seats follow if there are several.
    """
    return Findings(
        sets=tuple(_of_set(each, answers, judges=judges, settings=settings) for each in sets),
        settings=settings,
    )


def _of_set(
    bench_set: BenchSet, answers: Answers, *, judges: Sequence[str], settings: Settings
) -> SetFindings:
    texts = bench_set.texts
    sides = tuple(_sides(texts, answers, judges=judges))
    (rival,) = (side.arrays for side in sides if side.judge == RIVAL and side.role == "baseline")
    return SetFindings(
        name=bench_set.name,
        texts=len(texts),
        sources=len({text.source for text in texts}),
        error_free=sum(text.faulty is False for text in texts),
        faulty=sum(text.faulty is True for text in texts),
        places=sum(len(text.gold or ()) for text in texts),
        rated=sum(text.human is not None for text in texts),
        unknown=bench_set.unknown,
        findings=tuple(_finding(side, texts, rival=rival, settings=settings) for side in sides),
    )


class _Side(NamedTuple):
    """The answers of a judge or a baseline to the texts of a set."""

    judge: str
    role: Role
    answers: Sequence[Answer | Failure]
    arrays: Arrays


def _sides(
    texts: Sequence[BenchText], answers: Answers, *, judges: Sequence[str]
) -> Iterator[_Side]:
    """Yield the judges; then the baselines, on the texts that the panel has answered."""
    given = {judge: [answers[judge, each.segment.segment_id] for each in texts] for judge in judges}
    for judge, own in given.items():
        yield _Side(judge, "panel" if judge == judges[0] else "seat", own, arrays_of(texts, own))
    for name, baseline in BASELINES.items():
        own = [
            of_panel if isinstance(of_panel, Failure) else baseline(text)
            for of_panel, text in zip(given[judges[0]], texts, strict=True)
        ]
        yield _Side(name, "baseline", own, arrays_of(texts, own))


def _finding(
    side: _Side, texts: Sequence[BenchText], *, rival: Arrays, settings: Settings
) -> Finding:
    arrays = side.arrays
    failures = Counter(
        answer.outcome.value for answer in side.answers if isinstance(answer, Failure)
    )
    figures = estimates(effects_of(arrays), sources=arrays.sources, settings=settings)
    is_judge = side.role != "baseline"
    return Finding(
        judge=side.judge,
        role=side.role,
        coverage=coverage_of(texts, arrays),
        failures=dict(sorted(failures.items())),
        figures={name: figures[name] for name in FIGURES},
        categories=groups_of(arrays.by_category, arrays, settings=settings),
        kinds=groups_of(arrays.by_kind, arrays, settings=settings),
        extents=groups_of(arrays.by_extent, arrays, settings=settings),
        cut=cut_of(arrays),
        decisions=tuple(decisions_by_kind(texts, side.answers)) if is_judge else (),
        groups=tuple(text_groups(texts, arrays, settings=settings))
        if is_judge or side.judge == RIVAL
        else (),
        gains=gains_of(arrays, rival, settings=settings) if is_judge else {},
        unlocated=sum(answer.unlocated for answer in side.answers if isinstance(answer, Answer)),
    )


_FEW = 30
"""Sources below which an interval of percentiles is too narrow."""


def cautions(findings: Findings) -> tuple[str, ...]:
    """Say, in sentences, what to keep in mind when the figures are read."""
    return tuple(sentence for each in findings.sets for sentence in _on_set(each))


def _on_set(findings: SetFindings) -> Iterator[str]:
    for finding in findings.findings:
        answered, texts = finding.coverage.texts
        if finding.role != "baseline" and answered < texts:
            ends = ", ".join(f"{count} {outcome}" for outcome, count in finding.failures.items())
            yield (
                f"{findings.name}: {finding.judge} scored {answered} of {texts} texts ({ends});"
                " texts without a score are excluded, because a missing answer does not mean a"
                " correct text"
            )
    if 0 < findings.sources < _FEW:
        yield f"{findings.name}: only {findings.sources} sources, so intervals are too narrow"
    if findings.unknown:
        yield (
            f"{findings.name}: {counted(findings.unknown, 'text was', 'texts were')} not judged, "
            "because no mark or label says whether there are errors on the aspect"
        )
    if findings.faulty and not findings.error_free:
        yield (
            f"{findings.name}: no text is known to be error-free, so only precision reflects false"
            " alarms"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """The texts, and the settings of intervals.

    Raises `ConfigError` if there is no text, or two have one id.
    """

    sets: tuple[BenchSet, ...]
    settings: Settings = DEFAULTS

    def __post_init__(self) -> None:
        if not self.texts:
            raise ConfigError(
                "no row has gold data: add `spans`, `supported` or `human` to the rows"
            )
        require_distinct(
            sets=[each.name for each in self.sets],
            texts=[text.segment.segment_id for text in self.texts],
        )

    @property
    def texts(self) -> tuple[BenchText, ...]:
        """The texts of all sets."""
        return tuple(text for each in self.sets for text in each.texts)


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchResult:
    """The results of a bench."""

    findings: Findings
    examinee: Examinee
    answers: Answers
    judged: tuple[JudgedText, ...]
    """The texts of all sets, each with its group as the condition."""


def judges_of(examinee: Examinee) -> tuple[str, ...]:
    """Return the names of the judges that a panel is measured as: itself, then several seats."""
    seats = tuple(examinee.seats)
    return (PANEL, *seats) if len(seats) > 1 else seats


async def run_bench(bench: Bench, run: ExamRun) -> BenchResult:
    """Judge every text once, and compare the answers with what people found.

    Raise `RunStoppedError` if the stop token came before the end.
    """
    pairs = [(text.segment, text.aspect) for text in bench.texts]
    results = await run.judge(pairs, draw="")
    answers = {key: answer for result in results.values() for key, answer in answers_in(result)}
    judges = judges_of(run.examinee)
    findings = findings_of(bench.sets, answers, judges=judges, settings=bench.settings)
    judged = tuple(
        JudgedText(
            result=results[text.segment.segment_id, text.aspect.name],
            condition=", ".join(text.groups),
        )
        for text in bench.texts
    )
    return BenchResult(findings=findings, examinee=run.examinee, answers=answers, judged=judged)


def records_of(
    sets: Sequence[BenchSet], answers: Answers, *, judges: Sequence[str]
) -> Iterator[Record]:
    """Yield a record of every text, so that what a figure is made of can be read."""
    for each in sets:
        for text in each.texts:
            name, output = text.segment.segment_id, text.segment.output
            places = [
                {
                    "start": mark.start,
                    "end": mark.end,
                    "text": output[mark.start : mark.end],
                    "kinds": mark.kinds,
                    "extent": mark.extent,
                }
                for mark in text.gold or ()
            ]
            yield {
                "set": each.name,
                "id": name,
                "source": text.source,
                "faulty": text.faulty,
                "human": text.human,
                "output": output,
                "places": None if text.gold is None else places,
                "judges": {judge: _answer(answers[judge, name], text) for judge in judges},
            }


def _answer(answer: Answer | Failure, text: BenchText) -> Record:
    if isinstance(answer, Failure):
        return {"outcome": answer.outcome.value, "reason": answer.reason}
    return {
        "outcome": "scored",
        "suspicion": answer.suspicion,
        "probability": answer.probability,
        "decision": answer.decision.value,
        "spans": [
            {
                "start": span.start,
                "end": span.end,
                "text": text.segment.output[span.start : span.end],
                "category": span.category,
                "right": None
                if text.gold is None
                else any(span.start < each.end and each.start < span.end for each in text.gold),
            }
            for span in answer.spans
        ],
        "unlocated": answer.unlocated,
    }


_OTHER = re.compile(r"[^\w.-]+")


def findings_json(findings: Findings, *, examinee: Examinee) -> dict[str, object]:
    """Return `findings` as objects, lists, strings, numbers and nulls, named by field."""
    return {
        "versions": versions(),
        "judge": plain(examinee),
        "settings": plain(findings.settings),
        "figures": dict(FIGURES),
        "sets": plain(findings.sets),
        "cautions": list(cautions(findings)),
    }


def measures_of(findings: Findings) -> tuple[Measure, ...]:
    """Return the measures of the panel on every set, as ``characters.f1.SET``."""
    panels = [(each.name, each.findings[0]) for each in findings.sets]
    return tuple(
        measured(
            _name(name, of_set),
            figure,
            says=FIGURES[name],
            count=answered(name, panel.coverage)[0],
        )
        for of_set, panel in panels
        for name, figure in panel.figures.items()
    )


def ranges_of(sets: Iterable[str]) -> Ranges:
    """Return the ranges of the measures of a bench on these sets."""
    return {
        _name(figure, name): SIGNED if figure == SPEARMAN else SHARE
        for name in sets
        for figure in FIGURES
    }


def gates_on(gate: Gate, sets: Sequence[str]) -> tuple[Gate, ...]:
    """Return what a requirement means on each set: that of its name, or all where it names none.

    Raise `ConfigError` for a measure that the bench will not give; the message lists those that
    there are.
    """
    whole = {**SHORT_NAMES, **{figure: figure for figure in FIGURES}}
    if gate.name in whole:
        return tuple(replace(gate, name=_name(whole[gate.name], each)) for each in sets)
    of_one = {
        _name(name, each): _name(figure, each) for each in sets for name, figure in whole.items()
    }
    if gate.name not in of_one:
        choices = choices_for(gate.name, whole)
        raise ConfigError(
            f"no such measure {gate.name!r}; {choices}; add a set for one set alone, as"
            f" {_name('ece', sets[0])}"
        )
    return (replace(gate, name=of_one[gate.name]),)


def _name(figure: str, name: str) -> str:
    return f"{figure}.{_OTHER.sub('-', name)}"


def answered(figure: str, coverage: Coverage) -> tuple[int, int]:
    """Return how many of the texts that a figure is about have an answer, and how many there are.

    Examples
    --------
    >>> counts = {"texts": (5, 7), "error_free": (2, 3), "faulty": (3, 3), "rated": (0, 0)}
    >>> answered("score.auroc", Coverage(marked=(4, 4), **counts))
    (5, 6)
    """
    match figure.split("."):
        case ["characters" | "words" | "places" | "spans", _]:
            return coverage.marked
        case ["people", _]:
            return coverage.rated
        case ["decision", "decided"]:
            return coverage.texts
        case [_, "error_free" | "false_alarms"]:
            return coverage.error_free
        case ["flagged", "faulty"] | ["unsure" | "faulty", "caught"] | [_, "vouched_misses"]:
            return coverage.faulty
        case _:
            (free, all_free), (faulty, all_faulty) = coverage.error_free, coverage.faulty
            return free + faulty, all_free + all_faulty
