"""The tables of a meta-evaluation on the command line."""

import math
from collections.abc import Iterator, Sequence

from rich.table import Table

from spanjury.orchestration.report.numbers import figure
from spanjury.orchestration.studies.agreement.findings import MetaFindings
from spanjury.orchestration.studies.agreement.scorers import Agreement
from spanjury.orchestration.studies.agreement.seat_findings import SeatFindings
from spanjury.orchestration.studies.agreement.spans.annotators import PairFinding
from spanjury.orchestration.studies.agreement.spans.aspect import AspectSpans
from spanjury.orchestration.studies.agreement.spans.estimates import Estimate
from spanjury.orchestration.studies.agreement.tables import is_tied

__all__ = ["meta_tables"]

_JUDGED = ("characters.micro.f1", "characters.macro.f1", "detection.f1", "counts.spearman")
_HARD = "hard.micro.f1"
"""Takes the column of the mean of texts where categories are known: the table is 80 wide."""
_PEOPLE = ("characters.micro", "characters.macro")


def meta_tables(findings: MetaFindings) -> Iterator[Table]:
    """Yield what there is to show: scorers, seats, spans, annotators."""
    if findings.agreements:
        yield _scorers(findings.agreements, draws=findings.settings.draws)
    seats = [one for each in findings.aspects for one in each.seats]
    if seats:
        yield _seats(seats)
    if any(one.agreement for one in findings.spans):
        yield _spans(findings.spans)
    if any(one.top_rated for one in findings.spans):
        yield _praised(findings.spans)
    if findings.annotators:
        yield _annotators(findings.annotators)


def _scorers(agreements: Sequence[Agreement], *, draws: int) -> Table:
    aspects = tuple(dict.fromkeys(one.aspect for one in agreements))
    told = {(one.scorer, one.aspect): one for one in agreements}
    tested, untested = "* not told apart from the nearest", "no test was run: draws are 0"
    table = Table(caption=tested if draws else untested, caption_justify="left")
    table.add_column("scorer", overflow="fold")
    for aspect in aspects:
        table.add_column(aspect, justify="right")
    for scorer in dict.fromkeys(one.scorer for one in agreements):
        table.add_row(scorer, *(_cell(told.get((scorer, aspect))) for aspect in aspects))
    return table


def _cell(one: Agreement | None) -> str:
    if one is None:
        return ""
    if math.isnan(one.value):
        return one.reason
    mark = "*" if is_tied(one) else " "
    interval = "" if math.isnan(one.low) else f" {one.low:.1f}…{one.high:.1f}"
    return f"{one.value:.2f}{mark}{interval}"


def _seats(seats: Sequence[SeatFindings]) -> Table:
    told = "alpha: Krippendorff's, ordinal; agreement with people of one seat, of all, by the best"
    table = _table("seats of", "aspect", caption=told)
    for name in ("alpha", "one seat", "all seats", "best aggregation", "least gain"):
        table.add_column(name, justify="right")
    for one in seats:
        best, least = one.aggregations[0], min(one.gains, key=lambda gain: _last(gain.gain))
        table.add_row(
            one.run,
            one.aspect,
            figure(one.agreement.alpha["ordinal"].value, ".3f"),
            figure(one.sizes[0].mean, ".3f"),
            figure(one.whole, ".3f"),
            f"{best.scorer} {figure(best.value, '.3f')}",
            f"{least.seat} {figure(least.gain, '+.3f')}",
        )
    return table


def _last(value: float) -> float:
    return math.inf if math.isnan(value) else value


def _spans(spans: Sequence[AspectSpans]) -> Table:
    table = _table("spans of", "aspect", caption="beside the error spans that people marked")
    judges = [one for each in spans for one in (each.agreement.judges if each.agreement else ())]
    is_hard = any(not math.isnan(one.figures[_HARD].value) for one in judges)
    second = "hard F1" if is_hard else "F1, mean of texts"
    for name in ("texts", "soft F1", second, "texts with errors, F1", "counts", "gamma"):
        table.add_column(name, justify="right")
    shown = [_HARD if is_hard and name == "characters.macro.f1" else name for name in _JUDGED]
    for each in spans:
        for one in each.agreement.judges if each.agreement else ():
            if one.gamma is not None:
                figures = (_estimate(one.figures[name]) for name in shown)
                gamma = figure(one.gamma.gamma, ".3f")
                table.add_row(one.judge, each.aspect, str(one.texts), *figures, gamma)
    return table


def _praised(spans: Sequence[AspectSpans]) -> Table:
    told = "errors found in texts that every rater gave the best score"
    table = _table("judge", "aspect", caption=told)
    for name in ("texts", "with an error", "errors a text"):
        table.add_column(name, justify="right")
    for each in spans:
        for one in each.top_rated:
            if not one.flawless:
                continue
            figures = (_estimate(one.erring), _estimate(one.spans))
            table.add_row(one.judge, each.aspect, str(one.flawless), *figures)
    return table


def _annotators(pairs: Sequence[PairFinding]) -> Table:
    table = _table("annotator", "annotator", caption="people with people")
    for name in ("texts", "F1", "F1, mean of texts", "gamma", "gamma with categories"):
        table.add_column(name, justify="right")
    for one in pairs:
        figures = (_estimate(one.figures[name]) for name in _PEOPLE)
        gammas = (figure(told.gamma, ".3f") for told in (one.gamma, one.gamma_with_categories))
        table.add_row(one.first, one.second, str(one.texts), *figures, *gammas)
    return table


def _table(*names: str, caption: str) -> Table:
    table = Table(caption=caption, caption_justify="left")
    for name in names:
        table.add_column(name, overflow="fold")
    return table


def _estimate(one: Estimate) -> str:
    interval = "" if math.isnan(one.low) else f" {one.low:.2f} to {one.high:.2f}"
    return f"{figure(one.value, '.3f')}{interval}"
