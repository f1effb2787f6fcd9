"""`spanjury calibrate`, and a panel that is given a calibration, on a run of rules alone."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from fakes.command import call, complaint
from fakes.marked_runs import put_marks, span
from fakes.rows import summary

from spanjury.orchestration.services.people.marks.mark import Mark
from spanjury.orchestration.services.people.marks.marked_run import MarkedRun
from spanjury.orchestration.studies.sampling import SAMPLING

QUICK = ("--draws", "100")
PANEL = ("--judge", "grounding", "--judge", "form", "--no-progress", "--show", "none")
TEXTS = 24
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")


def row(number: int, **more: object) -> dict[str, object]:
    """Return a text of a source of its own; every second names another day and number."""
    day = DAYS[number % 6]
    wrong = number % 2
    named = DAYS[(number + 1) % 6] if wrong else day
    text = f"The mill at No. {number + 20 + 50 * wrong} burnt down on {named}."
    article = f"The mill at No. {number + 20} burnt down on {day}. No one was hurt."
    marked = {"human": {"consistency": {"anna": 2 if wrong else 5}}}
    return {**summary(f"text-{number}", text, article=article), **marked, **more}


def write(path: Path, rows: list[dict[str, object]]) -> None:
    path.write_text("".join(json.dumps(one) + "\n" for one in rows))


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Judge the texts in a run; ``human.jsonl`` has people's scores of them."""
    rows = [row(number) for number in range(TEXTS)]
    write(tmp_path / "human.jsonl", rows)
    write(tmp_path / "texts.jsonl", [{**one, "human": {}} for one in rows])
    judge(tmp_path, "texts.jsonl", "--run-dir", "run")
    return tmp_path / "run"


def judge(folder: Path, data: str, *flags: str) -> str:
    return call(folder, "evaluate", data, "--aspect", "consistency", *PANEL, *flags).stderr


def calibrated(folder: Path, *flags: str) -> dict[str, Any]:
    done = call(folder, "calibrate", "run", "--human", "human.jsonl", *QUICK, *flags, "--json")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def results(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.usefixtures("run")
def test_a_run_is_calibrated_and_its_panel_judges_by_it(tmp_path: Path) -> None:
    found = calibrated(tmp_path)
    (about,) = found["aspects"]
    assert (about["texts"], about["sources"], about["clean"]) == (24, 24, 12)
    assert "thresholds" in about["kept"]
    said = judge(tmp_path, "texts.jsonl", "--calibration", "calibration.toml", "-o", "new.jsonl")
    assert "far from" not in said
    before, after = (results(tmp_path / name) for name in ("run/results.jsonl", "new.jsonl"))
    assert f"calibration:{found['digest']}" in str(after[0]["signature"])
    assert "calibration:" not in str(before[0]["signature"])
    decisions = {str(one["decision"]) for one in after if int(str(one["id"])[5:]) % 2 == 0}
    assert decisions == {"ok"}
    assert any(one["decision"] != "ok" for one in after)


@pytest.mark.usefixtures("run")
def test_a_panel_file_names_the_calibration(tmp_path: Path) -> None:
    calibrated(tmp_path)
    seats = '[[seats]]\njudge = "grounding"\n[[seats]]\njudge = "form"\n'
    (tmp_path / "panel.toml").write_text(f'calibration = "calibration.toml"\n{seats}')
    call(
        tmp_path,
        "evaluate",
        "texts.jsonl",
        "--aspect",
        "consistency",
        "--panel",
        "panel.toml",
        "--show",
        "none",
        "--no-progress",
        "--run-dir",
        "again",
    )
    assert "calibration:" in str(results(tmp_path / "again" / "results.jsonl")[0]["signature"])
    refused = call(tmp_path, "calibrate", "again", "--human", "human.jsonl", *QUICK, code=2)
    assert "was judged with a calibration" in refused.stderr


@pytest.mark.usefixtures("run")
def test_the_run_itself_is_rescored_by_the_calibration(tmp_path: Path) -> None:
    found = calibrated(tmp_path)
    flags = ("--calibration", "calibration.toml", "-o", "new.jsonl", "--show", "none")
    call(tmp_path, "rescore", "run", *flags, "--no-progress")
    before, after = (results(tmp_path / name) for name in ("run/results.jsonl", "new.jsonl"))
    assert all(f"calibration:{found['digest']}" in str(one["signature"]) for one in after)
    assert [one["error_probability"] for one in before] == (
        [one["error_probability"] for one in after]
    )


def test_a_run_of_an_earlier_version_is_rescored_before_it_is_calibrated(
    tmp_path: Path, run: Path
) -> None:
    stored = run / "results.jsonl"
    stored.write_text(re.sub(r"(rules|seats):\w+", r"\1:earlier", stored.read_text()))
    flags = ("--show", "none", "--no-progress")
    calibrate = ("--calibration", "calibration.toml", "-o", "new.jsonl")
    calibrated(tmp_path)
    refused = call(tmp_path, "rescore", "run", *calibrate, *flags, code=2)
    assert "had rules:earlier then" in refused.stderr
    assert "begin with 'spanjury rescore RUN'" in refused.stderr
    call(tmp_path, "rescore", "run", *flags)
    calibrated(tmp_path)
    call(tmp_path, "rescore", "run", *calibrate, *flags)


@pytest.mark.usefixtures("run")
def test_a_calibration_of_another_panel_or_aspect_is_refused(tmp_path: Path) -> None:
    calibrated(tmp_path)
    data = ("evaluate", "texts.jsonl", "--calibration", "calibration.toml", "--no-progress")
    panel = call(tmp_path, *data, "--judge", "grounding", "--aspect", "consistency", code=2)
    assert "is for another panel: this panel lacks the seat form; make one" in panel.stderr
    aspect = call(tmp_path, *data, "--judge", "grounding", "--aspect", "fluency", code=2)
    assert "is of summarization/consistency, and summarization/fluency is judged" in aspect.stderr


@pytest.mark.usefixtures("run")
def test_texts_unlike_those_of_the_calibration_are_reported(tmp_path: Path) -> None:
    calibrated(tmp_path)
    others = [row(number * 2 + 1) for number in range(40)]  # all with an error
    write(tmp_path / "others.jsonl", others)
    said = judge(tmp_path, "others.jsonl", "--calibration", "calibration.toml", "-o", "o.jsonl")
    assert "consistency: these texts differ from those of the calibration (24 texts of" in said


@pytest.mark.usefixtures("run")
def test_an_aspect_without_calibration_is_reported(tmp_path: Path) -> None:
    calibrated(tmp_path)
    flags = ("--calibration", "calibration.toml", "--aspect", "fluency", "-o", "o.jsonl")
    assert "fluency is not calibrated" in judge(tmp_path, "texts.jsonl", *flags)


@pytest.mark.usefixtures("run")
def test_the_report_is_a_page_too(tmp_path: Path) -> None:
    done = call(
        tmp_path, "calibrate", "run", "--human", "human.jsonl", *QUICK, "--html", "page.html"
    )
    page = (tmp_path / "page.html").read_text()
    for text in ("Calibration of a panel", "rank correlation", "unsure", "24 marked texts of 24"):
        assert text in page
    assert done.stdout.startswith(
        "Use the calibration on consistency (map of scores and thresholds)"
    )
    for title in ("consistency: scores before and after", "consistency: thresholds"):
        assert title in done.stdout
        assert title in page
    assert "severities" not in page  # the score is a mean of seats
    assert "needs 9 error-free texts" in done.stdout.replace("\n", " ")
    assert "the seat form never scored consistency (abstained)" in done.stdout.replace("\n", " ")


def test_marks_of_the_run_itself_are_taken(tmp_path: Path, run: Path) -> None:
    marked = MarkedRun(run)
    marks = {}
    for number in range(12):
        output = marked.texts[number].segment.output
        error = (span(output, 0, 8),) if number % 2 else ()
        marks["anna", number, "consistency"] = Mark(is_done=True, spans=error)
    put_marks(marked, marks)
    done = call(tmp_path, "calibrate", "run", *QUICK, "--json", "--rate", "0.2")
    (about,) = json.loads(done.stdout)["aspects"]
    assert (about["texts"], about["clean"], about["faulty"]) == (12, 6, 6)
    assert about["changes"] == []  # no one gave a score
    assert about["kept"] == ["thresholds"]


@pytest.mark.usefixtures("run")
@pytest.mark.parametrize(
    ("rows", "code", "says"),
    [
        ([row(n) for n in range(4)], 1, "4 of consistency are marked by people and scored"),
        ([], 1, "human.jsonl"),
        (
            [row(n, human={"fluency": {"": 3}}) for n in range(9)],
            1,
            "people marked fluency, and the run judged consistency",
        ),
        ([row(n, output="Another text.") for n in range(9)], 1, "all 9 marked texts are other"),
        ([row(n, id=f"x{n}") for n in range(9)], 1, "the ids and systems of rows must be the same"),
        (
            [row(n, human={"consistency": {"": n % 2}}) for n in range(9)],
            2,
            "go from 0 to 1, which is not on the scale from 1 to 5; name theirs by --people-scale",
        ),
        (
            [row(n, human={"consistency": {"": 2}}) for n in range(9)],
            1,
            "people found an error in each of 9 texts",
        ),
    ],
)
def test_marks_that_allow_no_calibration_are_refused_in_a_line(
    tmp_path: Path, rows: list[dict[str, object]], code: int, says: str
) -> None:
    write(tmp_path / "human.jsonl", rows)
    done = call(tmp_path, "calibrate", "run", "--human", "human.jsonl", *QUICK, code=code)
    assert says in complaint(done.stderr)
    assert not (tmp_path / "calibration.toml").exists()


@pytest.mark.usefixtures("run")
def test_people_with_a_scale_of_their_own_are_understood(tmp_path: Path) -> None:
    scored = [row(n, human={"consistency": {"": 1 - n % 2}}) for n in range(TEXTS)]
    write(tmp_path / "human.jsonl", scored)
    (about,) = calibrated(tmp_path, "--people-scale", "0:1")["aspects"]
    assert (about["clean"], about["faulty"]) == (12, 12)
    for spec in ("0-1", "a:b", "1:0", "0:inf", "nan:1"):
        call(tmp_path, "calibrate", "run", "--human", "human.jsonl", "--people-scale", spec, code=2)
    refused = call(
        tmp_path, "calibrate", "run", "--human", "human.jsonl", "--clean-from", "nan", code=2
    )
    assert "got 'nan', expected a number" in refused.stderr


@pytest.mark.heavy
@pytest.mark.usefixtures("run")
def test_marks_of_another_version_are_left_out_with_a_note(tmp_path: Path) -> None:
    rows = [row(n, **({"output": "Another text."} if n < 3 else {})) for n in range(TEXTS)]
    write(tmp_path / "human.jsonl", rows)
    found = calibrated(tmp_path)
    assert found["notes"][0].startswith("3 marked texts are left out")
    assert found["aspects"][0]["texts"] == TEXTS - 3


@pytest.mark.usefixtures("run")
def test_a_text_counts_by_the_probability_with_which_it_was_drawn(tmp_path: Path) -> None:
    drawn = [row(n, meta={SAMPLING: {"inclusion": 0.5 if n else 0.25}}) for n in range(TEXTS)]
    write(tmp_path / "human.jsonl", drawn)
    (about,) = calibrated(tmp_path)["aspects"]
    assert any(
        "24 texts were drawn for people with different chances" in one for one in about["cautions"]
    )


@pytest.mark.usefixtures("run")
def test_a_folder_is_no_file_for_a_calibration(tmp_path: Path) -> None:
    done = call(tmp_path, "calibrate", "run", "--human", "human.jsonl", *QUICK, "-o", ".", code=1)
    assert complaint(done.stderr) == ".: cannot be written: it is a folder"


def test_only_marked_texts_of_bare_results_need_an_input(tmp_path: Path, run: Path) -> None:
    (tmp_path / "bare.jsonl").write_bytes((run / "results.jsonl").read_bytes())
    marked = [row(n) for n in range(20)]
    write(tmp_path / "human.jsonl", marked)
    command = ("calibrate", "bare.jsonl", "--human", "human.jsonl", *QUICK, "--json")
    notes = json.loads(call(tmp_path, *command).stdout)["notes"]
    assert not [one for one in notes if "no input id" in one]
    write(tmp_path / "human.jsonl", [{**one, "inputs": {}} for one in marked])
    notes = json.loads(call(tmp_path, *command).stdout)["notes"]
    assert notes[0].startswith("20 texts: they have no input id")


def test_a_run_without_marks_says_how_to_make_some(tmp_path: Path, run: Path) -> None:
    done = call(tmp_path, "calibrate", run.name, code=2)
    assert "has no finished marks of people" in complaint(done.stderr)


@pytest.mark.usefixtures("run")
def test_aspects_that_no_one_judged_or_marked_are_refused(tmp_path: Path) -> None:
    flags = ("calibrate", "run", "--human", "human.jsonl", "--aspect")
    done = call(tmp_path, *flags, "fluency", code=2)
    assert "fluency was not judged; judged: consistency" in complaint(done.stderr)
