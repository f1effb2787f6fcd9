"""A file whose columns have other names is judged as one with ours, and so is a resumed run."""

import json
from pathlib import Path

import pytest
from fakes.command import call
from typer.testing import Result

from spanjury.judges.core import ConfigError, Segment
from spanjury.orchestration.services.judging.panels import read_segments
from spanjury.orchestration.wiring.sources import open_source

ARTICLE = "The bridge opened in 1932 and was painted grey by the city."
FLAGS = ("--column", "output=summary", "--column", "inputs.Article=text")


def write(folder: Path) -> Path:
    row = {"text": ARTICLE, "summary": "The bridge opened in 1935."}
    path = folder / "rows.jsonl"
    path.write_text(f"{json.dumps(row)}\n")
    return path


def evaluate(folder: Path, *flags: str, code: int = 0) -> Result:
    options = ("--task", "summarization", "--aspect", "consistency", "--no-progress", *flags)
    return call(folder, "evaluate", "rows.jsonl", *options, code=code)


def judged(path: Path) -> list[tuple[str, str]]:
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    return [(row["outcome"], row["spans"][0]["text"]) for row in rows]


def test_other_columns_are_judged_and_kept_for_resuming(tmp_path: Path) -> None:
    write(tmp_path)
    evaluate(tmp_path, *FLAGS, "--run-dir", "run")
    assert judged(tmp_path / "run" / "results.jsonl") == [("scored", "1935")]
    call(tmp_path, "resume", "run", "--no-progress")


@pytest.mark.parametrize(
    ("flags", "code", "problem"),
    [
        (("--shape", "qa"), 1, "the row has no output, only text, summary; name the column"),
        (("--column", "output=sumary"), 1, "'sumary' for output: did you mean 'summary'?"),
        (("--shape", "rag"), 2, "did you mean 'ragas'?"),
        ((*FLAGS, "--engine", "ray", "--run-dir", "run"), 2, "does not go with --column"),
    ],
)
def test_columns_that_cannot_be_mapped_are_reported(
    tmp_path: Path, flags: tuple[str, ...], code: int, problem: str
) -> None:
    write(tmp_path)
    assert problem in " ".join(evaluate(tmp_path, *flags, code=code).output.split())


def test_segments_are_read_by_other_names_from_python(tmp_path: Path) -> None:
    columns = ("output=summary", "inputs.Article=text")
    (read,) = read_segments(write(tmp_path), columns=columns)
    assert (read.output, read.inputs) == ("The bridge opened in 1935.", {"Article": ARTICLE})


PLUGIN = """
from spanjury import Segment

def read(path, /):
    return iter([Segment(segment_id="a", output=path.name)])
"""


def test_a_source_that_knows_its_own_names_only_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "names_of_its_own.py").write_text(PLUGIN)
    described = tmp_path / "names_of_its_own-1.dist-info"
    described.mkdir()
    (described / "METADATA").write_text("Name: names-of-its-own\nVersion: 1\n")
    (described / "entry_points.txt").write_text("[spanjury.sources]\nown = names_of_its_own:read\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert next(open_source(Path("x.own"))) == Segment(segment_id="a", output="x.own")
    with pytest.raises(ConfigError, match="'own' reads columns by its own names only"):
        open_source(Path("x.own"), columns=("output=a",))
