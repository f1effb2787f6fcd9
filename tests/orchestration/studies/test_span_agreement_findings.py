"""Span agreement: a small court worked by hand, and people on published data."""

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest
from fakes.judges import located
from hypothesis import given, settings
from hypothesis import strategies as st

from spanjury.judges.core import DataError, ErrorSpan, Segment
from spanjury.orchestration.report import Report
from spanjury.orchestration.report.json import plain
from spanjury.orchestration.report.markdown import report_markdown
from spanjury.orchestration.studies.agreement.findings import MetaFindings
from spanjury.orchestration.studies.agreement.scorers import Settings as MetaSettings
from spanjury.orchestration.studies.agreement.spans.findings import (
    AspectSpans,
    SpanAgreement,
    SpanTask,
    aspect_spans,
    span_agreement,
    top_rated_texts,
)
from spanjury.orchestration.studies.agreement.spans.measures import (
    Gold,
    GoldSpan,
    Marking,
    PairFinding,
    annotator_pairs,
    gold_of,
)
from spanjury.orchestration.studies.agreement.tables import agreement_report, span_blocks
from spanjury.orchestration.studies.estimates import Settings

FEW = Settings(draws=50)
OUTPUT = "0123456789" * 3
HALLUCINATED = ErrorSpan(text="unicorn", explanation="not there", severity=2)
SPANS = st.lists(
    st.tuples(st.integers(0, 24), st.integers(1, 6), st.integers(1, 5)), min_size=1, max_size=4
)
PAGE_GOLD = Gold(
    {"a": (GoldSpan(start=0, end=6, annotator="eve"),), "b": ()},
    {"a": ("eve", "joe"), "b": ("eve",)},
)


def error(start: int, end: int, severity: int | None = 4) -> ErrorSpan:
    fields = {"explanation": "wrong", "severity": severity, "category": "Sort"}
    return located(OUTPUT[start:end], start, **fields)


def marked(start: int, end: int, severity: int | None = 4, *, by: str = "") -> GoldSpan:
    return GoldSpan(start=start, end=end, severity=severity, category="Sort", annotator=by)


GOLD = {
    "a": (marked(0, 10),),
    "b": (),
    "c": (marked(0, 4), marked(10, 20, 2)),
    "d": (marked(5, 9),),
}

FOUND: list[Marking] = [
    ("j", "a", OUTPUT, (error(0, 5),)),
    ("j", "b", OUTPUT, (error(3, 5, 1), HALLUCINATED)),
    ("j", "c", OUTPUT, (error(0, 4), error(10, 20))),
    ("j", "d", OUTPUT, None),
    ("j", "e", OUTPUT, ()),
]


def value(found: SpanAgreement, name: str, *, group: str = "") -> float:
    (finding,) = (one for one in found.judges if one.group == group)
    return finding.figures[name].value


def test_figures_are_as_worked_by_hand() -> None:
    # Characters: 5 + 0 + 14 in both, of 5 + 2 + 14 found and 10 + 0 + 14 gold.
    # By severity c's ten characters count half: 5 + 4 + 5. Pairs: a (.5), and both of c.
    found = span_agreement(FOUND, GOLD, settings=FEW)
    expected = {
        "characters.micro.precision": 19 / 21,
        "characters.micro.recall": 19 / 24,
        "characters.macro.f1": (2 * 5 / 15 + 0 + 1) / 3,
        "exact.micro.precision": 2 / 4,
        "exact.micro.recall": 2 / 3,
        "graded.micro.precision": 14 / 21,
        "matched.micro.f1": 2 * 3 / (4 + 3),
        "detection.precision": 2 / 3,
        "detection.recall": 1,
        "detection.accuracy": 2 / 3,
        "quotes.hallucinated": 1 / 5,
        "counts.spearman": 0,
    }
    for name, figure in expected.items():
        assert value(found, name) == pytest.approx(figure), name


def test_a_missing_verdict_is_counted_and_is_not_no_error() -> None:
    (finding,) = span_agreement(FOUND, GOLD, settings=FEW).judges
    assert (finding.texts, finding.readings) == (3, 3)
    assert (finding.failures, finding.without_gold) == (1, 1)
    silent = [("j", "d", OUTPUT, ()) if said[1] == "d" else said for said in FOUND]
    recall = value(span_agreement(silent, GOLD, settings=FEW), "detection.recall")
    assert recall == pytest.approx(2 / 3)


def test_groups_stand_beside_all_texts() -> None:
    groups = {"a": "x", "b": "x", "c": "y"}
    found = span_agreement(FOUND, GOLD, groups=groups, settings=FEW)
    assert [one.group for one in found.judges] == ["", "x", "y"]
    assert value(found, "characters.micro.recall", group="x") == 0.5
    assert value(found, "characters.micro.recall", group="y") == 1
    assert math.isnan(value(found, "counts.spearman", group="x"))


def test_intervals_hold_the_figures_and_come_again_with_the_seed() -> None:
    first, second = (span_agreement(FOUND, GOLD, settings=FEW) for _ in range(2))
    assert plain(first) == plain(second)
    for one in first.judges[0].figures.values():
        assert not one.low > one.value
        assert not one.value > one.high


def test_a_judge_is_compared_with_every_reader_of_a_text() -> None:
    gold = {"a": (marked(0, 4, by="ann"),)}
    found: list[Marking] = [("j", "a", OUTPUT, (error(0, 4),))]
    alone = span_agreement(found, gold, settings=FEW)
    both = span_agreement(found, gold, readers={"a": ("ann", "bob")}, settings=FEW)
    assert value(alone, "characters.micro.precision") == 1
    assert value(both, "characters.micro.precision") == 0.5
    assert both.judges[0].readings == 2


def test_severities_are_not_reported_if_there_are_none() -> None:
    gold = {"a": (marked(0, 4, None),), "b": ()}
    found: list[Marking] = [("j", "a", OUTPUT, (error(0, 4),)), ("j", "b", OUTPUT, ())]
    agreement = span_agreement(found, gold, settings=FEW)
    assert math.isnan(value(agreement, "graded.macro.f1"))
    assert value(agreement, "characters.macro.f1") == 1


def test_no_text_with_a_verdict_gives_no_figures() -> None:
    found = span_agreement([("j", "a", OUTPUT, None)], GOLD, settings=FEW)
    (finding,) = found.judges
    assert finding.failures == 1
    assert all(math.isnan(one.value) for one in finding.figures.values())
    assert found.over_annotations[0].flawless == 0


def test_errors_in_flawless_texts_are_counted() -> None:
    gold = {**GOLD, "f": (), "g": ()}
    said: list[Marking] = [*FOUND, ("j", "f", OUTPUT, ()), ("j", "g", OUTPUT, (error(0, 1, 5),))]
    (found,) = span_agreement(said, gold, settings=FEW).over_annotations
    assert found.flawless == 3
    assert found.histogram == (1, 1, 1)
    assert found.erring.value == pytest.approx(2 / 3)
    assert found.spans.value == pytest.approx(1)
    # In b the severities are 1 and 2, in g 5; without f, which has none.
    assert (found.mean_severity, found.max_severity) == (3.25, 3.5)
    assert found.surplus.value == pytest.approx((0 + 2 + 0 + 0 + 1) / 5)


def test_annotators_are_compared_on_the_texts_that_both_have_read() -> None:
    gold = {
        "a": (marked(0, 6, by="ann"), marked(3, 9, by="bob")),
        "b": (marked(0, 6, by="ann"),),
        "c": (marked(2, 4, by="cid"),),
    }
    readers = {"a": ("ann", "bob"), "b": ("ann", "bob"), "c": ("cid",)}
    lengths = dict.fromkeys(gold, len(OUTPUT))
    (pair,) = annotator_pairs(Gold(gold, readers, lengths), settings=FEW)
    assert (pair.first, pair.second, pair.texts) == ("ann", "bob", 2)
    assert pair.figures["characters.micro"].value == pytest.approx(2 * 3 / (12 + 6))
    assert pair.figures["exact.micro"].value == 0
    # Aligned at ((3 + 3) / 12) ** 2, one alone; 3 / 2 spans for each of the two.
    assert pair.gamma.observed == pytest.approx((1 / 4 + 1) / 1.5)


@pytest.mark.parametrize(
    ("ours", "theirs", "observed"),
    [
        (("x", "x", "x"), ("y", "y", "y"), 1),
        (("x", "x", "x"), ("x", " X", "x"), 0),
        (("x", "", "x"), ("x", "", "x"), 1 / 3),
        (("x", "x", "x"), ("", "", ""), math.nan),
    ],
)
def test_gamma_with_categories_is_lower_where_they_differ(
    ours: Sequence[str], theirs: Sequence[str], observed: float
) -> None:
    spans = tuple(
        GoldSpan(start=start, end=start + 3, category=category, annotator=who)
        for who, categories in (("ann", ours), ("bob", theirs))
        for start, category in zip((0, 9, 20), categories, strict=True)
    )
    gold = Gold({"a": spans}, {"a": ("ann", "bob")}, {"a": len(OUTPUT)})
    (pair,) = annotator_pairs(gold, settings=FEW)
    assert pair.gamma.gamma == 1
    assert pair.gamma_with_categories.observed == pytest.approx(observed, nan_ok=True)


def test_gold_is_taken_from_segments_with_their_readers() -> None:
    spans = (replace(error(0, 4), found_by=("ann",)), replace(HALLUCINATED, found_by=("ann",)))
    segments = [
        Segment(segment_id="a", output=OUTPUT, gold=spans, meta={"annotators": ["bob", "ann"]}),
        Segment(segment_id="b", output=OUTPUT, gold=spans),
        Segment(segment_id="c", output=OUTPUT, gold=(error(0, 4),), meta={"annotator": "cid"}),
        Segment(segment_id="d", output=OUTPUT),
    ]
    gold = gold_of(segments)
    assert gold.spans["b"] == (
        marked(0, 4, by="ann"),
        GoldSpan(start=None, end=None, severity=2, annotator="ann"),
    )
    assert gold.spans["c"] == (marked(0, 4, by="cid"),)
    assert gold.readers == {"a": ("bob", "ann"), "b": ("ann",), "c": ("cid",), "d": ("",)}


def test_two_verdicts_on_a_text_are_refused() -> None:
    with pytest.raises(DataError, match="'j' has two verdicts on 'a'"):
        span_agreement([*FOUND, FOUND[0]], GOLD, settings=FEW)


@pytest.mark.parametrize("said", [(), None])
def test_gold_beyond_the_end_of_a_text_is_refused(said: tuple[ErrorSpan, ...] | None) -> None:
    with pytest.raises(DataError, match="'a': got a gold span from 0 to 10"):
        span_agreement([("j", "a", "short", said)], GOLD, settings=FEW)


@given(st.lists(SPANS, min_size=1, max_size=4))
@settings(max_examples=15)
def test_a_judge_that_marks_what_people_mark_agrees_with_them(
    texts: list[list[tuple[int, ...]]],
) -> None:
    spans = {
        str(number): [(start, start + length, severity) for start, length, severity in text]
        for number, text in enumerate(texts)
    }
    found: list[Marking] = [
        ("j", name, OUTPUT, tuple(error(*one) for one in text)) for name, text in spans.items()
    ]
    gold = {name: tuple(marked(*one) for one in text) for name, text in spans.items()}
    agreement = span_agreement(found, gold, settings=Settings(draws=2))
    for name, one in agreement.judges[0].figures.items():
        assert name in {"quotes.hallucinated", "counts.spearman"} or one.value == 1, name
    assert agreement.over_annotations[0].surplus.value == 0


PAGE_FOUND: tuple[Marking, ...] = (("j", "a", OUTPUT, (error(0, 6),)), ("j", "b", OUTPUT, ()))

TASK = SpanTask(
    aspect="fluency",
    markings=PAGE_FOUND,
    gold=PAGE_GOLD,
    groups={"a": "x", "b": "y"},
    sources={},
    top_rated=top_rated_texts([], aspect="fluency"),
)


def rated(name: str, *scores: float) -> Segment:
    given = {str(rater): score for rater, score in enumerate(scores)}
    return Segment(segment_id=name, output=OUTPUT, human={"fluency": given})


def compared(task: SpanTask) -> AspectSpans:
    return aspect_spans(task, FEW)


def page_of(findings: Sequence[AspectSpans], annotators: Sequence[PairFinding]) -> str:
    blocks = span_blocks(findings, annotators)
    return report_markdown(Report(title="Error spans", sections=blocks))


def test_gamma_takes_each_reading_for_a_text_of_its_own() -> None:
    whole, *groups = span_agreement(
        PAGE_FOUND,
        PAGE_GOLD.spans,
        readers=PAGE_GOLD.readers,
        groups=TASK.groups,
        settings=FEW,
    ).judges
    assert whole.gamma is not None
    # Eve's span is found; Joe's reading has none, so that it is left alone: 1 of 3 / 2 spans.
    assert whole.gamma.observed == 1 / (3 / 2)
    assert [one.gamma for one in groups] == [None, None]


def test_without_any_verdict_there_is_no_gamma() -> None:
    silent = tuple((judge, name, output, None) for judge, name, output, _ in PAGE_FOUND)
    (one,) = span_agreement(silent, PAGE_GOLD.spans, settings=FEW).judges
    assert one.gamma is not None
    assert math.isnan(one.gamma.gamma)


def test_no_draws_give_figures_without_intervals() -> None:
    (one,) = span_agreement(PAGE_FOUND, PAGE_GOLD.spans, settings=Settings(draws=0)).judges
    figure = one.figures["characters.micro.f1"]
    assert figure.value == 1
    assert math.isnan(figure.low)
    assert math.isnan(figure.high)


def test_top_rated_are_texts_with_the_best_score_of_every_rater() -> None:
    texts = [rated("a", 5, 5), rated("b", 5, 4), rated("c", 1)]
    found = top_rated_texts(texts, aspect="fluency")
    assert (found.best, found.texts) == (5.0, frozenset({"a"}))
    # Two different scores say too little.
    assert not top_rated_texts(texts[:2], aspect="fluency").texts
    assert not top_rated_texts(texts, aspect="style").texts


def test_errors_in_top_rated_texts_are_counted_beside_gold_spans() -> None:
    best = top_rated_texts([rated("a", 5), rated("b", 4), rated("c", 1)], aspect="fluency")
    found = compared(replace(TASK, top_rated=best))
    (over,) = found.top_rated
    assert (over.judge, over.flawless, over.erring.value) == ("j", 1, 1)
    assert found.agreement is not None
    assert found.agreement.over_annotations[0].flawless == 1
    page = page_of([found], ())
    assert "## Errors found on fluency in texts in which no annotator marked one" in page
    assert "to which every rater gave 5, the best score" in page


def test_the_page_shows_judges_systems_and_annotators() -> None:
    found = compared(TASK)
    lengths = {name: len(output) for _, name, output, _ in PAGE_FOUND}
    pairs = [*annotator_pairs(PAGE_GOLD._replace(lengths=lengths), settings=FEW)]
    page = page_of([found], pairs)
    assert "| j | 2 | 3 | " in page
    assert "| j | x | 1 | " in page
    assert "| eve | joe | 1 | " in page
    assert "every rater" not in page
    assert page == page_of([compared(TASK)], pairs)


def test_the_answer_measures_a_single_judge_and_names_the_best_of_several() -> None:
    def answer(*markings: Marking) -> str:
        findings = MetaFindings(
            settings=MetaSettings(),
            data="d.jsonl",
            results=("r.jsonl",),
            aspects=(),
            spans=(compared(replace(TASK, markings=markings)),),
            annotators=(),
        )
        return str(report_markdown(agreement_report(findings)))

    scale = "(0: no character in common, 1: the same ones)"
    misplaced: Marking = ("k", "a", OUTPUT, (error(20, 22),))
    assert f"spans of `k` agree with people's by an F1 of 0.00 {scale}" in answer(misplaced)
    assert "spans of `j` agree best with people's" in answer(misplaced, *PAGE_FOUND)


def test_nothing_found_makes_no_page() -> None:
    assert not span_blocks((), ())
