"""Scores computed from spans, compared with the judges' own labels by their agreement with people.

Run ``python -m benchmarks.qags_scoring [FILE]``; the file is that of ``qags_replies.py``. The mean
over four judges is correlated with people's ratings, separately on CNN/DM and XSum. Choices and
fits are made on other articles than those they are evaluated on: by ten folds, or on one corpus for
the other. Intervals are 95 %, from 10,000 draws of summaries; differences are taken within each
draw.
"""

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from statistics import fmean

import anyio
import numpy as np
from benchmarks.qags_judged import CNN_DM, CORPORA, FILE, Floats, Judged, humans, read
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from scipy.stats import rankdata

from spanjury.judges.core import ErrorSpan
from spanjury.judges.scoring import SpanMap, SpanPenalty
from spanjury.judges.scoring.fitting import ScoredSpans, fit_curve, fit_weights
from spanjury.judges.tasks import Catalogue
from spanjury.orchestration.engine.span_score import SpanScore

PLAIN = (1.0, 2.0, 3.0, 4.0, 5.0)
FOLDS, SPLITS, DRAWS = 10, 100, 10_000

Fit = Callable[[Sequence["Judged"]], SpanMap]


def of_seats(judged: Judged, *, span_map: SpanMap) -> float:
    """Return the mean score from each judge's own spans; at least one judge must have one."""
    output, aspect = judged.verdict.segment.output, judged.verdict.aspect
    reports = (seat.report for seat in judged.verdict.seats)
    scores = (span_map.score(output, report.spans, aspect=aspect) for report in reports)
    return fmean(score for score in scores if score is not None)


def unbounded(judged: Judged, *, penalty: SpanPenalty) -> float:
    """Return the negative mean penalty of each judge's own spans, not bounded by a scale."""
    output, aspect = judged.verdict.segment.output, judged.verdict.aspect
    reports = (seat.report for seat in judged.verdict.seats)
    return -fmean(penalty.of(output, report.spans, aspect=aspect) for report in reports)


def of_list(judged: Judged, *, span_map: SpanMap) -> float:
    """Return the score that a panel's ``--score from-spans`` computes from the merged list."""
    score = SpanScore(span_map=span_map).of(judged.verdict, judged.merged)
    assert score is not None
    return score


def grid() -> list[SpanMap]:
    """Return the maps to choose from."""
    parts = product((0.0, 0.1, 0.2, 0.3, 0.5), (4.0, 4.5, 5.0), (True, False))
    penalties = [
        SpanPenalty(rest=rest, weights=(*PLAIN[:4], top), placeless=placeless)
        for rest, top, placeless in parts
    ]
    by_error = (replace(penalty, by="error") for penalty in penalties)
    return [SpanMap(penalty=penalty) for penalty in (*penalties, *by_error)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Scores of every summary by every map, shape ``(maps, summaries)``."""

    scores: Floats
    human: Floats

    def chosen(self, seen: NDArray[np.bool_]) -> int:
        """Return the index of the map that agrees best with people on the summaries in `seen`."""
        fitness = [
            fmean(
                spearman(scores[part][seen[part]], self.human[part][seen[part]])
                for part in CORPORA.values()
                if seen[part].any()
            )
            for scores in self.scores
        ]
        return int(np.argmax(fitness))

    def in_folds(self, folds: NDArray[np.intp]) -> Floats:
        """Score each summary by the map chosen on the other folds."""
        own = np.empty(len(folds))
        for fold in range(folds.max() + 1):
            own[folds == fold] = self.scores[self.chosen(folds != fold)][folds == fold]
        return own


def _examples(rows: Sequence[Judged], *, people: bool) -> list[ScoredSpans]:
    return [
        ScoredSpans(
            output=row.verdict.segment.output,
            spans=seat.report.spans,
            score=row.human if people else seat.report.score or 0.0,
        )
        for row in rows
        for seat in row.verdict.seats
    ]


def curve_to_people(rows: Sequence[Judged]) -> SpanMap:
    """Fit people's ratings as a function of the usual penalty."""
    return fit_curve(_examples(rows, people=True), aspect=rows[0].verdict.aspect, low=0.0)


def weights_to_people(rows: Sequence[Judged]) -> SpanMap:
    """Fit people's ratings by the severities of errors."""
    return fit_weights(_examples(rows, people=True), aspect=rows[0].verdict.aspect)


def weights_to_labels(rows: Sequence[Judged]) -> SpanMap:
    """Fit the judges' own labels by the severities of errors; this needs no people."""
    return fit_weights(_examples(rows, people=False), aspect=rows[0].verdict.aspect)


def folds_of(rows: Sequence[Judged], *, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return the fold of each row; rows of the same article share a fold."""
    articles = sorted({row.article for row in rows})
    fold = dict(zip(articles, rng.permutation(len(articles)) % FOLDS, strict=True))
    return np.array([fold[row.article] for row in rows])


def in_folds(rows: Sequence[Judged], fit: Fit, *, folds: NDArray[np.intp]) -> Floats:
    """Score each row by a map fitted to the other folds."""
    maps = [
        fit([row for row, fold in zip(rows, folds, strict=True) if fold != n]) for n in range(FOLDS)
    ]
    scored = zip(rows, folds, strict=True)
    return np.array([of_seats(row, span_map=maps[fold]) for row, fold in scored])


def across(rows: Sequence[Judged], fit: Fit) -> Floats:
    """Score each corpus by a map fitted to the other one."""
    cnn_dm, xsum = (rows[part] for part in CORPORA.values())
    of_cnn_dm, of_xsum = fit(cnn_dm), fit(xsum)
    return np.array(
        [of_seats(row, span_map=of_xsum) for row in cnn_dm]
        + [of_seats(row, span_map=of_cnn_dm) for row in xsum]
    )


def spearman(first: Floats, second: Floats) -> float:
    """Return the rank correlation."""
    return float(np.corrcoef(rankdata(first), rankdata(second))[0, 1])


def resampled(scores: Floats, human: Floats, *, drawn: NDArray[np.intp]) -> Floats:
    """Return the rank correlation in each draw."""
    ranks = (rankdata(part[drawn], axis=1) for part in (scores, human))
    first, second = (part - part.mean(axis=1, keepdims=True) for part in ranks)
    spread = np.sqrt((first**2).sum(axis=1) * (second**2).sum(axis=1))
    together: Floats = (first * second).sum(axis=1) / spread
    return together


def ways(rows: Sequence[Judged], *, choice: Grid) -> dict[str, Floats]:
    """Return the scores of all summaries by each method."""
    golden = SpanPenalty(by="error", unknown=0, placeless=True, weights=PLAIN)
    strict, usual = SpanMap(penalty=SpanPenalty(weights=PLAIN)), SpanMap()
    folds = folds_of(rows, rng=np.random.default_rng(1))
    corpora = (np.arange(len(rows)) >= CNN_DM).astype(np.intp)
    by_method = {
        "the judges' own labels": [fmean(row.labels) for row in rows],
        "worst error and .2 of the rest": [unbounded(row, penalty=golden) for row in rows],
        "by sentence, 5 graver than 4": [of_seats(row, span_map=strict) for row in rows],
        "by sentence: the default": [of_seats(row, span_map=usual) for row in rows],
        "the default, of the merged list": [of_list(row, span_map=usual) for row in rows],
        "best of a grid, 10 folds": choice.in_folds(folds),
        "best of a grid, other corpus": choice.in_folds(corpora),
    }
    fitted = {
        "isotonic, to people": curve_to_people,
        "ordinal, to people": weights_to_people,
        "ordinal, to the labels": weights_to_labels,
    }
    return (
        {name: np.array(scores) for name, scores in by_method.items()}
        | {f"{name}, 10 folds": in_folds(rows, fit, folds=folds) for name, fit in fitted.items()}
        | {f"{name}, other corpus": across(rows, fit) for name, fit in fitted.items()}
    )


def held_out(rows: Sequence[Judged], *, choice: Grid, tenths: int) -> str:
    """Return the gain over the labels of a map chosen on other articles, one map per split."""
    labels = np.array([fmean(row.labels) for row in rows])
    gains: dict[str, list[float]] = {corpus: [] for corpus in CORPORA}
    for seed in range(SPLITS):
        seen = folds_of(rows, rng=np.random.default_rng(seed)) < tenths
        scores = choice.scores[choice.chosen(seen)]
        for corpus, part in CORPORA.items():
            rest = ~seen[part]
            human = choice.human[part][rest]
            theirs = spearman(labels[part][rest], human)
            gains[corpus].append(spearman(scores[part][rest], human) - theirs)
    by_corpus = "; ".join(f"{corpus} {fmean(gained):+.4f}" for corpus, gained in gains.items())
    chosen = f"chosen on {tenths} tenths of the articles"
    return f"{chosen}, gain on the others, {SPLITS} splits: {by_corpus}"


def moved(rows: Sequence[Judged]) -> Table:
    """Return the shares of lists whose score falls, stays or rises when severities change."""
    table = Table(title="Reports with errors whose score moves when their severities do")
    table.add_column("severities")
    for name in ("lowered", "the same", "raised"):
        table.add_column(name, justify="right")
    for step in (-2, -1, 1, 2):
        ways = Counter(
            float(np.sign(moved_by))
            for row in rows
            for seat in row.verdict.seats
            if seat.report.spans
            and (moved_by := _after(row, seat.report.spans, step=step)) is not None
        )
        shares = (f"{ways[direction] / ways.total():.3f}" for direction in (-1.0, 0.0, 1.0))
        table.add_row(f"{step:+d}", *shares)
    return table


def _after(row: Judged, spans: Sequence[ErrorSpan], *, step: int) -> float | None:
    """Return the rise of the score if severities change by `step`; None without a score."""
    changed = [
        replace(span, severity=min(5, max(1, span.severity + step))) if span.severity else span
        for span in spans
    ]
    output, aspect = row.verdict.segment.output, row.verdict.aspect
    before, after = (SpanMap().score(output, errors, aspect=aspect) for errors in (spans, changed))
    return None if before is None or after is None else after - before


def tell(rows: Sequence[Judged], *, choice: Grid) -> Table:
    """Return a table with one row per method."""
    table = Table(title="Spearman's correlation with people on QAGS, mean of four judges")
    table.add_column("score")
    for name in CORPORA:
        table.add_column(name, justify="right")
        table.add_column("more than the labels", justify="right")
    rng, human = np.random.default_rng(2), choice.human
    drawn = {
        name: rng.integers(len(human[part]), size=(DRAWS, len(human[part])))
        for name, part in CORPORA.items()
    }
    lines = ways(rows, choice=choice)
    labels = next(iter(lines.values()))
    for name, scores in lines.items():
        cells = []
        for corpus, part in CORPORA.items():
            own, theirs, rated = scores[part], labels[part], human[part]
            estimate = spearman(own, rated)
            draws = resampled(own, rated, drawn=drawn[corpus])
            apart = draws - resampled(theirs, rated, drawn=drawn[corpus])
            low, high = np.quantile(apart, [0.025, 0.975])
            gain = estimate - spearman(theirs, rated)
            cells += [f"{estimate:.3f}", f"{gain:+.3f} [{low:+.3f}, {high:+.3f}]"]
        table.add_row(name, *cells)
    return table


def main(path: Path) -> None:
    """Print the table."""
    aspect = Catalogue.load().aspect("summarization", "consistency")
    rows = anyio.run(read, path, aspect)
    maps = grid()
    scores = [[of_seats(row, span_map=span_map) for row in rows] for span_map in maps]
    choice = Grid(scores=np.array(scores), human=humans(rows))
    console = Console(width=130)
    console.print(tell(rows, choice=choice))
    for tenths in (5, 9):
        console.print(held_out(rows, choice=choice, tenths=tenths))
    console.print(moved(rows))
    console.print(
        f"best of the grid on all rows: {maps[choice.chosen(np.ones(len(rows), dtype=bool))]}"
    )
    console.print(f"ordinal, to people, on all rows: {weights_to_people(rows).penalty.weights}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FILE)
