from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from pathlib import Path

import pytest
from anyio import create_task_group, wait_all_tasks_blocked
from fakes.judges import ASPECT, FixedJudge, WaitingJudge, panel_of, segment
from hypothesis import given
from hypothesis import strategies as st

from spanjury.judges.core import Aspect, ConfigError, Report, Result, Segment
from spanjury.judges.tasks import Catalogue
from spanjury.orchestration.engine.batch import evaluate, pair
from spanjury.orchestration.engine.sharding import Shard, parse_shard

ARRAY = {
    "SLURM_ARRAY_TASK_ID": "3",
    "SLURM_ARRAY_TASK_MIN": "1",
    "SLURM_ARRAY_TASK_MAX": "16",
    "SLURM_ARRAY_TASK_STEP": "1",
    "SLURM_ARRAY_TASK_COUNT": "16",
}
IN_TENS = {
    **ARRAY,
    "SLURM_ARRAY_TASK_ID": "120",
    "SLURM_ARRAY_TASK_MIN": "100",
    "SLURM_ARRAY_TASK_STEP": "10",
}
CATALOGUE = Catalogue.load()
SUMMARY = replace(segment(), task="summarization")
ANSWER = replace(segment("t"), task="qa")


def pairs(count: int) -> list[tuple[Segment, Aspect]]:
    return [(segment(str(number)), ASPECT) for number in range(count)]


async def test_results_come_in_the_order_of_the_pairs_whoever_is_done_first() -> None:
    judge = WaitingJudge.holding(["0", "2"])
    written: list[Result] = []
    panel = panel_of(judge, names=["only"])
    async with create_task_group() as group:
        group.start_soon(partial(evaluate, panel, pairs(5), write=written.append, workers=3))
        await wait_all_tasks_blocked()
        assert written == []
        judge.events["2"].set()
        await wait_all_tasks_blocked()
        assert written == []
        judge.events["0"].set()
    assert [result.segment.segment_id for result in written] == list("01234")


async def test_no_more_pairs_are_read_than_the_window_holds() -> None:
    judge = WaitingJudge.holding([str(number) for number in range(1000)])
    read: list[str] = []

    def reading() -> Iterator[tuple[Segment, Aspect]]:
        for one, aspect in pairs(1000):
            read.append(one.segment_id)
            yield one, aspect

    panel = panel_of(judge, names=["only"])
    async with create_task_group() as group:
        group.start_soon(partial(evaluate, panel, reading(), write=lambda _: None, workers=2))
        await wait_all_tasks_blocked()
        assert len(judge.began) == 2
        assert len(read) <= 2 * 4 + 2
        group.cancel_scope.cancel()


async def test_a_cancelled_run_has_written_all_that_is_complete() -> None:
    judge = WaitingJudge.holding(["1"])
    written: list[Result] = []
    panel = panel_of(judge, names=["only"])
    async with create_task_group() as group:
        group.start_soon(partial(evaluate, panel, pairs(5), write=written.append, workers=2))
        await wait_all_tasks_blocked()
        (first,) = written  # the others wait behind the one that hangs
        assert first.segment.segment_id == "0"
        group.cancel_scope.cancel()
    assert [result.segment.segment_id for result in written] == ["0", "2", "3", "4"]


async def test_an_error_of_the_writer_ends_the_run_as_itself() -> None:
    def full(_: Result) -> None:
        raise OSError("disk full")

    judge = FixedJudge(says=Report(score=3))
    with pytest.raises(OSError, match="disk full"):
        await evaluate(panel_of(judge, names=["only"]), pairs(100), write=full)


async def test_an_error_of_the_reader_comes_after_what_was_read_before_it() -> None:
    written: list[Result] = []

    def reading() -> Iterator[tuple[Segment, Aspect]]:
        yield from pairs(3)
        raise ValueError("row 4 is broken")

    judge = FixedJudge(says=Report(score=3))
    with pytest.raises(ValueError, match="row 4"):
        await evaluate(panel_of(judge, names=["only"]), reading(), write=written.append, workers=1)
    assert len(written) <= 3


@pytest.mark.parametrize(
    ("text", "environment"),
    [
        ("3/16", {}),
        ("3/16", {"JOB_COMPLETION_INDEX": "7", "SLURM_ARRAY_TASK_ID": "7"}),
        ("16", {"JOB_COMPLETION_INDEX": "2"}),
        ("16", {"JOB_COMPLETION_INDEX": "2", **ARRAY, "SLURM_ARRAY_TASK_ID": "9"}),
        ("16", {"SLURM_ARRAY_TASK_ID": "2"}),
        ("16", ARRAY),
        ("auto", ARRAY),
        ("auto", {**ARRAY, "JOB_COMPLETION_INDEX": "7"}),
        ("auto", IN_TENS),
    ],
)
def test_the_third_of_sixteen_is_named_in_many_ways(text: str, environment: dict[str, str]) -> None:
    assert parse_shard(text, environment) == Shard(number=3, of=16)


@pytest.mark.parametrize(
    "text",
    ["", "3/", "/16", "3/16/2", "3 of 16", "-3/16", "3/16 ", "٣/16", "Auto", "1.5", "9" * 5000],
)
def test_an_invalid_shard_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ConfigError, match="expected one as 3/16, a count as 16, or auto"):
        parse_shard(text, ARRAY)


def test_no_shards_are_refused_whatever_the_environment_says() -> None:
    for environment in ({}, {"JOB_COMPLETION_INDEX": "0"}):
        with pytest.raises(ConfigError, match="got 0 shards, expected 1 or more"):
            parse_shard("0", environment)


@pytest.mark.parametrize("text", ["0/16", "17/16", "0/0"])
def test_shards_are_counted_from_one(text: str) -> None:
    with pytest.raises(ConfigError, match="must be 1 to the number of shards"):
        parse_shard(text, {})


@pytest.mark.parametrize(
    ("text", "environment", "problem"),
    [
        ("16", {}, "neither JOB_COMPLETION_INDEX nor SLURM_ARRAY_TASK_ID is set"),
        ("16", {"JOB_COMPLETION_INDEX": "16"}, "got shard 17 of 16"),
        ("16", {"JOB_COMPLETION_INDEX": "x"}, "JOB_COMPLETION_INDEX is 'x', expected a whole"),
        ("auto", {}, "SLURM_ARRAY_TASK_COUNT is not set"),
        ("auto", {"JOB_COMPLETION_INDEX": "1"}, "SLURM_ARRAY_TASK_COUNT is not set"),
        ("auto", {"SLURM_ARRAY_TASK_COUNT": "4"}, "SLURM_ARRAY_TASK_ID is not set"),
        ("auto", {**ARRAY, "SLURM_ARRAY_TASK_ID": ""}, "SLURM_ARRAY_TASK_ID is ''"),
        ("auto", {**ARRAY, "SLURM_ARRAY_TASK_STEP": "0"}, "in steps of 0"),
        ("auto", {**ARRAY, "SLURM_ARRAY_TASK_STEP": "5"}, "in steps of 5"),
        ("auto", {**ARRAY, "SLURM_ARRAY_TASK_ID": "0"}, "expected one of its first 16 tasks"),
        ("auto", {**ARRAY, "SLURM_ARRAY_TASK_ID": "17"}, "expected one of its first 16 tasks"),
    ],
)
def test_an_environment_that_does_not_name_the_shard_is_refused(
    text: str, environment: dict[str, str], problem: str
) -> None:
    with pytest.raises(ConfigError, match=problem):
        parse_shard(text, environment)


def test_two_of_sixteen_tasks_that_are_submitted_again_are_not_taken_for_the_first_two() -> None:
    again = {**ARRAY, "SLURM_ARRAY_TASK_MIN": "3", "SLURM_ARRAY_TASK_COUNT": "2"}
    with pytest.raises(ConfigError, match="got 16 shards in an array of 2 tasks"):
        parse_shard("16", again)
    assert parse_shard("3/16", again) == Shard(number=3, of=16)


@given(st.lists(st.integers()), st.integers(1, 9))
def test_shards_share_out_all_rows_and_keep_the_order_in_turn(rows: list[int], of: int) -> None:
    shards = [list(Shard(number=n, of=of).of_rows(iter(rows))) for n in range(1, of + 1)]
    gap = object()
    in_turn = [row for turn in zip_longest(*shards, fillvalue=gap) for row in turn]
    assert [row for row in in_turn if row is not gap] == rows


def test_each_shard_has_a_file_and_a_folder_of_its_own() -> None:
    shard = Shard(number=3, of=16)
    assert shard.path(Path("far/results.jsonl")) == Path("far/results.shard-3-of-16.jsonl")
    assert shard.path(Path("results")) == Path("results.shard-3-of-16")
    assert shard.folder(Path("runs/one")) == Path("runs/one/shard-3-of-16")


def paired(*args: object, **options: object) -> list[tuple[str, str, str]]:
    pairs = pair(list(args), CATALOGUE, **options)  # type: ignore[arg-type]  # given by each test
    return [(s.segment_id, aspect.task.name, aspect.name) for s, aspect in pairs]


def test_a_row_is_judged_on_the_defaults_of_its_own_task() -> None:
    assert paired(SUMMARY, ANSWER) == [
        ("s", "summarization", "consistency"),
        ("s", "summarization", "fluency"),
        ("t", "question-answering", "faithfulness"),
        ("t", "question-answering", "fluency"),
    ]


def test_the_task_asked_for_goes_before_the_rows_own() -> None:
    assert {task for _, task, _ in paired(ANSWER, task="summarization")} == {"summarization"}


def test_aspects_are_taken_once_whatever_they_are_called() -> None:
    asked = ("factual consistency", "consistency", "Coherence")
    assert [name for *_, name in paired(SUMMARY, aspects=asked)] == ["consistency", "coherence"]


def test_all_stands_for_every_aspect_of_the_task() -> None:
    names = [name for *_, name in paired(SUMMARY, aspects=("all",))]
    assert {*names} >= {"accuracy", "coherence", "consistency", "coverage", "fluency", "relevance"}


def test_a_row_without_a_task_is_of_the_task_that_knows_its_inputs() -> None:
    inputs = {"question": "When?", "Context [1]": "It rains.", "Context [2]": "It opened in 1932."}
    asked = replace(segment(), inputs=inputs)
    for row, task in ((segment(), "summarization"), (asked, "question-answering")):
        assert {aspect.task.name for _, aspect in pair([row], Catalogue.load())} == {task}


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"task": "sumarization"}, "sumarization.*summarization"),
        ({"aspects": ("fluancy",)}, "fluancy.*fluency"),
    ],
)
def test_an_unknown_name_lists_the_choices(options: dict[str, object], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        paired(SUMMARY, **options)


def test_turns_under_a_header_of_passages_are_one_text_in_a_task_that_knows_them_as_one() -> None:
    inputs = {"context [1]": "A: Hi.", "context [2]": "B: Hello."}
    row = replace(segment(), inputs=inputs)
    ((talk, _),) = pair([row], CATALOGUE, task="dialogue", aspects=("fluency",))
    ((answer, _),) = pair([row], CATALOGUE, task="qa", aspects=("fluency",))
    assert (talk.inputs, answer.inputs) == ({"context": "A: Hi.\nB: Hello."}, inputs)
