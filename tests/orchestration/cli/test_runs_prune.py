"""Old runs are deleted as a whole or not at all, and nothing else ever is."""

import os
import shutil
import subprocess
import sys
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from fakes.aged_run import aged
from fakes.command import spanjury
from fakes.terminal import Screen, on_a_terminal

from spanjury.judges.core import ConfigError, StoreError
from spanjury.orchestration.services.runs.run_list import parse_age
from spanjury.orchestration.wiring.runs import RunFolder, RunLock, lock_of, remove_run

OLD = ("--older-than", "30d")
prune = partial(spanjury, "runs", "prune", "runs")


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SPANJURY_RUNS", str(tmp_path / "home"))


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a run that is done."""
    folder = tmp_path_factory.mktemp("template")
    rows = folder / "rows.jsonl"
    rows.write_text('{"id": "1", "task": "summarization", "output": "A text."}\n')
    flags = ("--judge", "form", "--aspect", "fluency", "--run-dir", str(folder / "run"))
    spanjury("evaluate", str(rows), *flags)
    return folder / "run"


@pytest.fixture
def home(template: Path) -> Path:
    """Return a folder of three runs: of today, 40 and 50 days old."""
    for name, days in (("new", 0), ("old", 40), ("older", 50)):
        shutil.copytree(template, f"runs/{name}")
        aged(Path("runs", name), days)
    return Path("runs")


def asked(answer: str, *flags: str) -> Screen:
    return on_a_terminal(["runs", "prune", "runs", *OLD, *flags], answers={"[y/N]: ": answer})


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_runs_that_are_old_and_done_are_deleted_as_a_whole(home: Path) -> None:
    done = prune(*OLD, "--yes")
    assert [line.split("\t")[0] for line in done.stdout.splitlines()] == ["old", "older"]
    assert "deleted: 2 runs of " in done.stderr
    assert names(home) == ["new"]


@pytest.mark.parametrize(
    ("flags", "left"),
    [
        (("--older-than", "45d"), ["new", "old"]),
        (("--older-than", "6w", "--keep", "1"), ["new", "old"]),
        (("--older-than", "30d", "--keep", "2"), ["new", "old"]),
        (("--older-than", "30d", "--keep", "3"), ["new", "old", "older"]),
        (("--older-than", "60d"), ["new", "old", "older"]),
        (("--older-than", "99999w"), ["new", "old", "older"]),
        (("--older-than", "0h"), []),
    ],
)
def test_age_and_number_say_what_stays(home: Path, flags: tuple[str, ...], left: list[str]) -> None:
    prune(*flags, "--yes")
    assert names(home) == left


def test_a_dry_run_deletes_nothing(home: Path) -> None:
    assert "would delete 2 runs of " in prune(*OLD, "--dry-run").stderr
    assert names(home) == ["new", "old", "older"]


def test_open_runs_are_deleted_where_that_is_asked_for(home: Path) -> None:
    (home / "old" / "done").unlink()
    aged(home / "old", 40)
    assert "kept: old: it is open; --open takes it" in prune(*OLD, "--yes").stderr
    assert names(home) == ["new", "old"]
    prune(*OLD, "--open", "--yes")
    assert names(home) == ["new"]


def test_people_s_marks_and_files_of_others_protect_a_run(home: Path) -> None:
    (home / "old" / "marks.sqlite3").write_text("marks")
    (home / "older" / "plots").mkdir()
    (home / "older" / "plots" / "a.png").write_text("a picture")
    for name in ("old", "older"):
        aged(home / name, 40)
    done = prune(*OLD, "--yes", "--open")
    assert "kept: old: people marked it; --with-marks takes it" in done.stderr
    assert "kept: older: it holds plots/a.png; --with-other-files takes them" in done.stderr
    assert names(home) == ["new", "old", "older"]
    done = prune(*OLD, "--yes", "--with-other-files")
    assert "older also holds, and will lose: plots/a.png" in done.stderr
    assert names(home) == ["new", "old"]
    done = prune(*OLD, "--yes", "--with-marks")
    assert "old also holds, and will lose: people's marks" in done.stderr
    assert names(home) == ["new"]


def test_nothing_behind_a_link_is_deleted(home: Path, tmp_path: Path, template: Path) -> None:
    shutil.copytree(template, tmp_path / "far" / "run")
    aged(tmp_path / "far" / "run", 40)
    (home / "linked").symlink_to(tmp_path / "far" / "run")
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").write_text("mine")
    (home / "old" / "outside").symlink_to(tmp_path / "precious")
    aged(home / "old", 40)
    done = prune(*OLD, "--yes")
    assert "kept: linked: it is a link" in done.stderr
    assert "kept: old: it holds outside;" in done.stderr
    prune(*OLD, "--yes", "--with-other-files")
    assert (names(home), names(tmp_path / "precious")) == (["linked", "new"], ["file"])
    assert "run.json" in names(tmp_path / "far" / "run")


def test_a_memory_that_is_a_link_protects_its_run(home: Path, tmp_path: Path) -> None:
    (home / "old" / "memory.sqlite3").rename(tmp_path / "memory.sqlite3")
    (home / "old" / "memory.sqlite3").symlink_to(tmp_path / "memory.sqlite3")
    aged(home / "old", 40)
    assert "kept: old: it holds memory.sqlite3;" in prune(*OLD, "--yes").stderr
    assert (tmp_path / "memory.sqlite3").exists()


def test_results_that_lie_elsewhere_stay(template: Path) -> None:
    data = str(template.parent / "rows.jsonl")
    flags = ("--judge", "form", "--run-dir", "runs/a", "-o", "kept.jsonl")
    spanjury("evaluate", data, *flags)
    prune("--older-than", "0h", "--yes")
    assert names(Path("runs")) == []
    assert Path("kept.jsonl").exists()


def test_folders_that_are_no_runs_and_damaged_ones_are_never_deleted(home: Path) -> None:
    (home / "mine").mkdir()
    (home / "old" / "run.json").write_text("{")
    aged_files = [home / "mine", *(home / "old").iterdir()]
    for path in aged_files:
        os.utime(path, (0, 0))
    done = prune("--older-than", "0h", "--open", "--yes", "--with-other-files")
    assert "kept: old: its manifest is damaged" in done.stderr
    assert names(home) == ["mine", "old"]


def test_a_run_on_which_a_process_works_is_never_deleted(home: Path) -> None:
    run = RunFolder(home / "old")
    with RunLock(lock_of(run)):
        aged(home / "old", 40)
        assert "kept: old: a process works on it" in prune(*OLD, "--yes", "--open").stderr
        with pytest.raises(StoreError, match="in use by process"):
            remove_run(run)
    assert names(home) == ["new", "old"]


def test_a_run_that_changed_since_it_was_chosen_stays(home: Path) -> None:
    assert not remove_run(RunFolder(home / "old"), still=lambda: False)
    assert names(home) == ["new", "old", "older"]


def test_a_crashed_deletion_leaves_no_run_and_is_finished_next_time(home: Path) -> None:
    program = (
        "import shutil, os, sys\n"
        "shutil.rmtree = lambda *_, **__: os._exit(9)\n"
        "from spanjury.orchestration.cli import main\n"
        "sys.argv[1:] = ['runs', 'prune', 'runs', '--older-than', '45d', '--yes']\n"
        "main()\n"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 9
    assert names(home) == [".removed-spanjury-run-1-older", "new", "old"]
    listed = spanjury("runs", "runs").stdout
    assert [line.split("\t")[0] for line in listed.splitlines()] == ["new", "old"]
    done = prune("--older-than", "45d", "--yes")
    assert "deleted: the rest of 1 runs that an earlier prune began to delete" in done.stderr
    assert names(home) == ["new", "old"]


def test_an_undeletable_run_stops_no_other(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rename = Path.rename

    def refusing(path: Path, target: Path) -> Path:
        if path.name == "old":
            raise PermissionError(13, "Permission denied", str(path))
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", refusing)
    assert "runs/old: cannot be deleted: Permission denied" in prune(*OLD, "--yes", code=1).stderr
    assert names(home) == ["new", "old"]


def test_without_a_terminal_to_answer_on_it_is_refused(home: Path) -> None:
    done = prune(*OLD, code=2)
    assert done.stdout == ""
    assert "give --yes" in done.stderr
    assert names(home) == ["new", "old", "older"]


@pytest.mark.parametrize(
    ("answer", "code", "left"), [("y\n", 0, ["new"]), ("n\n", 0, ["new", "old", "older"])]
)
def test_it_lists_the_runs_and_asks(home: Path, answer: str, code: int, left: list[str]) -> None:
    screen = asked(answer)
    text = "\n".join(screen.lines)
    assert text.index("older") < text.index("delete 2 runs of ")
    assert (screen.code, names(home)) == (code, left), text


@pytest.mark.parametrize("keys", ["\x03", "\x04"])
def test_ctrl_c_and_ctrl_d_at_the_question_delete_nothing(home: Path, keys: str) -> None:
    screen = asked(keys)
    assert (screen.code, screen.lines[-1]) == (130, "nothing is deleted")
    assert names(home) == ["new", "old", "older"]


@pytest.mark.parametrize(
    ("text", "age"),
    [
        ("12h", timedelta(hours=12)),
        ("30d", timedelta(days=30)),
        ("2w", timedelta(days=14)),
        ("0d", timedelta()),
    ],
)
def test_an_age_is_hours_days_or_weeks(text: str, age: timedelta) -> None:
    assert parse_age(text) == age


@pytest.mark.parametrize(
    "text", ["", "30", "d", "-1d", "1.5d", "30 d", "30D", "1d2h", "5m", "٣d", "123456d"]
)
def test_any_other_age_is_refused_with_the_forms(text: str) -> None:
    with pytest.raises(ConfigError, match="12h, 30d or 2w"):
        parse_age(text)


def test_a_wrong_age_is_a_usage_error(home: Path) -> None:
    done = prune("--older-than", "30", "--yes", code=2)
    assert done.stdout == ""
    assert "as 12h, 30d or 2w, not '30'" in done.stderr
    assert len(names(home)) == 3
