"""Two exams compared from the command line: folders in, a verdict out."""

import json
from functools import partial
from pathlib import Path

import pytest
from fakes.command import spanjury
from fakes.exam_scores import scored

from spanjury.judges.core import StoreError
from spanjury.orchestration.services.exams.study_report import ExamScores, read_scores, write_scores
from spanjury.orchestration.studies.discernment.score_arrays import ScoreRow
from spanjury.orchestration.studies.judging import Examinee

compare = partial(spanjury, "exam", "compare")

KEEN = [1.0] * 15 + [0.0] * 5
DULL = [1.0] * 5 + [0.0] * 15
STILL = [0.0] * 20


def scores(rows: list[ScoreRow], *, judge: str) -> ExamScores:
    examinee = Examinee(signature=f"panel|{judge}", seats={judge: f"{judge}|temperature:0"})
    return ExamScores(examinee=examinee, data="good.jsonl", recipe="ours", seed=1, rows=rows)


def exam(folder: str, fluency: list[float], spaces: list[float]) -> None:
    """Leave behind an exam of what damages fluency and of what damages nothing."""
    rows = [
        *scored(STILL, condition=None, expected="unchanged"),
        *scored(fluency),
        *scored(spaces, condition="spaces", expected="unchanged"),
    ]
    Path(folder).mkdir()
    write_scores(Path(folder) / "scores.jsonl", scores(rows, judge=folder))


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    exam("keen", KEEN, [1.0] * 10 + [-1.0] * 10)
    exam("dull", DULL, STILL)


def test_the_terminal_says_which_judge_discerns_or_moves_more() -> None:
    done = compare("keen", "dull")
    data = " ".join(done.stdout.split())
    assert "A: keen B: dull" in data
    assert "A discerns more: A +0.75, B +0.25, difference +0.50 [+0.25, +0.75]" in data
    assert "B moves" in data  # the rest of the cell is on its next line
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert not list(Path().glob("**/comparison*"))


def test_a_page_and_json_are_written_where_a_folder_is_named() -> None:
    compare("keen", "dull", "-o", "out/here", "--draws", "2000", "--seed", "3")
    page = Path("out/here/comparison.md").read_text()
    figures = "20 | 20 | +0.75 | +0.25 | +0.50 [+0.25, +0.75]"
    for line in (
        "- A: `panel|keen`, in `keen`",
        "- B, dull: `dull|temperature:0`",
        "- 2000 bootstrap draws, seed 3",
        f"| typos | **fluency** | {figures} | 0.0039 | A discerns more |",
    ):
        assert line in page.splitlines()
    data = json.loads(Path("out/here/comparison.json").read_text())
    assert data["judges"][0]["seats"] == {"keen": "keen|temperature:0"}
    verdicts = {(one["condition"], one["aspect"]): one["verdict"] for one in data["places"]}
    assert verdicts == {
        (None, "fluency"): "not shown",
        ("typos", "fluency"): "A discerns more",
        ("spaces", "fluency"): "B moves less",
    }
    assert data["summary"]["difference"] == 0.5
    printed = compare("keen", "dull", "--json", "--draws", "2000", "--seed", "3")
    assert json.loads(printed.stdout) == data


def test_an_exam_beside_itself_shows_nothing() -> None:
    assert "neither is shown to discern more" in " ".join(compare("keen", "keen").stdout.split())


def test_nothing_in_common_is_a_matter_of_usage() -> None:
    Path("other").mkdir()
    rows = scored(KEEN, texts=[f"other {n}" for n in range(20)])
    write_scores(Path("other/scores.jsonl"), scores(rows, judge="other"))
    done = compare("keen", "other", code=2)
    problem = "the exams share no text, so there is nothing to compare"
    assert done.stderr.splitlines() == [f"spanjury: {problem}"]


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ({}, "bad holds no exam: there is no scores.jsonl in it"),
        ({"run.json": "{}"}, "bad holds a run of texts, no exam: compare two runs with"),
        ({"memory.sqlite3": ""}, "bad holds an exam that has not ended: run it again"),
        (
            {"findings.json": "{}"},
            "bad holds no readable scores.jsonl, which `exam discernment` and",
        ),
        ({"scores.jsonl": ""}, "its first line is not JSON"),
        ({"scores.jsonl": '{"text": "a"}'}, "has format None, expected 1"),
        ({"scores.jsonl": "[1]"}, "has format None, expected 1"),
        ({"scores.jsonl": '{"format": 2}'}, "has format 2, expected 1: it was written by another"),
        ({"scores.jsonl": '{"format": 1}'}, "scores.jsonl:1: judge: Field required"),
    ],
)
def test_a_folder_without_a_whole_exam_is_named_once(files: dict[str, str], problem: str) -> None:
    Path("bad").mkdir()
    for name, text in files.items():
        (Path("bad") / name).write_text(text)
    done = compare("keen", "bad", code=1)
    (line,) = done.stderr.splitlines()
    assert problem in line


def test_a_folder_that_is_not_there_is_named_in_a_line() -> None:
    done = compare("keen", "nowhere", code=1)
    assert done.stderr.endswith("spanjury: nowhere is not the folder of an exam\n")


def test_a_file_that_was_cut_or_bent_is_named_in_a_line() -> None:
    path = Path("dull/scores.jsonl")
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:-1]))
    assert "is cut short: it has 59 of 60 rows" in compare("keen", "dull", code=1).stderr
    path.write_text("".join([*lines[:-1], lines[-1].replace("4.0", '"much"')]))
    bent = compare("keen", "dull", code=1)
    assert "scores.jsonl:61: clean: Input should be a valid number" in bent.stderr
    path.write_text("".join([*lines[:-1], lines[-1][:20]]))
    assert "scores.jsonl:61 is not JSON: " in compare("keen", "dull", code=1).stderr


def test_a_written_file_is_read_back(tmp_path: Path) -> None:
    data = scores(scored([1.0, None, 0.5]), judge="a")
    write_scores(tmp_path / "scores.jsonl", data)
    assert read_scores(tmp_path) == data


def test_a_file_that_cannot_be_written_leaves_the_last_one(tmp_path: Path) -> None:
    data = scores(scored([1.0]), judge="a")
    write_scores(tmp_path / "scores.jsonl", data)
    (tmp_path / "scores.jsonl.new").mkdir()
    with pytest.raises(StoreError, match=r"scores\.jsonl: cannot be written"):
        write_scores(tmp_path / "scores.jsonl", scores([], judge="b"))
    assert read_scores(tmp_path) == data


def test_two_exams_on_the_same_texts_can_be_compared() -> None:
    for judge, limit in (("grounding", 8), ("form", 6)):
        flags = ["--demo", "--limit", str(limit), "--judge", judge, "-o", judge]
        flags += ["--recipe", "dhp/summarization", "--aspect", "consistency", "--aspect", "fluency"]
        done = spanjury("exam", "discernment", *flags)
    head, *rows = Path("form/scores.jsonl").read_text().splitlines()
    assert json.loads(head)["seats"]["form"].startswith("form|")
    assert len(rows) == json.loads(head)["rows"]
    done = compare("grounding", "form", code=2)
    # The one judge knows consistency only, the other fluency only.
    assert "share no damaged text with scores of both judges" in done.stderr
    compare("form", "form")
