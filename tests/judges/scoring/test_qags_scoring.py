"""Agreement with people on QAGS, of four judges' labels and of what their spans make."""

import gzip
import json
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

import pytest
from scipy.stats import spearmanr

from spanjury.judges.core import Aspect, ErrorSpan, Scale
from spanjury.judges.llm.parse import parse
from spanjury.judges.scoring import SpanMap, SpanPenalty
from spanjury.judges.tasks import Catalogue
from spanjury.judges.text import Locator

pytestmark = pytest.mark.shared_data

CNN_DM = 235  # rows; the others are of XSum
SCALE = Scale()
GOLDEN = SpanPenalty(
    by="error", rest=0.2, unknown=0, placeless=True, weights=(1.0, 2.0, 3.0, 4.0, 5.0)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A summary, its rating by people, and what each judge said of it."""

    output: str
    human: float
    labels: tuple[int, ...]
    spans: tuple[tuple[ErrorSpan, ...], ...]


@pytest.fixture(scope="module")
def judged(shared_data: Path) -> list[Judged]:
    file = shared_data / "judgements" / "qags_four_judges.jsonl.gz"
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        return [_judged(json.loads(line)) for line in lines]


@pytest.fixture(scope="module")
def consistency() -> Aspect:
    return Catalogue.load().aspect("summarization", "consistency")


def _judged(row: dict[str, object]) -> Judged:
    output, human, raw, scores = (row[key] for key in ("output", "human", "raw", "scores"))
    assert isinstance(output, str)
    assert isinstance(human, float)
    assert isinstance(raw, dict)
    assert isinstance(scores, dict)
    labels = [score for score in scores.values() if score is not None]
    return Judged(
        output=output,
        human=human,
        labels=tuple(labels),
        spans=tuple(_spans(reply, output=output) for reply in raw.values()),
    )


def _spans(reply: str, *, output: str) -> tuple[ErrorSpan, ...]:
    locator = Locator(output)
    return tuple(
        locator.span(quote=error.quote, explanation=error.explanation, severity=error.severity)
        for error in parse(reply, scale=SCALE).errors
    )


def agreement(scores: list[float], judged: list[Judged]) -> tuple[float, float]:
    human = [row.human for row in judged]
    cnn_dm, xsum = slice(CNN_DM), slice(CNN_DM, None)
    return (
        float(spearmanr(scores[cnn_dm], human[cnn_dm]).statistic),
        float(spearmanr(scores[xsum], human[xsum]).statistic),
    )


def test_the_judges_own_labels_agree_as_they_are_known_to(judged: list[Judged]) -> None:
    cnn_dm, xsum = agreement([fmean(row.labels) for row in judged], judged)
    assert cnn_dm == pytest.approx(0.749, abs=0.0005)
    assert xsum == pytest.approx(0.599, abs=0.005)


def test_worst_and_a_fifth_agrees_as_known(judged: list[Judged], consistency: Aspect) -> None:
    scores = [
        -fmean(GOLDEN.of(row.output, spans, aspect=consistency) for spans in row.spans)
        for row in judged
    ]
    cnn_dm, xsum = agreement(scores, judged)
    assert cnn_dm == pytest.approx(0.757, abs=0.0005)
    assert xsum == pytest.approx(0.585, abs=0.005)  # another reading of the replies: .589


def test_the_usual_map_is_as_good_as_the_labels(judged: list[Judged], consistency: Aspect) -> None:
    scores = [
        fmean(
            score
            for spans in row.spans
            if (score := SpanMap().score(row.output, spans, aspect=consistency)) is not None
        )
        for row in judged
    ]
    cnn_dm, xsum = agreement(scores, judged)
    labels = agreement([fmean(row.labels) for row in judged], judged)
    assert (cnn_dm, xsum) == pytest.approx((0.760, 0.604), abs=0.001)
    assert cnn_dm > labels[0]
    assert xsum > labels[1]


def test_real_error_lists_never_move_the_score_the_wrong_way(
    judged: list[Judged], consistency: Aspect
) -> None:
    moves: Counter[tuple[bool, bool]] = Counter()
    for row in judged:
        for spans in filter(None, row.spans):
            lists = [_shifted(spans, by=step) for step in (-2, -1, 0, 1, 2)]
            lists += [list(spans[1:]), []]
            scores = [SpanMap().score(row.output, changed, aspect=consistency) for changed in lists]
            *changed, fewer, none = scores
            ordered = [score for score in (none, fewer, scores[2]) if score is not None]
            assert ordered == sorted(ordered, reverse=True)
            defined = [score for score in changed if score is not None]
            assert len(defined) in {0, len(changed)}
            if defined:
                assert defined == sorted(defined, reverse=True)
                much_milder, milder, same, graver, much_graver = defined
                moves[milder > same, much_milder > same] += 1
                moves[graver < same, much_graver < same] += 1
    assert moves[True, False] == 0  # one step changes the score and two do not
    assert moves[True, True] > moves.total() / 2


def _shifted(spans: tuple[ErrorSpan, ...], *, by: int) -> list[ErrorSpan]:
    return [
        replace(span, severity=min(5, max(1, span.severity + by))) if span.severity else span
        for span in spans
    ]
