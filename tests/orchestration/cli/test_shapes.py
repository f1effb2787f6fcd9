"""A file whose columns have other names is judged as one with ours, and so is a resumed run."""

import json
import zipfile
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from fakes.command import call
from fakes.installed import imported
from typer.testing import Result

from spanjury.adapters.files.reading.shapes import NAMES
from spanjury.judges.core import ConfigError, DataError, Segment
from spanjury.orchestration.services.judging.panels import read_segments
from spanjury.orchestration.wiring.sources import open_source

RENAMED_ARTICLE = "The bridge opened in 1932 and was painted grey by the city."
FLAGS = ("--column", "output=summary", "--column", "inputs.Article=text")
PLUGIN = """
from spanjury import Segment

def read(path, /):
    return iter([Segment(segment_id="a", output=path.name)])
"""
QUESTION = "When did the Lerna bridge open?"
PASSAGES = ["The Lerna bridge opened in 1932.", "It is painted grey."]
ANSWER = "The Lerna bridge opened in 1935."
ARTICLE = "The Lerna bridge opened in 1932 and was painted grey by the city."
REFERENCE = "It opened in 1932."
PROMPT = "Answer from what the search returns."
CHAT: list[Mapping[str, object]] = [
    {"role": "system", "content": PROMPT},
    {"role": "user", "content": QUESTION},
    {"role": "assistant", "content": None, "tool_calls": [{"id": "c1"}]},
    {"role": "tool", "tool_call_id": "c1", "content": PASSAGES[0]},
    {"role": "assistant", "content": [{"type": "text", "text": ANSWER}]},
]
ROWS: Mapping[str, Mapping[str, object]] = {
    "ragas": {
        "user_input": QUESTION,
        "retrieved_contexts": PASSAGES,
        "response": ANSWER,
        "reference": REFERENCE,
    },
    "ragas-0.1": {
        "question": QUESTION,
        "contexts": PASSAGES,
        "answer": ANSWER,
        "ground_truth": REFERENCE,
    },
    "deepeval": {
        "input": QUESTION,
        "actual_output": ANSWER,
        "expected_output": REFERENCE,
        "context": None,
        "retrieval_context": PASSAGES,
    },
    "squad": {
        "id": "5733",
        "title": "Bridges",
        "context": ARTICLE,
        "question": QUESTION,
        "answers": {"text": ["1932", "in 1932"], "answer_start": [28, 25]},
        "prediction_text": ANSWER,
    },
    "cnn": {"article": ARTICLE, "highlights": REFERENCE, "id": "f3", "generated_summary": ANSWER},
    "xsum": {"document": ARTICLE, "summary": REFERENCE, "id": 7, "prediction": ANSWER},
    "langsmith": {
        "id": "8c1f",
        "name": "RagChain",
        "run_type": "chain",
        "inputs": {"question": QUESTION},
        "outputs": {
            "answer": ANSWER,
            "documents": [{"page_content": text, "metadata": {}} for text in PASSAGES],
        },
        "reference_outputs": {"answer": REFERENCE},
    },
    "langfuse": {
        "id": "tr-1",
        "projectId": "p",
        "name": "rag",
        "input": {"query": QUESTION, "context": PASSAGES},
        "output": {"role": "assistant", "content": ANSWER},
        "scores": [],
        "model": "small-1",
    },
    "promptfoo": {
        "provider": {"id": "openai:small-1", "label": ""},
        "prompt": {"raw": "Answer: …", "label": "short"},
        "vars": {"question": QUESTION, "context": PASSAGES[0]},
        "response": {"output": ANSWER, "tokenUsage": {"total": 9}},
        "success": True,
    },
    "inspect": {
        "id": 1,
        "epoch": 1,
        "input": [{"role": "user", "content": QUESTION}, {"role": "tool", "content": PASSAGES[0]}],
        "target": ["1932"],
        "output": {
            "model": "small-1",
            "choices": [{"message": {"role": "assistant", "content": ANSWER}}],
        },
        "scores": {"match": {"value": "I"}},
    },
    "openai": {"messages": CHAT},
    "mt": {"src": "Die Brücke öffnete 1932.", "mt": ANSWER, "ref": REFERENCE},
}
FACTS = {"ragas", "ragas-0.1", "deepeval", "squad", "cnn", "xsum", "langsmith", "langfuse"} | {
    *("promptfoo", "inspect", "openai")
}


def write(folder: Path) -> Path:
    row = {"text": RENAMED_ARTICLE, "summary": "The bridge opened in 1935."}
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
        ((*FLAGS, "--engine", "ray", "--run-dir", "run"), 2, "cannot be combined with --column"),
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
    assert (read.output, read.inputs) == (
        "The bridge opened in 1935.",
        {"Article": RENAMED_ARTICLE},
    )


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
    with pytest.raises(ConfigError, match="'own' takes no columns of other names"):
        open_source(Path("x.own"), columns=("output=a",))


"""Shapes with a source, in which the wrong year can be seen."""


def read(path: Path, *columns: str) -> Segment:
    (segment,) = open_source(path, columns=columns)
    assert isinstance(segment, Segment), segment
    return segment


def test_rows_of_twelve_programs_get_a_decision_from_the_command(tmp_path: Path) -> None:
    for name, row in ROWS.items():
        (tmp_path / f"{name}.jsonl").write_text(f"{json.dumps(row)}\n")
        flags = ("--no-progress", "--show", "none", "--no-memory", "-o", "results.jsonl")
        judges = ("--judge", "grounding", "--judge", "form")
        done = call(tmp_path, "evaluate", f"{name}.jsonl", *flags, *judges)
        assert "read as rows of the shape" in done.output
        results = (tmp_path / "results.jsonl").read_text().splitlines()
        decisions = [json.loads(line)["decision"] for line in results]
        assert any(decisions), (name, decisions)
        marked = [span["text"] for line in results for span in json.loads(line)["spans"]]
        assert ("1935" in marked) == (name in FACTS), (name, marked)


def test_an_unknown_judge_is_refused_before_rows_are_read(tmp_path: Path) -> None:
    (tmp_path / "squad.jsonl").write_text(f"{json.dumps(ROWS['squad'])}\n")
    for command in (("evaluate",), ("evaluate", "--dry-run")):
        refused = call(tmp_path, *command, "squad.jsonl", "--judge", "grouding", code=2)
        assert "there is no judge 'grouding'" in refused.output
        assert "read as rows" not in refused.output


@pytest.mark.parametrize("name", ["ragas-0.1", "squad", "langsmith", "langfuse", "promptfoo"])
def test_every_part_of_a_row_is_read(tmp_path: Path, name: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(ROWS[name]))
    segment = read(path)
    assert (segment.output, segment.task) == (ANSWER, "question-answering")
    assert segment.inputs["Question"] == QUESTION
    contexts = [text for header, text in segment.inputs.items() if header.startswith("Context")]
    assert contexts in ([ARTICLE], PASSAGES, PASSAGES[:1])
    references = {"squad": ("1932", "in 1932"), "langfuse": (), "promptfoo": ()}
    assert segment.references == references.get(name, (REFERENCE,))
    systems = {"langfuse": "small-1", "promptfoo": "openai:small-1"}
    assert segment.system == systems.get(name, "")


def test_the_last_turn_of_a_chat_is_judged_by_what_came_before(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps({"messages": CHAT}))
    segment = read(path)
    assert segment.output == ANSWER
    assert segment.inputs == {"Question": QUESTION, "Context": PASSAGES[0]}
    path.write_text(json.dumps({"messages": [*CHAT[:2], CHAT[-1]]}))
    prompts = [f"system: {PROMPT}", f"user: {QUESTION}"]
    assert [*read(path).inputs.values()] == [QUESTION, *prompts]
    path.write_text(json.dumps({"messages": CHAT[:2]}))
    (fault,) = open_source(path)
    assert "messages: got" in str(fault)


@pytest.mark.parametrize(
    ("header", "row"),
    [
        ("article,summary", f"{ARTICLE},{ANSWER}"),
        ("src,mt", f"{ARTICLE},{ANSWER}"),
        ("question,answer", f"{QUESTION},{ANSWER}"),
    ],
)
def test_the_column_model_names_the_system_unless_a_column_system_does(
    header: str, row: str, tmp_path: Path
) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(f"{header},model\n{row},alpha\n")
    segment = read(path)
    assert (segment.system, segment.meta) == ("alpha", {})
    path.write_text(f"{header},model,system\n{row},alpha,beta\n")
    segment = read(path)
    assert (segment.system, segment.meta) == ("beta", {"model": "alpha"})


def test_tables_hold_shapes_too(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(
        "inputs.question,outputs.answer,outputs.contexts,system\n"
        f"{QUESTION},{ANSWER},\"['{PASSAGES[0]}', '{PASSAGES[1]}']\",small\n"
    )
    segment = read(path)
    assert (segment.output, segment.system) == (ANSWER, "small")
    assert [*segment.inputs.values()] == [*PASSAGES, QUESTION]
    path.write_text(f"question,contexts,answer\n{QUESTION},[],{ANSWER}\n")
    assert read(path).inputs == {"Question": QUESTION}
    path.write_text(f"article,prediction\n{ARTICLE},\n")
    assert read(path) == Segment(
        segment_id="line-2", output="", inputs={"Article": ARTICLE}, task="summarization"
    )


@pytest.mark.parametrize(
    "document",
    [
        [ROWS["ragas"]],
        {"results": {"results": [ROWS["ragas"]]}, "version": 3},
        {"eval": {"task": "t"}, "samples": [ROWS["ragas"]]},
        {key: [value] for key, value in ROWS["ragas"].items()},
        {key: {"0": value} for key, value in ROWS["ragas"].items()},  # pandas: DataFrame.to_json
        ROWS["ragas"],
    ],
)
def test_a_json_document_holds_rows_in_several_ways(tmp_path: Path, document: object) -> None:
    path = tmp_path / "rows.json"
    path.write_text(json.dumps(document, indent=1))
    segment = read(path)
    assert (segment.output, len(segment.inputs)) == (ANSWER, 3)


def test_a_log_of_inspect_is_read_sample_by_sample(tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", "{}")
        archive.writestr("samples/1_epoch_1.json", json.dumps(ROWS["inspect"]))
        archive.writestr("samples/2_epoch_1.json", "{")
    first, second = open_source(path)
    assert isinstance(first, Segment)
    assert (first.segment_id, first.system, first.references) == ("1/1", "small-1", ("1932",))
    assert "sample 2: samples/2_epoch_1.json: not JSON" in str(second)


def test_several_logs_of_one_task_are_read_as_several_runs(tmp_path: Path) -> None:
    for log, system in {"a": "m1", "b": "m1", "c": "m2", "d": "m2"}.items():
        with zipfile.ZipFile(tmp_path / f"{log}.eval", "w") as archive:
            sample = {**ROWS["inspect"], "output": {"model": system, "completion": ANSWER}}
            archive.writestr("samples/1_epoch_1.json", json.dumps(sample))
    rows = [*open_source(tmp_path)]
    names = [row.segment_id for row in rows if isinstance(row, Segment)]
    assert names == ["1/1", "1/1/b", "1/1/m2", "1/1/m2/d"]


def test_a_sample_under_a_password_costs_itself_alone(tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("1", "2"):
            archive.writestr(f"samples/{name}.json", json.dumps({**ROWS["inspect"], "id": name}))
        archive.infolist()[0].flag_bits |= 1  # as that of an encrypted file
    first, second = open_source(path)
    assert "sample 1: samples/1.json cannot be read" in str(first)
    assert isinstance(second, Segment)


def test_a_parquet_file_holds_dates_and_bytes(tmp_path: Path) -> None:
    table = imported("pyarrow").Table
    path = tmp_path / "rows.parquet"
    row = {**ROWS["cnn"], "article": ARTICLE.encode(), "published": date(1970, 1, 1)}
    row |= {"image": b"\xff\xd8", "price": Decimal("1.50")}
    imported("pyarrow.parquet").write_table(table.from_pylist([row]), path)
    segment = read(path)
    assert segment.inputs == {"Article": ARTICLE}
    assert segment.meta == {"published": "1970-01-01", "image": "2 bytes", "price": "1.50"}


def test_a_folder_of_data_files_is_one_file_a_system(tmp_path: Path) -> None:
    for system in ("small", "large"):
        row = {"id": "b1", "document": ARTICLE, "prediction": f"{system}: {ANSWER}"}
        (tmp_path / f"{system}.jsonl").write_text(json.dumps(row))
    rows = [row for row in open_source(tmp_path) if isinstance(row, Segment)]
    names = [(row.segment_id, row.system) for row in rows]
    assert names == [("b1", "large"), ("b1/small", "small")]


def test_a_row_that_lacks_an_input_has_the_shape_of_the_rows_before(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(f"id,article,summary\na,{ARTICLE},{ANSWER}\nb,,{ANSWER}\nc,{ARTICLE},\n")
    first, second, third = open_source(path)
    for row in (first, second, third):
        assert isinstance(row, Segment)
    assert isinstance(second, Segment)
    assert (second.output, dict(second.inputs)) == (ANSWER, {})
    path.write_text(f'{{"article": "{ARTICLE}", "summary": "{ANSWER}"}}\n{{"text": "{ANSWER}"}}\n')
    _, other = open_source(path.rename(tmp_path / "rows.jsonl"))
    assert "the row has no output" in str(other)


def test_one_id_in_several_systems_is_one_text_of_several_systems(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    rows = [{"id": "d1", "output": ANSWER, "system": name} for name in ("m1", "m1", "m2", "m2")]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    first, second, third, fourth = open_source(path)
    assert isinstance(first, Segment)
    assert isinstance(third, Segment)
    assert (first.segment_id, third.segment_id) == ("d1", "d1/m2")
    assert "line 2: line 1 already has the id 'd1'" in str(second)
    assert "line 4: line 3 already has the id 'd1/m2'" in str(fourth)


@pytest.mark.parametrize(
    ("row", "hint"),
    [
        (
            {"user_input": QUESTION, "respons": ANSWER, "retrieved_contexts": PASSAGES},
            "the nearest shape is ragas, without output: add --shape ragas --column output=respons",
        ),
        (
            {"input": QUESTION, "actual_outptu": ANSWER},
            "is deepeval, without output: add --shape deepeval --column output=actual_outptu",
        ),
        (
            {"question": QUESTION, "context": ARTICLE, "answers": {"text": ["1932"]}},
            "is qa, without output: add --shape qa --column output=COLUMN",
        ),
        (
            {"article": ARTICLE, "highlights": REFERENCE},
            "only article, highlights; name the column of the judged text: --column output=COLUMN",
        ),
        (
            {"ouput": ANSWER},
            "is spanjury, without output: add --shape spanjury --column output=oup",
        ),
        ({"a": ANSWER, "b": 1}, "only a, b; name the columns, for example --column output=COLUMN"),
        ({"messages": CHAT, "task": {"name": "agent"}}, "line 1: task: got {"),
        (
            {"inputs": {"q": QUESTION}, "outputs": {"x": ANSWER, "y": ANSWER}},
            "expected a text (shape langsmith): name it by --column output=outputs.KEY",
        ),
    ],
)
def test_a_row_of_no_shape_is_answered_with_the_nearest(
    tmp_path: Path, row: Mapping[str, object], hint: str
) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(row))
    (fault,) = open_source(path)
    assert hint in str(fault)


@pytest.mark.parametrize(
    "row",
    [
        {"question": QUESTION, "prediction": None, "answer": REFERENCE},
        {"question": QUESTION, "prediction": ["a", "b"], "answer": REFERENCE},
        {"vars": {"q": QUESTION}, "response": {"error": "the server is busy"}},
        {"inputs": {"q": QUESTION}, "outputs": {"error": "the server is busy"}},
        {**ROWS["inspect"], "output": {"completion": ""}, "error": {"message": "busy"}},
    ],
)
def test_neither_a_reference_nor_an_error_is_judged_in_place_of_an_output(
    tmp_path: Path, row: Mapping[str, object]
) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(row))
    (fault,) = open_source(path)
    assert isinstance(fault, DataError)


def test_a_shape_and_columns_overrule_what_a_row_looks_like(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    row = {"inputs": {"q": QUESTION}, "outputs": {"x": ANSWER, "y": REFERENCE}, "answer": "No."}
    path.write_text(json.dumps(row))
    assert read(path, "output=outputs.x").output == ANSWER
    assert read(path, "output=answer", "spanjury").inputs == {"q": QUESTION}
    assert read(path, "qa").output == "No."


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            {"first": PASSAGES[0], "second": "b"},
            "name the texts by --column inputs.Context=contexts.KEY",
        ),
        ([{"id": "1", "body": PASSAGES[0]}], "name the texts by --column inputs.Context=COLUMN"),
    ],
)
def test_passages_that_cannot_be_read_are_not_dropped(
    tmp_path: Path, value: object, message: str
) -> None:
    path = tmp_path / "rows.jsonl"
    row = {"question": QUESTION, "contexts": value, "answer": ANSWER}
    path.write_text(json.dumps(row))
    (fault,) = open_source(path)
    assert isinstance(fault, DataError)
    assert "contexts: got " in str(fault)
    assert message in str(fault)


@pytest.mark.parametrize("value", [None, "", [], {}, [""], [None]])
def test_a_row_may_have_no_passages(tmp_path: Path, value: object) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps({"question": QUESTION, "contexts": value, "answer": ANSWER}))
    assert read(path).inputs == {"Question": QUESTION}


def test_every_shape_is_on_the_page_on_data() -> None:
    page = (Path(__file__).parents[3] / "docs" / "data.md").read_text("utf-8")
    assert {name for name in NAMES if f"| `{name}` |" not in page} == set()
