import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from fakes.command import call, complaint
from fakes.judges import located, mark
from fakes.marked_runs import put_marks, span, write_texts
from fakes.rows import summary
from hypothesis import given
from hypothesis import strategies as st

from spanjury.adapters.runs.marks_store import backup_of
from spanjury.judges.core import ErrorSpan
from spanjury.orchestration.cli.segment_view import marked_text
from spanjury.orchestration.services.people.marks.mark import Mark, MarkedSpan
from spanjury.orchestration.services.people.marks.marked_run import MarkedRun

QUICK = ("--draws", "0", "--no-progress")
SOURCE = "The mill by the river burnt down on Monday night. No one was hurt."
GOOD, BAD = "The mill burnt down on Monday.", "The mill burnt down on Friday."
NAME = "anna: text-0, system-0, consistency"


def plain(output: str, *spans: ErrorSpan) -> str:
    return marked_text(output, dict(enumerate(spans, 1))).plain


def test_words_of_a_span_stand_in_brackets_before_their_number() -> None:
    text = "It opened in 1935."
    assert plain(text, mark(text, "1935")) == "It opened in [1935](1)."


def test_spans_inside_each_other_are_both_marked() -> None:
    text = "It opened in 1935."
    spans = mark(text, "opened in 1935"), mark(text, "1935")
    assert plain(text, *spans) in {"It [opened in [1935](1)](2).", "It [opened in [1935](2)](1)."}


def test_neighbours_close_before_they_open() -> None:
    assert plain("abcd", mark("abcd", "ab"), mark("abcd", "cd")) == "[ab](1)[cd](2)"


def test_spans_without_a_position_are_not_marked() -> None:
    assert plain("abc", ErrorSpan(text="gone", explanation="", severity=None)) == "abc"


def test_a_long_text_is_shown_around_its_spans() -> None:
    text = f"{'a' * 5000} WRONG {'b' * 5000}"
    shown = plain(text, mark(text, "WRONG"))
    assert "[WRONG](1)" in shown
    assert shown.startswith("… aaa")
    assert shown.endswith("bbb …\n")
    assert len(shown) < 300


def test_a_long_text_without_a_span_shows_its_beginning() -> None:
    assert plain("a" * 5000) == "a" * 120 + " …\n"


@given(st.text(alphabet="abc d", min_size=1, max_size=60), st.data())
def test_without_its_marks_a_marked_text_is_the_text(text: str, data: st.DataObject) -> None:
    spans = []
    for _ in range(data.draw(st.integers(0, 4))):
        start = data.draw(st.integers(0, len(text) - 1))
        end = data.draw(st.integers(start + 1, len(text)))
        spans.append(
            located(
                text[start:end],
                start,
                explanation="",
                severity=data.draw(st.none() | st.integers(1, 5)),
            )
        )
    shown = plain(text, *spans)
    assert shown.count("[") == len(spans)
    for number in range(1, len(spans) + 1):
        assert f"]({number})" in shown
        shown = shown.replace(f"]({number})", "")
    assert shown.replace("[", "") == text


@pytest.fixture
def run(tmp_path: Path) -> MarkedRun:
    """Judge six texts on consistency, of which every second has an error."""
    rows = [
        summary(
            f"text-{number}", BAD if number % 2 else GOOD, article=SOURCE, system=f"system-{number}"
        )
        for number in range(6)
    ]
    (tmp_path / "texts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    flags = ("--judge", "grounding", "--aspect", "consistency", "--run-dir", "run")
    call(tmp_path, "evaluate", "texts.jsonl", *flags, "--no-progress")
    return MarkedRun(tmp_path / "run")


def agreeing(texts: int, who: str = "anna") -> dict[tuple[str, int, str], Mark]:
    """Return marks that find the wrong day in every second text, and score accordingly."""
    place = BAD.index("Friday")
    error = span(BAD, place, place + 6, severity=4)
    return {
        (who, number, "consistency"): Mark(
            score=2 if number % 2 else 5, is_done=True, spans=(error,) if number % 2 else ()
        )
        for number in range(texts)
    }


def test_meta_says_how_far_judges_agree_with_the_marks(tmp_path: Path, run: MarkedRun) -> None:
    put_marks(run, agreeing(6))
    done = call(tmp_path, "meta", "run", *QUICK, "--json")
    found = json.loads(done.stdout)
    (scores,) = (one for one in found["agreements"] if one["scorer"] == "grounding")
    assert scores["value"] == pytest.approx(1.0)
    assert scores["items"] == 6
    (spans,) = found["spans"]
    panel, judge, *_ = (one for one in spans["agreement"]["judges"] if not one["group"])
    assert (panel["judge"], judge["judge"], judge["texts"]) == ("panel", "grounding", 6)
    assert judge["figures"]["exact.micro.f1"]["value"] == 1.0
    assert "marks of anna in" in done.stderr
    assert "6 texts of consistency" in done.stderr


def test_meta_and_compare_take_a_run_by_its_name(tmp_path: Path, run: MarkedRun) -> None:
    put_marks(run, agreeing(6))
    home, elsewhere = str(tmp_path), tmp_path / "elsewhere"
    elsewhere.mkdir()
    found = json.loads(call(elsewhere, "meta", "run", *QUICK, "--json", SPANJURY_RUNS=home).stdout)
    # The score of the run is computed from the spans, and is not that of its judge.
    assert {one["scorer"] for one in found["agreements"]} == {"panel", "grounding"}
    alike = json.loads(
        call(elsewhere, "compare", "run", tmp_path / "run", "--json", SPANJURY_RUNS=home).stdout
    )
    differences = alike["differences"]
    assert {one["scorer"]: one["difference"] for one in differences} == {
        "panel": 0.0,
        "grounding": 0.0,
    }
    missing = call(elsewhere, "compare", "run", "walk", code=1, SPANJURY_RUNS=home)
    assert "walk: cannot be read" in missing.stderr


def test_meta_counts_texts_read_in_another_version(tmp_path: Path, run: MarkedRun) -> None:
    put_marks(run, agreeing(6))
    call(tmp_path, "marks", "export", "run", "-o", "marks.jsonl")
    command = ("meta", "run", "--human", "marks.jsonl", *QUICK)
    assert "other versions" not in call(tmp_path, *command).stdout
    rows = [json.loads(line) for line in (tmp_path / "marks.jsonl").read_text().splitlines()]
    for row in rows[::2][:2]:  # people found no error in these
        row["output"] += " It was old."
    (tmp_path / "marks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    changed = call(tmp_path, *command)
    said = " ".join(changed.stdout.split())
    assert "2 of people's texts are other versions of those that run judged" in said


def test_a_run_that_no_one_marked_says_how_it_is_marked(tmp_path: Path, run: MarkedRun) -> None:
    done = call(tmp_path, "marks", "list", "run")
    assert done.stdout == ""
    assert done.stderr.strip() == "no one has marked run: mark its texts with 'spanjury view run'"
    put_marks(run, agreeing(6))
    assert "1 annotator in" in call(tmp_path, "marks", "list", "run").stderr


def test_meta_without_marks_says_how_to_make_some(tmp_path: Path, run: MarkedRun) -> None:
    done = call(tmp_path, "meta", "run", *QUICK, code=2)
    said = complaint(done.stderr)
    assert "no finished marks" in said
    assert "spanjury view run" in said
    assert "spanjury marks import run FILE" in said
    assert "--human" in said


def test_meta_on_too_few_marks_counts_them_and_omits_judges(tmp_path: Path, run: MarkedRun) -> None:
    put_marks(run, agreeing(4))
    done = call(tmp_path, "meta", "run", *QUICK, code=1)
    assert "4 texts of consistency; an aspect needs at least 5" in complaint(done.stderr)
    assert done.stdout == ""


def test_unfinished_marks_count_nowhere(tmp_path: Path, run: MarkedRun) -> None:
    put_marks(run, agreeing(6) | {("anna", 0, "consistency"): Mark(score=1)})
    assert "5 texts of consistency" in call(tmp_path, "meta", "run", *QUICK).stderr
    call(tmp_path, "marks", "export", "run", "-o", "done.jsonl")
    call(tmp_path, "marks", "export", "run", "-o", "all.jsonl", "--unfinished")
    counts = [
        len((tmp_path / name).read_text().splitlines()) for name in ("done.jsonl", "all.jsonl")
    ]
    assert counts == [5, 6]


@pytest.mark.parametrize("name", ["marks.jsonl", "marks.factgenie.jsonl", "marks.mqm.tsv"])
def test_marks_go_out_and_in_by_the_same_names(tmp_path: Path, run: MarkedRun, name: str) -> None:
    put_marks(run, agreeing(6) | agreeing(2, who="<b>ben</b>"))
    assert "8 marks are in" in call(tmp_path, "marks", "export", "run", "-o", name).stderr
    for path in (run.marks, backup_of(run.marks)):
        path.unlink()
    back = call(tmp_path, "marks", "import", "run", name)
    assert "8 marks were imported into" in back.stderr
    listed = call(tmp_path, "marks", "list", "run")
    rows = [line.split("│")[1:5] for line in listed.stdout.splitlines() if "│" in line]
    cells = [[cell.strip() for cell in row] for row in rows]
    assert cells == [["<b>ben</b>", "2", "2", "1"], ["anna", "6", "6", "3"]]


@pytest.mark.parametrize("name", ["marks.factgenie.jsonl", "marks.mqm.tsv"])
def test_a_form_without_bare_scores_and_unfinished_marks_says_so(
    tmp_path: Path, run: MarkedRun, name: str
) -> None:
    begun = {("anna", 0, "consistency"): Mark()}
    scored = {("ben", 0, "consistency"): Mark(score=2, is_done=True, scores_only=True)}
    put_marks(run, agreeing(6) | begun | scored)
    out = call(tmp_path, "marks", "export", "run", "-o", name, "--unfinished")
    assert f"5 marks are in {name}" in out.stderr
    assert "2 marks were left out: only rows hold unfinished marks, and scores of" in out.stderr
    for path in (run.marks, backup_of(run.marks)):
        path.unlink()
    assert "5 marks were imported" in call(tmp_path, "marks", "import", "run", name).stderr


def test_a_file_that_no_form_ends_in_is_not_written(tmp_path: Path, run: MarkedRun) -> None:
    put_marks(run, agreeing(1))
    refused = call(tmp_path, "marks", "export", "run", "-o", "marks.csv", code=2)
    assert "ends in .factgenie.jsonl, .mqm.tsv, .jsonl, or --form" in refused.stderr
    assert not (tmp_path / "marks.csv").exists()
    call(tmp_path, "marks", "export", "run", "-o", "marks.csv", "--form", "rows")
    assert json.loads((tmp_path / "marks.csv").read_text())["human"]


def test_an_unfinished_row_does_not_say_that_no_error_was_found(
    tmp_path: Path, run: MarkedRun
) -> None:
    put_marks(run, {("anna", 0, "consistency"): Mark()})
    call(tmp_path, "marks", "export", "run", "-o", "marks.jsonl", "--unfinished")
    (row,) = [json.loads(line) for line in (tmp_path / "marks.jsonl").read_text().splitlines()]
    assert "spans" not in row
    assert row["meta"]["marks"] == [
        {"annotator": "anna", "aspect": "consistency", "is_done": False}
    ]


def test_unfinished_marks_in_exported_rows_count_as_nobodys_judgement(
    tmp_path: Path, run: MarkedRun
) -> None:
    output = run.texts[0].segment.output
    span = MarkedSpan(start=0, end=2, text=output[:2], severity=3)
    begun = {("anna", 0, "consistency"): Mark(score=1, spans=(span,))}
    put_marks(run, begun | {("ben", 0, "consistency"): Mark(score=5, is_done=True)})
    call(tmp_path, "marks", "export", "run", "-o", "all.jsonl", "--unfinished")
    (row,) = [json.loads(line) for line in (tmp_path / "all.jsonl").read_text().splitlines()]
    assert row["human"] == {"consistency": {"ben": 5.0}}
    assert row["spans"] == []
    assert row["meta"]["marks"][0] == {
        "annotator": "anna",
        "aspect": "consistency",
        "is_done": False,
        "score": 1.0,
        "spans": [{"start": 0, "end": 2, "text": output[:2], "severity": 3}],
    }
    for path in (run.marks, backup_of(run.marks)):
        path.unlink()
    call(tmp_path, "marks", "import", "run", "all.jsonl")
    call(tmp_path, "marks", "export", "run", "-o", "again.jsonl", "--unfinished")
    assert (tmp_path / "again.jsonl").read_bytes() == (tmp_path / "all.jsonl").read_bytes()


def test_one_annotators_marks_are_exported_alone(tmp_path: Path, run: MarkedRun) -> None:
    put_marks(run, agreeing(6) | agreeing(2, who="ben"))
    call(tmp_path, "marks", "export", "run", "-o", "b.jsonl", "--annotator", "ben")
    rows = [json.loads(line) for line in (tmp_path / "b.jsonl").read_text().splitlines()]
    assert [row["human"] for row in rows] == [
        {"consistency": {"ben": 5.0}},
        {"consistency": {"ben": 2.0}},
    ]
    unknown = call(
        tmp_path, "marks", "export", "run", "-o", "c.jsonl", "--annotator", "carl", code=1
    )
    assert complaint(unknown.stderr) == "carl marked nothing; annotators: anna, ben"
    assert not (tmp_path / "c.jsonl").exists()


def test_agreement_takes_two_annotators(tmp_path: Path, run: MarkedRun) -> None:
    put_marks(run, agreeing(6))
    alone = call(tmp_path, "marks", "agreement", "run")
    assert (
        "one annotator, anna, has finished marks of run: agreement needs two annotators"
        in alone.stderr
    )
    put_marks(run, agreeing(6, who="ben"))
    both = call(tmp_path, "marks", "agreement", "run", "--draws", "20", "--json")
    (found,) = json.loads(both.stdout)["aspects"]
    assert (found["aspect"], found["annotators"]) == ("consistency", ["anna", "ben"])
    assert found["scores"]["alpha"]["value"] == 1.0
    (pair,) = found["spans"]
    assert (pair["texts"], pair["figures"]["exact.micro"]["value"]) == (6, 1.0)
    table = call(tmp_path, "marks", "agreement", "run", "--draws", "20")
    assert "consistency" in table.stdout
    assert "Agreement on scores, pair by pair" in table.stdout
    assert max(map(len, table.stdout.splitlines())) <= 80


def test_bare_results_take_their_texts_from_a_file(tmp_path: Path, run: MarkedRun) -> None:
    bare = tmp_path / "bare.jsonl"
    bare.write_bytes(run.results.read_bytes())
    put_marks(MarkedRun(bare, data=tmp_path / "texts.jsonl"), agreeing(6))
    assert (tmp_path / "bare.jsonl.marks.sqlite3").is_file()
    lacking = call(tmp_path, "marks", "export", "bare.jsonl", "-o", "out.jsonl", code=2)
    assert "--data FILE" in complaint(lacking.stderr)
    call(tmp_path, "marks", "export", "bare.jsonl", "-o", "out.jsonl", "--data", "texts.jsonl")
    meta = call(tmp_path, "meta", "bare.jsonl", "--data", "texts.jsonl", *QUICK)
    from_file = call(tmp_path, "meta", "bare.jsonl", "--human", "out.jsonl", *QUICK)
    assert from_file.stdout == meta.stdout


def test_results_in_a_runs_folder_have_the_marks_of_the_run(run: MarkedRun) -> None:
    assert MarkedRun(run.results).marks == run.marks
    assert run.marks.name == "marks.sqlite3"


def forge(path: Path) -> None:
    """Change the mark of the first text on disk, so that its checksum does not fit."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE marks SET content = 'forged' WHERE segment = 'text-0'")


def test_marks_left_out_are_named_and_exit_with_1(tmp_path: Path, run: MarkedRun) -> None:
    put_marks(run, agreeing(6))
    backup_of(run.marks).unlink()
    forge(run.marks)
    for command in (("list", "run"), ("export", "run", "-o", "out.jsonl")):
        done = call(tmp_path, "marks", *command, code=1)
        assert f"1 mark is damaged and was left out:\n  {NAME}" in done.stderr
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == 5
    for studying in (("marks", "agreement", "run"), ("meta", "run", *QUICK)):
        refused = call(tmp_path, *studying, code=1)
        assert f"1 marks are damaged: {NAME}; save what can be read by" in refused.stderr
    repaired = call(tmp_path, "runs", "repair", "run", code=1)
    assert "marks.sqlite3: 5 marks are saved, 1 are known to be lost" in repaired.stderr
    assert f"1 mark is lost:\n  {NAME}" in repaired.stderr
    assert "memory.sqlite3: nothing is damaged" in repaired.stderr
    call(tmp_path, "meta", "run", *QUICK)


def test_marks_in_a_torn_file_come_back_from_their_backup(tmp_path: Path, run: MarkedRun) -> None:
    put_marks(run, agreeing(6))
    export = ("marks", "export", "run", "-o", "out.jsonl")
    call(tmp_path, *export)
    before = (tmp_path / "out.jsonl").read_bytes()
    torn = run.marks.read_bytes()[:5000]
    run.marks.write_bytes(torn)
    assert "spanjury runs repair run" in complaint(call(tmp_path, *export, code=1).stderr)
    call(tmp_path, "runs", "repair", "run")
    call(tmp_path, *export)
    assert (tmp_path / "out.jsonl").read_bytes() == before
    assert (tmp_path / "run" / "marks.sqlite3.damaged-1").read_bytes() == torn


def test_a_guideline_explains_the_aspects_of_a_run_or_a_task(tmp_path: Path) -> None:
    call(tmp_path, "marks", "guideline", "--task", "story", "--aspect", "coherence", "-o", "g.html")
    page = (tmp_path / "g.html").read_text()
    assert "<bdi>Coherence</bdi>" in page
    assert "<bdi>Surprise</bdi>" not in page
    write_texts(tmp_path, [GOOD])
    call(tmp_path, "marks", "guideline", "results.jsonl", "-o", "g.md")
    assert re.findall("^## (.+)$", (tmp_path / "g.md").read_text(), re.MULTILINE)[2:] == [
        "Consistency",
        "Fluency",
    ]
    assert "Annotation guideline" not in call(tmp_path, "marks", "guideline", "--task", "qa").stderr


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ((), "name either a run or a task"),
        (("results.jsonl", "--task", "story"), "name either a run or a task"),
        (("--task", "storry"), "did you mean 'story'"),
        (("results.jsonl", "--aspect", "flunecy"), "did you mean 'fluency'"),
        (("--task", "story", "-o", "g.txt"), "ends in .html or .md"),
    ],
)
def test_a_guideline_of_nothing_is_refused(
    tmp_path: Path, words: tuple[str, ...], problem: str
) -> None:
    write_texts(tmp_path, [GOOD])
    assert problem in complaint(call(tmp_path, "marks", "guideline", *words, code=2).stderr)
