"""The agreement of annotators, on values that were worked out by hand."""

from collections.abc import Mapping, Sequence

import pytest

from spanjury.judges.core import ErrorSpan, Located, Segment
from spanjury.orchestration.studies.agreement.people import people_on_aspect
from spanjury.orchestration.studies.estimates import Settings

QUICK = Settings(draws=50)
OUTPUT = "abcdefghij"


def text(
    number: int,
    scores: Mapping[str, float],
    spans: Mapping[str, tuple[int, int]] | None = None,
    *,
    readers: Sequence[str] = ("anna", "ben"),
) -> Segment:
    return Segment(
        segment_id=str(number),
        output=OUTPUT,
        human={"fluency": scores} if scores else {},
        gold=tuple(
            ErrorSpan(
                text=OUTPUT[start:end],
                start=start,
                end=end,
                explanation="",
                severity=3,
                located=Located.EXACT,
                found_by=(who,),
            )
            for who, (start, end) in (spans or {}).items()
        ),
        meta={"annotators": list(readers)},
    )


def test_scores_agree_as_by_hand() -> None:
    # Ratings (1, 1), (1, 1), (2, 2), (2, 1): kappa 1 - (1/4) / (1/2 * 3/4 + 1/2 * 1/4) = 0.5.
    # Alpha of two ranks is that of names: 1 - (8 - 1) * 2 / (2 * 5 * 3) = 0.533.
    given = [(1, 1), (1, 1), (2, 2), (2, 1)]
    texts = [text(number, {"anna": a, "ben": b}) for number, (a, b) in enumerate(given)]

    found = people_on_aspect(texts, aspect="fluency", settings=QUICK)

    assert found.annotators == ("anna", "ben")
    assert (found.texts, found.shared, found.scored) == (4, 4, 4)
    kappa = found.kappas["anna", "ben"]
    assert kappa.value == pytest.approx(0.5)
    assert kappa.low <= 0.5 <= kappa.high
    assert found.alpha.value == pytest.approx(1 - 7 * 2 / 30)
    assert found.alpha.low <= found.alpha.value <= found.alpha.high


def test_spans_agree_as_by_hand() -> None:
    # 4 and 6 characters of which 2 are the same, and the same 4 of a second text:
    # soft F1 = 2 * 6 / (8 + 10).
    texts = [
        text(1, {}, {"anna": (0, 4), "ben": (2, 8)}),
        text(2, {}, {"anna": (0, 4), "ben": (0, 4)}),
        text(3, {}, {"anna": (5, 9)}, readers=["anna"]),
    ]

    found = people_on_aspect(texts, aspect="fluency", settings=QUICK)

    (pair,) = found.spans
    assert (pair.first, pair.second, pair.texts) == ("anna", "ben", 2)
    assert pair.figures["characters.micro"].value == pytest.approx(12 / 18)
    assert pair.figures["exact.micro"].value == pytest.approx(0.5)
    assert (found.texts, found.shared, found.scored) == (3, 2, 0)


def test_scores_alone_do_not_mean_that_no_error_was_found() -> None:
    texts = [
        text(1, {"anna": 2, "ben": 2}, {"anna": (0, 4)}, readers=["anna"]),
        text(2, {"anna": 3, "ben": 4}, readers=["anna"]),
    ]
    found = people_on_aspect(texts, aspect="fluency", settings=QUICK)

    assert found.annotators == ("anna", "ben")
    assert (found.shared, found.scored) == (2, 2)
    assert found.spans == ()
