"""`spanjury mcp` in a process of its own, over either transport."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import anyio
from loopback.server import LoopbackServer
from mcp.client import Client
from mcp_types import CallToolResult

SOURCE = "The bridge was built in 1932 by the Dorman Long company."
WRONG = "The bridge was built in 1935 by Dorman Long."


def arguments(*flags: str) -> list[str]:
    """Return what the interpreter is started with; offline judges unless `flags` name a model."""
    judges = [] if "--model" in flags else ["--judge", "grounding", "--judge", "form"]
    return ["-m", "spanjury", "mcp", *judges, *flags]


def environment(**more: str) -> dict[str, str]:
    """Return the environment without settings of ours, but for what is given."""
    own = {name: value for name, value in os.environ.items() if "SPANJURY" not in name}
    return {**own, "OPENAI_API_KEY": "sk-none", **more}


def started(*flags: str, **variables: str) -> "subprocess.Popen[str]":
    """Start the command with pipes to all its streams."""
    return subprocess.Popen(
        [sys.executable, *arguments(*flags)],
        env=environment(**variables),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def model_at(server: LoopbackServer) -> list[str]:
    """Return the flags for a model that `server` answers for, one call at a time."""
    return [
        *("--model", "openai-compatible/judge", "--model-base-url", server.base_url),
        *("--client", "lean", "--max-connections", "1"),
    ]


async def until_asked(server: LoopbackServer, times: int) -> None:
    """Wait until `server`, whose requests come in threads, was asked so many times."""
    with anyio.fail_after(30):
        while len(server.requests) < times:  # noqa: ASYNC110  no event comes from a thread
            await anyio.sleep(0.01)


async def assert_text_is_checked(connected: Client) -> None:
    """Have a text checked, and see that the progress and the error arrive."""
    seen: list[float] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        seen.append(progress)

    asked = {"output": WRONG, "source": SOURCE, "task": "summarization"}
    result = await connected.call_tool("check_text", asked, progress_callback=note)
    assert isinstance(result, CallToolResult)
    assert result.structured_content is not None
    assert [error["text"] for error in result.structured_content["errors"]] == ["1935"]
    assert seen == [1, 2]


async def assert_call_is_given_up(connected: Client, server: LoopbackServer) -> None:
    """Give up a call that waits for `server`, and see that the next one is all it is asked."""
    async with anyio.create_task_group() as group:
        dropped = {"output": "Given up.", "task": "summarization", "aspects": ["all"]}
        group.start_soon(connected.call_tool, "check_text", dropped)
        await until_asked(server, 1)
        group.cancel_scope.cancel()
    # The next call waits for the one connection, after all that came before it.
    with anyio.fail_after(30):
        taken = {"output": "Taken up.", "task": "summarization", "aspects": ["fluency"]}
        result = await connected.call_tool("check_text", taken)
    asked = [json.dumps(request.body) for request in server.requests]
    assert isinstance(result, CallToolResult)
    assert result.structured_content is not None
    assert result.structured_content["aspects"][0]["score"] == 4
    assert ["Given up." in body for body in asked] == [True, False]
    assert "Taken up." in asked[1]


@contextmanager
def over_http(*flags: str, **variables: str) -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    """Serve on a free port unless `flags` name one; give the address and the process."""
    listen = ["--http", *([] if "--port" in flags else ["--port", "0"])]
    with started(*listen, *flags, **variables) as process:
        try:
            assert process.stderr is not None
            line = process.stderr.readline()
            address = re.match(r"serving at (\S+); Ctrl-C ends it\n", line)
            assert address, line + process.stderr.read()
            yield address[1], process
        finally:
            process.kill()
