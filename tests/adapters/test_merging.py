import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from fakes.result_files import result, write_results
from hypothesis import given
from hypothesis import strategies as st

from spanjury.adapters.files.results.merging import find_parts, merge_parts
from spanjury.judges.core import DataError, EvaluationError, Result, StoreError


def dealt(results: Sequence[Sequence[Result]], folder: Path, *, of: int) -> list[Path]:
    """Deal out the results of each segment to shards, as `Shard.of_rows` does."""
    return [
        write_results(
            folder / f"results.shard-{shard + 1}-of-{of}.jsonl",
            (row for segment in results[shard::of] for row in segment),
        )
        for shard in range(of)
    ]


def segments(count: int) -> list[list[Result]]:
    return [[result(f"id {number}")] for number in range(count)]


def merged(paths: Sequence[Path], target: Path) -> int:
    return merge_parts(find_parts(paths), target)


def refused(paths: Sequence[Path], folder: Path) -> str:
    """Return why `paths` are not merged; nothing is written then."""
    target = folder / "whole.jsonl"
    target.write_text("an earlier run\n")
    before = sorted(folder.rglob("*"))
    with pytest.raises(EvaluationError) as raised:
        merged(paths, target)
    assert (sorted(folder.rglob("*")), target.read_text()) == (before, "an earlier run\n")
    return str(raised.value).replace(f"{folder}/", "")


@given(
    aspects=st.sets(st.sampled_from("abcd"), min_size=1),
    count=st.integers(0, 12),
    of=st.integers(1, 5),
)
def test_merged_shards_are_the_whole_run_byte_for_byte(
    tmp_path_factory: pytest.TempPathFactory, aspects: set[str], count: int, of: int
) -> None:
    folder = tmp_path_factory.mktemp("run")
    results = [
        [
            result(f"{number}\n€", system=f"{number % 3}", aspect=aspect)
            for aspect in sorted(aspects)
        ]
        for number in range(count)
    ]
    rows = [row for segment in results for row in segment]
    undisturbed = write_results(folder / "undisturbed", rows)
    whole = folder / "whole"
    assert merged(dealt(results, folder, of=of)[::-1], whole) == len(rows)
    assert whole.read_bytes() == undisturbed.read_bytes()


def test_a_folder_of_files_stands_for_all_of_them(tmp_path: Path) -> None:
    paths = dealt(segments(5), tmp_path, of=3)
    write_results(tmp_path / "results.jsonl", [result("an earlier merge")])
    (tmp_path / "results.shard-1-of-3.csv").touch()
    (tmp_path / "other").mkdir()
    parts = find_parts([tmp_path])
    assert [part.path for part in parts] == paths
    assert {part.whole for part in parts} == {tmp_path / "results.jsonl"}


def test_a_folder_of_runs_stands_for_all_of_them(tmp_path: Path) -> None:
    folders = [tmp_path / f"shard-{number}-of-2" for number in (1, 2)]
    paths = [write_results(folder / "results.jsonl", []) for folder in folders]
    for given_paths in ([tmp_path], folders, paths):
        parts = find_parts(given_paths)
        assert [part.path for part in parts] == paths
        assert {part.whole for part in parts} == {tmp_path / "results.jsonl"}


def test_shards_beyond_the_first_ten_are_in_their_order(tmp_path: Path) -> None:
    dealt(segments(25), tmp_path, of=12)
    assert merged([tmp_path], tmp_path / "whole") == 25
    rows = (tmp_path / "whole").read_text().splitlines()
    assert [json.loads(row)["id"] for row in rows] == [f"id {number}" for number in range(25)]


def test_a_missing_shard_is_named(tmp_path: Path) -> None:
    paths = dealt(segments(5), tmp_path, of=5)
    assert refused([paths[3], paths[0]], tmp_path) == (
        "results.shard-1-of-5.jsonl is one of 5 shards; 3 of them are missing: 2, 3, 5"
    )
    alone = dealt(segments(1), tmp_path / "many", of=20)[0]
    assert refused([alone], tmp_path).endswith(
        "19 of them are missing: 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, …"
    )


def test_a_shard_that_was_begun_and_never_written_is_missing(tmp_path: Path) -> None:
    write_results(tmp_path / "shard-1-of-2" / "results.jsonl", [])
    (tmp_path / "shard-2-of-2").mkdir()
    assert refused([tmp_path], tmp_path) == (
        "shard-2-of-2/results.jsonl: there is no such file; shard 2 is missing"
    )


def test_a_shard_that_is_there_twice_is_named_by_both_files(tmp_path: Path) -> None:
    dealt(segments(2), tmp_path, of=2)
    write_results(tmp_path / "shard-2-of-2" / "results.jsonl", [])
    problem = refused([tmp_path], tmp_path)
    assert "results.shard-2-of-2.jsonl" in problem
    assert "shard-2-of-2/results.jsonl" in problem
    assert "are both shard 2 of 2" in problem


def test_shards_of_another_number_of_shards_are_refused(tmp_path: Path) -> None:
    paths = [*dealt(segments(2), tmp_path, of=2), *dealt(segments(3), tmp_path, of=3)]
    assert refused(paths[1:3], tmp_path) == (
        "results.shard-1-of-3.jsonl is one of 3 shards, but results.shard-2-of-2.jsonl one of 2:"
        " name the shards of one run"
    )


def test_a_number_beyond_the_last_is_no_shard(tmp_path: Path) -> None:
    paths = dealt(segments(2), tmp_path, of=2)
    beyond = paths[1].rename(tmp_path / "results.shard-3-of-2.jsonl")
    assert "there is no shard 3 of 2" in refused([paths[0], beyond], tmp_path)


@pytest.mark.parametrize("finished_before", [True, False])
def test_an_unfinished_shard_is_to_be_resumed(tmp_path: Path, finished_before: bool) -> None:
    for number in (1, 2):
        write_results(tmp_path / f"shard-{number}-of-2" / "results.jsonl", [])
    results = tmp_path / "shard-2-of-2" / "results.jsonl"
    (tmp_path / "shard-2-of-2" / "results.jsonl.part").touch()
    if not finished_before:
        results.unlink()
    assert refused([tmp_path], tmp_path) == (
        "shard-2-of-2/results.jsonl.part is not finished; continue it with: spanjury resume"
        " shard-2-of-2"
    )


def test_a_file_that_is_not_finished_is_refused_however_it_is_named(tmp_path: Path) -> None:
    paths = dealt(segments(2), tmp_path, of=2)
    part = tmp_path / "results.shard-2-of-2.jsonl.part"
    paths[1].rename(part)
    for given_paths in ([tmp_path], [paths[0], part]):
        assert refused(given_paths, tmp_path) == (
            "results.shard-2-of-2.jsonl.part is not finished: resume its run, or judge the shard"
            " again"
        )


@pytest.mark.parametrize(
    "name",
    [
        "results.jsonl",
        "shard-1-of-2",
        "results.shard-1-of-.jsonl",
        "results.shard-0-of-2.jsonl",
        ".",
    ],
)
def test_a_file_that_is_no_shard_is_refused(tmp_path: Path, name: str) -> None:
    assert "is not a shard's results" in refused([tmp_path / name], tmp_path)


def test_shards_that_different_panels_judged_are_named_with_both_signatures(tmp_path: Path) -> None:
    rows = [*segments(2), [result("b", panel="panel|2")]]
    assert refused(dealt(rows, tmp_path, of=3), tmp_path) == (
        "results.shard-3-of-3.jsonl and results.shard-1-of-3.jsonl were judged by different panels"
        " on 'consistency': panel|2 and panel|1"
    )


def test_shards_of_different_aspects_are_named_with_both(tmp_path: Path) -> None:
    rows = [*segments(2), [result("b", aspect="fluency")]]
    assert refused(dealt(rows, tmp_path, of=3), tmp_path) == (
        "results.shard-3-of-3.jsonl and results.shard-1-of-3.jsonl have different aspects of the"
        " task 'summarization': fluency and consistency"
    )


@pytest.mark.parametrize(
    ("job", "problem"),
    [
        ({"data": "/mnt/texts.jsonl", "limit": 9}, "limit is 9 and None"),
        ({"data": "/home/other.jsonl"}, "data is '/home/other.jsonl' and '{}/texts.jsonl'"),
        ({"data": "{}/more/texts.jsonl"}, "data is '{}/more/texts.jsonl' and '{}/texts.jsonl'"),
    ],
)
def test_shard_folders_of_other_settings_or_data_are_refused(
    tmp_path: Path, job: dict[str, object], problem: str
) -> None:
    (tmp_path / "more").mkdir()
    for file in (tmp_path / "texts.jsonl", tmp_path / "more" / "texts.jsonl"):
        file.write_text(str(file))
    jobs = ({"data": "{}/texts.jsonl", "limit": None}, {"limit": None, **job})
    for number, each in enumerate(jobs, start=1):
        folder = tmp_path / f"shard-{number}-of-2"
        write_results(folder / "results.jsonl", [])
        named = json.dumps({"job": each}).replace("{}/", f"{tmp_path}/")
        (folder / "run.json").write_text(named)
    assert refused([tmp_path], tmp_path) == (
        "shard-2-of-2/run.json and shard-1-of-2/run.json are not of one run: "
        + problem.replace("{}/", "")
    )


def test_a_segment_that_is_in_two_shards_is_named_with_both_files(tmp_path: Path) -> None:
    assert refused(dealt([*segments(4), *segments(1)], tmp_path, of=3), tmp_path) == (
        "segment 'id 0' is in results.shard-1-of-3.jsonl and again in results.shard-2-of-3.jsonl:"
        " they are not shards of one run"
    )


@pytest.mark.parametrize("counts", [(1, 2), (3, 1), (0, 1)])
def test_shards_that_cannot_be_dealt_are_refused(tmp_path: Path, counts: tuple[int, int]) -> None:
    rows = iter(segments(9))
    paths = [
        write_results(
            tmp_path / f"results.shard-{number}-of-2.jsonl",
            (row for _ in range(count) for row in next(rows)),
        )
        for number, count in enumerate(counts, start=1)
    ]
    assert "has no more segments, but results.shard-" in refused(paths, tmp_path)


@pytest.mark.parametrize(
    ("tail", "problem"),
    [
        (b"{}\n", "line 2: is not a result row: id: Field required"),
        (b"not JSON\n", "line 2: is not a result row: Invalid JSON"),
        (b"\n", "line 2: is not a result row: Invalid JSON"),
        (b"\xff\n", "line 2: is not a result row: Invalid JSON"),
        (b'{"id": "x"', "line 2: breaks off, so rows are missing"),
    ],
)
def test_a_damaged_shard_is_named_with_the_line(tmp_path: Path, tail: bytes, problem: str) -> None:
    paths = dealt(segments(2), tmp_path, of=2)
    with paths[1].open("ab") as file:
        file.write(tail)
    assert f"results.shard-2-of-2.jsonl, {problem}" in refused(paths, tmp_path)


def test_a_shard_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    paths = dealt(segments(2), tmp_path, of=2)
    parts = find_parts(paths)
    paths[1].unlink()
    with pytest.raises(DataError, match="shard-2-of-2.jsonl: cannot be read: No such file"):
        merge_parts(parts, tmp_path / "whole")


def test_a_shard_is_never_overwritten_by_the_whole(tmp_path: Path) -> None:
    paths = dealt(segments(2), tmp_path, of=2)
    before = paths[1].read_bytes()
    link = tmp_path / "link"
    link.symlink_to(paths[1])
    with pytest.raises(StoreError, match="is one of the shards"):
        merged(paths, link)
    assert paths[1].read_bytes() == before
