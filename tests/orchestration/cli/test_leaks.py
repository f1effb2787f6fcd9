"""No secret is stored or shown by a command, and nothing from a file steers the terminal."""

import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from fakes.command import call, evaluate
from fakes.memory import values_in
from fakes.rows import summary
from loopback.answers import chat, failure
from loopback.server import LoopbackServer

SECRETS = {"JUDGE_API_KEY": "Riv3r-St0ne/42", "OPENAI_COMPATIBLE_API_KEY": "0cean+Wave=4711"}
TITLE, CLEAR = "\x1b]0;owned\x07", "\x1b[2J\x9b2J"
LINK = "\x1b]8;;http://evil\x1b\\here\x1b]8;;\x1b\\"
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
QUOTED = 'Error 1:\nLocation: "bridge"\nExplanation: {}\nSeverity: 3\n\nOverall score: Fair\n'
REPLY = QUOTED + "Explanation of the score: {}"


@pytest.fixture(autouse=True)
def _secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)


def forms() -> Iterator[str]:
    """Yield the secrets as a server may give them back."""
    for secret in SECRETS.values():
        data = secret.encode()
        yield from (secret, secret.upper(), secret.lower(), data.hex(), "\u200b".join(secret))
        yield from (base64.b64encode(b"k:" + data).decode(), "\n".join((secret[:5], secret[5:])))


def rows(folder: Path, *ids: str, system: str = "") -> None:
    segments = (
        {"id": name, "system": system, "task": "summarization", "output": "The bridge is open."}
        for name in ids
    )
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in segments))


def written(folder: Path) -> str:
    """Return all that is in the files of `folder`, and all of it decoded from JSON's escapes."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    memories = (values_in(path) for path in files if path.name == "memory.sqlite3")
    contents = [path.read_bytes() for path in files]
    contents += [value for values in memories for value in values.values()]
    text = b"\n".join(contents).decode("utf-8", "replace")
    return text + re.sub(r"\\u([0-9a-fA-F]{4})", lambda escape: chr(int(escape[1], 16)), text)


def letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).casefold()


def assert_clean(*texts: str) -> None:
    """Check that no secret is in any of `texts`, in whatever form."""
    everything = letters("\n".join(texts))
    for secret in SECRETS.values():
        assert letters(secret) not in everything
        assert secret.encode().hex() not in everything
        assert letters(base64.b64encode(b"k:" + secret.encode()).decode())[4:-4] not in everything


def test_a_key_that_a_server_echoes_appears_nowhere(tmp_path: Path) -> None:
    said = [chat(REPLY.format(form, form)) for form in forms()]
    failures = [failure(400, f"bad key {form}") for form in forms()]
    rows(tmp_path, *map(str, range(len(said) + len(failures))))
    with LoopbackServer(*said, *failures) as server:
        flags = ("--max-connections", "1", "--attempts", "1", "--log-file", "run.log")
        done = call(tmp_path, *evaluate(server.base_url, *flags))
    assert "scored" in written(tmp_path / "run")
    assert "[hidden]" in done.stdout
    assert_clean(done.stdout, done.stderr, written(tmp_path))


@pytest.mark.parametrize(
    "url",
    [
        "http://me:Riv3r-St0ne%2F42@127.0.0.1:1/v1",
        "http://127.0.0.1:1/v1?api_key=Riv3r-St0ne/42",
        "http://127.0.0.1:1/v1?x=1&token=Riv3r-St0ne/42",
        "http://127.0.0.1:1/Riv3r-St0ne/42/v1",
        "http://127.0.0.1:1/v1#Riv3r-St0ne/42",
    ],
)
def test_an_address_with_a_secret_is_refused_before_any_writing(tmp_path: Path, url: str) -> None:
    rows(tmp_path, "1")
    before = sorted(tmp_path.rglob("*"))
    done = call(tmp_path, *evaluate(url), code=2)
    assert "env:VARIABLE" in done.stderr
    assert sorted(tmp_path.rglob("*")) == before
    assert_clean(done.stdout, done.stderr)


def test_an_address_variable_is_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows(tmp_path, "1")
    with LoopbackServer(chat(REPLY.format("x", "y"))) as server:
        monkeypatch.setenv("JUDGE_ADDRESS", f"{server.base_url}/Riv3r-St0ne%2F42")
        done = call(tmp_path, *evaluate("env:JUDGE_ADDRESS"), "--no-preflight")
        call(tmp_path, "resume", "run", "--no-progress")
        assert len(server.requests) == 1
    job = json.loads((tmp_path / "run" / "run.json").read_text())["job"]
    assert job["panel"]["models"][0]["base_url"] == ["env:JUDGE_ADDRESS"]
    assert_clean(done.stdout, done.stderr, written(tmp_path))


def test_an_option_that_is_a_secret_is_not_stored(tmp_path: Path) -> None:
    rows(tmp_path, "1")
    for option in ("api_key=anything-at-all", "note=Riv3r-St0ne/42"):
        done = call(
            tmp_path,
            "evaluate",
            "rows.jsonl",
            "--judge",
            f"form:{option}",
            "--run-dir",
            "run",
            code=2,
        )
        assert not (tmp_path / "run").exists()
        assert_clean(done.stdout, done.stderr)


def test_ids_systems_and_what_a_model_says_do_not_steer_the_terminal(tmp_path: Path) -> None:
    hostile = f"{TITLE}{CLEAR}{LINK}\u202etxt.exe\nid 2\n  fluency: 5.00 of 5 [bold]b[/bold]"
    rows(tmp_path, hostile, system=hostile)
    with LoopbackServer(chat(REPLY.format(hostile, hostile))) as server:
        done = call(tmp_path, *evaluate(server.base_url))
        as_json = call(tmp_path, *evaluate(server.base_url, "--json", run="other"))
    for text in (done.stdout, done.stderr, as_json.stdout, as_json.stderr):
        assert not CONTROL.search(text)
    assert "[bold]b[/bold]" in done.stdout
    assert "\n  fluency: 5.00" not in done.stdout
    assert json.loads(as_json.stdout.splitlines()[0])["id"] == hostile


def test_a_complaint_does_not_steer_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text(json.dumps({"id": TITLE + CLEAR, "output": 7}) + "\n")
    for flags in ((), ("--skip-bad-rows",)):
        done = call(tmp_path, "evaluate", "rows.jsonl", "--no-memory", *flags, code={1, 2, 3})
        assert not CONTROL.search(done.stdout + done.stderr)


@pytest.mark.heavy
def test_names_are_text_on_the_page_of_a_meta_evaluation(tmp_path: Path) -> None:
    hostile = "<img src=x onerror=alert(1)> [x](http://evil) | `a` " + TITLE
    segments = [
        summary(
            str(number),
            f"The bridge is is open{'.' * (number % 4)}",
            system=f"{hostile} {number % 3}",
            human={"fluency": number % 5 + 1},
        )
        for number in range(12)
    ]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in segments))
    call(tmp_path, "evaluate", "rows.jsonl", "--aspect", "fluency", "--run-dir", "<b>run")
    flags = ("--human", "rows.jsonl", "--draws", "0", "--level", "pooled", "--output", "page")
    done = call(tmp_path, "meta", "<b>run", *flags, "--no-progress")
    assert not CONTROL.search(done.stdout + done.stderr)
    page = (tmp_path / "page" / "meta.md").read_text()
    assert "onerror" in page
    assert not re.search(r"<(?!\s)", re.sub("`[^`\n]*`", "", page))
    assert not re.search(r"(?<!\\)\]\(http", page)
    assert not CONTROL.search(page)
