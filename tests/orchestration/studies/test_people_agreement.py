"""The agreement of annotators, on values that were worked out by hand."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from fakes.judges import located

from spanjury.judges.core import ConfigError, ErrorSpan, Segment
from spanjury.orchestration.report import Report
from spanjury.orchestration.report.markdown import report_markdown
from spanjury.orchestration.studies.agreement.people import people_on_aspect
from spanjury.orchestration.studies.agreement.spans.findings import (
    AspectSpans,
    JudgeFinding,
    SpanAgreement,
    span_agreement,
)
from spanjury.orchestration.studies.agreement.spans.measures import (
    Gold,
    GoldSpan,
    Marking,
    category_map,
    hard_overlap,
    renamed,
)
from spanjury.orchestration.studies.agreement.tables import span_blocks
from spanjury.orchestration.studies.estimates import Settings

QUICK = Settings(draws=50)
OUTPUT = "abcdefghij"
GRADED_OUTPUT = "0123456789" * 3
FEW = Settings(draws=0)
GOLD = {
    "a": (
        GoldSpan(start=0, end=10, category="Addition"),
        GoldSpan(start=10, end=20, category="Number"),
    ),
    "b": (GoldSpan(start=0, end=4, category="Number"),),
}


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
            located(OUTPUT[start:end], start, explanation="", severity=3, found_by=(who,))
            for who, (start, end) in (spans or {}).items()
        ),
        meta={"annotators": list(readers)},
    )


def test_texts_for_one_source_are_drawn_together() -> None:
    given = [(1, 1), (2, 2), (3, 1), (2, 3), (1, 2), (3, 3)]
    spans = {"anna": (0, 4), "ben": (2, 6)}
    alone = [text(n, {"anna": a, "ben": b}, spans) for n, (a, b) in enumerate(given)]
    copies = [
        replace(each, segment_id=f"{each.segment_id}/{copy}", meta={**each.meta, "doc_id": number})
        for number, each in enumerate(alone)
        for copy in "abc"
    ]

    once = people_on_aspect(alone, aspect="fluency", settings=QUICK)
    thrice = people_on_aspect(copies, aspect="fluency", settings=QUICK)

    assert thrice.kappas["anna", "ben"] == pytest.approx(once.kappas["anna", "ben"])
    # Alpha counts pairs less one.
    assert thrice.alpha[1:] == pytest.approx(once.alpha[1:], abs=0.15)


def test_texts_of_one_source_give_no_interval() -> None:
    given = [(1, 1), (2, 3)]
    spans = {"anna": (0, 4), "ben": (2, 6)}
    texts = [text(n, {"anna": a, "ben": b}, spans) for n, (a, b) in enumerate(given)]
    of_one = [replace(each, meta={**each.meta, "doc_id": "d"}) for each in texts]

    found = people_on_aspect(of_one, aspect="fluency", settings=QUICK)

    figures = [found.alpha, found.kappas["anna", "ben"], *found.spans[0].figures.values()]
    assert all(math.isnan(figure.low) and math.isnan(figure.high) for figure in figures)
    assert found.spans[0].figures["characters.micro"].value == pytest.approx(0.5)


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


def error(start: int, end: int, category: str) -> ErrorSpan:
    text = GRADED_OUTPUT[start:end]
    return located(text, start, explanation="wrong", severity=3, category=category)


MARKED = {
    "a": (error(0, 10, " made up"), error(10, 15, "Made up"), error(25, 30, "number")),
    "b": (error(0, 4, "NUMBER"),),
}


def compared(marked: dict[str, tuple[ErrorSpan, ...]]) -> SpanAgreement:
    found: list[Marking] = [("j", name, GRADED_OUTPUT, spans) for name, spans in marked.items()]
    return span_agreement(found, GOLD, settings=FEW)


def judged(marked: dict[str, tuple[ErrorSpan, ...]]) -> JudgeFinding:
    return compared(marked).judges[0]


def mapped(*pairs: str) -> dict[str, tuple[ErrorSpan, ...]]:
    categories = category_map(pairs, gold=Gold(GOLD, {}))
    return {name: renamed(spans, categories) for name, spans in MARKED.items()}


def test_hard_agreement_is_soft_agreement_on_the_same_category() -> None:
    one = judged(mapped("made up=addition"))
    # Found 10 + 5 + 5 + 4 = 24 characters and gold 24; 19 of them both, 14 of one category.
    assert one.figures["characters.micro.f1"].value == pytest.approx(19 / 24)
    assert one.figures["hard.micro.f1"].value == pytest.approx(14 / 24)
    table = {
        name: tuple(figures[part].value for part in ("precision", "recall", "f1"))
        for name, figures in one.categories.items()
    }
    assert table == {
        "addition": pytest.approx((10 / 15, 1, 20 / 25)),
        "number": pytest.approx((4 / 9, 4 / 14, 8 / 23)),
    }


def test_without_a_map_only_the_same_words_agree_whatever_their_case() -> None:
    one = judged(MARKED)
    assert one.figures["hard.micro.f1"].value == pytest.approx(4 / 24)
    assert set(one.categories) == {"addition", "made up", "number"}


def test_hard_agreement_is_undefined_if_one_side_names_no_category() -> None:
    bare = {
        name: tuple(error(span.start or 0, span.end or 0, "") for span in spans)
        for name, spans in MARKED.items()
    }
    one = judged(bare)
    assert math.isnan(one.figures["hard.micro.f1"].value)
    assert one.figures["characters.micro.f1"].value == pytest.approx(19 / 24)
    assert one.categories == {}


def test_a_span_without_a_category_agrees_with_none_and_still_counts() -> None:
    nameless, named = error(0, 4, ""), error(4, 6, "x")
    assert hard_overlap([nameless, named], [nameless, named]) == (2, 6, 6)


def test_the_page_has_soft_and_hard_f1_and_a_row_for_each_category() -> None:
    agreement = compared(mapped("made up=Addition"))
    findings = AspectSpans(aspect="accuracy", agreement=agreement, best=math.nan, top_rated=())
    page = report_markdown(Report(title="Error spans", sections=span_blocks([findings], ())))
    assert "| soft F1 | hard F1 |" in page
    assert "| j | addition | 0.667 | 1.000 | 0.800 |" in page


@pytest.mark.parametrize(
    ("pairs", "problem"),
    [
        (("made up",), "expected JUDGE=GOLD"),
        (("=Addition",), "expected JUDGE=GOLD"),
        (("made up=Omission",), "they marked Addition, Number"),
        (("x=Addition", "X=Number"), "paired with another category"),
    ],
)
def test_a_pair_that_means_nothing_is_refused(pairs: tuple[str, ...], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        category_map(pairs, gold=Gold(GOLD, {}))
