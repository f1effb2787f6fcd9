from dataclasses import replace

import pytest
from fakes.judges import ASPECT, mark

from spanjury.judges.core import ErrorSpan
from spanjury.judges.scoring import SpanMap, SpanPenalty

CONTENT = replace(ASPECT, kind="content")
TEXT = "The bridge opened. It is red. Nobody walks. Trains run."
PLAIN = (1.0, 2.0, 3.0, 4.0, 5.0)
OMISSION = ErrorSpan(text="", explanation="left out", severity=4)


def test_the_worst_error_and_a_fraction_of_the_others() -> None:
    spans = [
        mark(TEXT, "red", severity=4),
        mark(TEXT, "is", severity=3),
        mark(TEXT, "run", severity=1),
    ]
    penalty = SpanPenalty(by="error", rest=0.2, weights=PLAIN)
    assert penalty.of(TEXT, spans, aspect=ASPECT) == pytest.approx(4 + 0.2 * (3 + 1))


def test_all_penalties_add_up_if_the_rest_counts_fully() -> None:
    spans = [mark(TEXT, "red", severity=4), mark(TEXT, "run", severity=1)]
    penalty = SpanPenalty(by="error", rest=1.0, weights=(0.5, 1.0, 2.0, 3.5, 5.0))
    assert penalty.of(TEXT, spans, aspect=ASPECT) == pytest.approx(3.5 + 0.5)


def test_a_sentence_is_as_bad_as_its_worst_error() -> None:
    spans = [
        mark(TEXT, "red", severity=4),
        mark(TEXT, "is", severity=3),
        mark(TEXT, "run", severity=1),
    ]
    penalty = SpanPenalty(rest=0.2, weights=PLAIN)
    assert penalty.of(TEXT, spans, aspect=ASPECT) == pytest.approx(0.8 * 4 + 0.2 * (4 + 1) / 4)


def test_an_error_over_two_sentences_counts_in_both() -> None:
    penalty = SpanPenalty(rest=1.0, weights=PLAIN)
    across = mark(TEXT, "red. Nobody", severity=2)
    assert penalty.of(TEXT, [across], aspect=ASPECT) == pytest.approx(2 * 2 / 4)


def test_an_error_between_sentences_is_not_lost() -> None:
    assert SpanPenalty().of("One.  Two.", [mark("One.  Two.", "  ")], aspect=ASPECT) > 0


@pytest.mark.parametrize(
    ("placeless", "of_grounding", "of_content"),
    [(None, 0.0, 4.0), (True, 4.0, 4.0), (False, 0.0, 0.0)],
)
def test_an_omission_is_unsupported_by_nothing(
    placeless: bool | None, of_grounding: float, of_content: float
) -> None:
    penalty = SpanPenalty(by="error", placeless=placeless)
    assert penalty.of(TEXT, [OMISSION], aspect=ASPECT) == of_grounding
    assert penalty.of(TEXT, [OMISSION], aspect=CONTENT) == of_content


HALLUCINATED = ErrorSpan(text="never said", explanation="invented", severity=5)


def test_errors_without_a_score_are_quotations_that_the_text_lacks_beside_none_that_counts() -> (
    None
):
    placed = mark(TEXT, "red", severity=1)
    lists = {
        (): 0,
        (HALLUCINATED,) * 8: 8,
        (HALLUCINATED, OMISSION): 1,
        (OMISSION,): 0,
        (HALLUCINATED, placed): 0,
    }
    for spans, lost in lists.items():
        assert SpanPenalty().misquotes(spans, aspect=ASPECT) == lost
        assert SpanPenalty().misquotes(spans, aspect=CONTENT) == 0
        assert SpanPenalty(placeless=False).misquotes(spans, aspect=CONTENT) == lost
        assert (SpanMap().score(TEXT, spans, aspect=ASPECT) is None) == (lost > 0)
    unknown = replace(HALLUCINATED, severity=None)
    assert SpanPenalty().misquotes([unknown], aspect=ASPECT) == 1
    assert SpanPenalty(unknown=0).misquotes([unknown], aspect=ASPECT) == 0
    unmarked = replace(placed, severity=None)
    assert SpanPenalty(unknown=0).misquotes([unmarked, HALLUCINATED], aspect=ASPECT) == 1


def test_an_ungraded_error_has_the_middle_severity_by_default() -> None:
    unknown, middle = (mark(TEXT, "red", severity=grade) for grade in (None, 3))
    usual = SpanPenalty()
    assert usual.of(TEXT, [unknown], aspect=ASPECT) == usual.of(TEXT, [middle], aspect=ASPECT)
    assert SpanPenalty(unknown=0).of(TEXT, [unknown], aspect=ASPECT) == 0


def test_an_empty_text_can_lack_something() -> None:
    assert SpanPenalty(weights=PLAIN).of("", [OMISSION], aspect=CONTENT) == pytest.approx(4)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"by": "word"}, "by must be"),
        ({"rest": 1.1}, "rest must be"),
        ({"rest": float("nan")}, "rest must be"),
        ({"unknown": 6}, "unknown must be"),
        ({"weights": (1.0, 2.0)}, "weights must be"),
        ({"weights": (2.0, 1.0, 3.0, 4.0, 5.0)}, "weights must be"),
        ({"weights": (-1.0, 1.0, 3.0, 4.0, 5.0)}, "weights must be"),
        ({"weights": (0.0, 0.0, 0.0, 0.0, 0.0)}, "weights must be"),
        ({"weights": (0.0, 0.0, 0.0, 0.0, float("inf"))}, "weights must be"),
    ],
)
def test_parameters_that_could_break_the_promise_are_refused(
    change: dict[str, object], problem: str
) -> None:
    with pytest.raises(ValueError, match=problem):
        SpanPenalty(**change)  # type: ignore[arg-type]  # wrong on purpose


def test_every_parameter_is_in_the_signature() -> None:
    result = {
        penalty.signature
        for penalty in (
            SpanPenalty(),
            SpanPenalty(by="error"),
            SpanPenalty(rest=0.3),
            SpanPenalty(unknown=2),
            SpanPenalty(placeless=True),
            SpanPenalty(weights=PLAIN),
        )
    }
    assert len(result) == 6
