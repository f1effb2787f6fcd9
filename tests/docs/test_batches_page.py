"""The page on batches: its example runs as it stands, with a runner that a server stands in for."""

import json
import re
import shlex
import shutil
import urllib.request
from pathlib import Path

from fakes.command import call
from loopback.answers import chat
from loopback.server import LoopbackServer

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "batches.md").read_text("utf-8")
_BLOCK = re.compile(r"^```\n(.*?)^```", re.DOTALL | re.MULTILINE)
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


def test_the_example_with_files_runs_as_it_stands(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    block = _BLOCK.search(PAGE, PAGE.index("## By files"))
    assert block is not None
    with LoopbackServer(chat(REVIEW)) as server:
        for command in block[1].splitlines():
            program, *arguments = shlex.split(command)
            if program == "vllm":
                assert arguments.pop(0) == "run-batch"
                run_batch(arguments, tmp_path, url=server.base_url)
                continue
            call(tmp_path, *arguments, "--show", "none")
    rows = (tmp_path / "runs" / "qwen" / "results.jsonl").read_text().splitlines()
    assert {json.loads(row)["score"] for row in rows} == {4}
    assert len(server.requests) == len(rows) == 30
