"""An exam's findings as a report: what is discerned, how sure that is, and what to beware of."""

import math
from collections.abc import Iterator, Mapping, Sequence

from spanjury.judges.core import counted
from spanjury.orchestration.report import (
    Block,
    Bullets,
    Cell,
    Entry,
    Paragraph,
    Picture,
    Prose,
    Report,
    Section,
    Table,
    code,
    estimate_cell,
    figure,
    left,
    named,
    numeric,
    prose,
    right,
    spread,
    table,
    table_of,
)
from spanjury.orchestration.report.tables import Mark
from spanjury.orchestration.studies.discernment.conclusions import (
    Conclusion,
    DecisionRow,
    conclusion,
    decision_rows,
    is_harmless,
    missing,
    targeted,
    worst_net_drop,
)
from spanjury.orchestration.studies.discernment.detection import (
    USUAL,
    WRITTEN,
    Detection,
    Marking,
    WrittenTwins,
    fewest_texts,
)
from spanjury.orchestration.studies.discernment.findings import Contrast, Finding, Findings
from spanjury.orchestration.studies.discernment.summary import cautions
from spanjury.orchestration.studies.estimates import grouped
from spanjury.orchestration.studies.judging import Examinee, of_sources
from spanjury.stats.spans.localisation import Localisation

_SHARE, _SIGNED = ".0%", "+.2f"
_NOTHING = None, None, None
_MARKS: Mapping[Conclusion, Mark] = {
    Conclusion.DISCERNED: "good",
    Conclusion.STEADY: "good",
    Conclusion.TOO_SMALL: "bad",
    Conclusion.PLACE_MISSED: "bad",
    Conclusion.NOT_DISCERNED: "bad",
    Conclusion.REWARDED: "bad",
    Conclusion.DISTURBED: "bad",
    Conclusion.ELSEWHERE: "unsure",
    Conclusion.UNSCORED: "failed",
    Conclusion.NOT_DONE: "failed",
}
_SENTENCES: Mapping[Conclusion, Prose] = {
    Conclusion.DISCERNED: "Scores fall enough to act on after",
    Conclusion.PLACE_MISSED: "Scores fall, but no span touches the damage, after",
    Conclusion.TOO_SMALL: "Scores fall, but too little to act on, after",
    Conclusion.ELSEWHERE: "Scores fall, but only on aspects that were not damaged, after",
    Conclusion.NOT_DISCERNED: "Scores are not shown to fall after",
    Conclusion.REWARDED: prose("Scores **rise** on a damaged aspect after"),
    Conclusion.UNSCORED: "The damaged aspects have no scores or no D after",
    Conclusion.NOT_DONE: "No text could be damaged by",
    Conclusion.STEADY: "The mean score moves by less than half a step, as it should, after",
    Conclusion.DISTURBED: prose(
        "Scores **move**, or cause false alarms, although the text did not get worse, after"
    ),
    Conclusion.UNDECIDED: "There are too few texts to decide on",
}
_READING: tuple[Prose, ...] = (
    (
        "D is the logarithm of a p-value to the base 0.05: 0 for p = 1, 1 for p = 0.05, 2 for p = "
        "0.0025. It measures how certain it is that scores fall, not how far they fall. It grows "
        "with the number of sources, so compare effects, not D, if the numbers of texts differ."
    ),
    prose(
        "D = 1 is weak evidence: if 3 of 100 texts lose one step and none gains one, the paper's "
        "own computation (mode `paper`) gives 1.06, and the exact test 0.69. The minimum is low by "
        "chance alone, and lower with more conditions. Of twenty conditions that a judge does not "
        "see, about one exceeds D = 1."
    ),
)
_DECISIONS = prose(
    "Would the judge catch a damaged text **without its clean version**? *Caught at 5 % (10 "
    "%)*: share of damaged texts that score below the cut-off; a damaged text without a score "
    "is not caught. At most 5 % (10 %) of the clean and harmlessly changed texts score below "
    "it. For a harmless change (=), this is the false-alarm rate on the texts with a score. *At "
    "10 % of clean*: the same with a cut-off set on clean texts alone. *AUROC*: probability "
    "that a damaged text scores lower than a clean or harmlessly changed one; for a harmless "
    "change, than a clean one. *Hits*: share of damaged passages that a new span of this aspect "
    "touches; in parentheses, by chance. *Drop*: mean fall of the score, in steps of the scale. "
    "*Still top*: share that keeps the best label. *D*: how certain it is that scores on this "
    "aspect fall, not how far they fall."
)
_VERDICTS = prose(
    "*Discerned*: scores fall (D of 1 or more), and they fall enough: the whole interval of "
    "*caught at 10 %* is above 10 %, or the mean falls by half a step or more, and by more than "
    "after any harmless change. *Too small to act on*: scores fall, but not enough. *Place "
    "missed*: scores fall enough, but no span of the judge touches the damage. *Steady*: after a "
    "harmless change, no more texts are flagged than can be expected by chance at 10 %, and the "
    "mean is shown to move by less than half a step. *Disturbed*: after a harmless change, more "
    "texts are flagged, or the mean is shown to move and may move by half a step or more."
)
_CONDITIONS = (
    "*Weighted*: D with a weight for each aspect. The weights of the recipes are our own, "
    "since the paper shows its experts' weights only as a picture; `--weights` replaces them. "
    "*Without small weights*: the same with weights below 0.2 set to 0; if it differs much, D "
    "depended on aspects that were hardly damaged. *Joint*: one test of all damaged aspects "
    "together; with {} draws its largest value is {}. *Contrast*: D on the damaged aspects "
    "minus D on the others. *Hits on any aspect*: share of damaged passages that a new span "
    "touches; in parentheses, the share expected if the same spans were placed at random. "
    "*Precision*: share of the newly marked characters that are damage. Intervals are 95 %. "
    "Intervals and tests treat the texts of one source as one observation."
)
_MATRIX = prose(
    "P(drop) - P(rise): 1 if every score falls, 0 if as many rise as fall. **Bold**: should fall. "
    "`=`: should stay the same. The others may move either way."
)
_STEADINESS = prose(
    "*Equivalent*: the mean is shown to move by less than half a step of the scale. *Different*: "
    "the mean is shown to move, and the move may be half a step or more. *Undecided*: neither is "
    "shown, because there are too few texts. Drops are in steps of the scale."
)


def discernment_report(
    findings: Findings,
    *,
    examinee: Examinee,
    data: str,
    recipe: str,
    pictures: Sequence[Picture] = (),
) -> Report:
    """Return the report of an exam."""
    reading = (Paragraph(text, only="page") for text in _READING)
    care: list[Block] = [Bullets(cautions(findings), tone="caution"), *reading]
    return Report(
        title="Discernment exam",
        answer=_on_twins(findings.twins) if findings.twins else _answer(findings),
        picture=next(iter(pictures), None),
        facts=tuple(_facts(findings, examinee=examinee, data=data, recipe=recipe)),
        sections=(
            *_summary(findings),
            Section("What it discerns", _decisions(findings), only="page"),
            Section("Read with care", care),
            Section("D, the paper's figure", _overall(findings), only="page"),
            Section("Condition by condition", [_conditions(findings)], only="page"),
            Section("Which scores fall", [_matrix(findings)], only="page"),
            Section("What should not move", _steadiness(findings), only="page"),
            Section("Coverage", [_coverage(findings)], only="page"),
            Section("Texts skipped", [_skipped(findings)], only="page"),
            Section("Pictures", pictures[1:], only="page"),
        ),
    )


def _facts(findings: Findings, *, examinee: Examinee, data: str, recipe: str) -> Iterator[Prose]:
    settings, repeats = findings.settings, findings.repeats
    yield prose("judge: {}", code(examinee.signature))
    for name, signature in examinee.seats.items():
        yield prose("seat {}: {}", name, code(signature))
    yield prose("data: {}, {}", code(data), of_sources(findings.segments, findings.sources))
    yield prose("recipe: {}, {} conditions", code(recipe), len(findings.findings))
    times = "once" if repeats == 1 else f"{repeats} times"
    aspects = ", ".join(contrast.aspect for contrast in findings.control)
    yield f"judged: {times}, on {aspects}"
    test = prose(", test {}", code(settings.test)) if settings.test else ()
    tail = f", seed {settings.seed}, {settings.draws} bootstrap draws"
    yield ("mode: ", code(settings.mode), *test, tail)


def _summary(findings: Findings) -> Iterator[Block]:
    """Yield what a terminal shows in 80 characters' width: conditions and averages."""
    yield table_of(
        (_summary_entries(row) for row in decision_rows(findings) if row.leads),
        title=f"Discernment on {counted(findings.segments, 'text')}; each damaged text is judged "
        "alone, without its clean version",
        note="10%: share of damaged texts caught at 10% false alarms on clean and harmlessly "
        "changed texts; one without a score is not caught. Clean: the same at 10% false alarms on "
        "clean texts alone. Hits: share of damaged passages that a new span of the aspect touches. "
        "Drop: mean fall of the score, in steps of the scale. Top: share of texts that keep the "
        "best label. =: harmless change, which should cause no alarm.",
        only="terminal",
    )
    for name, balanced in (("D", findings.overall), ("D, weighted", findings.weighted)):
        if not math.isnan(balanced.average):
            levels = ", ".join(f"{level} {figure(score)}" for level, score in balanced.by_level)
            yield Paragraph(
                f"{name}: average {figure(balanced.average)} ({levels}); "
                f"minimum {figure(balanced.minimum)}",
                only="terminal",
            )


def _on_twins(twins: WrittenTwins) -> str:
    caught, in_order = (
        estimate_cell(share, _SHARE).text for share in (twins.caught, twins.in_order)
    )
    missing_scores = (
        f" ({twins.unscored} of {twins.wrong} wrong texts have no score and count as not caught)"
    )
    catches = (
        f" catches {caught} of the wrong texts at {twins.false_alarms:.0%} false alarms on the"
        f" correct ones{missing_scores if twins.unscored else ''}, and"
    )
    few = (
        f" That is too few to say what it catches at {USUAL:.0%} false alarms, which needs"
        f" {fewest_texts(USUAL)} pairs."
    )
    is_known = not math.isnan(twins.caught.value)
    pairs = f"{twins.pairs} of {twins.wrong}" if twins.pairs < twins.wrong else f"{twins.pairs}"
    return (
        f"The judge{catches if is_known else ''} puts {in_order} of the pairs in the right order (a"
        f" tie counts half; 50% is chance). Written pairs: {pairs} pairs of a correct"
        f" text and a wrong version of it, both written by people, on {twins.sources} sources"
        f" ({', '.join(twins.kinds)}).{'' if is_known else few}"
    )


def _answer(findings: Findings) -> str:
    """Say which share of the damaged texts the judge catches, and which damage it misses."""
    caught, names = findings.caught, _by_conclusion(findings)
    missing_scores = (
        f" ({caught.unscored} of {caught.texts} scores of damaged texts are missing and count as"
        " not caught)"
    )
    missed = [
        name
        for kind in (Conclusion.REWARDED, Conclusion.NOT_DISCERNED, Conclusion.TOO_SMALL)
        for name in names.get(kind, ())
    ]
    if math.isnan(caught.value):
        answer = _seen(findings)
    else:
        share = estimate_cell(caught, _SHARE).text
        answer = (
            f"The judge catches {share} of the damaged texts at 10 % false alarms, on average over"
            " the kinds of damage and the aspects that they harm"
            f"{missing_scores if caught.unscored else ''}"
        )
    return f"{answer}; it misses {named(missed)}." if missed else f"{answer}."


_UNDECIDED = frozenset({Conclusion.UNDECIDED, Conclusion.UNSCORED, Conclusion.NOT_DONE})


def _seen(findings: Findings) -> str:
    """Say how many kinds of damage the judge sees; of harmless changes, how many leave it steady.

    Only those count that the texts suffice to decide.
    """
    damages = [finding for finding in findings.findings if targeted(finding)]
    wanted = Conclusion.DISCERNED if damages else Conclusion.STEADY
    words = [conclusion(finding) for finding in damages or findings.findings]
    decided = [word for word in words if word not in _UNDECIDED]
    if not decided and Conclusion.UNDECIDED in words:
        return "The texts are too few to show what the judge sees"
    if not decided:
        return "No changed text has a score, so it is unknown what the judge sees"
    hits = f"{sum(word is wanted for word in decided)} of {counted(len(decided), 'kind')}"
    answer = f"The judge sees {hits} of damage"
    if not damages:
        answer = f"The judge is steady after {hits} of change"
    left = len(words) - len(decided)
    return f"{answer} ({left} more are undecided)" if left else answer


def _decisions(findings: Findings) -> list[Block]:
    counted_on = (
        f"{alarms.aspect}: false alarms are counted on {alarms.clean} clean and {alarms.harmless} "
        f"harmlessly changed texts; {figure(alarms.flagged_5, '.1%')} of them score below "
        f"{figure(alarms.cutoff_5)}, and {figure(alarms.flagged_10, '.1%')} below "
        f"{figure(alarms.cutoff_10)}."
        for alarms in findings.alarms
        if alarms.clean
    )
    return [
        Bullets(tuple(_conclusions(findings))),
        table_of(map(_decision_entries, decision_rows(findings)), note=_DECISIONS, only="page"),
        Paragraph(_VERDICTS, only="page"),
        *map(Paragraph, counted_on),
    ]


def _conclusions(findings: Findings) -> Iterator[Prose]:
    names = _by_conclusion(findings)
    for kind, words in _SENTENCES.items():
        if kind in names:
            lead = words if isinstance(words, tuple) else (words,)
            conditions = counted(len(names[kind]), "condition")
            yield (*lead, f" {conditions}: {', '.join(names[kind])}.")


def _by_conclusion(findings: Findings) -> Mapping[Conclusion, Sequence[str]]:
    groups = grouped(findings.findings, conclusion)
    return {word: [finding.condition for finding in group] for word, group in groups.items()}


def _decision_entries(row: DecisionRow) -> Iterator[Entry]:
    contrast, detection, marking = row.on or _NOTHING
    yield left("condition", Cell(row.finding.condition, bold=not row.is_harmless))
    yield left("aspect", row.aspect or None)
    yield left("", "=" if row.is_harmless else "")
    yield right("texts", _scored_of(detection) if detection else row.finding.damaged)
    yield spread("caught at 5 %", detection.caught_5 if detection else None, _SHARE)
    yield spread("caught at 10 %", detection.caught_10 if detection else None, _SHARE)
    yield spread("at 10 % of clean", detection.of_clean_10 if detection else None, _SHARE)
    yield spread("AUROC", detection.auroc if detection else None, ".2f")
    yield right("hits (by chance)", _hits(marking))
    yield spread("drop", detection.mean_drop if detection else None, _SIGNED)
    yield right("still top", detection.still_top if detection else None, _SHARE)
    yield right("D of the aspect", contrast.discernment if contrast else None)
    yield _verdict(row.conclusion)


def _summary_entries(row: DecisionRow) -> Iterator[Entry]:
    _, detection, marking = row.on or _NOTHING
    name = f"{'= ' if row.is_harmless else ''}{row.finding.condition}"
    yield left("condition", Cell(name, note=row.aspect), max_width=17)
    yield right("10%", detection.caught_10.value if detection else None, _SHARE)
    yield right("clean", detection.of_clean_10.value if detection else None, _SHARE)
    yield right("AUROC", detection.auroc.value if detection else None, ".2f")
    yield right("hits", _hits(marking).value, _SHARE)
    yield right("drop", detection.mean_drop.value if detection else None, _SIGNED)
    yield right("top", detection.still_top if detection else None, _SHARE)
    yield _verdict(row.conclusion, max_width=13)


def _scored_of(detection: Detection) -> Cell:
    """Return how many changed texts have a score, and how many there are if some lack one."""
    lacking = f"of {detection.texts + detection.unscored}" if detection.unscored else ""
    return Cell(detection.texts, note=lacking)


def _hits(marking: Marking | None) -> Cell:
    """Return the share of damaged passages that are marked; none if the judge marks nothing."""
    if marking is None or not marking.claims_spans:
        return Cell(None)
    return _hit_rate(marking.localisation)


def _hit_rate(spans: Localisation) -> Cell:
    chance = f"({figure(spans.chance, _SHARE)})" if spans.places else ""
    return Cell(spans.hit_rate, _SHARE, note=chance)


def _overall(findings: Findings) -> list[Block]:
    unweighted, by_weights = findings.overall, findings.weighted
    weighted = dict(by_weights.by_level)
    rows = [
        ("average over levels", unweighted.average, by_weights.average),
        ("minimum", unweighted.minimum, by_weights.minimum),
        *((f"{level} level", score, weighted[level]) for level, score in unweighted.by_level),
    ]
    counted = len(findings.findings) - unweighted.missing
    note = (
        f"Conditions with a D: {counted}. Conditions after which no score should fall are excluded."
    )
    return [table(["", *numeric("D", "D, weighted")], rows, note=note)]


def _conditions(findings: Findings) -> Table:
    draws = findings.settings.draws
    return table_of(
        (_condition_entries(finding) for finding in findings.findings if not is_harmless(finding)),
        note=prose(_CONDITIONS, draws, figure(math.log(draws + 1, 20))),
    )


def _condition_entries(finding: Finding) -> Iterator[Entry]:
    spans = finding.localisation
    effects = "; ".join(f"{each.aspect} {_net_drop(each).text}" for each in targeted(finding))
    marks = any(marking.claims_spans for marking in finding.markings)
    by = "people" if finding.family == WRITTEN else "rule"
    yield left("condition", finding.condition)
    yield left("damaged by", finding.written_by or by)
    yield left("level", finding.level)
    yield right("damaged texts", finding.damaged)
    yield right("D", finding.discernment)
    yield right("D, weighted", finding.weighted)
    yield right("without small weights", finding.ablated)
    yield right("mean of D_j, weighted", finding.pooled)
    yield right("joint D", finding.joint)
    yield right("contrast", finding.target_contrast, _SIGNED)
    yield left("damaged aspects: P(drop) - P(rise)", effects or None)
    yield right("hits on any aspect (by chance)", _hit_rate(spans) if marks else None)
    yield right("precision", spans.precision, _SHARE)
    yield _verdict(conclusion(finding))


def _matrix(findings: Findings) -> Table:
    return table_of(
        (
            (left("condition", finding.condition), *map(_expected, finding.contrasts))
            for finding in findings.findings
        ),
        note=_MATRIX,
    )


def _steadiness(findings: Findings) -> list[Block]:
    return [
        table_of(
            (
                (
                    *_steady(each),
                    right("P(drop) - P(rise)", _net_drop(each)),
                    right("D", each.discernment),
                )
                for each in findings.control
            ),
            title="The clean texts, judged a second time (control):",
        ),
        table_of(
            (
                (left("condition", finding.condition), *_steady(contrast))
                for finding in findings.findings
                for contrast in finding.contrasts
                if contrast.equivalence and contrast.equivalence.used
            ),
            title="Aspects that a condition should not affect (those with scores):",
        ),
        Paragraph(_STEADINESS),
    ]


def _coverage(findings: Findings) -> Table:
    """Tabulate, aspect by aspect, how many pairs have scores, and the smallest possible effect."""
    return table_of(
        _coverage_entries([(finding, finding.contrasts[number]) for finding in findings.findings])
        for number in range(len(findings.control))
    )


def _coverage_entries(column: Sequence[tuple[Finding, Contrast]]) -> Iterator[Entry]:
    wanted = sum(finding.damaged for finding, _ in column)
    there = wanted - sum(missing(finding, contrast) for finding, contrast in column)
    worst = [
        worst_net_drop(finding, contrast)
        for finding, contrast in column
        if finding.damaged and contrast.expected == "falls"
    ]
    covered = f"({figure(there / wanted if wanted else None, _SHARE)})"
    least = min(worst, default=None)
    yield left("aspect", column[0][1].aspect)
    yield right("pairs", wanted)
    yield right("with both scores", Cell(there, note=covered))
    yield right("smallest effect if all missing scores had risen", least, _SIGNED)


def _skipped(findings: Findings) -> Table:
    return table_of(
        (left("condition", finding.condition), right("texts", count), left("why", reason))
        for finding in findings.findings
        for reason, count in finding.skipped.items()
    )


def _steady(contrast: Contrast) -> Iterator[Entry]:
    shift = contrast.equivalence
    assert shift is not None
    moved = Cell(shift.estimate, _SIGNED, interval=(shift.low, shift.high))
    yield left("aspect", contrast.aspect)
    yield left("texts", shift.used)
    yield left("mean drop [90 % interval]", moved if shift.used else None)
    yield left("verdict", shift.verdict if shift.used else None)


def _expected(contrast: Contrast) -> Entry:
    """Show P(drop) - P(rise) with what is expected of it."""
    is_bold, sign = contrast.expected == "falls", "=" if contrast.expected == "unchanged" else ""
    cell = Cell(contrast.effects.net_drop, _SIGNED, bold=is_bold, note=sign)
    return right(contrast.aspect, cell)


def _net_drop(contrast: Contrast) -> Cell:
    return Cell(contrast.effects.net_drop, _SIGNED, interval=contrast.interval)


def _verdict(word: Conclusion, *, max_width: int | None = None) -> Entry:
    return left("verdict", Cell(word.value, mark=_MARKS.get(word)), max_width=max_width)
