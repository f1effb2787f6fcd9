"""One text judged from the command line, and the texts that show what a report looks like."""

import json
import os
import signal
from pathlib import Path

import pytest
from fakes.command import call, complaint
from loopback.answers import STALL, Answer
from loopback.server import LoopbackServer, Received

from spanjury import check
from spanjury.judges.core import ConfigError, Decision
from spanjury.orchestration.cli import progress
from spanjury.orchestration.cli.exits import BY_SIGNAL, COVERAGE, ERROR, GATE, LIMIT, USAGE

SOURCE = "The bridge opened in 1932. It is green and was built by Ann Lee."
WRONG = "The bridge opened in 1935."
RULES = ("--judge", "grounding", "--judge", "form")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "article.txt").write_text(SOURCE, encoding="utf-8")
    (tmp_path / "notes.txt").write_text("Ann Lee was born in Leeds.", encoding="utf-8")
    (tmp_path / "draft.txt").write_text(WRONG, encoding="utf-8")
    return tmp_path


def test_a_file_is_judged_against_its_source(folder: Path) -> None:
    done = call(folder, "check", "draft.txt", "--source", "article.txt", *RULES)
    assert "The bridge opened in [1935](1)." in done.stdout
    assert "consistency: faulty" in done.stdout
    assert "Article: 'The bridge opened in 1932.'" in done.stdout
    assert not [*folder.glob("results*")]


def test_line_ends_of_windows_around_a_text_are_left_out(folder: Path) -> None:
    (folder / "draft.txt").write_bytes(f"\r\n{WRONG}\r\nIt is green.\r\n".encode())
    done = call(folder, "check", "draft.txt", "--source", "article.txt", *RULES, "--json")
    assert json.loads(done.stdout)["output"] == f"{WRONG}\r\nIt is green."


def test_a_demand_that_the_text_does_not_meet_ends_with_its_code(folder: Path) -> None:
    flags = ("check", "draft.txt", "--source", "article.txt", *RULES)
    missed = call(folder, *flags, "--fail-on", "decision=faulty", code=GATE)
    assert "not met: no report with decision=faulty" in missed.stderr
    call(folder, *flags, "--fail-on", "category=harmful")


@pytest.mark.parametrize(
    ("demand", "problem"),
    [
        (("--fail-on", "aspect=tone and severity>=1"), "no text is judged on 'tone'; aspects: con"),
        (("--fail-under", "tone=4"), "no text is judged on 'tone'; aspects: consistency, fluency"),
        (("--fail-on", "aspect=fluency and score<=5"), "always holds; scores: fluency from 1 to 5"),
    ],
)
def test_a_demand_that_does_not_fit_the_text_is_refused_before_it_is_judged(
    folder: Path, demand: tuple[str, str], problem: str
) -> None:
    refused = call(folder, "check", "draft.txt", *RULES, *demand, code=USAGE)
    assert problem in complaint(refused.stderr)
    assert not refused.stdout


def test_evidence_names_the_file_if_there_are_several(folder: Path) -> None:
    sources = ("--source", "notes.txt", "--source", "article.txt")
    done = call(folder, "check", "draft.txt", *sources, *RULES, "--json")
    (result, _) = json.loads(done.stdout)["results"]
    assert result["spans"][0]["evidence"][0]["input"] == "article.txt"


def test_a_question_makes_the_text_an_answer(folder: Path) -> None:
    asked = ("--question", "When did it open?", "--source", "article.txt")
    report = json.loads(call(folder, "check", "draft.txt", *asked, *RULES, "--json").stdout)
    assert (report["task"], report["decision"]) == ("question-answering", "faulty")


def test_a_file_of_rows_is_read_as_one_text_and_the_command_for_rows_is_named(folder: Path) -> None:
    (folder / "rows.jsonl").write_text('{"id": "1", "output": "The bridge is green."}\n' * 2)
    done = call(folder, "check", "rows.jsonl", "--source", "article.txt", *RULES)
    hint = "rows.jsonl is read as one text; judge its rows by: spanjury evaluate rows.jsonl"
    assert hint in done.stderr.splitlines()


@pytest.mark.parametrize("content", ['{"messages": [{', '[{"role": "user", "content": "Hi"}]'])
def test_a_json_file_without_messages_of_an_agent_is_named(folder: Path, content: str) -> None:
    (folder / "trace.json").write_text(content)
    done = call(folder, "check", "trace.json", "--source", "article.txt", *RULES)
    assert "trace.json is read as plain text: no messages of an agent" in done.stderr
    piped = call(folder, "check", "--source", "article.txt", *RULES, piped=content)
    assert "read as plain text" not in piped.stderr


def test_a_text_may_come_through_a_pipe(folder: Path) -> None:
    done = call(folder, "check", "--source", "article.txt", *RULES, piped=WRONG)
    assert "[1935]" in done.stdout


def test_a_text_without_a_source_gets_no_decision_and_a_hint(folder: Path) -> None:
    done = call(folder, "check", "draft.txt", *RULES, code=COVERAGE)
    assert "no decision on consistency: pass the source text with --source FILE" in done.stderr
    (folder / "empty.txt").touch()
    done = call(folder, "check", "draft.txt", "--source", "empty.txt", *RULES, code=COVERAGE)
    assert "no decision on consistency: the source is empty" in done.stderr
    asked = ("--question", "When?", "--source", "empty.txt")
    done = call(folder, "check", "draft.txt", *asked, *RULES, code=COVERAGE)
    assert "no decision on faithfulness: the source is empty" in done.stderr
    alone = ("--judge", "grounding")
    done = call(folder, "check", "draft.txt", "--source", "article.txt", *alone)
    assert "fluency: abstained" in done.stdout
    call(
        folder, "check", "draft.txt", "--source", "article.txt", "--judge", "rouge-2", code=COVERAGE
    )


@pytest.mark.parametrize(
    ("arguments", "code", "problem"),
    [
        (("absent.txt",), ERROR, "absent.txt: cannot be read: No such file"),
        (("--source", "It opened in 1932."), ERROR, "FILE and --source take paths"),
        (("page.pdf",), ERROR, "page.pdf: is not plain text"),
        (("deep.json",), ERROR, "deep.json: nested too deeply to be read (limit depth=64"),
        (("draft.txt", "--fail-under", "fluency=7"), USAGE, "its scale is 1 to 5"),
        (("draft.txt", "--text", "x"), USAGE, "name either FILE or --text, not both"),
        (("-", "--source", "-"), USAGE, "the text or one source, not both"),
        (("draft.txt", "--aspect", "consistncy"), USAGE, "did you mean 'consistency'?"),
    ],
)
def test_what_cannot_be_judged_is_refused_in_one_line(
    folder: Path, arguments: tuple[str, ...], code: int, problem: str
) -> None:
    (folder / "page.pdf").write_bytes(b"%PDF-1.7\n\xff\x00")
    (folder / "deep.json").write_text(f'[{{"role": "user", "content": {"[" * 99}{"]" * 99}}}]')
    done = call(folder, "check", *arguments, code=code)
    assert problem in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_judge_that_does_not_answer_leaves_no_exit_code_0(folder: Path) -> None:
    dead = ("--model", "openai-compatible/m", "--model-base-url", "http://127.0.0.1:9/v1")
    flags = ("--source", "article.txt", *RULES, "--judge", "annotator", *dead, "--attempts", "1")
    done = call(folder, "check", "draft.txt", *flags, code=ERROR)
    assert "a judge did not answer" in done.stderr
    assert f"see which models answer: spanjury doctor {' '.join(dead)}" in done.stderr
    assert "[1935]" in done.stdout


def test_the_models_of_a_panel_file_are_named_if_they_do_not_answer(folder: Path) -> None:
    (folder / "panel.toml").write_text(
        "[[seats]]\njudge = 'annotator'\n"
        "model = { name = 'openai-compatible/m', base_url = 'http://127.0.0.1:9/v1', attempts = 1 }"
    )
    flags = ("--source", "article.txt", "--panel", "panel.toml")
    done = call(folder, "check", "draft.txt", *flags, code=ERROR)
    assert "spanjury doctor --model openai-compatible/m --model-base-url http://127" in done.stderr


@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        (("--max-seconds", "0.1"), "0.1 seconds are over: no report was made"),
        (("--max-cost", "1e-6"), "the next call may take"),
    ],
)
def test_a_check_ends_at_a_limit(folder: Path, flags: tuple[str, ...], reason: str) -> None:
    with LoopbackServer(STALL) as server:
        (folder / "panel.toml").write_text(
            f'[[models]]\nname = "openai-compatible/m"\nbase_url = "{server.base_url}"\n'
            "price = { prompt = 1e-3, completion = 1e-2 }\n"
        )
        panel = ("--panel", "panel.toml", "--aspect", "fluency")
        done = call(folder, "check", "draft.txt", *panel, *flags, code=LIMIT)
    assert reason in done.stderr


class EndingServer(LoopbackServer):
    """Ends the process that asks it, and replies nothing."""

    def __init__(self, number: signal.Signals) -> None:
        super().__init__(STALL)
        self._number = number

    def record(self, request: Received) -> Answer:
        os.kill(os.getpid(), self._number)
        return super().record(request)


@pytest.mark.parametrize(
    ("number", "word"), [(signal.SIGINT, "interrupted"), (signal.SIGTERM, "asked to end")]
)
def test_a_check_that_is_ended_says_so(folder: Path, number: signal.Signals, word: str) -> None:
    with EndingServer(number) as server:
        model = ("--model", "openai-compatible/m", "--model-base-url", server.base_url)
        done = call(
            folder, "check", "draft.txt", "--aspect", "fluency", *model, code=BY_SIGNAL + number
        )
    assert f"{word}: no report is made" in done.stderr
    assert done.stdout == ""


def test_a_slow_check_shows_its_progress(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "EVERY", 0.01)
    with LoopbackServer(STALL) as server:
        model = ("--model", "openai-compatible/m", "--model-base-url", server.base_url)
        flags = ("--aspect", "fluency", *model, "--max-seconds", "0.5")
        done = call(folder, "check", "draft.txt", *flags, code=LIMIT)
    assert "judging (0 s)\n" in done.stderr


def test_the_demo_judges_texts_that_are_in_the_package(tmp_path: Path) -> None:
    done = call(tmp_path, "demo")
    assert "school-lunch/system-c" in done.stdout
    assert "contradicted" in done.stdout
    assert "spanjury check draft.txt --source article.txt" in done.stderr
    assert not [*tmp_path.iterdir()]


def test_the_texts_of_the_demo_are_saved_where_no_file_is(tmp_path: Path) -> None:
    message = call(tmp_path, "demo", "--save", "texts.jsonl").stderr
    assert f"{len((tmp_path / 'texts.jsonl').read_text().splitlines())} texts" in message
    refused = call(tmp_path, "demo", "--save", "texts.jsonl", code=ERROR)
    assert "exists already" in refused.stderr


@pytest.mark.parametrize("task", ["rag", "summarization", "dialogue", "data-to-text"])
def test_a_bare_source_is_what_the_text_is_compared_with(task: str) -> None:
    report = check(WRONG, source=SOURCE, task=task, judges=["grounding"])
    assert report.decision is Decision.FAULTY


def test_passages_and_documents_are_a_source() -> None:
    passages = check(WRONG, source=["Ann Lee.", SOURCE], task="rag", judges=["grounding"])
    assert passages.spans[0].evidence[0].input == "Context [2]"
    documents = [{"id": "a", "text": "Ann Lee."}, {"id": "b", "text": SOURCE}]
    named = check(WRONG, source=documents, task="rag", judges=["grounding"])
    assert named.spans[0].evidence[0].input == "b"
    with pytest.raises(ConfigError, match="has the key 'text'"):
        check(WRONG, source=[{"id": "a"}])
    with pytest.raises(ConfigError, match="same id"):
        check(WRONG, source=[documents[0], documents[0]])
