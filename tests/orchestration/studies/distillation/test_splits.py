"""No input is trained on and tested on, however it is written."""

from collections import defaultdict

import pytest
from fakes.training_rows import data_file, text
from hypothesis import given
from hypothesis import strategies as st

from spanjury.judges.core import ConfigError, DataError, Segment
from spanjury.orchestration.studies.distillation.rows import refuse_overlap, rows_of
from spanjury.orchestration.studies.distillation.splits import Shares, input_keys

PASSAGE = " ".join(f"word{number}" for number in range(25))
SEGMENTS = st.lists(st.tuples(st.integers(0, 30), st.booleans()), min_size=1, max_size=60)


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
