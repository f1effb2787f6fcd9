"""A comparison of two judges, A and B, as a report and as plain values."""

from collections.abc import Iterator, Sequence

from spanjury.judges.core import counted
from spanjury.orchestration.report import (
    Bullets,
    Cell,
    Entry,
    Paragraph,
    Prose,
    Report,
    Section,
    Table,
    code,
    figure,
    left,
    prose,
    right,
    table_of,
)
from spanjury.orchestration.report.json import fields_of, plain, versions
from spanjury.orchestration.studies.comparison.comparison import (
    Compared,
    Comparison,
    Contrast,
    Preference,
    Unshared,
)
from spanjury.orchestration.studies.estimates import LEVEL
from spanjury.orchestration.studies.judging import Examinee, of_sources

_Row = tuple[Contrast, Compared]
_SIGNED = "+.2f"
_CATCHES = "catches more"
_BETTER = {"falls": "discerns more", "unchanged": "moves less"}
_NAMES = {Preference.FIRST: "A", Preference.SECOND: "B"}
_NAMED = 5
"""So many names are listed, and the others are counted."""
_MARKS = "*: the aspect was damaged. p: adjusted by Holm for all rows."
_READING = prose(
    "Differences are A minus B, with 95 % intervals: sources are resampled, the same ones for both "
    "judges, each with all its texts, conditions and aspects. *Caught*: share of damaged texts "
    "below the judge's own cut-off, below which at most 10 % of the clean and harmlessly changed "
    "texts score. *p* is two-sided and adjusted by Holm, over the rows of the table of caught "
    "texts and over those of the other two tables together; a verdict needs p of 0.05 or less. "
    "**Bold**: the aspect was damaged. *Not shown* does not prove that the judges are equal: there "
    "may be too few texts."
)


def comparison_report(
    comparison: Comparison, *, judges: tuple[Examinee, Examinee], folders: tuple[str, str]
) -> Report:
    """Return the report of a comparison."""
    named = zip("AB", judges, strict=True)
    steady = [row for row in comparison.contrasts if row[0].expected == "unchanged"]
    may_fall = [row for row in comparison.contrasts if row[0].expected != "unchanged"]
    return Report(
        title="Two judges compared",
        answer=" ".join(conclusions(comparison)),
        facts=(
            *_facts(judges, folders),
            f"{comparison.draws} bootstrap draws, seed {comparison.seed}",
        ),
        sections=(
            *(Paragraph(f"{name}: {judge.name}", only="terminal") for name, judge in named),
            Section(
                "Damaged texts caught without their clean versions, at 10 % false alarms",
                [_table(comparison.caught_contrasts, spec=".0%", more=_CATCHES)],
            ),
            Section(
                "Where scores should or may fall: P(drop) - P(rise)",
                [_table(may_fall), Paragraph(_MARKS, only="terminal")],
            ),
            Section(
                "Where scores should stay: P(drop) + P(rise), lower is better", [_table(steady)]
            ),
            Section("Read with care", [Bullets(remarks(comparison), tone="caution")]),
            Paragraph(_READING, only="page"),
        ),
    )


def comparison_json(
    comparison: Comparison, *, judges: tuple[Examinee, Examinee]
) -> dict[str, object]:
    """Return a comparison as objects, lists, strings, numbers and nulls."""
    return {
        "versions": versions(),
        "judges": [plain(judge) for judge in judges],
        "seed": comparison.seed,
        "draws": comparison.draws,
        "repeats": list(comparison.repeats),
        "conclusion": conclusion(comparison),
        "summary": plain(comparison.summary),
        "caught_conclusion": caught_conclusion(comparison),
        "caught": plain(comparison.caught),
        "caught_places": [_row_json(row, more=_CATCHES) for row in comparison.caught_contrasts],
        "places": [_row_json(row) for row in comparison.contrasts],
        "unshared": plain(comparison.unshared),
        "remarks": list(remarks(comparison)),
    }


def _row_json(row: _Row, *, more: str = "") -> dict[str, object]:
    contrast, compared = row
    verdict = preferred(contrast, compared, more=more)
    return {**fields_of(contrast), **fields_of(compared), "verdict": verdict}


def preferred(contrast: Contrast, compared: Compared, *, more: str = "") -> str:
    """Say which judge does better in one contrast, A (the first) or B, and that it does `more`."""
    if compared.preference is Preference.NOT_SHOWN:
        return "not shown"
    better = more or _BETTER.get(contrast.expected or "", "falls more")
    return f"{_NAMES[compared.preference]} {better}"


def conclusions(comparison: Comparison) -> tuple[str, ...]:
    """Say which judge does better: in what it catches, and in how often scores fall."""
    return caught_conclusion(comparison), conclusion(comparison)


def caught_conclusion(comparison: Comparison) -> str:
    """Say in a sentence which judge catches more damaged texts without their clean versions."""
    caught = comparison.caught
    if caught is None:
        return (
            "Too few clean texts, or no damaged aspects, have scores from both judges, so the "
            "shares caught without the clean versions cannot be compared."
        )
    better = _NAMES.get(caught.preference)
    verdict = f"{better} catches more" if better else "neither is shown to catch more"
    return (
        f"At a false-alarm rate of 10 % {verdict}: A {figure(caught.first, '.0%')}, "
        f"B {figure(caught.second, '.0%')}, difference {_difference(caught, '+.0%').text}, "
        f"p = {caught.p:.2g}."
    )


def conclusion(comparison: Comparison) -> str:
    """Say in a sentence which judge discerns more, on average over what was damaged."""
    summary = comparison.summary
    if summary is None:
        return "There are no damaged aspects on which both judges gave scores."
    better = _NAMES.get(summary.preference)
    verdict = f"{better} discerns more" if better else "neither is shown to discern more"
    texts = of_sources(summary.texts, summary.sources)
    pairs = sum(contrast.expected == "falls" for contrast, _ in comparison.contrasts)
    return (
        f"On average over the damaged aspects ({pairs} pairs of condition and aspect, "
        f"{texts}) {verdict}: A {summary.first:+.2f}, B {summary.second:+.2f}, "
        f"difference {_difference(summary).text}, p = {summary.p:.2g}."
    )


def remarks(comparison: Comparison) -> tuple[str, ...]:
    """Return what was not compared, and what to beware of, in sentences."""
    return (
        *_on_unshared(comparison.unshared),
        *_on_resampling(comparison),
    )


def _facts(judges: tuple[Examinee, Examinee], folders: tuple[str, str]) -> Iterator[Prose]:
    for name, judge, folder in zip("AB", judges, folders, strict=True):
        yield prose("{}: {}, in {}", name, code(judge.signature), code(folder))
        for seat, signature in judge.seats.items():
            yield prose("{}, {}: {}", name, seat, code(signature))


def _table(rows: Sequence[_Row], *, spec: str = _SIGNED, more: str = "") -> Table:
    return table_of(_entries(row, spec=spec, more=more) for row in rows)


def _entries(row: _Row, *, spec: str, more: str) -> Iterator[Entry]:
    contrast, compared = row
    verdict = preferred(contrast, compared, more=more)
    damaged = contrast.expected == "falls"
    shown = compared.preference is not Preference.NOT_SHOWN
    difference = _difference(compared, f"+{spec.removeprefix('+')}")
    yield left("condition", contrast.condition or "nothing (judged twice)")
    yield left("aspect", Cell(contrast.aspect, bold=damaged), only="page")
    yield left("aspect", f"{contrast.aspect}*" if damaged else contrast.aspect, only="terminal")
    yield right("texts", compared.texts, only="page")
    yield right("sources", compared.sources, only="page")
    yield right("A", compared.first, spec)
    yield right("B", compared.second, spec)
    yield left("difference [95 %]", difference, wrap=False, only="page")
    yield left("A minus B, 95 %", difference.remainder, wrap=False, only="terminal")
    yield right("p", compared.adjusted, ".2g")
    yield left("verdict", Cell(verdict, mark="good" if shown else None))


def _difference(compared: Compared, spec: str = _SIGNED) -> Cell:
    return Cell(compared.difference, spec, interval=(compared.low, compared.high))


def _on_unshared(unshared: Unshared) -> Iterator[str]:
    for what, names in (
        ("Texts", unshared.texts),
        ("Conditions", unshared.conditions),
        ("Aspects", unshared.aspects),
    ):
        for judge, only in zip("AB", names, strict=True):
            if only:
                yield f"{what} only in the exam of {judge}: {_listed(only)}."
    if unshared.differing_texts:
        yield f"Texts with the same name that differ: {_listed(unshared.differing_texts)}."
    for judge, count in zip("AB", unshared.damages, strict=True):
        if count:
            yield f"Damaged texts shown only to {judge}: {count}."
    for count, what in (
        (unshared.differing_damages, "Damaged texts skipped, because they differ"),
        (
            unshared.differing_effects,
            "Conditions that are expected to affect an aspect differently",
        ),
        (unshared.unscored[0], "Pairs shown to both judges that A did not score"),
        (unshared.unscored[1], "Pairs shown to both judges that B did not score"),
    ):
        if count:
            yield f"{what}: {count}."


def _on_resampling(comparison: Comparison) -> Iterator[str]:
    if not comparison.knows_sources:
        yield (
            "The scores of an earlier release do not say which texts share a source, so each text "
            "counts as its own: if several share one, intervals are too narrow. Run the exam again "
            "with the same command: no question is asked twice."
        )
    first, second = comparison.repeats
    if first != second:
        yield (
            f"A's scores are sums of {counted(first, 'judgment')}, and B's of {second}; a finer "
            "score changes more often."
        )
    needed = int(2 * len(comparison.contrasts) / LEVEL)
    if comparison.draws < needed:
        yield (
            f"{comparison.draws} draws are too few for a significant result on any one of "
            f"{len(comparison.contrasts)} pairs of condition and aspect: use at least {needed}."
        )


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{len(names)} ({', '.join(names[:_NAMED])}{more})"
