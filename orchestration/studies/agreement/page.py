"""The page of a meta-evaluation, in Markdown and as JSON."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

from spanjury.judges.core import VERSION, code_span, markdown
from spanjury.orchestration.report.numbers import figure
from spanjury.orchestration.studies.agreement.findings import Agreement, Settings
from spanjury.orchestration.studies.markdown_rows import bold, head, row

__all__ = ["LEVELS", "as_json", "as_markdown", "is_tied", "valued"]

_VALUE = ".3f"
LEVELS: Mapping[str, str] = {
    "by-input": "within each input over its systems, then the mean over inputs",
    "pooled": "over all outputs at once",
    "system": "of the systems' mean scores",
}


def as_markdown(
    agreements: Sequence[Agreement], settings: Settings, *, data: str, results: Sequence[str]
) -> str:
    """Write a page.

    Parameters
    ----------
    agreements
        Of all aspects.
    settings
        How they were measured.
    data, results
        Whose ratings, and whose scores, as the reader knows them.
    """
    return "\n".join(_lines(agreements, settings, data=data, results=results)) + "\n"


def as_json(
    agreements: Sequence[Agreement], settings: Settings, *, data: str, results: Sequence[str]
) -> dict[str, object]:
    """Return the same for a machine; None for what is undefined."""
    return {
        "spanjury": VERSION,
        "data": data,
        "results": list(results),
        "settings": asdict(settings),
        "agreements": [_plain(asdict(one)) for one in agreements],
    }


def is_tied(one: Agreement) -> bool:
    """Say whether the nearest scorer on an aspect may be no nearer than this one."""
    return one.standing in ("nearest", "not told apart")


def _lines(
    agreements: Sequence[Agreement], settings: Settings, *, data: str, results: Sequence[str]
) -> Iterator[str]:
    yield "# Agreement with people"
    yield ""
    yield f"Ratings: {code_span(data)}. Scores: {', '.join(map(code_span, results))}."
    yield ""
    yield _told(settings)
    yield ""
    aspects = tuple(dict.fromkeys(one.aspect for one in agreements))
    yield from _overview(agreements, aspects)
    for aspect in aspects:
        yield ""
        yield f"## {markdown(aspect)}"
        yield ""
        yield from _table([one for one in agreements if one.aspect == aspect])


def _told(settings: Settings) -> str:
    told = (
        f"{settings.method}, {LEVELS[settings.level]}; higher is nearer to people, also for "
        "metrics of which lower is better."
    )
    if not settings.draws:
        return f"{told} No test was run and no interval drawn: the draws were set to 0."
    return (
        f"{told} Brackets are 95 % intervals over systems and inputs drawn anew; **bold** are "
        "the nearest on an aspect and all that are not told apart from it (swapped scores, "
        f"Holm, 5 %). {settings.draws} draws, seed {settings.seed}. Whoever was fitted to these "
        "ratings has an advantage that no interval shows."
    )


def _overview(agreements: Sequence[Agreement], aspects: Sequence[str]) -> Iterator[str]:
    told = {(one.scorer, one.aspect): one for one in agreements}
    yield from head("scorer", *aspects)
    for scorer in _by_mean(agreements):
        cells = [told.get((scorer, aspect)) for aspect in aspects]
        yield row(scorer, *(_cell(one) for one in cells))


def _by_mean(agreements: Sequence[Agreement]) -> list[str]:
    """Return the scorers, those first that agree most over the aspects that they scored."""
    values: dict[str, list[float]] = {}
    for one in agreements:
        values.setdefault(one.scorer, []).append(-math.inf if math.isnan(one.value) else one.value)
    return sorted(values, key=lambda name: -sum(values[name]) / len(values[name]))


def _cell(one: Agreement | None) -> str:
    if one is None:
        return ""
    return valued(one)


def valued(one: Agreement) -> str:
    """Format a value with its interval, in bold if it is the nearest or not told apart from it."""
    value = figure(one.value, _VALUE)
    interval = "" if math.isnan(one.low) else f" [{one.low:{_VALUE}}, {one.high:{_VALUE}}]"
    return bold(value, after=interval) if is_tied(one) else f"{value}{interval}"


def _table(agreements: Sequence[Agreement]) -> Iterator[str]:
    others = tuple(dict.fromkeys(name for one in agreements for name in one.others))
    yield from head("scorer", "outputs", "coverage", *others, "p against the nearest", "note")
    for one in agreements:
        yield row(
            one.scorer,
            str(one.items),
            f"{one.coverage:.0%}",
            *(figure(one.others.get(name, math.nan), _VALUE) for name in others),
            figure(one.behind, _VALUE),
            one.reason or _left_out(one),
        )


def _left_out(one: Agreement) -> str:
    if not one.undefined:
        return ""
    return f"{one.undefined} of {one.undefined + one.groups} inputs undefined"


def _plain(value: object) -> object:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    return value
