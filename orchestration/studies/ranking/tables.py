"""Rankings as a report: systems with their groups, and pairs of them."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from spanjury.orchestration.report import (
    Block,
    Bullets,
    Cell,
    Entry,
    Paragraph,
    Prose,
    Report,
    Section,
    Table,
    code,
    emphasis,
    joined,
    left,
    named_in_code,
    prose,
    right,
    spread,
    strong,
    table_of,
)
from spanjury.orchestration.report.json import fields_of
from spanjury.orchestration.report.tables import Medium
from spanjury.orchestration.studies.ranking.findings import AspectRanking, PairFinding, cautions
from spanjury.stats.powered_estimates import PoweredEstimate
from spanjury.stats.resampling import Estimate

_VALUE = ".2f"
_CHANGE = "+.3f"
_P = ".3f"
_LEAST_P = 0.001
_METHOD = (
    "Brackets are 95 % intervals for inputs like these, cut at the ends of the scale, beyond which"
    " no mean lies (Mandelkern 2002); all texts of a system for one input count as one observation."
    " A difference is the mean over the inputs for which both systems have scores. Its p-value is"
    " adjusted for all pairs of an aspect by Holm's method. Systems that share a letter are not"
    " shown to differ. The panel's scores alone show nothing about systems: a pair is shown to"
    " differ only if people scored texts of both. A place is the range of ranks that the pairs"
    " allow. With the inputs or marks still needed, the test of all pairs would show a pair to"
    " differ with a power of 80 %, if its difference stays the same. Estimates by people and judges"
    " are prediction-powered (Angelopoulos et al. 2023): the panel's means on people's scale,"
    " corrected by the panel's error on marked texts. They are unbiased if the marked texts were"
    " drawn at random, or with the chances in their rows. A good panel makes their intervals"
    " narrower: the column *worth* is the number of marks that would be as precise without a panel."
    " The standard errors of people's figures, with and without the panel, are shrunk (Smyth 2004):"
    " those of means towards the usual error of all systems and, with three systems or more, those"
    " of differences towards the usual error of all pairs."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingFindings:
    """Rankings of systems, aspect by aspect."""

    runs: tuple[str, ...]
    """Files or folders of the scores."""
    people: str
    """Whose scores stand beside them; empty without any."""
    aspects: tuple[AspectRanking, ...]
    notes: tuple[str, ...]


def ranking_json(findings: RankingFindings) -> dict[str, object]:
    """Return rankings for programs; what is undefined or infinite is null."""
    return {
        "runs": list(findings.runs),
        "people": findings.people or None,
        "notes": list(findings.notes),
        "aspects": [
            {
                **fields_of(aspect),
                "pairs_apart": aspect.apart,
                "cautions": [*cautions(aspect)],
                "systems": [
                    {**fields_of(each), "coverage": each.coverage} for each in aspect.systems
                ],
                "pairs": [
                    {
                        **fields_of(each),
                        "is_apart": aspect.shows(each),
                        "panel_apart": each.is_apart("judges"),
                        "not_shown": aspect.not_shown(each) or None,
                    }
                    for each in aspect.pairs
                ],
            }
            for aspect in findings.aspects
        ],
    }


def ranking_report(findings: RankingFindings) -> Report:
    """Return the report of rankings."""
    return Report(
        title="Systems ranked",
        answer=joined(map(_answer, findings.aspects)),
        facts=(
            *(prose("scores: {}", code(run)) for run in findings.runs),
            *((prose("people: {}", code(findings.people)),) if findings.people else ()),
        ),
        sections=(
            Bullets(findings.notes, tone="caution"),
            *(Section(aspect.aspect, [*_blocks(aspect)]) for aspect in findings.aspects),
            Paragraph(prose(_METHOD), only="page"),
        ),
    )


def _answer(ranking: AspectRanking) -> Prose:
    """Say which system is best, and whether that is shown."""
    best, *_ = ranking.systems
    ahead, others = ranking.shown(best.system, ahead=True), len(ranking.systems) - 1
    if ranking.shown(best.system, ahead=False):
        return prose(
            "On {}, no system is named best: the order by means contradicts the tests of pairs.",
            emphasis(ranking.aspect),
        )
    mean = "mean adjusted for inputs" if ranking.is_adjusted else "mean"
    ranked = [each.system for each in ranking.systems if each.system not in ranking.unmarked]
    means = {each.system: each.comparable for each in ranking.systems if each.system in ranked}
    alike = [system for system in ranked if means[system] == best.comparable]
    if len(alike) > 1 and ahead < others:
        systems = named_in_code(alike, most=len(alike))
        return prose("On {}, {} have the same best {}.", emphasis(ranking.aspect), systems, mean)
    if ahead == others:
        shown = "is shown to be better than all others"
    elif ahead:
        shown = f"has the best {mean} and is shown to be better than {ahead} of {others} others"
    else:
        shown = f"has the best {mean} but is not shown to differ from any other system"
    return prose("On {}, {} {}.", emphasis(ranking.aspect), code(best.system), shown)


_PAIRS = (
    "Differences are the first system's mean minus the second's, each with its own 95 % interval. "
    "P-values are adjusted for all pairs (Holm), so a pair may not be shown to differ although its "
    "interval excludes 0. More inputs or marks: the number still needed to show the difference. "
    "Never enough: no number of inputs, or of marks on these texts, would show it."
)
_SHRUNK = "The standard errors of people's figures are shrunk towards the usual error of all"


def _blocks(ranking: AspectRanking) -> Iterator[Block]:
    yield _systems(ranking)
    yield Paragraph(_basis(ranking))
    yield _pairs(ranking, ranking.pairs, only_page=True)
    following = {*pairwise(each.system for each in ranking.systems)}
    neighbours = [pair for pair in ranking.pairs if (pair.first, pair.second) in following]
    yield _pairs(ranking, neighbours, only_page=False)
    yield Bullets([*cautions(ranking)], tone="caution")


def _basis(ranking: AspectRanking) -> str:
    pairs = f"{len(ranking.pairs):,} pairs of systems"
    if ranking.basis == "judges":
        return (
            f"The panel separates {ranking.separated:,} of {pairs}. Order and groups use the "
            "panel's scores alone and show what the panel separates. No pair is shown to differ, "
            f"because {ranking.reason}; a panel that favours a system separates it as well."
        )
    count = f"{ranking.apart:,} of {pairs} are shown to differ."
    if len(ranking.pairs) == 1:
        count = f"The two systems are {'' if ranking.apart else 'not '}shown to differ."
    if ranking.marked == sum(each.scored for each in ranking.systems):
        return (
            f"{count} Order and groups use people's scores alone, because people scored all "
            f"{ranking.marked:,} texts."
        )
    weights = ", weighted by the inverse of their chance of being marked"
    return (
        f"{count} Order and groups use people's scores of {ranking.marked:,} texts"
        f"{weights if ranking.is_weighted else ''}, and the panel's scores of all texts."
    )


_BY_PEOPLE = (
    "Means with 95 % intervals for inputs like these. Systems that share a letter are not shown to"
    f" differ. {_SHRUNK} systems."
)
_BY_PANEL = (
    "Means with 95 % intervals for inputs like these. The panel separates systems that share no"
    " letter. That does not mean that the panel is right."
)


def _systems(ranking: AspectRanking) -> Table:
    with_people = ranking.basis != "judges" or any(each.powered for each in ranking.systems)
    # With people's scores all columns are too many for a terminal.
    where: Medium | None = "page" if with_people else None
    return table_of(
        (
            (
                left("system", each.system, wrap=False),
                spread("panel", each.judged, _VALUE, wrap=True),
                *(
                    (right("adjusted mean", each.comparable, _VALUE, only=where),)
                    if ranking.is_adjusted
                    else ()
                ),
                right("coverage", each.coverage, ".0%", only=where),
                right("texts", each.texts, only="page"),
                right("place", each.place.text, only=where),
                left("groups", each.place.groups, wrap=False),
                *(_with_people(each.powered) if with_people else ()),
            )
            for each in ranking.systems
        ),
        title=strong(f"{ranking.aspect}: systems"),
        note=_BY_PEOPLE if ranking.basis != "judges" else _BY_PANEL,
    )


def _with_people(powered: PoweredEstimate | None) -> Iterator[Entry]:
    plain, worth = None, math.inf
    if powered is not None:
        plain = Estimate(powered.plain, powered.plain_low, powered.plain_high)
        worth = powered.effective_marks
    yield spread("people alone", plain, _VALUE, wrap=True)
    yield spread("people and judges", powered, _VALUE, wrap=True)
    yield right("marks", powered and powered.marked)
    yield right("worth", worth if math.isfinite(worth) else None, ".0f", only="page")


def _pairs(ranking: AspectRanking, pairs: Sequence[PairFinding], *, only_page: bool) -> Table:
    is_shrunk = ranking.basis != "judges" and len(ranking.pairs) > 1
    return table_of(
        (_pair(each, ranking) for each in pairs),
        title=strong(f"{ranking.aspect}: {'all pairs' if only_page else 'adjacent systems'}"),
        note=f"{_PAIRS} {_SHRUNK} pairs." if is_shrunk else _PAIRS,
        only="page" if only_page else "terminal",
    )


def _pair(pair: PairFinding, ranking: AspectRanking) -> Iterator[Entry]:
    is_apart, by_panel = ranking.shows(pair), pair.is_apart("judges")
    by_people = ranking.basis != "judges"
    only: Medium | None = "page" if by_people else None
    more_inputs = _more(pair.more_inputs, is_apart=by_panel)
    yield left("first", pair.first, wrap=False)
    yield left("second", pair.second, wrap=False)
    yield spread("panel's difference", pair.judged, _CHANGE, wrap=True, only=only)
    yield right("p (Holm)", p_cell(pair.adjusted), only=only)
    yield right("inputs", pair.judged.inputs)
    yield right("more inputs", more_inputs, wrap=True, only=only)
    if by_people:
        powered = None if ranking.not_shown(pair) else pair.powered
        adjusted, more = pair.powered_adjusted, _more(pair.more_marks, is_apart=is_apart)
        yield spread("difference by people and judges", powered, _CHANGE, wrap=True)
        yield right("p (Holm)", p_cell(adjusted) if powered else None)
        yield right("more marks", more if powered else None, wrap=True)
    else:
        yield left("separated by the panel", "yes" if by_panel else "no", max_width=9)
    yield left("shown to differ", _shown(pair, ranking), max_width=9)


def _shown(pair: PairFinding, ranking: AspectRanking) -> Cell:
    if not pair.judged.inputs:
        return Cell("no input in common", mark="failed")
    if ranking.not_shown(pair):
        return Cell("not shown", mark="unsure")
    is_apart = ranking.shows(pair)
    return Cell("yes" if is_apart else "no", mark="good" if is_apart else "unsure")


def p_cell(value: float) -> Cell:
    """Return a p-value; a very small one only says that it is."""
    return Cell("< 0.001" if value < _LEAST_P else value, _P)


def _more(count: float, *, is_apart: bool) -> Cell:
    if is_apart or math.isnan(count):
        return Cell(None)
    return Cell(f"{count:,.0f}" if math.isfinite(count) else "never enough")
