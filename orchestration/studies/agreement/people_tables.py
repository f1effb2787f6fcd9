"""The agreement of annotators, and what they keep of judges' spans, as a report."""

from collections.abc import Iterator, Sequence

from spanjury.orchestration.report import (
    Block,
    Cell,
    Column,
    Report,
    Section,
    Table,
    numeric,
    table,
)
from spanjury.orchestration.report.json import plain
from spanjury.orchestration.studies.agreement.people import PeopleOnAspect
from spanjury.orchestration.studies.agreement.spans.estimates import Estimate
from spanjury.orchestration.studies.agreement.verdicts import KeptSpans

_VALUE = "~.3f"
_SPANS = {
    "characters.micro": "soft F1",
    "hard.micro": "hard F1",
    "exact.micro": "F1 of same spans",
    "matched.micro": "F1 of half overlaps",
}


_ALWAYS = frozenset({"characters.micro", "exact.micro"})
"""Measures that a terminal has room for."""


def people_report(
    aspects: Sequence[PeopleOnAspect], *, judges: Sequence[KeptSpans] = (), title: str
) -> Report:
    """Return the report of how far annotators agree with each other, and with judges' spans."""
    sections = [
        Section("Agreement on scores", [_scores(aspects)]),
        Section("Agreement on scores, pair by pair", [_pairs(aspects)]),
        Section("Agreement on error spans, pair by pair", list(_spans(aspects))),
    ]
    return Report(
        title=title,
        sections=[
            *(sections if aspects else ()),
            *_kept(judges),
        ],
    )


def people_json(aspects: Sequence[PeopleOnAspect]) -> list[dict[str, object]]:
    """Return the agreement for a machine; None for what is undefined."""
    return [_json(aspect) for aspect in aspects]


def judges_json(judges: Sequence[KeptSpans]) -> list[dict[str, object]]:
    """Return people's verdicts on judges' spans for a machine; None for what is undefined."""
    return [
        {
            "aspect": judge.aspect,
            "judge": judge.judge,
            "spans": judge.spans,
            "judged": judge.judged,
            "accepted": judge.accepted,
            "edited": judge.edited,
            "rejected": judge.rejected,
            "sources": judge.kept.clusters,
            "kept": plain(
                Estimate(value=judge.kept.value, low=judge.kept.low, high=judge.kept.high)
            ),
        }
        for judge in judges
    ]


def _kept(judges: Sequence[KeptSpans]) -> Iterator[Section]:
    for aspect in dict.fromkeys(judge.aspect for judge in judges):
        shown = table(
            ["judge", *numeric("spans", "accepted", "edited", "rejected", "kept")],
            (
                [
                    *(judge.judge, judge.spans, judge.accepted, judge.edited, judge.rejected),
                    Cell(judge.kept.value, "~.2f", interval=(judge.kept.low, judge.kept.high)),
                ]
                for judge in judges
                if judge.aspect == aspect
            ),
            note="Spans: every finished text counts once for each person. Kept: accepted or "
            "edited, as a share of the spans with a verdict. Brackets are 95 % intervals "
            "over sources.",
        )
        yield Section(f"Judges' spans that people keep, {aspect}", [shown])


def _scores(aspects: Sequence[PeopleOnAspect]) -> Table:
    return table(
        ["aspect", *numeric("annotators", "texts", "scored", "alpha")],
        (
            [
                *(aspect.aspect, len(aspect.annotators), aspect.shared, aspect.scored),
                _cell(aspect.alpha, note=aspect.scores.alpha["ordinal"].reason),
            ]
            for aspect in aspects
        ),
        note="Texts: those that two or more people finished, and those that two or more scored. "
        "Alpha is Krippendorff's, ordinal; brackets are 95 % intervals over resampled texts.",
    )


def _pairs(aspects: Sequence[PeopleOnAspect]) -> Table:
    return table(
        ["aspect", "annotator", "annotator", *numeric("texts", "kappa", "Spearman")],
        (
            [
                *(aspect.aspect, pair.first, pair.second, pair.outputs),
                _cell(aspect.kappas[pair.first, pair.second], note=pair.kappa["quadratic"].reason),
                Cell(pair.spearman, _VALUE),
            ]
            for aspect in aspects
            for pair in aspect.scores.pairs
        ),
        note="kappa: Cohen's, with quadratic weights.",
    )


def _spans(aspects: Sequence[PeopleOnAspect]) -> Iterator[Block]:
    yield table(
        [
            *("aspect", "annotator", "annotator"),
            *numeric("texts"),
            *(
                Column(heading, "right", wrap=True, only=None if name in _ALWAYS else "page")
                for name, heading in _SPANS.items()
            ),
            *numeric("gamma"),
        ],
        (
            [
                *(aspect.aspect, pair.first, pair.second, pair.texts),
                *(_cell(pair.figures[name]) for name in _SPANS),
                Cell(pair.gamma.gamma, _VALUE),
            ]
            for aspect in aspects
            for pair in aspect.spans
        ),
        note="Soft: characters that both marked; hard: with the same category too. Gamma is "
        "agreement on positions beyond chance.",
    )


def _cell(estimate: Estimate, *, note: str = "") -> Cell:
    return Cell(estimate.value, _VALUE, interval=(estimate.low, estimate.high), note=note)


def _json(aspect: PeopleOnAspect) -> dict[str, object]:
    kappas = {(first, second): value for (first, second), value in aspect.kappas.items()}
    return {
        "aspect": aspect.aspect,
        "annotators": list(aspect.annotators),
        "texts": aspect.texts,
        "shared": aspect.shared,
        "scores": {
            "texts": aspect.scored,
            "alpha": plain(aspect.alpha),
            "pairs": [
                {
                    "first": pair.first,
                    "second": pair.second,
                    "texts": pair.outputs,
                    "kappa": plain(kappas[pair.first, pair.second]),
                    "spearman": plain(pair.spearman),
                }
                for pair in aspect.scores.pairs
            ],
        },
        "spans": [
            {
                "first": pair.first,
                "second": pair.second,
                "texts": pair.texts,
                "figures": plain(pair.figures),
                "gamma": plain(pair.gamma.gamma),
            }
            for pair in aspect.spans
        ],
    }
