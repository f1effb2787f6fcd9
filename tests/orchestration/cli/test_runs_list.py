"""The list of runs: newest first, how far each came, what it takes and what state it is in."""

import json
from datetime import timedelta
from pathlib import Path

import pytest
from fakes.aged_run import aged, as_of_an_earlier_release
from fakes.command import spanjury
from fakes.terminal import on_a_terminal
from rich.cells import cell_len

from spanjury.orchestration.cli.runs import shown_age, shown_size
from spanjury.orchestration.services.runs.run_list import read_entry
from spanjury.orchestration.wiring.runs import RunFolder, RunLock, lock_of

ROWS = [{"id": str(n), "task": "summarization", "output": f"Text {n}."} for n in range(4)]


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SPANJURY_RUNS", str(tmp_path / "home"))
    Path("rows.jsonl").write_text("\n".join(map(json.dumps, ROWS)))


def evaluate(*flags: str) -> None:
    spanjury("evaluate", "rows.jsonl", "--judge", "form", "--aspect", "fluency", *flags)


def cells(*arguments: str) -> dict[str, list[str]]:
    done = spanjury("runs", *arguments)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    return {row[0]: row[1:] for row in rows}


def test_runs_are_listed_newest_first_with_rows_and_state() -> None:
    for name in ("a", "b", "c"):
        evaluate("--run-dir", f"runs/{name}")
    aged(Path("runs/b"), 12)
    aged(Path("runs/a"), 3)
    Path("runs/a/done").unlink()
    listed = cells("runs")
    assert list(listed) == ["c", "a", "b"]
    assert [row[0] for row in listed.values()] == ["done", "open", "done"]
    assert [row[1] for row in listed.values()][1:] == ["3d", "12d"]
    assert {row[2] for row in listed.values()} == {"4/4"}
    assert {row[4] for row in listed.values()} == {str(Path("rows.jsonl").absolute())}


def test_a_run_among_your_data_counts_its_rows_although_its_results_lie_elsewhere() -> None:
    evaluate()
    evaluate("--limit", "3")
    assert sorted(row[2] for row in cells().values()) == ["3/3", "4/4"]


def test_an_open_run_counts_what_is_in_its_folder_or_was_there_when_it_was_stopped() -> None:
    for flags in ([], ["-o", "elsewhere.jsonl"]):
        name = f"runs/{len(flags)}"
        evaluate("--run-dir", name, *flags)
        Path(name, "done").unlink()
    results = Path("runs/0/results.jsonl")
    part = results.with_name("results.jsonl.part")
    part.write_bytes(b"".join(results.read_bytes().splitlines(keepends=True)[:1]))
    assert {name: row[2] for name, row in cells("runs").items()} == {"0": "1/4", "2": "4/4"}


def test_an_open_run_of_an_earlier_release_counts_the_rows_that_it_had_when_it_was_stopped() -> (
    None
):
    evaluate("--run-dir", "runs/old", "-o", "elsewhere.jsonl")
    as_of_an_earlier_release(Path("runs/old"))
    Path("runs/old/done").unlink()
    assert cells("runs")["old"][2] == "?/4"
    RunFolder(Path("runs/old")).note_stop(2)
    assert cells("runs")["old"][2] == "2/4"


def test_a_run_that_a_process_works_on_is_going_on_and_a_torn_manifest_is_damaged() -> None:
    for name in ("held", "torn", "old"):
        evaluate("--run-dir", f"runs/{name}")
    Path("runs/torn/run.json").write_text('{"format":')
    manifest = json.loads(Path("runs/old/run.json").read_text())
    del manifest["assessments"]  # as runs of earlier versions lack it
    Path("runs/old/run.json").write_text(json.dumps(manifest))
    held = RunFolder(Path("runs/held"))
    with RunLock(lock_of(held)):
        listed = cells("runs")
        assert listed["held"][0] == "going on"
        assert read_entry(held, is_ours=True).state == "done"
    assert listed["torn"][0] == "damaged"
    assert "run.json cannot be read" in spanjury("runs", "runs").stderr
    assert listed["old"][2] == "4"


def test_the_list_fits_a_terminal_of_80_columns() -> None:
    for number in range(3):
        evaluate("--run-dir", f"runs/2026-11-23-13000{number}-summaries")
    evaluate("--run-dir", "runs/要約の評価")
    screen = on_a_terminal(["runs", "runs"], width=80)
    assert screen.code == 0
    *lines, count = screen.lines
    assert lines[0].split() == ["run", "state", "age", "rows", "size", "data"]
    assert all(line.endswith("rows.jsonl") for line in lines[1:])
    assert max(map(cell_len, lines)) <= 80
    assert count.startswith("4 runs of ")


def test_runs_are_there_as_json() -> None:
    evaluate("--run-dir", "runs/a")
    Path("runs/a/notes.txt").write_text("mine")
    (run,) = json.loads(spanjury("runs", "runs", "--json").stdout)
    assert (run["state"], run["rows"], run["of"]) == ("done", 4, 4)
    assert (run["run"], run["other_files"], run["marked"]) == ("runs/a", ["notes.txt"], False)
    assert run["bytes"] == sum(path.stat().st_size for path in Path("runs/a").iterdir())


def test_a_folder_that_is_not_there_is_reported() -> None:
    done = spanjury("runs", "absent", code=1)
    assert done.stdout == ""
    assert "there is no folder absent" in done.stderr
    assert spanjury("runs").stderr.startswith("0 runs of 0 B in ")


@pytest.mark.parametrize(
    ("size", "words"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (9_940, "9.9 kB"),
        (9_960, "10 kB"),
        (999_499, "999 kB"),
        (999_500, "1.0 MB"),
        (3_200_000_000, "3.2 GB"),
        (5_000_000_000_000, "5.0 TB"),
    ],
)
def test_a_size_has_two_or_three_figures(size: int, words: str) -> None:
    assert shown_size(size) == words


@pytest.mark.parametrize(
    ("age", "words"),
    [
        (timedelta(seconds=-5), "0s"),
        (timedelta(seconds=59), "59s"),
        (timedelta(minutes=59, seconds=59), "59min"),
        (timedelta(hours=23), "23h"),
        (timedelta(days=400), "400d"),
    ],
)
def test_an_age_has_one_unit(age: timedelta, words: str) -> None:
    assert shown_age(age) == words
