"""`--html`: the report of a command as one page, alone or beside the folder."""

from pathlib import Path

import pytest
from fakes.command import call, complaint
from fakes.installed import skip_without

ROWS = "examples/summaries.jsonl"
SCORES = ("--metric", "rouge-l", "--metric", "rouge-1")


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Return a folder with the scores of a metric on good and on cut texts."""
    rows = (Path(__file__).parents[3] / ROWS).read_text(encoding="utf-8")
    (tmp_path / "first.jsonl").write_text(rows, encoding="utf-8")
    for name, flags in (("first", ()), ("second", ("--limit", "12"))):
        output = ("-o", f"{name}-scores.jsonl", "--no-progress")
        call(tmp_path, "metrics", "score", "first.jsonl", *SCORES, *flags, *output)
    return tmp_path


COMPARE = ("compare", "first-scores.jsonl", "second-scores.jsonl", "--draws", "10")


def test_two_runs_are_compared_on_one_page(runs: Path) -> None:
    before = {path.name for path in runs.iterdir()}
    assert "written: page.html" in call(runs, *COMPARE, "--html", "page.html").stderr
    assert {path.name for path in runs.iterdir()} - before == {"page.html"}
    page = (runs / "page.html").read_text()
    assert "Comparison of two runs" in page
    assert "rouge-l" in page
    assert "Made on " in page


def test_a_folder_and_a_page_are_written_together(runs: Path) -> None:
    call(runs, *COMPARE, "-o", "out", "--html", "page.html")
    assert {path.name for path in (runs / "out").iterdir()} == {
        "comparison.html",
        "comparison.json",
        "comparison.md",
    }
    assert (runs / "page.html").read_bytes() == (runs / "out/comparison.html").read_bytes()


@pytest.mark.heavy
def test_people_and_metrics_are_on_one_page_with_all_pictures(runs: Path) -> None:
    flags = ("--human", "first.jsonl", "--draws", "0", "--no-progress", "--aspect", "fluency")
    done = call(runs, "meta", "first-scores.jsonl", *flags, "--html", "page.html")
    assert done.stderr.splitlines()[-1] == "written: page.html"
    assert not (runs / "pictures").exists()
    skip_without("matplotlib")
    assert (runs / "page.html").read_text().count("data:image/png;base64,") >= 3


@pytest.mark.parametrize(
    ("flags", "problem"),
    [
        (("--html", "page.txt"), "a page ends in .html, got 'page.txt'"),
        (("-o", "page.html"), "--output names a folder; one page is --html page.html"),
    ],
)
@pytest.mark.parametrize(
    "command",
    [
        ("compare", "absent.jsonl", "absent.jsonl"),
        ("meta", "absent.jsonl", "--human", "absent.jsonl"),
        ("exam", "discernment", "absent.jsonl"),
        ("exam", "robustness", "absent.jsonl"),
        ("exam", "faithfulness", "absent.jsonl"),
        ("exam", "repair", "absent.jsonl"),
        ("exam", "card", "absent"),
        ("exam", "compare", "absent", "absent"),
        ("bench", "spans", "absent.jsonl"),
        ("distil", "gate", "absent", "--data", "absent"),
    ],
    ids=" ".join,
)
def test_a_name_that_does_not_fit_is_refused_before_anything_is_read(
    tmp_path: Path, command: tuple[str, ...], flags: tuple[str, ...], problem: str
) -> None:
    assert complaint(call(tmp_path, *command, *flags, code=2).stderr) == problem
    assert not list(tmp_path.glob("page*"))
