"""Biases of a pair judge beside people's scores: position, length, and its own family."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import starmap
from typing import NamedTuple

import numpy as np

from spanjury.judges.core import Segment
from spanjury.orchestration.engine.families import Families, model_of
from spanjury.orchestration.report import (
    Bounded,
    Bullets,
    Entry,
    Paragraph,
    Report,
    Section,
    Table,
    code,
    estimate_cell,
    left,
    named,
    prose,
    right,
    spread,
    table_of,
)
from spanjury.orchestration.report.json import fields_of
from spanjury.orchestration.studies.card import SHARE, Measure, Range, Ranges, measured
from spanjury.orchestration.studies.estimates import bounded, grouped
from spanjury.orchestration.studies.judging import Examinee
from spanjury.orchestration.studies.pairs.comparing import ComparisonRow
from spanjury.orchestration.studies.pairs.findings import (
    ANSWERED,
    CONSISTENT,
    FIRST,
    OrderFindings,
    answered_share,
    order_findings,
    order_table,
)
from spanjury.stats.arrays import FloatArray, mean_of_defined, safe_divide
from spanjury.stats.proportions import Proportion, share_by_source
from spanjury.stats.resampling import Estimate, bootstrap, estimates

_SEED = 1
_DRAWS = 2000
_HALF = 0.5
_FEWEST_ALIKE = 6
"""Sources that must all show the same bias for an interval; five may do so by chance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Definitions of an exam of preferences."""

    people_tie: float = 0.0
    """The difference of people's scores up to which they do not prefer either text, in points."""
    longer: float = 0.1
    """A text is the longer one if it has at least this share more words."""


class Judged(NamedTuple):
    """A comparison with a preference, beside people's.

    `people` are people's points of A: 1 if they prefer it, 0 if they prefer B, else a half; None
    where they scored either text on no such aspect. `words` are those of A and of B.
    """

    row: ComparisonRow
    points: float
    people: float | None
    words: tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lean:
    """Lean of a judge to one sort of text, beside people's.

    `net`, `low`, `high`: the points of such a text, from -1/2 to 1/2, beyond those from a judge
    that makes as many errors, half of them in favour of such texts; and their 95 % interval over
    sources. NaN without a pair that shows it, the interval also with fewer than two sources.
    """

    share: Proportion
    """Share of wins of such texts, ties half."""
    people: float
    """The same by people's scores; NaN without any pair."""
    net: float
    low: float
    high: float

    @property
    def beyond_errors(self) -> Estimate:
        """`net` with its interval."""
        return Estimate(self.net, self.low, self.high)


@dataclass(frozen=True, slots=True, kw_only=True)
class BiasFindings:
    """The biases of a pair judge on one aspect, or on all of them."""

    aspect: str
    compared: int
    answered: Proportion
    agreement: Proportion
    """Share of the pairs that people separate in which the judge prefers the same text, ties
    half."""
    order: OrderFindings
    longer: Lean
    """The lean to the longer text. Its shares are over the pairs in which people prefer the shorter
    text or neither; `net` is over all."""
    longer_better: Proportion
    """Share of wins of the longer text where people prefer it: high for a judge without bias."""
    own: Lean
    """The lean to systems of the judge's own family over others; without pairs if no family is
    known, or none is the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Biases:
    """The biases of a pair judge over all aspects, then aspect by aspect."""

    family: str
    """The family of the judge's model; empty if it asks none, or it is not known."""
    own_systems: tuple[str, ...]
    settings: Settings
    whole: BiasFindings
    aspects: tuple[BiasFindings, ...]


def biases_of(
    rows: Sequence[ComparisonRow],
    texts: Sequence[Segment],
    *,
    judge: str,
    settings: Settings = Settings(),
    families: Mapping[str, Sequence[str]] | None = None,
) -> Biases:
    """Return the biases of the pair judge that made `rows`.

    `texts`: the compared texts, with people's scores.
    `judge`: signature of the pair judge, which names its model.
    `families`: as in `PanelConfig`.
    """
    table = Families.load(table=families or {})
    family = table.of(model_of(judge)) or ""
    systems = dict.fromkeys(name for row in rows for name in (row.system_a, row.system_b))
    own = tuple(name for name in systems if family and table.of(name) == family)
    # Texts of several systems may have one id.
    named = {(segment.segment_id, segment.system): segment for segment in texts}
    findings = partial(_findings, texts=named, own=own, settings=settings)
    by_aspect = grouped(rows, lambda row: row.aspect)
    return Biases(
        family=family,
        own_systems=own,
        settings=settings,
        whole=findings("all", rows),
        aspects=tuple(starmap(findings, by_aspect.items())),
    )


def cautions(biases: Biases) -> Iterator[str]:
    """Yield reasons not to take the figures at their face value."""
    whole = biases.whole
    if not whole.agreement.trials:
        yield "people's scores separate no pair, so agreement and length bias are unknown"
    elif whole.agreement.value <= _HALF:
        yield (
            "the judge agrees with people no better than by chance, so neither its preferences nor "
            "its biases say much"
        )
    if not whole.longer.share.trials:
        yield "no pair has a longer text that people do not prefer, so the length bias is unknown"
    if not whole.own.share.trials:
        reason = (
            f"no system belongs to the judge's family, {biases.family}"
            if biases.family
            else "the family of the judge is not known"
        )
        yield f"self-preference is unknown: {reason}"


def _findings(
    aspect: str,
    rows: Sequence[ComparisonRow],
    *,
    texts: Mapping[tuple[str, str], Segment],
    own: Sequence[str],
    settings: Settings,
) -> BiasFindings:
    judged = [
        _judged(row, row.points_a, texts, tie=settings.people_tie)
        for row in rows
        if row.points_a is not None
    ]

    def longer_of(each: Judged) -> str:
        """Return which text is the longer one; empty if neither is by much."""
        shorter, longer = sorted(each.words)
        if longer < shorter * (1 + settings.longer) or longer == shorter:
            return ""
        return "A" if each.words[0] == longer else "B"

    def own_of(each: Judged) -> str:
        first, second = each.row.system_a in own, each.row.system_b in own
        return "" if first == second else "A" if first else "B"

    separated = [each for each in judged if each.people not in (None, _HALF)]
    pairs = [each for each in judged if longer_of(each)]
    worse = [each for each in pairs if _people_of(each, longer_of) != 1]
    better = [each for each in pairs if _people_of(each, longer_of) == 1]
    return BiasFindings(
        aspect=aspect,
        compared=len(rows),
        answered=answered_share(rows),
        agreement=_share(separated, lambda each: "A" if each.people == 1 else "B"),
        order=order_findings(rows),
        longer=_lean(worse, pairs, longer_of),
        longer_better=_share(better, longer_of),
        own=_lean([each for each in judged if own_of(each)], judged, own_of),
    )


def _judged(
    row: ComparisonRow, points: float, texts: Mapping[tuple[str, str], Segment], *, tie: float
) -> Judged:
    a, b = texts[row.id_a, row.system_a], texts[row.id_b, row.system_b]
    first, second = a.human_score(row.aspect), b.human_score(row.aspect)
    people = None
    if first is not None and second is not None:
        people = _HALF if abs(first - second) <= tie else float(first > second)
    return Judged(row, points, people, (len(a.output.split()), len(b.output.split())))


Side = Callable[[Judged], str]
"""Returns the text of a pair that is of a sort: ``A``, ``B``, or neither."""


def _people_of(each: Judged, side: Side) -> float | None:
    """Return people's points of the text on one side."""
    if each.people is None:
        return None
    return each.people if side(each) == "A" else 1 - each.people


def _points_of(each: Judged, side: Side) -> float:
    return each.points if side(each) == "A" else 1 - each.points


def _share(judged: Sequence[Judged], side: Side) -> Proportion:
    return share_by_source((each.row.source, _points_of(each, side), 1) for each in judged)


def _lean(counted: Sequence[Judged], judged: Sequence[Judged], side: Side) -> Lean:
    """Return the lean to the texts on one side: shares over `counted`, the rest over `judged`."""
    pairs = [each for each in counted if each.people is not None]
    people = float(mean_of_defined([_people_of(each, side) or 0.0 for each in pairs]))
    net, low, high = _net([each for each in judged if side(each)], side)
    return Lean(share=_share(pairs, side), people=people, net=net, low=low, high=high)


def _net(pairs: Sequence[Judged], side: Side) -> Estimate:
    """Return the points of texts on one side beyond those from a judge that errs evenly.

    The judge's points minus people's would not do: a judge that answers at random is far above
    people where they prefer the other text. So errors in favour of a side are compared with errors
    against it, as in Wataoka et al. (2024), "Self-Preference Bias in LLM-as-a-Judge";
    if people tie, half a point is expected.
    """
    sources = [*grouped(pairs, lambda each: each.row.source).values()]
    if not sources:
        return Estimate()
    sums, numbers = np.zeros((2, 3, len(sources)))
    for at, own in enumerate(sources):
        for each in own:
            people = _people_of(each, side)
            if people is not None:
                kind = int(2 * people)  # people prefer the other text, neither, or this one
                sums[kind, at] += _points_of(each, side) - people
                numbers[kind, at] += 1

    def effect(counts: FloatArray) -> FloatArray:
        of, totals = counts @ sums.T, counts @ numbers.T
        means = safe_divide(of, totals)
        uneven = (means[:, 0] + means[:, 2]) / 2
        errors = np.where(np.isnan(uneven), 0.0, totals[:, 0] + totals[:, 2])
        shown = errors + totals[:, 1]
        return safe_divide(np.nan_to_num(uneven) * errors + of[:, 1], shown)[:, np.newaxis]

    rng = np.random.default_rng(_SEED)
    (net,) = estimates(bootstrap(effect, items=len(sources), rng=rng, draws=_DRAWS))
    return net if len(sources) >= _FEWEST_ALIKE else bounded(net)


_SHARE, _SIGNED = ".2f", "+.2f"
_NET = (
    "Points of such a text beyond those from a judge that errs as often, but evenly; 0 without "
    "bias."
)
_SAYS = {
    "preference.answered": ANSWERED,
    "preference.agreement": "Share of the pairs that people separate with the same preference; a "
    "tie counts half.",
    "preference.consistent": CONSISTENT,
    "preference.first": FIRST,
    "preference.longer": "Share of wins of the longer text where people do not prefer it; a tie "
    "counts half.",
    "preference.longer_net": _NET,
    "preference.own": "Share of wins of systems of the judge's family over others; a tie counts "
    "half.",
    "preference.own_net": _NET,
}
RANGES: Ranges = {
    **dict.fromkeys(_SAYS, SHARE),
    "preference.longer_net": Range(-0.5, 0.5),
    "preference.own_net": Range(-0.5, 0.5),
}
"""Name of a measure -> its range."""
_READING = (
    "Agreement: share of the pairs that people's scores separate in which the judge prefers the "
    "same text; a tie counts half. Length: a text is longer if it has at least {} more words. The "
    "first columns cover pairs in which people prefer the shorter text or neither. The last column "
    "covers pairs in which people prefer the longer text; an unbiased judge prefers it too. Own "
    "family: systems based on the same model family as the judge, against others. Net: how much "
    "more often such a text wins than with a judge that makes as many errors, but equally often in "
    "favour of such texts and against them; 0 without bias. It also covers pairs in which people "
    "prefer the longer text. Intervals of 95 % are over sources."
)


def biases_report(biases: Biases, *, judge: Examinee, data: str) -> Report:
    """Return the report of an exam of preferences."""
    rows = [("all aspects", biases.whole), *((each.aspect, each) for each in biases.aspects)]
    sees_order = biases.whole.order.shown_twice > 0
    order = order_table(((name, each.order) for name, each in rows), heading="aspect")
    no_order = "The order of the texts cannot influence this judge."
    return Report(
        title="Preferences",
        answer=_answer(biases.whole),
        facts=[
            prose("texts: {}", code(data)),
            *(prose("{}: {}", name, code(each)) for name, each in judge.seats.items()),
            *([f"family: {biases.family}"] if biases.family else []),
        ],
        sections=[
            Section("Agreement with people", [_agreement(rows)]),
            Section("Position", [order if sees_order else Paragraph(no_order)]),
            Section("Length", [_lengths(rows)]),
            *_own(biases, rows),
            Paragraph(_READING.format(f"{biases.settings.longer:.0%}")),
            Bullets([*cautions(biases)], tone="caution"),
        ],
    )


def _answer(whole: BiasFindings) -> str:
    """Say how often the judge agrees with people, and which bias is shown."""
    answer = "People's scores separate no pair, so agreement with them is unknown"
    if whole.agreement.trials:
        share = estimate_cell(whole.agreement, ".0%").text
        answer = f"The judge prefers the same text as people in {share} of the pairs"
    leans = {
        "longer texts": whole.longer.low > 0,
        "shorter texts": whole.longer.high < 0,
        "texts of its own family": whole.own.low > 0,
        "the text shown first": whole.order.first.low > _HALF,
        "the text shown second": whole.order.first.high < _HALF,
    }
    shown = [name for name, is_shown in leans.items() if is_shown]
    return f"{answer}; it favours {named(shown)}." if shown else f"{answer}; no bias is shown."


def biases_json(biases: Biases, *, judge: Examinee) -> dict[str, object]:
    """Return the findings for programs; what is undefined is null."""
    return {"judge": judge.signature, **fields_of(biases)}


def measures_of(biases: Biases) -> tuple[Measure, ...]:
    """Return the measures of an exam of preferences, over all aspects."""
    whole, order = biases.whole, biases.whole.order
    shares = (whole.answered, whole.agreement, order.consistent, order.first)
    figures: list[tuple[Bounded, Proportion]] = [(share, share) for share in shares]
    for lean in (whole.longer, whole.own):
        figures += [(lean.share, lean.share), (lean.beyond_errors, lean.share)]
    return tuple(
        measured(name, figure, says=says, count=share.trials)
        for (name, says), (figure, share) in zip(_SAYS.items(), figures, strict=True)
    )


Rows = list[tuple[str, BiasFindings]]


def _agreement(rows: Rows) -> Table:
    return table_of(
        (
            left("aspect", name),
            right("compared", each.compared),
            right("answered", each.answered.value, ".0%"),
            right("separated by people", each.agreement.trials),
            spread("agreement", each.agreement, _SHARE, wrap=True),
        )
        for name, each in rows
    )


def _lengths(rows: Rows) -> Table:
    should = "longer wins if people prefer it"
    return table_of(
        (
            *_leaning("longer wins", name, each.longer),
            spread(should, each.longer_better, _SHARE, wrap=True),
        )
        for name, each in rows
    )


def _own(biases: Biases, rows: Rows) -> Iterator[Section]:
    if biases.own_systems:
        shown = table_of(
            (_leaning("own family wins", name, each.own) for name, each in rows),
            note=f"Own family, {biases.family}: {', '.join(biases.own_systems)}.",
        )
        yield Section("Own family", [shown])


def _leaning(heading: str, aspect: str, lean: Lean) -> Iterator[Entry]:
    yield left("aspect", aspect)
    yield right("pairs", lean.share.trials)
    yield spread(heading, lean.share, _SHARE, wrap=True)
    yield right("people", lean.people, _SHARE)
    yield spread("net", lean.beyond_errors, _SIGNED, wrap=True)
