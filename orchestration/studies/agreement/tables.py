"""Agreement with people as a report: scorers, seats of a panel, systems, error spans."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from spanjury.judges.core import counted
from spanjury.orchestration.report import (
    Block,
    Bullets,
    Cell,
    Column,
    Entry,
    Paragraph,
    Picture,
    Prose,
    Report,
    Section,
    Table,
    code,
    emphasis,
    estimate_cell,
    joined,
    left,
    named_in_code,
    numeric,
    prose,
    right,
    spread,
    table,
    table_of,
)
from spanjury.orchestration.report.tables import Medium
from spanjury.orchestration.studies.agreement.findings import (
    AspectFindings,
    Coefficient,
    MetaFindings,
    Ranking,
    SeatFindings,
)
from spanjury.orchestration.studies.agreement.scorers import (
    CORRELATIONS,
    LEVELS,
    PANEL,
    RESAMPLED,
    SEVERAL_SYSTEMS,
    Agreement,
    Settings,
)
from spanjury.orchestration.studies.agreement.spans.findings import (
    AspectSpans,
    JudgeFinding,
    OverAnnotation,
)
from spanjury.orchestration.studies.agreement.spans.measures import PairFinding
from spanjury.orchestration.studies.estimates import grouped
from spanjury.stats.correlations.correlation import LEAST_ITEMS
from spanjury.stats.raters.agreement import AlphaLevel, KappaWeights
from spanjury.stats.resampling import Estimate
from spanjury.stats.spans.span_agreement import Agreement as SpanFigures

_VALUE = ".3f"
_GAIN = "+.3f"
_DIGITS = 9
"""Decimals of a mean: equal means are to tie."""
_WEIGHTS: tuple[KappaWeights, ...] = ("unweighted", "linear", "quadratic")
_ALPHAS: tuple[AlphaLevel, ...] = ("nominal", "ordinal", "interval")


def agreement_report(findings: MetaFindings, *, pictures: Sequence[Picture] = ()) -> Report:
    """Return the report of a meta-evaluation, with pictures."""
    seats = [seat for each in findings.aspects for seat in each.seats]
    return Report(
        title="Agreement with people",
        answer=_answer(findings),
        picture=next(iter(pictures), None),
        facts=(
            prose("ratings: {}", code(findings.data)),
            *(prose("scores: {}", code(path)) for path in findings.results),
        ),
        sections=(
            *([Bullets(findings.notes, tone="caution")] if findings.notes else ()),
            *_scorers(findings),
            Section("Seats of a panel", list(_seats(seats, findings.settings))),
            Section("Systems", list(_systems(findings.aspects)), only="page"),
            Section("Error spans", span_blocks(findings.spans, findings.annotators)),
            Section("Pictures", pictures[1:], only="page"),
        ),
    )


def _answer(findings: MetaFindings) -> Prose:
    """Name the scorer that is closest to people on each aspect, and those that may be as close."""
    by_scores = (_on_scores(each) for each in findings.aspects)
    return joined([*by_scores, *_without_a_level(findings), *_on_spans(findings)]) or (
        "Nothing could be compared with people's scores."
    )


def _on_scores(findings: AspectFindings) -> Prose:
    nearest, *others = findings.agreements
    if math.isnan(nearest.value):
        return ""
    value = estimate_cell(nearest, ".2f").text
    about = emphasis(findings.aspect), _named(nearest.scorer), value
    if not any(each.is_shown for each in findings.agreements):
        return prose("On {}, no scorer is shown to agree with people; {} is closest ({}).", *about)
    tied = [other.scorer for other in others if other.is_tied]
    if not tied:
        return prose("On {}, {} is closest to people ({}).", *about)
    return prose(
        "On {}, {} is closest to people ({}); {} {} not shown to be worse.",
        *about,
        named_in_code(tied, most=3),
        "is" if len(tied) == 1 else "are",
    )


def _named(scorer: str) -> Prose:
    return "the panel" if scorer == PANEL else code(scorer)


def _on_spans(findings: MetaFindings) -> Iterator[Prose]:
    for spans in findings.spans:
        judges = [] if spans.agreement is None else spans.agreement.judges
        marking = [judge for judge in judges if not judge.group]
        values = {judge.judge: judge.figures[SOFT_F1].value for judge in marking}
        defined = {judge: value for judge, value in values.items() if not math.isnan(value)}
        if defined:
            best = max(defined, key=lambda judge: defined[judge])
            yield prose(
                "On {}, the spans of {} agree "
                + ("best " if len(defined) > 1 else "")
                + "with people's by an F1 of {} (0: no character in common, 1: the same ones).",
                emphasis(spans.aspect),
                _named(best),
                f"{defined[best]:.2f}",
            )


def _scorers(findings: MetaFindings) -> Iterator[Block]:
    yield Paragraph(_method(findings), only="page")
    yield _overview(findings)
    yield Bullets([*_without_an_interval(findings), *_on_other_texts(findings)], tone="caution")
    for each in findings.aspects:
        yield Section(each.aspect, [_measures(each.agreements)], only="page")


def _without_a_level(findings: MetaFindings) -> Iterator[Prose]:
    """Name the aspects with enough texts, but too few systems to correlate at this level."""
    level = findings.settings.level
    if level == "pooled":
        return
    for each in findings.aspects:
        has_texts = any(agreement.items >= LEAST_ITEMS for agreement in each.agreements)
        reasons = {agreement.reason for agreement in each.agreements}
        if has_texts and reasons == {"fewer than 3 items"}:
            lacking = "no input has texts of" if level == "by-input" else "there are no"
            yield prose(
                f"On {{}}, {lacking} {LEAST_ITEMS} systems, so no correlation can be computed at "
                "this level: `--level pooled` correlates all texts.",
                emphasis(each.aspect),
            )


def _without_an_interval(findings: MetaFindings) -> Iterator[str]:
    """Name the correlations that did not vary over the draws, which bounds none of them."""
    if not findings.settings.draws:
        return
    for each in findings.aspects:
        unbounded = [
            agreement.scorer
            for agreement in each.agreements
            if math.isnan(agreement.low) and not math.isnan(agreement.value)
        ]
        if unbounded:
            yield (
                f"{each.aspect}: the correlation is equal in every draw, so it has no interval: "
                f"{', '.join(unbounded)}; rate texts for more inputs"
            )


def _on_other_texts(findings: MetaFindings) -> Iterator[str]:
    """Name the aspects whose scorers are compared on different numbers of outputs or inputs."""
    for each in findings.aspects:
        scored = [scorer for scorer in each.agreements if scorer.items]
        if len({(scorer.items, scorer.groups) for scorer in scored}) > 1:
            counts = (
                f"{scorer.scorer} {counted(scorer.items, 'output')}"
                f" ({counted(scorer.groups, 'correlation')})"
                for scorer in scored
            )
            yield (
                f"{each.aspect}: each scorer is compared on the outputs that it scored, and these"
                f" differ: {', '.join(counts)}"
            )


def _method(findings: MetaFindings) -> str:
    settings = findings.settings
    method = (
        f"{_measured(settings)}; higher means closer to people, also for metrics where lower is "
        "better."
    )
    if not settings.draws:
        return method
    return (
        f"{method} Brackets are 95 % intervals over resampled {_resampled(findings)} "
        f"({settings.draws} draws, seed {settings.seed}). If all inputs have the same correlation, "
        "brackets allow for unseen inputs with another. A scorer that was fitted to "
        "these ratings has an advantage that no interval shows."
    )


def _resampled(findings: MetaFindings) -> str:
    """Name what intervals resample, and on which aspects if they differ in it."""
    units = {each.agreements[0].resampled for each in findings.aspects if each.agreements}
    if units == {"both"}:
        return RESAMPLED["both"]
    if units == {"inputs"}:
        return f"inputs, not systems (fewer than {SEVERAL_SYSTEMS} for an input)"
    return f"inputs, and systems on aspects with {SEVERAL_SYSTEMS} or more for an input"


def _measured(settings: Settings) -> str:
    return f"{CORRELATIONS[settings.method]} {LEVELS[settings.level]}"


def _overview(findings: MetaFindings) -> Table:
    by_cell = {(agreement.scorer, agreement.aspect): agreement for agreement in findings.agreements}
    aspects = [each.aspect for each in findings.aspects]
    tested = (
        "* The scorer closest to people on an aspect, and those that are not significantly worse "
        "(permutation test, Holm, 5 %)."
    )
    untested = "No test was run and no interval computed, because the number of draws is 0."
    return table(
        ["scorer", *(Column(aspect, "right", wrap=True) for aspect in aspects)],
        (
            [scorer, *(_correlation(by_cell.get((scorer, aspect))) for aspect in aspects)]
            for scorer in _by_mean(findings.agreements)
        ),
        title=f"Agreement with people: {_measured(findings.settings)}",
        note=(tested if any(agreement.is_tied for agreement in findings.agreements) else "")
        if findings.settings.draws
        else untested,
    )


def _by_mean(agreements: Iterable[Agreement]) -> list[str]:
    """Return the scorers, those first that agree most over the aspects that they scored."""
    values = {
        scorer: [-math.inf if math.isnan(each.value) else each.value for each in own]
        for scorer, own in grouped(agreements, lambda each: each.scorer).items()
    }
    return sorted(values, key=lambda name: -sum(values[name]) / len(values[name]))


def _correlation(agreement: Agreement | None) -> Cell:
    """Show a value with its interval, starred if it is the nearest or may be as near."""
    if agreement is None:
        return Cell("")
    note = "*" if agreement.is_tied else agreement.reason if agreement.items else "no score"
    return replace(estimate_cell(agreement, _VALUE, note=note), bold=agreement.is_tied)


def _measures(agreements: Sequence[Agreement]) -> Table:
    others = tuple(dict.fromkeys(name for agreement in agreements for name in agreement.others))
    return table_of(
        (
            left("scorer", each.scorer),
            right("outputs", each.items),
            right("coverage", each.coverage, ".0%"),
            *(right(name, each.others.get(name), _VALUE) for name in others),
            right("p against the closest", each.behind, _VALUE),
            left("note", each.reason or _undefined(each)),
        )
        for each in agreements
    )


def _undefined(agreement: Agreement) -> str:
    if not agreement.undefined:
        return ""
    inputs = agreement.undefined + agreement.groups
    return f"undefined for {agreement.undefined} of {inputs} inputs"


def _seats(seats: Sequence[SeatFindings], settings: Settings) -> Iterator[Block]:
    yield table_of(
        map(_panel, seats),
        note="Alpha is Krippendorff's, ordinal. Agreement with people: of one seat (on average), "
        "of all seats, and of the best aggregation. Least gain: the smallest gain in agreement "
        "from adding a seat.",
    )
    if seats:
        yield Paragraph(
            "Agreement among seats is over all outputs at once: Spearman's rho and, corrected for "
            "chance, Cohen's kappa (unweighted or with weighted disagreements), Fleiss' kappa and "
            f"Krippendorff's alpha. Agreement with people: {_measured(settings)}.",
            only="page",
        )
    for seat in seats:
        yield Section(f"{seat.aspect}, {seat.run}", [*_on_seats(seat)], only="page")


def _panel(findings: SeatFindings) -> Iterator[Entry]:
    best = findings.aggregations[0]
    least = min(findings.gains, key=lambda gain: (math.isnan(gain.gain), gain.gain))
    yield left("run", findings.run)
    yield left("aspect", findings.aspect)
    yield right("alpha", findings.agreement.alpha["ordinal"].value, _VALUE)
    yield right("one seat", findings.sizes[0].mean, _VALUE)
    yield right("all seats", findings.whole, _VALUE)
    yield right("best aggregation", Cell(best.value, _VALUE, note=best.scorer))
    yield right("least gain", Cell(least.gain, _GAIN, note=least.seat))


def _on_seats(findings: SeatFindings) -> Iterator[Block]:
    alpha = findings.agreement.alpha
    yield table_of(
        (
            left("seat", pair.first),
            left("seat", pair.second),
            right("outputs", pair.outputs),
            right("Spearman", pair.spearman, _VALUE),
            *(right(f"kappa, {name}", _coefficient(pair.kappa[name])) for name in _WEIGHTS),
        )
        for pair in findings.agreement.pairs
    )
    values = ", ".join(f"{name} {_coefficient(alpha[name]).text}" for name in _ALPHAS)
    yield Paragraph(
        f"All seats: Krippendorff's alpha {values} ({alpha['ordinal'].outputs} outputs); "
        f"Fleiss' kappa {_coefficient(findings.agreement.fleiss).text}."
    )
    yield table_of(
        (
            right("seats on a panel", size.size),
            right("panels", size.panels),
            right("mean", size.mean, _VALUE),
            right("least", size.least, _VALUE),
            right("greatest", size.greatest, _VALUE),
            right("undefined", size.undefined),
        )
        for size in findings.sizes
    )
    yield table_of(
        (
            left("seat", gain.seat),
            right("alone", gain.alone, _VALUE),
            right("panel without it", gain.without, _VALUE),
            right("its gain", gain.gain, _GAIN),
        )
        for gain in findings.gains
    )
    yield table_of(
        (
            left("aggregation", by.scorer),
            right("agreement with people", _correlation(by)),
            right("p against the closest", by.behind, _VALUE),
        )
        for by in findings.aggregations
    )


def _coefficient(coefficient: Coefficient) -> Cell:
    return Cell(
        coefficient.value, _VALUE, note=f"({coefficient.reason})" if coefficient.reason else ""
    )


def _systems(findings: Sequence[AspectFindings]) -> Iterator[Block]:
    ranked = [each for each in findings if each.rankings]
    if ranked:
        yield Paragraph(
            "Mean scores by people and by the scorer closest to them, with 95 % intervals over "
            "resampled inputs. Systems with equal means share a rank."
        )
    for each in ranked:
        yield Section(f"Systems by {each.aspect}", [_ranking(each.rankings)])


def _ranking(rankings: Sequence[Ranking]) -> Table:
    """Tabulate the systems as people rank them, beside the ranks that others give them."""
    people, *others = map(_ranked, rankings)
    return table(
        [*numeric("rank"), "system", *numeric(*(ranking.by for ranking in rankings))],
        (
            [
                *(rank, system, mean),
                *(_with_rank(*own[system]) for own in others),
            ]
            for system, (rank, mean) in people.items()
        ),
    )


def _ranked(ranking: Ranking) -> Mapping[str, tuple[int | None, Cell]]:
    """Return rank and mean of each system; equal means share a rank, and NaN has none."""
    scores = [round(each.score, _DIGITS) for each in ranking.systems]
    return {
        each.system: (
            None if math.isnan(score) else 1 + scores.index(score),
            Cell(each.score, _VALUE, interval=(each.low, each.high)),
        )
        for each, score in zip(ranking.systems, scores, strict=True)
    }


def _with_rank(rank: int | None, mean: Cell) -> str:
    return mean.text if rank is None else f"{mean.text}, rank {rank}"


_SHARE = ".1%"
_HARD, _OF_TEXTS = "hard.micro.f1", "characters.macro.f1"
SOFT_F1 = "characters.micro.f1"
"""The figure that says in one number how far two sides mark the same characters."""
_CHARACTERS: Mapping[str, str] = {
    SOFT_F1: "soft F1",
    _HARD: "hard F1",
    "characters.micro.precision": "precision",
    "characters.micro.recall": "recall",
    _OF_TEXTS: "F1, mean of texts",
    "graded.micro.f1": "F1 by severity",
}
_SPANS: Mapping[str, str] = {
    "exact.micro.f1": "F1 of same spans",
    "matched.micro.f1": "F1 of half overlaps",
    "detection.f1": "F1 of texts with errors",
    "counts.spearman": "counts, Spearman",
    "quotes.hallucinated": "quotes not in the text",
}
_PEOPLE: Mapping[str, str] = {
    "characters.micro": "soft F1",
    "hard.micro": "hard F1",
    "characters.macro": "F1, mean of texts",
    "exact.micro": "F1 of same spans",
    "matched.micro": "F1 of half overlaps",
}
_ALWAYS = frozenset({SOFT_F1, "detection.f1", "counts.spearman"})
"""Measures that a terminal shows, whether or not there are categories."""
_READING = (
    "Soft counts the characters that both the judge and people mark; hard also requires the same "
    "category, and is undefined if one side names none. Brackets are 95 % intervals over resampled "
    "texts. Micro figures count all texts together, so a text without any span has no weight. In "
    "means over texts, a text in which neither side marks anything counts as 1. Gamma is the "
    "agreement on positions beyond chance: 1 for identical positions, about 0 for unrelated spans."
)


def span_blocks(
    findings: Sequence[AspectSpans], annotators: Sequence[PairFinding]
) -> tuple[Block, ...]:
    """Return the part on spans; empty if there is none."""
    if not findings and not annotators:
        return ()
    return (
        Paragraph(_READING, only="page"),
        *(block for finding in findings for block in _aspect(finding)),
        Section("People with people", [_annotators(annotators)]),
    )


def _aspect(spans: AspectSpans) -> Iterator[Block]:
    if spans.agreement is not None:
        yield Section(f"Spans of {spans.aspect}", list(_judges(spans.agreement.judges)))
        yield _flawless(
            spans, spans.agreement.over_annotations, "in which no annotator marked one", only="page"
        )
    best = f"to which every rater gave {spans.best:g}, the best score"
    yield _flawless(spans, spans.top_rated, best)


def _judges(judges: Sequence[JudgeFinding]) -> Iterator[Block]:
    whole = [judge for judge in judges if not judge.group]
    groups = [judge for judge in judges if judge.group]
    is_hard = any(not math.isnan(finding.figures[_HARD].value) for finding in whole)
    shown = {*_ALWAYS, _HARD if is_hard else _OF_TEXTS}
    yield table_of(
        (
            (
                left("judge", each.judge),
                right("texts", each.texts),
                right("readings", each.readings, only="page"),
                *span_figures(each.figures, _CHARACTERS, shown),
                right("gamma", each.gamma and each.gamma.gamma, _VALUE),
                right("failures", each.failures, only="page"),
            )
            for each in whole
        ),
        note="Compared with the error spans that people marked.",
    )
    yield table_of(
        (left("judge", each.judge), *span_figures(each.figures, _SPANS, shown)) for each in whole
    )
    yield _by_category(whole)
    if len({group.group for group in groups}) > 1:
        yield table_of(
            (
                (
                    left("judge", group.judge),
                    left("system", group.group),
                    right("texts", group.texts),
                    *(
                        spread(heading, group.figures[name], _VALUE)
                        for name, heading in _CHARACTERS.items()
                    ),
                )
                for group in groups
            ),
            only="page",
        )


def _by_category(judges: Sequence[JudgeFinding]) -> Table:
    return table_of(
        (
            (
                left("judge", judge.judge),
                left("category", name),
                *(spread(part, figures[part], _VALUE) for part in SpanFigures._fields),
            )
            for judge in judges
            for name, figures in judge.categories.items()
        ),
        only="page",
    )


def _flawless(
    spans: AspectSpans, judges: Sequence[OverAnnotation], which: str, *, only: Medium | None = None
) -> Section:
    there = judges if any(judge.flawless for judge in judges) else ()
    listed = table_of(
        (
            left("judge", judge.judge),
            right("texts", judge.flawless),
            spread("with an error", judge.erring, _SHARE, wrap=True),
            spread("errors per text", judge.spans, _VALUE, wrap=True),
            left("texts with 0, 1, 2, … errors", ", ".join(map(str, judge.histogram)), only="page"),
            right("mean severity", judge.mean_severity, only="page"),
            right("greatest severity", judge.max_severity, only="page"),
        )
        for judge in there
    )
    return Section(f"Errors found on {spans.aspect} in texts {which}", [listed], only=only)


def _annotators(annotators: Sequence[PairFinding]) -> Table:
    with_categories = "gamma with categories"
    return table_of(
        (
            left("annotator", pair.first),
            left("annotator", pair.second),
            right("texts", pair.texts),
            *span_figures(pair.figures, _PEOPLE, {"characters.micro", "characters.macro"}),
            right("gamma", pair.gamma.gamma, _VALUE, wrap=True),
            right(with_categories, pair.gamma_with_categories.gamma, _VALUE, wrap=True),
        )
        for pair in annotators
    )


def span_figures(
    figures: Mapping[str, Estimate], headings: Mapping[str, str], shown: AbstractSet[str]
) -> Iterator[Entry]:
    """Yield figures under their headings; a terminal shows only some."""
    for name, heading in headings.items():
        only: Medium | None = None if name in shown else "page"
        yield spread(heading, figures[name], _VALUE, wrap=True, only=only)
