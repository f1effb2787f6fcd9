"""Pages about a text beside references: n-grams and words that they share, tokens, flows of mass.

Each is a drawing: a title, a summary, data for a script, and a table for browsers without scripts.
Texts are shown with the intervals of their words; hidden and unencodable characters are escaped.
"""

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spanjury.judges.core import shown
from spanjury.orchestration.report import Table, table
from spanjury.orchestration.report.html import table_html
from spanjury.orchestration.report.page import Page, breakable, page_html, safe, template

_TEMPLATES = files("spanjury.orchestration.report.drawings") / "templates"
_MOST_ROWS = 3000
"""Maximum number of rows of a table that is shown without scripts."""
_JsonText = dict[str, list[str]]
"""``words``, and ``gaps``: the text before each word and after the last one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedText:
    """A text and its words, as half-open offsets in code points.

    Raises `ValueError` unless they ascend, do not overlap and are not empty.
    """

    text: str
    words: tuple[tuple[int, int], ...]

    def __post_init__(self) -> None:
        last = 0
        for start, end in self.words:
            if not last <= start < end <= len(self.text):
                raise ValueError(
                    f"a word at {start}:{end} does not follow {last} in {len(self.text)} characters"
                )
            last = end


def _page(
    title: str, *, summary: Sequence[str], drawing: str, data: Mapping[str, object], table: Table
) -> str:
    """Return an HTML page.

    The lines of `summary` describe the drawing, with its numbers. `drawing` names the template:
    ``templates/NAME.html`` is its body, ``templates/NAME.js`` its script. `data` is for the script:
    lists, texts, finite numbers, None. `table` shows the same data without scripts; beyond 3,000
    rows only the first are shown, and its title says so.
    """
    lines = "".join(f"<p><bdi>{safe(line)}</bdi></p>\n" for line in summary)
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
    """Return `value` as text for readers."""
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
    return template(_TEMPLATES / name)


@dataclass(frozen=True, slots=True, kw_only=True)
class NgramPlaces:
    """An n-gram of 1 or more words that occurs in the output and in a reference.

    Positions are indices of its first word: one or more in the output, and a tuple for each
    reference, which is empty if the reference lacks the n-gram.
    """

    n: int
    output: tuple[int, ...]
    references: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedNgrams:
    """An output, its references and the n-grams that they share.

    `longest`, 1 or more, is the greatest n on the page; `ngrams` has the shared n-grams for each n
    up to it. Raises `ValueError` if there is no reference, or an n-gram lies outside its text.
    """

    title: str
    output: MarkedText
    references: tuple[MarkedText, ...]
    longest: int
    ngrams: tuple[NgramPlaces, ...]

    def __post_init__(self) -> None:
        if not self.references:
            raise ValueError("n-grams are shared with one reference or more, got none")
        for ngram in self.ngrams:
            self._check(ngram)

    def _check(self, ngram: NgramPlaces) -> None:
        if not 1 <= ngram.n <= self.longest:
            raise ValueError(f"expected n from 1 to {self.longest}, got {ngram.n}")
        texts = (self.output, *self.references)
        for text, starts in zip(texts, (ngram.output, *ngram.references), strict=True):
            if any(not 0 <= start <= len(text.words) - ngram.n for start in starts):
                raise ValueError(f"an n-gram of {ngram.n} words is not within its text: {starts}")


def ngram_page(shared: SharedNgrams) -> str:
    """Return a page with shared n-grams marked, and a slider for n."""
    texts = [_marked_json(text) for text in (shared.output, *shared.references)]
    theirs = _counts(len(text.words) for text in shared.references)
    steps = [_step(shared, n) for n in range(1, shared.longest + 1)]
    return _page(
        shared.title,
        summary=(
            f"Words in the output: {len(shared.output.words):,}; in the references: {theirs}",
        ),
        drawing="ngrams",
        data={"output": texts[0], "references": texts[1:], "steps": steps},
        table=_ngram_table(shared, texts),
    )


def _step(shared: SharedNgrams, n: int) -> dict[str, object]:
    """Return the data of the page for one n; ``clipped`` is the count that BLEU uses."""
    ngrams = [ngram for ngram in shared.ngrams if ngram.n == n]
    return {
        "places": [[ngram.output, *ngram.references] for ngram in ngrams],
        "clipped": sum(_clipped(ngram) for ngram in ngrams),
        "all": max(0, len(shared.output.words) - n + 1),
    }


def _clipped(ngram: NgramPlaces) -> int:
    return min(len(ngram.output), max(len(starts) for starts in ngram.references))


def _ngram_table(shared: SharedNgrams, texts: list[_JsonText]) -> Table:
    rows = []
    for ngram in shared.ngrams:
        start = ngram.output[0]
        words = " ".join(texts[0]["words"][start : start + ngram.n])
        times = _counts(len(starts) for starts in ngram.references)
        rows.append((str(ngram.n), words, str(len(ngram.output)), times))
    counts = Counter(ngram.n for ngram in shared.ngrams)
    totals = ", ".join(f"n = {n}: {counts[n]:,}" for n in range(1, shared.longest + 1))
    head = ("n", "n-gram", "times in the output", "times in each reference")
    return table(head, rows, title=f"Shared n-grams ({totals})")


def _counts(numbers: Iterable[int]) -> str:
    return ", ".join(f"{number:,}" for number in numbers)


@dataclass(frozen=True, slots=True, kw_only=True)
class LcsAlignment:
    """Two texts and the alignment of their words.

    `pairs` are indices of words, ascending on both sides. Raises `ValueError` if a pair is out of
    range or does not ascend.
    """

    title: str
    output: MarkedText
    reference: MarkedText
    pairs: tuple[tuple[int, int], ...]

    def __post_init__(self) -> None:
        left, right = -1, -1
        for mine, theirs in self.pairs:
            ascends = left < mine and right < theirs
            within = mine < len(self.output.words) and theirs < len(self.reference.words)
            if not (ascends and within):
                raise ValueError(f"the pair {(mine, theirs)} after {(left, right)} aligns no words")
            left, right = mine, theirs

    @property
    def precision(self) -> float:
        """Share of the output's words that are aligned; NaN if it has no words."""
        return _share(len(self.pairs), len(self.output.words))

    @property
    def recall(self) -> float:
        """Share of the reference's words that are aligned; NaN if it has no words."""
        return _share(len(self.pairs), len(self.reference.words))

    @property
    def f_measure(self) -> float:
        """The harmonic mean of precision and recall; NaN if neither text has words."""
        return _share(2 * len(self.pairs), len(self.output.words) + len(self.reference.words))


def alignment_page(alignment: LcsAlignment) -> str:
    """Return a page with links between aligned words; pointing at a word shows its partner."""
    words = [_marked_json(text) for text in (alignment.output, alignment.reference)]
    sizes = [len(text.words) for text in (alignment.output, alignment.reference)]
    output, reference = (text["words"] for text in words)
    precision, recall, f_measure = (
        _measured(value) for value in (alignment.precision, alignment.recall, alignment.f_measure)
    )
    rows = [
        (str(left + 1), output[left], str(right + 1), reference[right])
        for left, right in alignment.pairs
    ]
    return _page(
        alignment.title,
        summary=(
            f"ROUGE-L: precision {precision}, recall {recall}, F {f_measure}",
            f"{len(alignment.pairs):,} words aligned: output {sizes[0]:,}, reference {sizes[1]:,}",
        ),
        drawing="alignment",
        data={"output": words[0], "reference": words[1], "pairs": alignment.pairs},
        table=table(
            ("word of the output", "output", "word of the reference", "reference"),
            rows,
            title="Aligned words",
        ),
    )


def _share(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")


_MOST_TOKENS = 400
"""Maximum number of tokens of a side that are drawn: 160,000 cells of a map."""
_PARTNERS = 5
"""Maximum number of similar tokens that are listed for a token."""
_MOST_LINKS = 3000

FloatArray = NDArray[np.float64]
Scores = tuple[tuple[str, float], ...]
"""Names and numbers at the head of a page, in the order to be shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenSimilarities:
    """Two texts of ``n`` and ``m`` tokens, and the similarity of each pair of tokens.

    `similarities` have the shape ``(n, m)``; NaN if there is none. `scores` are names and numbers
    for the head of the page, in the order to be shown. Raises `ValueError` if the shape differs, or
    a similarity is infinite.
    """

    title: str
    output: tuple[str, ...]
    reference: tuple[str, ...]
    similarities: ArrayLike
    scores: Scores = ()

    def __post_init__(self) -> None:
        values = np.asarray(self.similarities, dtype=np.float64)
        shape = (len(self.output), len(self.reference))
        if values.shape != shape:
            raise ValueError(f"expected similarities of shape {shape}, got {values.shape}")
        if np.isinf(values).any():
            raise ValueError("similarities are finite or NaN, got an infinite one")


def heat_map_page(pairs: TokenSimilarities) -> str:
    """Return a page with both texts and a heat map; pointing at a token shows its partners.

    The map contains at most 400 tokens of a side, and says so; the texts and the five best partners
    of each token are complete.
    """
    values = np.asarray(pairs.similarities, dtype=np.float64)
    mapped = values[:_MOST_TOKENS, :_MOST_TOKENS]
    best, best_back = _partners(values), _partners(values.T)
    return _page(
        pairs.title,
        summary=_similarity_summary(pairs, mapped.shape),
        drawing="heat_map",
        data={
            "output": _tokens_json(pairs.output),
            "reference": _tokens_json(pairs.reference),
            "map": [[_number(value) for value in row] for row in mapped.tolist()],
            "mapColumns": mapped.shape[1],
            "partners": [best, best_back],
            "range": _range(values),
        },
        table=_partner_table(pairs, best),
    )


def _similarity_summary(pairs: TokenSimilarities, mapped: tuple[int, ...]) -> list[str]:
    sizes = (len(pairs.output), len(pairs.reference))
    lines = [_listed(pairs.scores)]
    lines.append(f"{sizes[0]:,} tokens in the output, {sizes[1]:,} in the reference")
    if mapped != sizes:
        lines.append(
            f"The map shows the first {mapped[0]:,} tokens of the output and the first"
            f" {mapped[1]:,} of the reference; texts and best partners are complete"
        )
    return [line for line in lines if line]


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


def _partner_table(pairs: TokenSimilarities, best: Sequence[Sequence[tuple[int, float]]]) -> Table:
    rows = [
        (token, pairs.reference[ranked[0][0]], _measured(ranked[0][1]))
        if ranked
        else (token, "none", _measured(np.nan))
        for token, ranked in zip(pairs.output, best, strict=True)
    ]
    head = ("token of the output", "most similar token of the reference", "similarity")
    return table(head, rows, title="Best partners")


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """Mass, above 0, that a token of the output sends to a token of the reference.

    `output` and `reference` are indices; `cost` is the cost of a unit of mass, NaN if unknown.
    """

    output: int
    reference: int
    mass: float
    cost: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenFlow:
    """Two texts as tokens, and the flow between them, in any order.

    `scores` are names and numbers for the head of the page, in the order to be shown. Raises
    `ValueError` if a flow leads out of the texts or has no mass.
    """

    title: str
    output: tuple[str, ...]
    reference: tuple[str, ...]
    flows: tuple[Flow, ...]
    scores: Scores = ()

    def __post_init__(self) -> None:
        for flow in self.flows:
            within = 0 <= flow.output < len(self.output) and 0 <= flow.reference < len(
                self.reference
            )
            if not (within and 0 < flow.mass < math.inf):
                raise ValueError(f"expected a positive mass between two tokens, got {flow}")


def flow_page(flow: TokenFlow) -> str:
    """Return a page with links as thick as their mass; the links of one token can be isolated.

    At most 400 tokens of a side and the 3,000 heaviest links between them are drawn; the page says
    what is skipped.
    """
    heaviest = sorted(flow.flows, key=lambda edge: (-edge.mass, edge.output, edge.reference))
    inside = [
        edge for edge in heaviest if edge.output < _MOST_TOKENS and edge.reference < _MOST_TOKENS
    ]
    drawn = inside[:_MOST_LINKS]
    return _page(
        flow.title,
        summary=_flow_summary(flow, drawn),
        drawing="flow",
        data={
            "output": _tokens_json(flow.output[:_MOST_TOKENS]),
            "reference": _tokens_json(flow.reference[:_MOST_TOKENS]),
            "flows": [
                [edge.output, edge.reference, edge.mass, _number(edge.cost)] for edge in drawn
            ],
        },
        table=_flow_table(flow, heaviest),
    )


def _flow_summary(flow: TokenFlow, drawn: Sequence[Flow]) -> list[str]:
    total, shown = (sum(edge.mass for edge in flows) for flows in (flow.flows, drawn))
    lines = [_listed(flow.scores)]
    lines.append(
        f"{len(flow.output):,} tokens in the output, {len(flow.reference):,} in the reference,"
        f" {len(flow.flows):,} flows with a total mass of {total:.3g}"
    )
    if len(drawn) < len(flow.flows):
        lines.append(
            f"The drawing shows the first {_MOST_TOKENS:,} tokens of each text and the heaviest"
            f" {len(drawn):,} flows between them: {shown / total:.1%} of the mass"
        )
    elif max(len(flow.output), len(flow.reference)) > _MOST_TOKENS:
        lines.append(
            f"The drawing shows the first {_MOST_TOKENS:,} tokens of each text and every flow"
        )
    return [line for line in lines if line]


def _flow_table(flow: TokenFlow, heaviest: Sequence[Flow]) -> Table:
    rows = [
        (
            flow.output[edge.output],
            flow.reference[edge.reference],
            f"{edge.mass:.4g}",
            _measured(edge.cost),
        )
        for edge in heaviest
    ]
    head = ("token of the output", "token of the reference", "mass", "cost")
    return table(head, rows, title="Flows, the heaviest first")


def _listed(scores: Scores) -> str:
    return ", ".join(f"{name} {_measured(value)}" for name, value in scores)
