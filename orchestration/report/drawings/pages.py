"""Pages about a text beside references: n-grams and words that they share, tokens, flows of mass.

Each is a drawing: a title, a summary, data for a script, and a table for browsers without scripts.
Texts are shown with the intervals of their words; hidden and unencodable characters are escaped.
"""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spanjury.judges.core import shown
from spanjury.orchestration.report import Table, table
from spanjury.orchestration.report.html import table_html
from spanjury.orchestration.report.page import Page, breakable, page_html, safe

_TEMPLATES = files("spanjury.orchestration.report.drawings") / "templates"
_MOST_ROWS = 3000
"""Maximum number of rows of a table that is shown without scripts."""
_JsonText = dict[str, list[str]]
"""``words``, and ``gaps``: the text before each word and after the last one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedText:
    """A text and its words, as half-open offsets in code points, which ascend without overlaps."""

    text: str
    words: tuple[tuple[int, int], ...]


def _page(
    title: str, *, summary: Sequence[str], drawing: str, data: Mapping[str, object], table: Table
) -> str:
    """Return an HTML page.

    The lines of `summary` describe the drawing, with its numbers; empty ones are skipped. `drawing`
    names the template: ``templates/NAME.html`` is its body, ``templates/NAME.js`` its script.
    `data` is for the script: lists, texts, finite numbers, None. `table` shows the same data
    without scripts; beyond 3,000 rows only the first are shown, and its title says so.
    """
    lines = "".join(f"<p><bdi>{safe(line)}</bdi></p>\n" for line in filter(None, summary))
    body = (
        f"<header>\n<h1><bdi>{breakable(title)}</bdi></h1>\n{lines}</header>\n"
        f'<main id="drawing" hidden>\n{_template(f"{drawing}.html")}</main>\n'
        f"<noscript>\n{_table(table)}</noscript>"
    )
    script = _template("common.js") + _template(f"{drawing}.js")
    values = json.dumps(data, separators=(",", ":"), allow_nan=False)
    style = _template("drawing.css")
    return page_html(
        Page(title=title, body=body, style=style, script=script, data={"data": values})
    )


def _number(value: float) -> float | None:
    """Return `value` rounded to four decimals, or None if it is not finite."""
    return round(float(value), 4) if math.isfinite(value) else None


def _measured(value: float) -> str:
    return f"{value:.3f}" if math.isfinite(value) else "no value"


def _marked_json(marked: MarkedText) -> _JsonText:
    """Return a text in the format of the page's script."""
    edges = [0, *(edge for word in marked.words for edge in word), len(marked.text)]
    pieces = [shown(marked.text[a:b]) for a, b in pairwise(edges)]
    return {"words": pieces[1::2], "gaps": pieces[0::2]}


def _tokens_json(tokens: Sequence[str]) -> _JsonText:
    """Return tokens in the format of the page's script, separated by spaces."""
    gaps = ["", *[" "] * len(tokens)]
    return {"words": [shown(token) for token in tokens], "gaps": gaps}


def _table(table: Table) -> str:
    is_cut = len(table.rows) > _MOST_ROWS
    note = f" (the first {_MOST_ROWS:,} of {len(table.rows):,} rows)" if is_cut else ""
    return table_html(replace(table, rows=table.rows[:_MOST_ROWS], title=f"{table.title}{note}"))


def _template(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True, kw_only=True)
class NgramPlaces:
    """An n-gram of 1 or more words that occurs in the output and in a reference.

    Positions are indices of its first word: one or more in the output, and a tuple for each
    reference, which is empty if the reference lacks the n-gram.
    """

    n: int
    output: tuple[int, ...]
    references: tuple[tuple[int, ...], ...]


def ngram_page(
    title: str,
    *,
    output: MarkedText,
    references: Sequence[MarkedText],
    longest: int,
    ngrams: Sequence[NgramPlaces],
) -> str:
    """Return a page with shared n-grams marked, and a slider for n.

    `longest`, 1 or more, is the greatest n on the page; `ngrams` has the n-grams for each n up to
    it that the output shares with one reference or more.
    """
    texts = [_marked_json(text) for text in (output, *references)]
    theirs = _counts(len(text.words) for text in references)
    orders = range(1, longest + 1)
    by_order = {n: [ngram for ngram in ngrams if ngram.n == n] for n in orders}
    steps = [
        {
            "places": [[ngram.output, *ngram.references] for ngram in by_order[n]],
            "clipped": sum(map(_clipped, by_order[n])),
            "all": max(0, len(output.words) - n + 1),
        }
        for n in orders
    ]
    rows = []
    for ngram in ngrams:
        start = ngram.output[0]
        words = " ".join(texts[0]["words"][start : start + ngram.n])
        times = _counts(len(starts) for starts in ngram.references)
        rows.append((str(ngram.n), words, str(len(ngram.output)), times))
    head = ("n", "n-gram", "times in the output", "times in each reference")
    totals = ", ".join(f"n = {n}: {len(by_order[n]):,}" for n in orders)
    return _page(
        title,
        summary=(f"Words in the output: {len(output.words):,}; in the references: {theirs}",),
        drawing="ngrams",
        data={"output": texts[0], "references": texts[1:], "steps": steps},
        table=table(head, rows, title=f"Shared n-grams ({totals})"),
    )


def _clipped(ngram: NgramPlaces) -> int:
    """Return the count of an n-gram that BLEU uses."""
    return min(len(ngram.output), max(len(starts) for starts in ngram.references))


def _counts(numbers: Iterable[int]) -> str:
    return ", ".join(f"{number:,}" for number in numbers)


def alignment_page(
    title: str,
    *,
    output: MarkedText,
    reference: MarkedText,
    pairs: Sequence[tuple[int, int]],
) -> str:
    """Return a page with links between aligned words; pointing at a word shows its partner.

    `pairs` are indices of words, ascending on both sides.
    """
    words = [_marked_json(text) for text in (output, reference)]
    mine, theirs = (text["words"] for text in words)
    precision, recall = (_share(len(pairs), len(side)) for side in (mine, theirs))
    f_measure = _share(2 * len(pairs), len(mine) + len(theirs))
    rows = [(str(left + 1), mine[left], str(right + 1), theirs[right]) for left, right in pairs]
    return _page(
        title,
        summary=(
            f"ROUGE-L: precision {precision}, recall {recall}, F {f_measure}",
            f"{len(pairs):,} words aligned: output {len(mine):,}, reference {len(theirs):,}",
        ),
        drawing="alignment",
        data={"output": words[0], "reference": words[1], "pairs": pairs},
        table=table(
            ("word of the output", "output", "word of the reference", "reference"),
            rows,
            title="Aligned words",
        ),
    )


def _share(part: int, whole: int) -> str:
    return _measured(part / whole if whole else math.nan)


_MOST_TOKENS = 400
"""Maximum number of tokens of a side that are drawn: 160,000 cells of a map."""
_PARTNERS = 5
"""Maximum number of similar tokens that are listed for a token."""
_MOST_LINKS = 3000

FloatArray = NDArray[np.float64]
Scores = tuple[tuple[str, float], ...]
"""Names and numbers at the head of a page, in the order to be shown."""


def heat_map_page(
    title: str,
    *,
    output: Sequence[str],
    reference: Sequence[str],
    similarities: ArrayLike,
    scores: Scores = (),
) -> str:
    """Return a page with both texts and a heat map; pointing at a token shows its partners.

    `similarities` have the shape ``(n, m)`` for texts of ``n`` and ``m`` tokens; NaN if there is
    none. The map contains at most 400 tokens of a side, and says so; the texts and the five best
    partners of each token are complete.
    """
    values = np.asarray(similarities, dtype=np.float64)
    mapped = values[:_MOST_TOKENS, :_MOST_TOKENS]
    best, best_back = _partners(values), _partners(values.T)
    cut = (
        f"The map shows the first {mapped.shape[0]:,} tokens of the output and the first"
        f" {mapped.shape[1]:,} of the reference; texts and best partners are complete"
    )
    summary = (
        _listed(scores),
        f"{len(output):,} tokens in the output, {len(reference):,} in the reference",
        cut if mapped.shape != values.shape else "",
    )
    rows = [
        (token, reference[ranked[0][0]], _measured(ranked[0][1]))
        if ranked
        else (token, "none", _measured(np.nan))
        for token, ranked in zip(output, best, strict=True)
    ]
    head = ("token of the output", "most similar token of the reference", "similarity")
    return _page(
        title,
        summary=summary,
        drawing="heat_map",
        data={
            "output": _tokens_json(output),
            "reference": _tokens_json(reference),
            "map": [[_number(value) for value in row] for row in mapped.tolist()],
            "mapColumns": mapped.shape[1],
            "partners": [best, best_back],
            "range": _range(values),
        },
        table=table(head, rows, title="Best partners"),
    )


def _partners(values: FloatArray) -> list[list[tuple[int, float]]]:
    """Return the most similar tokens of each row, best first; equal ones in order of position."""
    matches: list[list[tuple[int, float]]] = [[] for _ in values]
    left = np.where(np.isnan(values), -np.inf, values)
    rows = np.arange(len(left))
    for _ in range(min(_PARTNERS, left.shape[1])):
        columns = left.argmax(axis=1)
        best = left[rows, columns]
        for partners, column, value in zip(matches, columns.tolist(), best.tolist(), strict=True):
            if value > -np.inf:
                partners.append((column, round(value, 4)))
        left[rows, columns] = -np.inf
    return matches


def _range(values: FloatArray) -> tuple[float, float]:
    finite = values[np.isfinite(values)]
    return (round(float(finite.min()), 4), round(float(finite.max()), 4)) if finite.size else (0, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """Mass, above 0, that a token of the output sends to a token of the reference.

    `output` and `reference` are indices; `cost` is the cost of a unit of mass, NaN if unknown.
    """

    output: int
    reference: int
    mass: float
    cost: float


def flow_page(
    title: str,
    *,
    output: Sequence[str],
    reference: Sequence[str],
    flows: Sequence[Flow],
    scores: Scores = (),
) -> str:
    """Return a page with links as thick as their mass; the links of one token can be isolated.

    At most 400 tokens of a side and the 3,000 heaviest links between them are drawn; the page says
    what is skipped.
    """
    heaviest = sorted(flows, key=lambda edge: (-edge.mass, edge.output, edge.reference))
    inside = [
        edge for edge in heaviest if edge.output < _MOST_TOKENS and edge.reference < _MOST_TOKENS
    ]
    drawn = inside[:_MOST_LINKS]
    total = sum(edge.mass for edge in flows)
    counts = (
        f"{len(output):,} tokens in the output, {len(reference):,} in the reference,"
        f" {len(flows):,} flows with a total mass of {total:.3g}"
    )
    is_cut = len(drawn) < len(flows) or max(len(output), len(reference)) > _MOST_TOKENS
    rows = [
        (output[edge.output], reference[edge.reference], f"{edge.mass:.4g}", _measured(edge.cost))
        for edge in heaviest
    ]
    head = ("token of the output", "token of the reference", "mass", "cost")
    return _page(
        title,
        summary=(_listed(scores), counts, _cut(drawn, flows) if is_cut else ""),
        drawing="flow",
        data={
            "output": _tokens_json(output[:_MOST_TOKENS]),
            "reference": _tokens_json(reference[:_MOST_TOKENS]),
            "flows": [
                [edge.output, edge.reference, edge.mass, _number(edge.cost)] for edge in drawn
            ],
        },
        table=table(head, rows, title="Flows, the heaviest first"),
    )


def _cut(drawn: Sequence[Flow], flows: Sequence[Flow]) -> str:
    """Say which tokens and flows are drawn."""
    tokens = f"The drawing shows the first {_MOST_TOKENS:,} tokens of each text and"
    if len(drawn) == len(flows):
        return f"{tokens} every flow"
    share = sum(edge.mass for edge in drawn) / sum(edge.mass for edge in flows)
    return f"{tokens} the heaviest {len(drawn):,} flows between them: {share:.1%} of the mass"


def _listed(scores: Scores) -> str:
    return ", ".join(f"{name} {_measured(value)}" for name, value in scores)
