"""Rows, splits, sampling and targets of training data."""

from collections import Counter, defaultdict

import numpy as np
import pytest
from fakes.judges import ASPECT, mark
from fakes.training_rows import aspects_of, data_file, text
from hypothesis import given
from hypothesis import strategies as st

from spanjury.judges.core import (
    ConfigError,
    DataError,
    ErrorSpan,
    Outcome,
    PanelReport,
    Report,
    Result,
    SeatReport,
    Segment,
)
from spanjury.judges.llm.distilled_form import written_number
from spanjury.orchestration.studies.distillation.summary import Inventory, SeatScores
from spanjury.orchestration.studies.distillation.targets import (
    Row,
    Targets,
    least_used,
    permits_training,
    refuse_overlap,
    require_licences,
    rows_of,
    sampled,
)
from spanjury.orchestration.studies.distillation.training_set import Example, Shares, input_keys

OUTPUT = "The bridge opened in 1935."
(ROW,) = rows_of([data_file([text("a", "It opened in 1932.", output=OUTPUT, system="s")])])
SPAN = mark(OUTPUT, "1935", "It was 1932.", 4)
INVENTED = ErrorSpan(text="in 1999", explanation="Not there.", severity=5)
OMITTED = ErrorSpan(text="", explanation="The cost is missing.", severity=2)
SYSTEMS = "abcdefg"
PASSAGE = " ".join(f"word{number}" for number in range(25))
SEGMENTS = st.lists(st.tuples(st.integers(0, 30), st.booleans()), min_size=1, max_size=60)


def seat(name: str, score: float | None) -> SeatReport:
    failed = Report(outcome=Outcome.REFUSED, reason="declined")
    report = failed if score is None else Report(score=score)
    return SeatReport(seat=name, signature=name, report=report, seconds=0)


def said(score: float | None, *spans: ErrorSpan, seats: tuple[SeatReport, ...] = ()) -> Result:
    if score is None:
        report = PanelReport(outcome=Outcome.TIMED_OUT, reason="slow", signature="jury")
    else:
        report = PanelReport(score=score, spans=spans, signature="jury", seats=seats)
    return Result(segment=ROW.segment, aspect=ASPECT, report=report)


def made(score: float | None, *spans: ErrorSpan, targets: Targets | None = None) -> Example:
    example = (targets or Targets()).of_panel(ROW, said(score, *spans))
    assert isinstance(example, Example)
    return example


def reason(score: float | None, *spans: ErrorSpan) -> str:
    skipped = Targets().of_panel(ROW, said(score, *spans))
    assert isinstance(skipped, str)
    return skipped


def test_a_report_becomes_an_example_with_all_that_it_came_from() -> None:
    example = made(3.4, SPAN, OMITTED, targets=Targets(seed=7, teachers={"m": "MIT"}))
    assert "\n\nOverall score: 60\n\nExplanation 1: It was 1932." in example.target
    assert example.report.score == 3.4
    assert example.report.spans == (SPAN, OMITTED)
    assert (example.provenance.panel, example.provenance.seed) == ("jury", 7)
    assert (example.provenance.source, example.provenance.row) == ("data.jsonl", "a")
    assert example.licences.teachers == {"m": "MIT"}
    assert (example.task, example.aspect, example.system) == ("summarization", "consistency", "s")


@pytest.mark.parametrize(("mean", "stretched", "share"), [(1, 0, 20), (3.4, 60, 70), (5, 100, 100)])
def test_both_readings_of_the_paper_are_there(mean: float, stretched: int, share: int) -> None:
    for reading, number in (("stretched", stretched), ("share", share)):
        targets = Targets(reading=reading)  # type: ignore[arg-type]  # one of the two
        example = made(mean, SPAN, targets=targets)
        assert written_number(example.target) == str(number)


def test_a_quotation_that_is_not_in_the_text_is_not_learnt() -> None:
    assert made(2, SPAN, INVENTED).report.spans == (SPAN,)


@pytest.mark.parametrize("spans", [(), (INVENTED,)])
def test_a_bad_score_that_no_error_explains_is_skipped(spans: tuple[ErrorSpan, ...]) -> None:
    assert "no error" in reason(2, *spans)


def test_no_score_is_nothing_to_learn() -> None:
    assert reason(None) == "the panel gives no score: timed_out"


def test_the_outliers_of_each_seat_are_counted_over_the_scores_it_gave() -> None:
    inventory = Inventory()
    for last in (2, 4, None):
        seats = (*(seat(name, 4) for name in "abcd"), seat("e", last))
        inventory.add_scores("story", said(4, SPAN, seats=seats).report)
    assert inventory.seats["a", "story"] == SeatScores(scores=3, far=0)
    assert inventory.seats["e", "story"] == SeatScores(scores=2, far=1)
    assert sum(scores.far for scores in inventory.seats.values()) == 1


def test_the_tables_hold_what_was_added() -> None:
    inventory = Inventory()
    for score, spans in ((5.0, ()), (3.0, (SPAN, OMITTED)), (2.0, (SPAN,))):
        inventory.add(made(score, *spans))
    counts = inventory.tasks["summarization"]
    assert (len(counts.datasets), len(counts.systems), len(counts.outputs)) == (1, 1, 1)
    assert (counts.examples, counts.error_free, counts.spans) == (3, 1, 3)
    assert inventory.numbers == Counter({"100": 1, "50": 1, "25": 1})
    assert list(inventory.cautions()) == [
        "there is no example for validation",
        "there is no example for test",
    ]


@pytest.mark.parametrize(
    ("reports", "caution"),
    [
        ([(5.0, ())], "one class only: every example is error-free"),
        ([(3.0, (SPAN,)), (2.0, (SPAN,))], "one class only: no example is error-free"),
        ([(5.0, ()), (5.0, (SPAN,))], "every example has the score 100"),
    ],
)
def test_training_on_one_class_warns(
    reports: list[tuple[float, tuple[ErrorSpan, ...]]], caution: str
) -> None:
    inventory = Inventory()
    for score, spans in reports:
        inventory.add(made(score, *spans))
    assert next(inventory.cautions()) == caution


def rows(inputs: int) -> tuple[Row, ...]:
    segments = [
        text(f"{n}{system}", f"source {n}", output=f"Text {n} of {system}.", system=system)
        for n in range(inputs)
        for system in SYSTEMS
    ]
    return rows_of([data_file(segments)])


@given(st.integers(1, 12), st.integers(1, 9), st.integers(1, 8), st.integers(0, 99))
def test_every_input_has_its_systems_and_every_output_its_aspects(
    inputs: int, systems: int, per_output: int, seed: int
) -> None:
    given_rows = rows(inputs)
    aspects = aspects_of(given_rows)
    known = len(aspects["summarization"])
    drawn = list(sampled(given_rows, aspects, systems=systems, per_output=per_output, seed=seed))
    outputs = Counter(row.segment.segment_id for row, _ in drawn)
    assert len(drawn) == len({(row.segment.segment_id, aspect.name) for row, aspect in drawn})
    assert set(outputs.values()) == {min(per_output, known)}
    assert len(outputs) == inputs * min(systems, len(SYSTEMS))
    for used in (
        Counter(row.segment.system for row, _ in drawn),
        Counter(aspect.name for _, aspect in drawn),
    ):
        counts = [used[name] for name in used]
        assert max(counts) - min(counts) <= max(1, min(per_output, known))
    again = sampled(given_rows, aspects, systems=systems, per_output=per_output, seed=seed)
    assert drawn == list(again)


def test_an_aspect_that_cannot_be_judged_is_not_drawn() -> None:
    blind = rows_of([data_file([text("a", "")])])
    names = {
        aspect.name
        for _, aspect in sampled(blind, aspects_of(blind), systems=1, per_output=9, seed=1)
    }
    assert "consistency" not in names
    assert "fluency" in names


def test_the_least_drawn_key_is_next_and_none_repeats_before_all_others() -> None:
    used: Counter[object] = Counter({"a": 2, "b": 1})
    rng = np.random.default_rng(1)
    drawn = least_used(["a1", "a2", "b1", "c1"], used, rng, k=4, key=lambda name: name[0])
    assert [name[0] for name in drawn] == ["c", "b", "a", "a"]
    assert used == Counter({"a": 4, "b": 2, "c": 1})


@pytest.mark.parametrize(
    "licence",
    [
        "CC0-1.0", "cc-by-4.0", "CC BY-SA 3.0", "MIT", "Apache-2.0", "apache 2.0", "ODC-By-1.0",
        "BSD-3-Clause", "Unlicense", "public domain", "CDLA-Permissive-2.0", "PDDL-1.0",
    ],
)  # fmt: skip
def test_open_licences_permit_training(licence: str) -> None:
    assert permits_training(licence)


@pytest.mark.parametrize(
    "licence", ["", "CC-BY-NC-4.0", "CC-BY-ND-4.0", "cc-by-nc-sa-4.0", "proprietary", "llama3.1"]
)
def test_an_unknown_licence_does_not_permit_training(licence: str) -> None:
    assert not permits_training(licence)
    assert permits_training(licence, accepted=[licence])


def test_a_refusal_names_each_only_once() -> None:
    owned = [("a.jsonl", ""), ("a.jsonl", ""), ("b.jsonl", "MIT"), ("gpt", "terms of use")]
    with pytest.raises(ConfigError) as refused:
        require_licences(owned)
    assert str(refused.value) == (
        "not known to permit training: a.jsonl (no licence given); gpt (terms of use)"
    )
    require_licences(owned, accepted=["", "Terms of Use"])


def test_the_first_of_many_refusals_are_named() -> None:
    with pytest.raises(ConfigError, match=r"\(and 15 more\)"):
        require_licences((str(number), "") for number in range(20))


def outputs(drawn: list[tuple[int, bool]]) -> list[Segment]:
    """Return texts for inputs by number, some of them spelt in another way."""
    return [
        text(str(place), f"  SOURCE number {n}!" if loud else f"source Number “{n}”")
        for place, (n, loud) in enumerate(drawn)
    ]


@given(SEGMENTS, st.integers(0, 5))
def test_no_input_is_in_two_splits_whatever_its_spelling(
    drawn: list[tuple[int, bool]], seed: int
) -> None:
    splits = defaultdict(set)
    rows = rows_of([data_file(outputs(drawn))], seed=seed)
    for row, (number, _) in zip(rows, drawn, strict=True):
        splits[number].add(row.split)
        assert row.input_id == input_keys(text("", f"Source number {number}")).whole
    assert all(len(found) == 1 for found in splits.values())


@given(st.integers(3, 200), st.integers(0, 5))
def test_the_shares_are_kept_and_never_nothing(count: int, seed: int) -> None:
    segments = [text(str(n), f"source {n}") for n in range(count)]
    rows = rows_of([data_file(segments)], shares=Shares(validation=0.1, test=0.2), seed=seed)
    found = [row.split for row in rows]
    assert found.count("test") == max(1, round(0.2 * count))
    assert found.count("validation") == max(1, round(0.1 * count))
    assert rows == rows_of([data_file(segments)], shares=Shares(test=0.2), seed=seed)


def test_each_data_set_is_dealt_out_on_its_own() -> None:
    files = [
        data_file([text(f"{name}{n}", f"{name} {n}") for n in range(4)], name)
        for name in ("one", "two")
    ]
    by_set = defaultdict(set)
    for row in rows_of(files):
        by_set[row.dataset].add(row.split)
    assert by_set["one"] == by_set["two"] == {"train", "validation", "test"}


def test_questions_about_one_passage_stay_together() -> None:
    segments = [
        text(f"{p}-{q}", "", inputs={"Passage": f"{p} {PASSAGE} {p}", "Question": f"Which {q}?"})
        for p in "abcdefgh"
        for q in "xy"
    ]
    splits = defaultdict(set)
    for row in rows_of([data_file(segments)]):
        splits[row.segment.segment_id[0]].add(row.split)
    assert {len(found) for found in splits.values()} == {1}
    assert set.union(*splits.values()) == {"train", "validation", "test"}


def test_an_instruction_that_all_inputs_share_ties_none_of_them() -> None:
    segments = [
        text(str(n), "", inputs={"Instruction": PASSAGE, "Article": f"news {n}"}) for n in range(20)
    ]
    assert {row.split for row in rows_of([data_file(segments)])} == {"train", "validation", "test"}


def test_without_inputs_the_outputs_differ() -> None:
    segments = [text(str(n), "", output=f"Story {n}") for n in range(5)]
    assert len({row.input_id for row in rows_of([data_file(segments)])}) == 5


def test_evaluation_texts_are_refused_however_they_are_written() -> None:
    rows = rows_of([data_file([text("ours", "The cat, it sat."), text("mine", "Other")])])
    refuse_overlap(rows, [data_file([text("theirs", "A dog.")], "eval")])
    with pytest.raises(DataError, match=r"inputs of 1 rows .* eval.jsonl \('ours'\)"):
        refuse_overlap(rows, [data_file([text("theirs", "the CAT it sat")], "eval")])


def test_a_row_names_its_own_data_set_and_licence() -> None:
    segments = [
        text("a", "x", meta={"dataset": "news", "license": "MIT"}),
        text("b", "y"),
    ]
    first, second = rows_of([data_file(segments)], licence="CC0-1.0")
    assert (first.dataset, first.licence) == ("news", "MIT")
    assert (second.dataset, second.licence) == ("data", "CC0-1.0")


def test_rows_without_a_task_and_no_rows_are_refused() -> None:
    with pytest.raises(ConfigError, match="--task"):
        rows_of([data_file([text("a", "x", task="")])])
    assert rows_of([data_file([text("a", "x", task="")])], task="story")[0].segment.task == "story"
    with pytest.raises(DataError, match=r"no row in data.jsonl"):
        rows_of([data_file([])])


@pytest.mark.parametrize(("validation", "test"), [(-0.1, 0.1), (0.5, 0.5)])
def test_shares_must_leave_something_to_train_on(validation: float, test: float) -> None:
    with pytest.raises(ValueError, match="shares"):
        Shares(validation=validation, test=test)
