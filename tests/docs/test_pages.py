"""Pages of the documentation: their commands and programs run in order, and print what they say."""

import json
import re
import shlex
import shutil
import urllib.request
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

import pytest
from fakes.command import call
from fakes.pages import ROOT, blocks, commands, fenced, read_page, run_code, section
from fakes.viewed_runs import ROWS, judge, write_rows
from loopback.answers import chat
from loopback.server import LoopbackServer
from loopback.worded import WordedServer

from spanjury.adapters.checkers.catalogue import CheckerModel, read_catalogue
from spanjury.adapters.files.reading.rows import parse_row
from spanjury.judges.core import Outcome
from spanjury.judges.core.passages import COLLECTIONS
from spanjury.judges.tasks import Rubric
from spanjury.orchestration.studies.failing.conditions import FIELDS
from spanjury.orchestration.studies.pairs.comparing import ComparisonRow
from spanjury.orchestration.wiring.panel_files import read_panel_file

SUMMARIES = ROOT / "examples" / "summaries.jsonl"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder in which the examples lie where the pages say."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


README = (ROOT / "README.md").read_text("utf-8")
TOUR = read_page("tour")


@pytest.mark.parametrize("page", [README, TOUR], ids=["README", "tour"])
def test_the_first_python_examples_run_and_find_the_error(
    page: str, capsys: pytest.CaptureFixture[str]
) -> None:
    programs = blocks(page, "python")
    for program in programs:
        run_code(program, {})
    shown = capsys.readouterr().out
    printed = re.search(r"print\(report\)  # (.*)", programs[0])
    assert printed is not None
    assert printed[1] in shown
    assert "21 25 1935 4" in shown
    assert "['The bridge opened in 1932.']" in shown


def test_the_panel_example_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "panel.toml"
    (text,) = blocks(TOUR, "toml")
    path.write_text(text)
    assert [seat.name or seat.judge for seat in read_panel_file(path).seats_or_default] == [
        "gemma",
        "qwen",
        "grounding",
    ]


@pytest.mark.usefixtures("folder")
def test_the_programs_on_embedding_run(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {}
    for program in blocks(read_page("embedding"), "python"):
        run_code(program, names)
    shown = capsys.readouterr().out
    assert "1935 21 25 4" in shown
    assert "Article 0 26 The bridge opened in 1932." in shown
    assert "<TextReports: 2 texts; 1 ok, 1 faulty>" in shown
    assert re.search(r"<TextReport '[a-z-]+/system-b': faulty, \d errors", shown)


@pytest.mark.heavy  # matplotlib
def test_the_programs_on_exams_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for program in blocks(read_page("python-exams"), "python"):
        run_code(program, names)
    shown = capsys.readouterr().out
    assert re.search(
        r"<StudyReport 'Discernment exam': discernment.average [\d.]+, .*tables>", shown
    )
    assert re.search(r"^negate 0\.\d+ discerned$", shown, re.MULTILINE)
    assert "# Two judges compared" in shown
    assert re.search(r"<PerturbedTexts: \d+ texts, \d+ skipped> \S+: ", shown)
    assert re.search(r"judged \d+ of \d+ \(\d+ %\)", shown)
    assert "\n0.1 seconds are over\n" in shown
    assert re.search(r"<StudyReport 'Calibration.*<StudyReport '.*<StudyReport 'Systems", shown)
    assert (tmp_path / "calibration.toml").is_file()
    findings = json.loads((tmp_path / "exam" / "findings.json").read_text("utf-8"))
    assert findings["card"]["exam"] == "discernment"


REVIEW = "No Error\n\nOverall score: Good\nExplanation of the score: Nothing is wrong."


def run_batch(arguments: list[str], folder: Path, *, url: str) -> None:
    """Answer a file as vLLM's offline runner does: each request by itself, in any order."""
    given = dict(zip(arguments[::2], arguments[1::2], strict=True))
    answers = []
    for line in reversed((folder / given["-i"]).read_text().splitlines()):
        asked = json.loads(line)
        assert asked["body"]["model"] == given["--model"]
        assert (asked["method"], asked["url"]) == ("POST", "/v1/chat/completions")
        request = urllib.request.Request(
            f"{url}/chat/completions", data=json.dumps(asked["body"]).encode()
        )
        with urllib.request.urlopen(request) as reply:
            response = {"status_code": 200, "request_id": "1", "body": json.load(reply)}
        answer = {"id": "vllm-1", "custom_id": asked["custom_id"], "response": response}
        answers.append(json.dumps({**answer, "error": None}))
    (folder / given["-o"]).write_text("\n".join(answers) + "\n")


@pytest.mark.heavy
def test_the_example_of_batches_with_files_runs_as_it_stands(folder: Path) -> None:
    block, *_ = blocks(section(read_page("batches"), "## By files"), "")
    with LoopbackServer(chat(REVIEW)) as server:
        for program, *arguments in commands(block):
            if program == "vllm":
                assert arguments.pop(0) == "run-batch"
                run_batch(arguments, folder, url=server.base_url)
                continue
            call(folder, *arguments, "--show", "none")
    rows = (folder / "runs" / "qwen" / "results.jsonl").read_text().splitlines()
    assert {json.loads(row)["score"] for row in rows} == {4}
    assert len(server.requests) == len(rows) == 30


HEADINGS = ("`--judge`", "model", "published as", "parameters", "licence", "languages", "figures")


def test_the_table_of_checkers_is_that_of_the_catalogue() -> None:
    listed = read_catalogue()
    rows = [HEADINGS, ["---"] * len(HEADINGS)]
    rows += [cells(model, listed.published(model)) for model in listed.models.values()]
    lines = read_page("checkers").splitlines()
    start = lines.index(table_line(HEADINGS))
    assert lines[start : start + len(rows)] == [table_line(row) for row in rows]
    assert not lines[start + len(rows)]


def cells(model: CheckerModel, published: str) -> list[str]:
    """Return the row of a model."""
    needs = "".join(f":{option}=FILE" for option in model.needs)
    judge = f"`{model.judge}`" if model.is_chat else f"`checker:{model.name}{needs}`"
    licence = f"**{model.licence}**" if model.is_non_commercial else model.licence
    facts = [model.title, model.repository or "-", model.parameters, licence, model.languages]
    return [judge, *facts, published or "-"]


def table_line(row: Sequence[str]) -> str:
    return f"| {' | '.join(row)} |" if row[0] != "---" else "|---" * len(row) + "|"


IN_CI = section(read_page("runs"), "## In CI")
EVALUATIONS, SHOWN = blocks(IN_CI, "")
(WORKFLOW,) = blocks(IN_CI, "yaml")


def test_the_workflow_ends_with_5_and_uploads_what_it_wrote(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_WORKSPACE", str(folder))
    (command,) = re.findall(r"- run: >\n((?: {10}.*\n)+)", WORKFLOW)
    (uploaded,) = re.findall(r"sarif_file: (.*)", WORKFLOW)
    program, *arguments = shlex.split(command)
    assert program == "spanjury"
    done = call(folder, *arguments, code=5)
    assert "\n::error file=examples/summaries.jsonl,line=2,title=consistency%3A" in done.stderr
    assert (folder / uploaded).is_file()


@pytest.mark.heavy
def test_each_command_holds_the_texts_to_what_it_says(folder: Path) -> None:
    shutil.copy(SUMMARIES, folder / "texts.jsonl")
    *evaluations, rescore = (words[1:] for words in commands(EVALUATIONS))
    rules = ("--judge", "grounding", "--judge", "form", "--show", "none", "--run-dir")
    for number, words in enumerate(evaluations):
        call(folder, *words, *rules, f"run-{number}", code=5)
    call(folder, *("run-0" if word == "RUN" else word for word in rescore), code=5)


def test_the_lines_are_those_of_the_command_above_them(folder: Path) -> None:
    shutil.copy(SUMMARIES, folder / "texts.jsonl")
    command, *lines = SHOWN.splitlines()
    done = call(folder, *shlex.split(command.removeprefix("$ spanjury ")), code=5)
    assert {*lines} - {"…"} <= {*done.stderr.splitlines()}


def test_the_table_names_every_field_and_every_outcome() -> None:
    rows = re.findall(r"^\| (`.*?) \|", IN_CI, re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", "".join(rows))) == set(FIELDS)
    assert all(f"`{outcome.value}`" in IN_CI for outcome in Outcome)


PASSAGES = section(read_page("data"), "### Passages")


def test_the_row_with_passages_is_read_as_the_page_says() -> None:
    (row,) = blocks(PASSAGES, "json")
    segment = parse_row(json.loads(row), line=1)
    assert [*segment.inputs] == ["Question", "Context [1]", "Context [2]"]


def test_the_python_on_passages_runs_as_it_stands() -> None:
    (program,) = blocks(PASSAGES, "python")
    run_code(program, {})


def test_every_header_of_a_collection_is_named() -> None:
    named = PASSAGES.replace("\n", " ").replace("context(s)", "context`, `retrieved contexts")
    assert {header for header in COLLECTIONS if f"`{header}`" not in named} == set()


MARKS = read_page("marks")
MARKED_ROW = json.loads(*blocks(MARKS, "json"))


def marked_text() -> dict[str, object]:
    """Return the example whose marks the page shows."""
    texts = map(json.loads, SUMMARIES.read_text("utf-8").splitlines())
    (text,) = (candidate for candidate in texts if candidate["id"] == MARKED_ROW["id"])
    assert isinstance(text, dict)
    return text


@pytest.mark.heavy
def test_the_commands_on_marks_run_in_their_order(folder: Path) -> None:
    row = json.loads(json.dumps(MARKED_ROW)) | {"output": marked_text()["output"]}
    del row["human"]["consistency"]["anna"], row["meta"]["marks"][0]
    (folder / "marks-of-ben.jsonl").write_text(json.dumps(row) + "\n")
    outputs = {}
    for block in blocks(MARKS, "sh"):
        for words in commands(block):
            outputs[" ".join(words)] = call(folder, *words[1:]).output
    assert "anna" in outputs["spanjury marks list my-run"]
    assert "0.720" in outputs["spanjury meta my-run"]
    assert "consistency" in outputs["spanjury marks agreement my-run"]
    rows = [json.loads(line) for line in (folder / "marks.jsonl").read_text().splitlines()]
    (both,) = (row for row in rows if row["id"] == "harbour-bridge/system-b")
    assert set(both["human"]["consistency"]) == {"anna", "ben"}
    assert both["meta"]["annotators"] == ["ben"]
    score = {"annotator": "anna", "aspect": "consistency", "scores_only": True}
    assert score in both["meta"]["marks"]


def test_the_row_that_is_shown_has_its_span_where_it_says() -> None:
    (span,) = MARKED_ROW["spans"]
    assert str(marked_text()["output"])[span["start"] : span["end"]] == span["text"]


PAIRS = read_page("pairs")


@pytest.mark.heavy
def test_the_commands_on_pairs_print_what_the_page_says(folder: Path) -> None:
    printed = ""
    for kind, text in fenced(PAIRS):
        for program, *words in commands(text) if kind == "sh" else ():
            assert program == "spanjury"
            printed += call(folder, *words).output
        if kind == "text":
            assert [line for line in text.splitlines() if line not in printed] == []
    assert printed


def test_the_python_on_pairs_runs_as_it_stands(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (program,) = blocks(PAIRS, "python")
    run_code(program, {})
    assert "system-c" in capsys.readouterr().out
    assert (folder / "pairs" / "comparisons.jsonl").exists()


def test_every_key_of_a_row_is_named() -> None:
    named = set(re.findall(r"`(\w+)`", section(PAIRS, "## Rows")))
    assert {field.name for field in fields(ComparisonRow)} <= named


RUBRICS = read_page("rubrics")
ADDRESS = "http://localhost:8080/v1"
OK = chat("No Error\n\nOverall score: Met\nExplanation of the score: Nothing.")
ANSWERS = {
    "news comes first": chat("No Error\n\nOverall score: In the middle"),
    "Every number and every date": chat(
        'Error 1:\nLocation: "July"\nExplanation: The article says June.\nSeverity: 4\n\n'
        "Overall score: Not met"
    ),
    "in euros": chat(
        'Error 1:\nLocation: "30 dollars"\nExplanation: Not in euros.\nSeverity: 4\n\n'
        "Overall score: Not met"
    ),
    "is friendly": chat("No Error\n\nOverall score: Good"),
    "Consistency: Whether": chat("No Error\n\nOverall score: Excellent"),
}


def write_marked(folder: Path) -> None:
    """Write what people might have marked of the first texts of the examples."""
    rows = [json.loads(line) for line in SUMMARIES.read_text("utf-8").splitlines()[3:9]]
    for row in rows:
        word = row["output"].split()[0]
        span = {"start": 0, "end": len(word), "text": word, "severity": 2}
        row |= {"spans": [span | {"explanation": "Marked.", "aspect": "consistency"}]}
        row["human"] = {"consistency": 3}
    (folder / "marked.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def test_the_commands_on_rubrics_run_in_their_order(folder: Path) -> None:
    write_marked(folder)
    shown = ""
    with WordedServer(ANSWERS, otherwise=OK) as server:
        for block in blocks(RUBRICS, "sh"):
            for words in commands(block.replace(ADDRESS, server.base_url)):
                shown += call(folder, *words[1:]).stdout
        asked = [str(request.body) for request in server.requests]
    prompts = [words for words in asked if "Reviews of other" in words]
    (result,) = blocks(RUBRICS, "text")
    assert " ".join(result.split()) in " ".join(shown.split())
    assert len(prompts) == 4
    assert all("[2 of 5]: Marked." in prompt for prompt in prompts)
    assert {prompt.count("review: begin") for prompt in prompts} == {2, 3}
    assert (folder / "newsroom.html").is_file()


def test_the_program_on_rubrics_runs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with WordedServer(ANSWERS, otherwise=OK) as server:
        model = f'{{ name = "openai-compatible/judge", base_url = "{server.base_url}" }}'
        (folder / "panel.toml").write_text(f"models = [{model}]\n")
        (program,) = blocks(RUBRICS, "python")
        run_code(program, {})
    assert capsys.readouterr().out == "faulty 3.0\n"


def test_the_rubric_of_the_page_is_the_example() -> None:
    (shown,) = blocks(RUBRICS, "toml")
    example = ROOT / "examples" / "rubric.toml"
    assert re.sub(r"\s*#.*", "", example.read_text("utf-8")).split() == shown.split()
    assert Rubric.read(example).name == "newsroom"


def test_the_commands_on_views_run_as_they_stand(tmp_path: Path) -> None:
    write_rows(tmp_path / "rows.jsonl")
    lines = [f"{row['id']},{row['system']},{row['output']!r}" for row in ROWS]
    table = "id,system,summary\n" + "\n".join(line.replace("'", '"') for line in lines) + "\n"
    (tmp_path / "renamed.csv").write_text(table)
    judge(tmp_path, run="other")
    written = []
    for block in blocks(read_page("view"), "sh"):
        for program, *words in commands(block):
            assert program == "spanjury"
            if words[0] == "view" and "--html" not in words:  # it would serve until Ctrl-C
                words += ["--html", "served.html"]
            assert "spanjury: " not in call(tmp_path, *words).stderr
            written += [word for word in words if word.endswith(".html")]
    assert all((tmp_path / name).stat().st_size for name in written)
    assert len(set(written)) == 6
