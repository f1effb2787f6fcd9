"""Findings: how good the spans and decisions of each judge are on each set, beside baselines."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from spanjury.orchestration.studies.agreement.spans.estimates import DEFAULTS, Estimate, Settings
from spanjury.orchestration.studies.span_bench.answers import BASELINES, RIVAL, Answer, Failure
from spanjury.orchestration.studies.span_bench.arrays import Arrays, arrays_of
from spanjury.orchestration.studies.span_bench.figures import FIGURES, effects_of, estimated
from spanjury.orchestration.studies.span_bench.gains import gains_of
from spanjury.orchestration.studies.span_bench.gold import BenchSet, BenchText
from spanjury.stats.arrays import FloatArray
from spanjury.stats.weighted import ratio

Role = Literal["panel", "seat", "baseline"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """Texts with an answer, and texts that there are, of each sort.

    Parameters
    ----------
    texts
        All of which anything is known.
    marked
        Those whose places of errors are known, or that have none: spans are compared on them.
    error_free, faulty
        Those of which it is known.
    rated
        Those with people's scores.
    """

    texts: tuple[int, int]
    marked: tuple[int, int]
    error_free: tuple[int, int]
    faulty: tuple[int, int]
    rated: tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Spans of one category, or places of one kind of error.

    Parameters
    ----------
    share
        Of their characters: of spans those that people mark, of places those that the judge marks.
    touched
        Share of the spans that touch a place, or of the places that a span touches.
    spans, texts
        How many there are, and on how many texts.
    """

    name: str
    share: Estimate
    touched: Estimate
    spans: int
    texts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One judge on one set.

    Parameters
    ----------
    failures
        Outcome -> assessments that ended so, without a score: they are in no figure.
    figures
        Name, as in `FIGURES` -> figure.
    categories, kinds, extents
        Precision by the judge's category, recall by kind and by extent of the errors.
    gains
        Figure -> by how much it is greater than that of `RIVAL`; empty for a baseline.
    unlocated
        Errors that it reports without a place: they flag a text, and mark nothing in it.
    """

    judge: str
    role: Role
    coverage: Coverage
    failures: Mapping[str, int]
    figures: Mapping[str, Estimate]
    categories: tuple[Group, ...]
    kinds: tuple[Group, ...]
    extents: tuple[Group, ...]
    gains: Mapping[str, Estimate]
    unlocated: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SetFindings:
    """All judges and baselines on one set.

    Parameters
    ----------
    unknown
        Texts of which nothing is known, which were not judged.
    """

    name: str
    texts: int
    sources: int
    error_free: int
    faulty: int
    places: int
    rated: int
    unknown: int
    findings: tuple[Finding, ...]

    @property
    def judges(self) -> tuple[Finding, ...]:
        """Those that gave an answer to any text."""
        return tuple(one for one in self.findings if one.coverage.texts[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """The results of a bench."""

    sets: tuple[SetFindings, ...]
    settings: Settings


def findings_of(
    sets: Sequence[BenchSet],
    answers: Mapping[tuple[str, str], Answer | Failure],
    *,
    judges: Sequence[str],
    settings: Settings = DEFAULTS,
) -> Findings:
    """Compare answers with what people found.

    Parameters
    ----------
    answers
        Under judge and id of the text.
    judges
        The panel first, then its seats if there are several.
    """
    return Findings(
        sets=tuple(_of_set(one, answers, judges=judges, settings=settings) for one in sets),
        settings=settings,
    )


def _of_set(
    one: BenchSet,
    answers: Mapping[tuple[str, str], Answer | Failure],
    *,
    judges: Sequence[str],
    settings: Settings,
) -> SetFindings:
    texts = one.texts
    sides = tuple(_sides(texts, answers, judges=judges))
    (rival,) = (side.arrays for side in sides if side.judge == RIVAL and side.role == "baseline")
    return SetFindings(
        name=one.name,
        texts=len(texts),
        sources=len({text.source for text in texts}),
        error_free=sum(text.faulty is False for text in texts),
        faulty=sum(text.faulty is True for text in texts),
        places=sum(len(text.places or ()) for text in texts),
        rated=sum(text.human is not None for text in texts),
        unknown=one.unknown,
        findings=tuple(_finding(side, texts, rival=rival, settings=settings) for side in sides),
    )


class _Side(NamedTuple):
    """The answers of a judge or a baseline to the texts of a set."""

    judge: str
    role: Role
    answers: Sequence[Answer | Failure]
    arrays: Arrays


def _sides(
    texts: Sequence[BenchText],
    answers: Mapping[tuple[str, str], Answer | Failure],
    *,
    judges: Sequence[str],
) -> Iterator[_Side]:
    """Yield the judges; then the baselines, on the texts that the panel has answered."""
    for judge in judges:
        given = [answers[judge, text.segment.segment_id] for text in texts]
        role: Role = "panel" if judge == judges[0] else "seat"
        yield _Side(judge, role, given, arrays_of(texts, given))
    panel = [answers[judges[0], text.segment.segment_id] for text in texts]
    for name, baseline in BASELINES.items():
        given = [
            of_panel if isinstance(of_panel, Failure) else baseline(text)
            for of_panel, text in zip(panel, texts, strict=True)
        ]
        yield _Side(name, "baseline", given, arrays_of(texts, given))


def _finding(
    side: _Side, texts: Sequence[BenchText], *, rival: Arrays, settings: Settings
) -> Finding:
    arrays = side.arrays
    failures = Counter(one.outcome.value for one in side.answers if isinstance(one, Failure))
    figures = estimated(effects_of(arrays), arrays, settings=settings)
    is_judge = side.role != "baseline"
    return Finding(
        judge=side.judge,
        role=side.role,
        coverage=_coverage(texts, arrays),
        failures=dict(sorted(failures.items())),
        figures={name: figures[name] for name in FIGURES},
        categories=_groups(arrays.by_category, arrays, settings=settings),
        kinds=_groups(arrays.by_kind, arrays, settings=settings),
        extents=_groups(arrays.by_extent, arrays, settings=settings),
        gains=gains_of(arrays, rival, settings=settings) if is_judge else {},
        unlocated=sum(one.unlocated for one in side.answers if isinstance(one, Answer)),
    )


def _coverage(texts: Sequence[BenchText], arrays: Arrays) -> Coverage:
    sorts = {
        "texts": [True for _ in texts],
        "marked": [text.places is not None for text in texts],
        "error_free": [text.faulty is False for text in texts],
        "faulty": [text.faulty is True for text in texts],
        "rated": [text.human is not None for text in texts],
    }
    return Coverage(
        **{
            name: (int(np.count_nonzero(arrays.judged & np.array(such, dtype=np.bool_))), sum(such))
            for name, such in sorts.items()
        }
    )


def _groups(
    rows: Mapping[str, FloatArray], arrays: Arrays, *, settings: Settings
) -> tuple[Group, ...]:
    """Estimate the two shares of each group, those with most spans first."""
    groups = [_group(name, one, arrays, settings=settings) for name, one in rows.items()]
    return tuple(sorted(groups, key=lambda group: (-group.spans, group.name)))


def _group(name: str, rows: FloatArray, arrays: Arrays, *, settings: Settings) -> Group:
    both, characters, touched, spans = rows.T
    effect = ratio(np.stack([both, touched]), np.stack([characters, spans]))
    shares = estimated({("share", "touched"): effect}, arrays, settings=settings)
    return Group(
        name=name,
        share=shares["share"],
        touched=shares["touched"],
        spans=int(np.nansum(spans)),
        texts=int(np.count_nonzero(np.nan_to_num(spans))),
    )
