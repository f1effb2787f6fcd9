"""A model writes the explanations of an exam of faithfulness, over a real connection."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from fakes.command import spanjury
from fakes.rows import summary
from loopback.answers import Answer, chat, failure
from loopback.server import LoopbackServer, Received, unreachable_url

MODEL = "openai-compatible/author"
OUTPUT = "It it opened opened in in 1932"
NAMED = ("worsen-both", "add-errors", "worsen-severity")
USAGE = {"prompt_tokens": 90, "completion_tokens": 10, "total_tokens": 100}


class Author(LoopbackServer):
    """Rewords each note, whatever the order in which it is asked; makes up one for the rest."""

    def record(self, request: Received) -> Answer:
        values = json.dumps(request.body, ensure_ascii=False)
        if "single word: ready" in values:  # the preflight
            return chat("ready")
        super().record(request)
        found = re.search(r"Note: begin\\n(.*?)\\n\[", values)
        note = f"Beyond repair: {found[1]}" if found else "The source says nothing like it."
        return chat(note, usage=USAGE)


class Mute(Author):
    """Has nothing to say of notes."""

    def record(self, request: Received) -> Answer:
        answer = super().record(request)
        is_note = "Note: begin" in json.dumps(request.body)
        return chat("I'm sorry, no.", usage=USAGE) if is_note else answer


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [
        summary(name, output, article="The bridge opened in 1932.")
        for name, output in (("good", "It opened in 1932."), ("bad", OUTPUT))
    ]
    Path("texts.jsonl").write_text("\n".join(map(json.dumps, rows)))


@pytest.fixture
def author() -> Iterator[Author]:
    with Author(failure(500)) as server:
        yield server


def examine(url: str, *flags: str, named: tuple[str, ...] = NAMED) -> tuple[str, ...]:
    values = ("exam", "faithfulness", "texts.jsonl", "--judge", "form", "--aspect", "fluency")
    asked = tuple(part for name in named for part in ("--perturbation", name))
    return (*values, *asked, "--writer", MODEL, "--writer-base-url", url, "-o", "exam", *flags)


def findings() -> dict[str, dict[str, object]]:
    values = json.loads(Path("exam/findings.json").read_text())
    return {one["condition"]: one for one in values["findings"]}


def test_an_exam_says_who_wrote_and_resumes_unasked(author: Author) -> None:
    spanjury(*examine(author.base_url))
    asked = len(author.requests)
    values = findings()
    assert {name: one["written_by"] for name, one in values.items()} == {
        "null-control": "",
        "worsen-both": MODEL,
        "add-errors": MODEL,
        "worsen-severity": "",
        "null-repeat": "",
    }
    assert values["worsen-both"]["unchanged"] == {"no errors": 1}
    assert not any(one["failed"] for one in values.values())
    page = Path("exam/report.md").read_text()
    assert f"Explanations written by `{MODEL}`: worsen-both, add-errors." in page
    assert f"| worsen-both | {MODEL} |" in page
    assert "| worsen-severity | rule |" in page
    rows = [json.loads(line) for line in Path("exam/changes.jsonl").read_text().splitlines()[1:]]
    assert {row["condition"] for row in rows if row.get("written_by") == MODEL} == {
        "worsen-both",
        "add-errors",
    }
    spanjury(*examine(author.base_url))
    assert len(author.requests) == asked
    assert findings() == values
    spanjury("exam", "faithfulness", "--replay", "exam/changes.jsonl", "-o", "exam")
    assert findings() == values


def test_lists_that_are_not_written_are_skipped_and_counted() -> None:
    with Mute(failure(500)) as server:
        done = spanjury(*examine(server.base_url))
    reason = "the model, asked twice, wrote no such explanation"
    assert findings()["worsen-both"]["failed"] == {reason: 1}
    assert f"did not write 1 of 1 lists, which were skipped: {reason} (1)" in " ".join(
        done.output.split()
    )
    lines = Path("exam/changes.jsonl").read_text().splitlines()[1:]
    (row,) = (row for row in map(json.loads, lines) if row.get("list_outcome") == "failed")
    assert (row["text"], row["condition"], row["reason"]) == ("bad", "worsen-both", reason)
    assert "after" not in row


def test_a_wrong_key_ends_the_exam_and_leaves_nothing_finished() -> None:
    with LoopbackServer(failure(401, "Incorrect API key provided")) as server:
        done = spanjury(*examine(server.base_url), code=1)
    assert f"spanjury: model {MODEL} cannot be used: " in done.stderr
    assert "Incorrect API key provided" in done.stderr
    assert not Path("exam/findings.json").exists()


def test_a_server_that_is_not_there_ends_the_exam() -> None:
    done = spanjury(*examine(unreachable_url(), "--max-outage", "0"), code=1)
    assert f"spanjury: model {MODEL} does not answer" in done.stderr
    assert not Path("exam/findings.json").exists()


def test_a_limit_ends_the_exam_and_a_rerun_goes_on(author: Author) -> None:
    named = ("worsen-both", "worsen-explanation", "add-errors")
    limits = ("--max-tokens-total", "100", "--max-connections", "1")
    ended = spanjury(*examine(author.base_url, *limits, named=named), code=4)
    assert "tokens are spent, and 100 is the limit" in ended.stderr
    before = len(author.requests)
    spanjury(*examine(author.base_url, named=named))
    assert len(author.requests) > before
    bodies = [json.dumps(request.body, sort_keys=True) for request in author.requests]
    assert len(bodies) == len(set(bodies))  # no request is sent twice


@pytest.mark.parametrize(
    ("flags", "problem"),
    [
        (("texts.jsonl", "--writer-base-url", "http://127.0.0.1:1"), "name one with --writer"),
        (
            ("texts.jsonl", "--writer", MODEL, "--perturbation", "critical-error"),
            "no model writes anything for critical-error",
        ),
        (("--replay", "texts.jsonl", "--writer", MODEL), "leave out --writer"),
    ],
)
def test_an_unfit_writer_is_refused_before_any_call(flags: tuple[str, ...], problem: str) -> None:
    assert problem in spanjury("exam", "faithfulness", *flags, "-o", "exam", code=2).stderr
    assert not Path("exam").exists()
