"""The figures of a span bench: on ten rows whose sums are written beside them."""

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from fakes.judges import ASPECT, FixedJudge, mark, panel_of
from fakes.marked_texts import ANSWERS, marked_texts, write_rows
from fakes.repairing import opened

from spanjury.judges.core import (
    ConfigError,
    DataError,
    Decision,
    ErrorSpan,
    JudgeError,
    Located,
    Outcome,
    Report,
    Segment,
)
from spanjury.judges.tasks import Catalogue
from spanjury.orchestration.engine.stopping import StopToken
from spanjury.orchestration.report import Paragraph
from spanjury.orchestration.report import Report as Document
from spanjury.orchestration.report.markdown import report_markdown
from spanjury.orchestration.report.prose import plain_text
from spanjury.orchestration.studies.estimates import Settings
from spanjury.orchestration.studies.judging import Examinee, ExamRun, Recorder
from spanjury.orchestration.studies.span_bench.figures import FIGURES, GAINS, OF_GROUPS, Group
from spanjury.orchestration.studies.span_bench.findings import (
    Bench,
    BenchResult,
    Finding,
    Findings,
    cautions,
    findings_of,
    measures_of,
    ranges_of,
    run_bench,
)
from spanjury.orchestration.studies.span_bench.gold import (
    PANEL,
    Answer,
    BenchSet,
    BenchText,
    Failure,
    FoundSpan,
    GoldPlace,
    bench_text,
    mark_everything,
    mark_new_words,
    mark_nothing,
)
from spanjury.orchestration.studies.span_bench.tables import bench_report

FAST = Settings(draws=50)
ANSWERED = {("judge", name): answer for name, answer in ANSWERS.items()}
EXAMINEE = Examinee(signature="j", seats={"judge": "judge|1"})


@pytest.fixture
def texts(tmp_path: Path) -> tuple[BenchText, ...]:
    return marked_texts(write_rows(tmp_path / "ten.jsonl"))


@pytest.fixture
def findings(texts: tuple[BenchText, ...]) -> Findings:
    known = tuple(text for text in texts if text.is_known)
    ten = BenchSet(name="ten", texts=known, unknown=len(texts) - len(known))
    return findings_of([ten], ANSWERED, judges=["judge"], settings=FAST)


def report_of(findings: Findings) -> Document:
    return bench_report(findings, examinee=EXAMINEE, data=["ten.jsonl"])


def page_of(findings: Findings) -> str:
    return report_markdown(report_of(findings))


def of(findings: Findings, judge: str) -> Finding:
    (finding,) = (one for one in findings.sets[0].findings if one.judge == judge)
    return finding


def values(finding: Finding) -> Mapping[str, float]:
    return {name: figure.value for name, figure in finding.figures.items()}


def shares(groups: tuple[Group, ...]) -> Mapping[str, object]:
    """Return both shares of each group, and how many spans there are on how many texts."""
    return {one.name: [one.share.value, one.touched.value, one.spans, one.texts] for one in groups}


def test_the_figures_of_a_judge_are_those_that_hands_add_up(findings: Findings) -> None:
    found = values(of(findings, "judge"))
    # one: 2 of 5 marked, 2 gold; alarm: 2 marked; overlap: 5 of 8 marked, 8 gold; wordless: 3
    # marked; missed: 2 gold.
    assert found["characters.precision"] == pytest.approx(7 / 18)
    assert found["characters.recall"] == pytest.approx(7 / 12)
    assert found["characters.f1"] == pytest.approx(14 / 30)
    # one: 1 of 2, 1 gold; alarm: 1; overlap: 2 of 3, 3 gold; wordless: none; missed: 1 gold.
    assert found["words.precision"] == pytest.approx(3 / 6)
    assert found["words.recall"] == pytest.approx(3 / 5)
    assert found["words.f1"] == pytest.approx(6 / 11)
    assert found["places.hit"] == pytest.approx(3 / 4)
    assert found["places.by_chance"] == pytest.approx((5 / 7 + 1 + 1 + 0) / 4)
    assert found["spans.right"] == pytest.approx(3 / 5)


def test_scores_and_decisions_are_those_that_hands_add_up(findings: Findings) -> None:
    found = values(of(findings, "judge"))
    assert found["flagged.error_free"] == pytest.approx(2 / 3)
    assert found["flagged.faulty"] == pytest.approx(4 / 5)
    # Suspicions 3, 4, 3, 1, 0 of texts with errors, 0, 2, 1 of those without.
    assert found["score.auroc"] == pytest.approx((3 + 3 + 3 + 1.5 + 0.5) / 15)
    assert found["score.caught"] == pytest.approx(3 / 5)
    # Probabilities .3, .9 and .1, .4.
    assert found["probability.auroc"] == pytest.approx(3 / 4)
    assert found["unsure.caught"] == pytest.approx(4 / 5)
    assert found["unsure.false_alarms"] == pytest.approx(2 / 3)
    assert found["unsure.balanced_accuracy"] == pytest.approx((4 / 5 + 1 / 3) / 2)
    assert found["faulty.caught"] == pytest.approx(3 / 5)
    assert found["faulty.false_alarms"] == pytest.approx(1 / 3)
    assert found["faulty.balanced_accuracy"] == pytest.approx((3 / 5 + 2 / 3) / 2)
    # Two of eight texts are between; of five with errors one is ok.
    assert found["decision.decided"] == pytest.approx(6 / 8)
    assert found["decision.vouched_misses"] == pytest.approx(1 / 5)
    # Of those decided, 3 of 4 with errors and 1 of 2 without are decided rightly.
    assert found["decision.of_decided"] == pytest.approx((3 / 4 + 1 / 2) / 2)
    # Every probability is a bin of its own, and each sort has two.
    assert found["probability.ece"] == pytest.approx((0.1 + 0.4 + 0.7 + 0.1) / 4)
    assert found["probability.balanced_ece"] == pytest.approx(found["probability.ece"])
    # People's 1, 5, 4, 2 with 2, 5, 3, 1 of the judge.
    assert found["people.spearman"] == pytest.approx(0.8)


def test_the_better_cut_is_chosen_and_named(texts: tuple[BenchText, ...]) -> None:
    known = tuple(text for text in texts if text.is_known)
    timid = {
        name: replace(one, decision=Decision.UNSURE) if one.spans else one
        for name, one in ANSWERS.items()
        if isinstance(one, Answer)
    }
    given = {("bold", name): one for name, one in ANSWERS.items()}
    given |= {("timid", name): timid.get(name, one) for name, one in ANSWERS.items()}
    ten = BenchSet(name="ten", texts=known)
    found = findings_of([ten], given, judges=["bold", "timid"], settings=FAST)
    bold, other = of(found, "bold"), of(found, "timid")
    assert (bold.cut, other.cut) == ("faulty", "not ok")
    assert values(bold)["decision.balanced_accuracy"] == values(bold)["faulty.balanced_accuracy"]
    assert values(other)["decision.balanced_accuracy"] == pytest.approx((4 / 5 + 1 / 3) / 2)
    assert values(other)["faulty.balanced_accuracy"] == 0.5
    assert values(other)["decision.decided"] == pytest.approx(2 / 8)


def test_decisions_are_counted_by_the_kind_of_the_marked_errors(findings: Findings) -> None:
    entities, predicates = of(findings, "judge").decisions
    assert (entities.name, entities.texts, predicates.name) == ("EntE", 4, "PredE")
    counts = [entities.decisions[one] for one in (Decision.OK, Decision.UNSURE, Decision.FAULTY)]
    assert counts == [1, 0, 2]  # one has no answer
    assert "| EntE | judge | 4 | 1 | 0 | 2 |" in page_of(findings)


def test_categories_have_their_precision_and_kinds_their_recall(findings: Findings) -> None:
    found = of(findings, "judge")
    assert shares(found.categories) == {
        "name": pytest.approx([7 / 10, 1, 2, 2]),
        "number": pytest.approx([2 / 7, 1 / 2, 2, 2]),
    }
    assert shares(found.kinds) == {
        "EntE": pytest.approx([7 / 9, 2 / 3, 3, 3]),
        "PredE": pytest.approx([2 / 5, 1, 1, 1]),
    }
    assert shares(found.extents) == {
        "extrinsic": pytest.approx([7 / 9, 2 / 3, 3, 3]),
        "intrinsic": pytest.approx([2 / 5, 1, 1, 1]),
    }
    assert found.unlocated == 1


def test_the_baselines_are_those_that_hands_add_up(findings: Findings) -> None:
    nothing = values(of(findings, "nothing"))
    assert math.isnan(nothing["characters.precision"])
    assert nothing["characters.recall"] == nothing["characters.f1"] == 0
    assert nothing["score.auroc"] == nothing["faulty.balanced_accuracy"] == 0.5
    assert nothing["flagged.error_free"] == nothing["faulty.caught"] == 0
    everything = values(of(findings, "everything"))
    assert everything["characters.precision"] == pytest.approx(12 / 37)
    assert everything["characters.recall"] == everything["flagged.error_free"] == 1
    assert everything["score.auroc"] == everything["faulty.balanced_accuracy"] == 0.5
    new = values(of(findings, "new words"))
    # bb cc; bb; bb; bb cc dd, of which bb cc are marked; none; bb.
    assert new["characters.precision"] == pytest.approx(4 / 16)
    assert new["characters.recall"] == pytest.approx(4 / 12)
    # Shares 2/3, 3/4, 1/2, 1/2, 1/2 of texts with errors, 1/2, 1/2, 0 of those without.
    assert new["score.auroc"] == pytest.approx(12 / 15)
    assert new["flagged.error_free"] == pytest.approx(2 / 3)


def test_a_gain_is_the_difference_to_the_baseline_of_new_words(findings: Findings) -> None:
    judge, new = of(findings, "judge"), of(findings, "new words")
    assert set(judge.gains) == set(GAINS)
    for name, gain in judge.gains.items():
        assert gain.value == pytest.approx(judge.figures[name].value - new.figures[name].value)
    assert judge.gains["characters.f1"].value == pytest.approx(14 / 30 - 8 / 28)
    assert new.gains == {}


def test_a_gain_is_over_the_texts_that_both_have_answered(texts: tuple[BenchText, ...]) -> None:
    pair = [text for text in texts if text.segment.segment_id in {"one", "missed"}]
    bare = replace(pair[1], segment=replace(pair[1].segment, inputs={}))  # no word of it is new
    ten = BenchSet(name="s", texts=(pair[0], bare))
    judge = of(findings_of([ten], ANSWERED, judges=["judge"], settings=FAST), "judge")
    # Of the first text alone: 2 of 5 marked and 2 gold, less 0 of 4 and 2.
    assert judge.gains["characters.f1"].value == pytest.approx(4 / 7)
    assert judge.figures["characters.f1"].value == pytest.approx(4 / 9)


def test_groups_of_texts_have_figures_of_their_own(texts: tuple[BenchText, ...]) -> None:
    named = {"one": ("x",), "alarm": ("x", "y"), "failed": ("x",)}
    ten = BenchSet(
        name="ten",
        texts=tuple(
            replace(text, groups=named.get(text.segment.segment_id, ()))
            for text in texts
            if text.is_known
        ),
    )
    found = findings_of([ten], ANSWERED, judges=["judge"], settings=FAST)
    x, y = of(found, "judge").groups
    assert (x.name, y.name) == ("x", "y")
    assert (x.coverage.faulty, x.coverage.error_free) == ((1, 2), (1, 1))
    assert set(x.figures) == set(OF_GROUPS)
    assert x.figures["score.auroc"].value == x.figures["flagged.faulty"].value == 1
    assert x.figures["flagged.error_free"].value == 1
    assert x.figures["characters.f1"].value == pytest.approx(4 / 9)  # 2 of 7 marked, 2 gold
    assert math.isnan(y.figures["flagged.faulty"].value)
    assert [one.name for one in of(found, "new words").groups] == ["x", "y"]
    assert of(found, "everything").groups == ()
    assert "| x | judge | 1 of 2 | 1 of 1 | 1.000 | 1.000 | 1.000 |" in page_of(found)


def test_a_failure_is_in_no_figure_and_in_the_coverage_of_all(findings: Findings) -> None:
    judge, baseline = of(findings, "judge"), of(findings, "everything")
    assert judge.coverage == baseline.coverage
    assert judge.coverage.texts == (8, 9)
    assert judge.coverage.marked == (6, 7)
    assert judge.coverage.error_free == (3, 3)
    assert judge.coverage.faulty == (5, 6)
    assert judge.coverage.rated == (4, 5)
    assert judge.failures == {"unparseable": 1}
    said = " ".join(cautions(findings))
    assert "judge scored 8 of 9 texts (1 unparseable)" in said
    assert "1 text was not judged" in said


def test_a_judge_that_always_fails_has_no_figure_and_no_row(texts: tuple[BenchText, ...]) -> None:
    failure = Failure(outcome=Outcome.TIMED_OUT, reason="slow")
    answers = {("judge", text.segment.segment_id): failure for text in texts}
    found = findings_of([BenchSet(name="ten", texts=texts)], answers, judges=["judge"])
    assert all(math.isnan(value) for value in values(of(found, "judge")).values())
    assert found.sets[0].judges == ()


def test_intervals_hold_the_figure_and_vanish_where_all_draws_are_alike(findings: Findings) -> None:
    figures = of(findings, "judge").figures
    assert figures["characters.f1"].low < 14 / 30 < figures["characters.f1"].high
    assert math.isnan(of(findings, "nothing").figures["score.auroc"].low)


def test_a_source_is_drawn_with_all_its_texts(texts: tuple[BenchText, ...]) -> None:
    one = [text for text in texts if text.segment.segment_id in {"one", "clean"}]
    found = findings_of([BenchSet(name="s", texts=tuple(one))], ANSWERED, judges=["judge"])
    assert found.sets[0].sources == 1
    assert all(math.isnan(one.low) for one in of(found, "judge").figures.values())
    assert of(found, "judge").figures["score.auroc"].value == 1


def test_the_answer_says_that_the_cut_off_was_chosen_on_these_texts(findings: Findings) -> None:
    answer = plain_text(report_of(findings).answer)
    assert "(the better of two on these texts, so the figure is optimistic)" in answer


def test_the_legend_of_a_terminal_explains_only_columns_that_are_there(findings: Findings) -> None:
    def legend(found: Findings) -> str:
        (reading,) = (
            block.text
            for block in report_of(found).sections
            if isinstance(block, Paragraph) and block.only == "terminal"
        )
        return plain_text(reading)

    assert "ECE" in legend(findings)
    without_judge = replace(findings.sets[0], findings=findings.sets[0].findings[1:])
    bare = legend(replace(findings, sets=(without_judge,)))
    assert "ECE" not in bare
    assert "AUROC of score" in bare
    assert "Places hit" in bare


def test_a_set_without_texts_has_no_rows() -> None:
    found = findings_of([BenchSet(name="none", texts=(), unknown=3)], {}, judges=["judge"])
    assert found.sets[0].judges == ()
    assert "3 texts were not judged" in " ".join(cautions(found))


def test_the_page_shows_every_table_with_its_coverage(findings: Findings) -> None:
    page = page_of(findings)
    assert "9 texts of 5 sources; 6 with errors, at 5 places, 3 without; 5 with people" in page
    assert "| judge | 6 of 7 | 0.467 [" in page
    assert "| judge | 8 of 9 | 0.733" in page
    assert "| judge | 4 of 5 | 0.800" in page
    assert "judge: precision by category" in page
    assert "| PredE | 1 | 1 | 0.400" in page
    assert "{}" not in page
    assert "AUROC of P |" in page
    without_judge = replace(findings.sets[0], findings=findings.sets[0].findings[1:])
    bare = page_of(replace(findings, sets=(without_judge,)))
    overview = bare.partition("## Overview")[2].partition("\n## ")[0]
    assert "AUROC of score |" in overview
    assert "AUROC of P |" not in overview  # no baseline estimates one
    assert "Spearman" in overview


def test_a_judge_without_spans_on_marked_texts_has_no_table_of_categories(
    findings: Findings,
) -> None:
    judge, *others = findings.sets[0].findings
    silent = [replace(each, spans=0, texts=0) for each in judge.categories]
    own = replace(findings.sets[0], findings=(replace(judge, categories=tuple(silent)), *others))
    assert "precision by category" not in page_of(replace(findings, sets=(own,)))


def test_a_card_has_a_measure_for_each_figure_of_each_set(findings: Findings) -> None:
    measures = {measure.name: measure for measure in measures_of(findings)}
    assert tuple(measures) == (*ranges_of(["ten"]),)
    assert len(measures) == len(FIGURES)
    assert measures["characters.f1.ten"].value == pytest.approx(14 / 30)
    assert measures["characters.f1.ten"].count == 6
    assert measures["faulty.false_alarms.ten"].count == 3
    assert measures["score.auroc.ten"].count == 8


def segment(
    output: str = "The bridges opened in 1935.", source: str = "It opened in 1932: a bridge."
) -> BenchText:
    inputs = {"Article": source} if source else {}
    one = Segment(segment_id="s", output=output, inputs=inputs)
    return BenchText(segment=one, aspect=ASPECT, source="s", faulty=None, gold=None, human=None)


def test_new_words_are_those_of_meaning_whose_stem_the_input_lacks() -> None:
    assert mark_new_words(segment()) == Answer(
        spans=(FoundSpan(start=22, end=26),), suspicion=1 / 3, decision=Decision.FAULTY
    )
    assert mark_new_words(segment("...")) == Answer()


def test_without_an_input_no_word_is_new() -> None:
    said = mark_new_words(segment(source=""))
    assert isinstance(said, Failure)
    assert said.outcome is Outcome.ABSTAINED


def test_everything_is_one_span_unless_there_is_nothing() -> None:
    assert mark_everything(segment("ab")).spans == (FoundSpan(start=0, end=2),)
    assert mark_everything(segment("")) == mark_nothing(segment("")) == Answer()


def read(
    meta: Mapping[str, object] | None = None,
    *,
    output: str = "x y",
    gold: tuple[ErrorSpan, ...] = (),
    human: Mapping[str, Mapping[str, float]] | None = None,
    by: str = "kind",
) -> BenchText:
    catalogue = Catalogue.load()
    one = Segment(
        segment_id="s",
        system="bart",
        output=output,
        gold=gold,
        meta=meta or {},
        human=human or {},
        inputs={"Text": "x"},
    )
    aspect = catalogue.aspect("summarization", "consistency")
    return bench_text(one, aspect, catalogue=catalogue, by=by)


@pytest.mark.parametrize(
    ("meta", "faulty"),
    [
        ({}, None),
        ({"supported": True}, False),
        ({"supported": False}, True),
        ({"supported": "TRUE"}, False),
        ({"supported": ""}, None),
        ({"supported": None, "spans": []}, None),
        ({"spans": []}, False),
        ({"annotators": ["ann"]}, False),
        ({"annotator": "ann"}, False),
        ({"annotators": []}, None),
    ],
)
def test_a_row_says_whether_a_text_without_marks_has_errors(
    meta: dict[str, object], faulty: bool | None
) -> None:
    text = read(meta)
    assert text.faulty is faulty
    assert text.gold == (() if faulty is False else None)


@pytest.mark.parametrize("supported", ["perhaps", 1, 0.5, ["true"]])
def test_any_other_word_for_supported_is_refused(supported: object) -> None:
    with pytest.raises(DataError, match="row 's': got supported .* expected true, false or null"):
        read({"supported": supported})


def test_a_row_that_contradicts_itself_is_refused() -> None:
    with pytest.raises(DataError, match="supported is true, yet errors are marked"):
        read({"supported": True}, gold=(mark("x y", "y"),))


@pytest.mark.parametrize(
    ("effects", "faulty"),
    [
        ({"consistency": "falls", "*": "unchanged"}, True),
        ({"consistency": "unchanged", "fluency": "falls"}, False),
        ({"*": "unchanged", "fluency": "falls"}, False),
        ({"fluency": "falls"}, None),
        ({"consistency": "rises"}, None),
        ({}, None),
    ],
)
def test_damage_is_an_error_only_on_the_aspects_that_it_harms(
    effects: dict[str, str], faulty: bool | None
) -> None:
    text = read({"aspect_effects": effects}, gold=(mark("x y", "y"),))
    assert text.faulty is faulty
    assert text.gold == {True: (GoldPlace(start=2, end=3),), False: (), None: None}[faulty]


@pytest.mark.parametrize("effects", ["falls", {"fluency": "worse"}, {"fluency": ["falls"]}])
def test_effects_that_cannot_be_read_are_refused(effects: object) -> None:
    with pytest.raises(DataError, match="expected for each aspect one of falls, unchanged, rises"):
        read({"aspect_effects": effects}, gold=(mark("x y", "y"),))


def test_kinds_are_those_of_the_mark_or_of_the_text_and_say_the_extent() -> None:
    gold = (mark("x y", "y"),)
    assert read({"kinds": ["extrinsic-NP"]}, gold=gold).gold == (
        GoldPlace(start=2, end=3, kinds=("extrinsic-NP",), extent="extrinsic"),
    )
    spans = [{"kinds": ["a", "Intrinsic b"], "extent": " Intrinsic "}]
    (place,) = read({"spans": spans, "kinds": ["c"]}, gold=gold).gold or ()
    assert (place.kinds, place.extent) == (("a", "Intrinsic b"), "intrinsic")
    (place,) = read({"kinds": ["intrinsic-NP", "extrinsic-NP"]}, gold=gold).gold or ()
    assert place.extent == ""


def test_texts_are_grouped_by_the_key_that_is_named() -> None:
    meta = {"kind": "negation", "edit": ["number", "name"]}
    assert read(meta).groups == ("negation",)
    assert read({**meta, "kinds": ["a", "b"]}).groups == ("a", "b")
    assert read(meta, by="edit").groups == ("number", "name")
    assert read(meta, by="system").groups == ("bart",)
    assert read(meta, by="year").groups == ()


def test_sources_are_groups_or_else_inputs() -> None:
    three, four = read({"group": 3}).source, read({"group": 4}).source
    assert three == read({"group": "3"}).source != four
    assert read().source == read(output="z").source != three


def test_people_may_call_the_aspect_otherwise() -> None:
    human = {"fluency": {"": 5.0}, "rhyme": {"": 4.0}, "factuality": {"ann": 2.0, "bob": 3.0}}
    assert read(human=human).human == 2.5
    assert read(human={"fluency": {"": 5.0}}).human is None


def omission() -> ErrorSpan:
    return ErrorSpan(
        text="z", start=None, end=None, explanation="", severity=3, located=Located.UNLOCATED
    )


async def judged(*judges: FixedJudge, texts: tuple[BenchText, ...]) -> BenchResult:
    """Have the judges examined on the first text."""

    panel = panel_of(*judges, names=[judge.name for judge in judges])
    one = tuple(text for text in texts if text.segment.segment_id == "one")
    bench = Bench(sets=(BenchSet(name="one", texts=one),), settings=FAST)
    record = Recorder(lambda _: None)
    run = ExamRun(
        open_panel=lambda _: opened(panel), workers=2, stop_token=StopToken(), record=record
    )
    return await run_bench(bench, run)


async def test_the_panel_and_its_seats_are_measured_apart(texts: tuple[BenchText, ...]) -> None:
    says = Report(score=2, spans=(mark("aa bb cc", "bb"), omission()), error_probability=0.75)
    result = await judged(
        FixedJudge(says=says, name="marks"),
        FixedJudge(says=JudgeError("out of order"), name="fails"),
        texts=texts,
    )
    answer = result.answers["marks", "one"]
    assert isinstance(answer, Answer)
    assert answer.spans == (FoundSpan(start=3, end=5),)
    assert (answer.unlocated, answer.suspicion, answer.probability) == (1, 3, 0.75)
    assert answer.decision is Decision.UNSURE
    assert isinstance(result.answers["fails", "one"], Failure)
    roles = {one.judge: one.role for one in result.findings.sets[0].findings}
    assert (roles[PANEL], roles["marks"], roles["fails"]) == ("panel", "seat", "seat")
    assert of(result.findings, "fails").coverage.texts == (0, 1)


async def test_a_seat_decides_as_a_panel_of_its_own(texts: tuple[BenchText, ...]) -> None:
    grave = Report(score=2, spans=(mark("aa bb cc", "bb", severity=4),))
    result = await judged(
        FixedJudge(says=grave, name="stern"),
        FixedJudge(says=Report(score=5), name="mild"),
        texts=texts,
    )
    decisions = {
        judge: answer.decision
        for (judge, _), answer in result.answers.items()
        if isinstance(answer, Answer)
    }
    assert decisions == {PANEL: Decision.FAULTY, "stern": Decision.FAULTY, "mild": Decision.OK}


async def test_a_judge_alone_is_called_by_its_name(texts: tuple[BenchText, ...]) -> None:
    result = await judged(FixedJudge(says=Report(score=5), name="alone"), texts=texts)
    (alone,) = (one for one in result.findings.sets[0].findings if one.role != "baseline")
    assert alone.judge == "alone"


def test_a_bench_needs_texts_of_which_something_is_known() -> None:
    with pytest.raises(ConfigError, match="no row has gold data"):
        Bench(sets=(BenchSet(name="none", texts=(), unknown=2),))
