"""Every run keeps its own results, and costs nothing that no run keeps."""

import json
import os
import sys
import time
from errno import ENOSPC
from io import FileIO
from pathlib import Path

import pytest
from fakes.aged_run import as_of_an_earlier_release
from fakes.command import spanjury
from loopback.answers import chat
from loopback.server import LoopbackServer

FLAGS = ("--judge", "form", "--aspect", "fluency", "--show", "none", "--no-progress")
RESULTS = Path("results.jsonl")
GOOD = chat("No Error\n\nOverall score: Good")


@pytest.fixture(autouse=True)
def _in_a_folder_with_two_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SPANJURY_RUNS", str(tmp_path / "home"))
    for name, count in (("mine", 4), ("other", 6)):
        rows = [
            {"id": f"{name}-{n}", "task": "summarization", "output": f"Text {n}."}
            for n in range(count)
        ]
        Path(f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))


def evaluate(data: str, *flags: str, code: int | set[int] = 0) -> str:
    return spanjury("evaluate", f"{data}.jsonl", *FLAGS, *flags, code=code).stderr


def asking(server: LoopbackServer) -> tuple[str, ...]:
    """Return the flags that have a model judge, and every request be for a row."""
    model = ("--model", "openai-compatible/judge", "--model-base-url", server.base_url)
    return ("--judge", "annotator", *model, "--no-preflight", "--max-connections", "1")


def home() -> list[Path]:
    folder = Path("home")
    return sorted(folder.iterdir()) if folder.is_dir() else []


def run_of(data: str) -> Path:
    return next(path for path in home() if path.name.endswith(f"-{data}"))


def ids(table: str) -> list[str]:
    return [line.partition(",")[0] for line in table.splitlines()[1:]]


MINE = [f"mine-{n}" for n in range(4)]


def test_a_run_shows_its_own_results_after_another_run_in_the_same_folder() -> None:
    evaluate("mine")
    evaluate("other", "--limit", "3")
    name = run_of("mine").name
    assert ids(spanjury("export", name).stdout) == MINE
    assert ids(spanjury("export", run_of("other").name).stdout) == [f"other-{n}" for n in range(3)]
    seen = spanjury("view", name, "--html", "page.html").stderr
    assert seen.startswith("4 of 4 results are in page.html")
    assert len(RESULTS.read_text().splitlines()) == 3
    assert RESULTS.read_bytes() == (run_of("other") / "results.jsonl").read_bytes()


def test_a_run_with_another_file_for_its_results_has_them_in_its_folder_too() -> None:
    evaluate("mine", "--run-dir", "run", "-o", "beside.jsonl")
    Path("beside.jsonl").write_text("gone\n")
    later = time.time() + 60
    os.utime("beside.jsonl", (later, later))
    assert ids(spanjury("export", "run").stdout) == MINE
    assert "has changed since" in spanjury("rescore", "run", code=2).stderr
    assert "has changed since" in spanjury("resume", "run", code=2).stderr
    assert Path("beside.jsonl").read_text() == "gone\n"
    spanjury("rescore", "run", "-o", "beside.jsonl")
    assert Path("beside.jsonl").read_bytes() == Path("run/results.jsonl").read_bytes()
    spanjury("rescore", "run")


@pytest.mark.parametrize("command", ["resume", "rescore"])
def test_results_of_rows_that_the_data_lost_are_not_dropped(command: str) -> None:
    evaluate("mine", "--run-dir", "run")
    results = Path("run/results.jsonl").read_bytes()
    rows = Path("mine.jsonl").read_text().splitlines(keepends=True)
    Path("mine.jsonl").write_text("".join(rows[:2]))
    said = spanjury(command, "run", code=2).stderr
    assert "results of 2 texts that" in said
    assert "no longer holds, the first 'mine-2': put the rows back" in said
    assert Path("run/results.jsonl").read_bytes() == results
    spanjury(command, "run", "-o", "others.jsonl")
    assert ids(spanjury("export", "others.jsonl").stdout) == MINE[:2]
    assert Path("run/results.jsonl").read_bytes() == results
    Path("mine.jsonl").write_text("".join(rows))
    spanjury(command, "run")
    assert Path("run/results.jsonl").read_bytes() == results


def test_rows_that_a_stopped_run_had_judged_are_not_dropped() -> None:
    with LoopbackServer(GOOD) as server:
        evaluate("mine", *asking(server), "--max-calls", "2", "--run-dir", "run", code=4)
        rows = Path("mine.jsonl").read_text().splitlines(keepends=True)
        Path("mine.jsonl").write_text("".join(rows[1:]))
        said = spanjury("resume", "run", code=2).stderr
    assert "results.jsonl.part has results of 1 text that" in said


def test_a_file_that_the_user_named_and_a_run_did_not_reach_may_be_replaced_by_its_resume() -> None:
    Path("named.jsonl").write_text("mine\n")
    os.utime("named.jsonl", (0, 0))
    with LoopbackServer(GOOD) as server:
        model = asking(server)
        evaluate("mine", *model, "--max-calls", "2", "-o", "named.jsonl", code=4)
        assert Path("named.jsonl").read_text() == "mine\n"
        spanjury("resume", run_of("mine").name, "--max-calls", "100")
    assert len(Path("named.jsonl").read_text().splitlines()) == 4


def test_a_run_that_was_stopped_has_its_own_rows_whoever_wrote_after_it() -> None:
    with LoopbackServer(GOOD) as server:
        model = asking(server)
        evaluate("mine", *model, "--max-calls", "2", code=4)
    exported = spanjury("export", run_of("mine").name).stdout
    evaluate("other")
    assert spanjury("export", run_of("mine").name).stdout == exported
    assert set(ids(exported)) < set(MINE)


def test_results_of_an_earlier_release_that_were_replaced_are_refused() -> None:
    evaluate("mine")
    run = run_of("mine")
    as_of_an_earlier_release(run)
    assert ids(spanjury("export", run.name).stdout) == MINE
    evaluate("other", "-o", "results.jsonl")
    for command in (("export", run.name), ("view", run.name, "--html", "page.html")):
        said = spanjury(*command, code=1).stderr
        assert "results.jsonl holds the results of another run by now" in said
        assert f"spanjury rescore {run.name} -o FILE" in said
    spanjury("rescore", run.name, "-o", "again.jsonl")
    assert ids(spanjury("export", "again.jsonl").stdout) == MINE


@pytest.mark.parametrize("kept", [(), ("--no-memory",)])
def test_a_file_that_no_run_keeps_is_not_overwritten_unless_it_is_named(
    kept: tuple[str, ...],
) -> None:
    RESULTS.write_text("precious\n")
    said = evaluate("mine", *kept, code=2)
    assert "results.jsonl would be overwritten, and no run keeps what is in it" in said
    assert "-o" in said
    assert "--run-dir" in said
    assert RESULTS.read_text() == "precious\n"
    assert home() == []
    evaluate("mine", *kept, "-o", "results.jsonl")
    assert len(RESULTS.read_text().splitlines()) == 4


@pytest.mark.parametrize(
    "command",
    [
        ("evaluate", "mine.jsonl", *FLAGS),
        ("evaluate", "mine.jsonl", *FLAGS, "--no-memory"),
        ("perturb", "mine.jsonl", "--recipe", "flaws"),
        ("metrics", "score", "mine.jsonl", "--metric", "nid"),
        ("metrics", "score", "other.jsonl", "--metric", "wer", "--reference", "mine.jsonl"),
    ],
)
def test_data_is_not_overwritten_by_what_is_made_of_it(command: tuple[str, ...]) -> None:
    before = Path("mine.jsonl").read_text()
    done = spanjury(*command, "-o", "./mine.jsonl", code=2)
    assert "mine.jsonl is the file that is read: name another with -o" in done.stderr
    assert Path("mine.jsonl").read_text() == before


@pytest.mark.parametrize("ending", [".csv", ".XLSX"])
def test_rows_are_not_written_into_a_file_that_is_named_a_table(ending: str) -> None:
    commands = (
        ("evaluate", "mine.jsonl", *FLAGS),
        ("perturb", "mine.jsonl", "--recipe", "flaws"),
        ("metrics", "score", "mine.jsonl", "--metric", "nid"),
        ("watch", "mine.jsonl", "--once", "--state-dir", "watch"),
    )
    for command in commands:
        done = spanjury(*command, "-o", f"out{ending}", code=2)
        assert "name a .jsonl file" in done.stderr
        assert not Path(f"out{ending}").exists()


def test_results_that_were_edited_are_not_overwritten() -> None:
    evaluate("mine")
    RESULTS.write_text(RESULTS.read_text() + "\n")
    evaluate("mine", code=2)
    assert len(home()) == 1


@pytest.mark.parametrize("kept", [(), ("--no-memory",)])
def test_the_same_command_may_be_repeated(kept: tuple[str, ...]) -> None:
    evaluate("mine", *kept)
    evaluate("mine", *kept)


def test_results_that_no_run_keeps_are_replaced_by_those_of_the_same_texts_only() -> None:
    evaluate("mine", "--no-memory")
    evaluate("other", "--no-memory", code=2)
    evaluate("mine")  # as in a container, which has no runs yet
    evaluate("other")
    RESULTS.write_bytes(b"")
    evaluate("mine")


@pytest.mark.parametrize(
    "flags",
    [
        ("-o", "absent/results.jsonl"),
        pytest.param(
            ("-o", "/dev/full"),
            marks=pytest.mark.skipif(sys.platform != "linux", reason="/dev/full is Linux's"),
        ),
        ("--judge", "typo"),
        ("--aspect", "typo"),
        ("--task", "typo"),
        ("--aggregate", "typo"),
    ],
)
@pytest.mark.parametrize("place", [(), ("--run-dir", "new/run")])
def test_a_command_that_is_refused_leaves_no_run(
    flags: tuple[str, ...], place: tuple[str, ...]
) -> None:
    evaluate("mine", *flags, *place, code={1, 2})
    assert home() == []
    assert not Path("new").exists()
    assert not RESULTS.exists()


def test_a_command_that_is_refused_leaves_what_was_in_its_folder() -> None:
    Path("run").mkdir()
    Path("run/notes.txt").write_text("mine")
    evaluate("mine", "--judge", "typo", "--run-dir", "run", code=2)
    assert [path.name for path in Path("run").iterdir()] == ["notes.txt"]
    evaluate("mine", "--run-dir", "run")
    before = sorted(path.name for path in Path("run").iterdir())
    evaluate("mine", "--judge", "typo", "--run-dir", "run", code=2)
    evaluate("mine", "--judge", "grounding", "--run-dir", "run", code=1)
    assert sorted(path.name for path in Path("run").iterdir()) == before


class FullFile(FileIO):
    """A file on a disk that is full."""

    def write(self, _: object) -> int:
        raise OSError(ENOSPC, os.strerror(ENOSPC))


def test_a_full_disk_keeps_what_was_judged_and_names_the_command_that_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("spanjury.adapters.files.line_writer.FileIO", FullFile)
        said = evaluate("mine", "--run-dir", "run", code=1)
    assert "continue with: spanjury resume run" in said
    assert "run/results.jsonl.part: cannot be written: No space left on device" in said
    spanjury("resume", "run")
    assert ids(spanjury("export", "run").stdout) == MINE
