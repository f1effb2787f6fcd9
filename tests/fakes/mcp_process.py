"""`spanjury mcp` in a process of its own, over either transport."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import anyio
from loopback.server import LoopbackServer

__all__ = ["arguments", "environment", "model_at", "over_http", "started", "until_asked"]


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


@contextmanager
def over_http(*flags: str, **variables: str) -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    """Serve on a free port unless `flags` name one; give the address and the process."""
    listen = [] if "--listen" in flags else ["--listen", "127.0.0.1:0"]
    with started(*listen, *flags, **variables) as process:
        try:
            assert process.stderr is not None
            line = process.stderr.readline()
            address = re.match(r"serving at (\S+); Ctrl-C ends it\n", line)
            assert address, line + process.stderr.read()
            yield address[1], process
        finally:
            process.kill()
