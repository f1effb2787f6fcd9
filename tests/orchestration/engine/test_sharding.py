from itertools import zip_longest
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanjury.judges.core import ConfigError
from spanjury.orchestration.engine.sharding import Shard, parse_shard

ARRAY = {
    "SLURM_ARRAY_TASK_ID": "3",
    "SLURM_ARRAY_TASK_MIN": "1",
    "SLURM_ARRAY_TASK_MAX": "16",
    "SLURM_ARRAY_TASK_STEP": "1",
    "SLURM_ARRAY_TASK_COUNT": "16",
}


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
        (
            "auto",
            {
                "SLURM_ARRAY_TASK_ID": "120",
                "SLURM_ARRAY_TASK_MIN": "100",
                "SLURM_ARRAY_TASK_STEP": "10",
                "SLURM_ARRAY_TASK_COUNT": "16",
            },
        ),
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


@pytest.mark.parametrize("text", ["0/16", "17/16", "0/0"])
def test_shards_are_counted_from_one(text: str) -> None:
    with pytest.raises(ConfigError, match="counted from 1"):
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
