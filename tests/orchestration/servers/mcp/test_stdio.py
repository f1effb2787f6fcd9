"""`spanjury mcp` as a client starts it, over standard input and output."""

import json
import signal
import subprocess
import sys

import anyio
import pytest
from fakes.mcp_process import (
    SOURCE,
    WRONG,
    arguments,
    assert_call_is_given_up,
    assert_text_is_checked,
    environment,
    model_at,
    started,
    until_asked,
)
from fakes.processes import completed
from loopback.answers import HELD, chat
from loopback.server import LoopbackServer
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

REPLY = "No Error\n\nOverall score: Good\nExplanation of the score: It is fine."
INITIALIZE: dict[str, object] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
INITIALIZED: dict[str, object] = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def client(*flags: str) -> Client:
    server = StdioServerParameters(
        command=sys.executable, args=arguments(*flags), env=environment()
    )
    return Client(stdio_client(server))


def call(number: int, tool: str, **given: object) -> dict[str, object]:
    params = {"name": tool, "arguments": given}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def send(process: "subprocess.Popen[str]", *messages: dict[str, object]) -> None:
    assert process.stdin is not None
    for message in messages:
        process.stdin.write(json.dumps(message) + "\n")
    process.stdin.flush()


def begun(*flags: str) -> "subprocess.Popen[str]":
    """Return a server that has answered the first message."""
    process = started(*flags)
    send(process, INITIALIZE, INITIALIZED)
    assert process.stdout is not None
    assert json.loads(process.stdout.readline())["result"]["serverInfo"]["name"] == "spanjury"
    return process


class TestByTheOfficialClient:
    pytestmark = pytest.mark.asyncio_only

    async def test_a_text_is_checked_with_progress(self) -> None:
        async with client() as connected:
            await assert_text_is_checked(connected)
            assert (await connected.read_resource("spanjury://judges")).contents

    async def test_a_call_that_is_given_up_asks_models_nothing_more(self) -> None:
        with LoopbackServer(HELD, chat(REPLY)) as server:
            async with client(*model_at(server)) as connected:
                await assert_call_is_given_up(connected, server)


def test_standard_output_carries_the_protocol_alone() -> None:
    process = begun()
    send(
        process,
        call(2, "check_text", output=WRONG, source=SOURCE),
        call(3, "check_text", output=WRONG, judge="x"),
        call(4, "nothing"),
    )
    assert process.stdout is not None
    answers = [json.loads(process.stdout.readline()) for _ in range(3)]
    output, errors = process.communicate(timeout=30)
    assert {answer["id"] for answer in answers} == {2, 3, 4}
    assert (output, errors, process.returncode) == ("", "", 0)


def test_a_call_with_half_a_surrogate_pair_is_answered() -> None:
    process = begun()
    send(process, call(2, "check_text", output=f"\ud800 {WRONG}", source=SOURCE))
    assert process.stdout is not None
    answer = json.loads(process.stdout.readline())
    process.communicate(timeout=30)
    (error, *_) = answer["result"]["structuredContent"]["errors"]
    text = f"\ufffd {WRONG}"
    assert (answer["id"], text[error["start"] : error["end"]]) == (2, error["text"])


def test_whatever_else_is_printed_goes_to_standard_error() -> None:
    code = """
import os, anyio
from spanjury.orchestration.servers.mcp.transports import held_streams
async def work(wire):
    await wire.sink.write(await wire.source.readline())
    await wire.sink.flush()
with held_streams() as wire:
    print("from a library", flush=True)
    os.system("echo from a child; cat")
    anyio.run(work, wire)
print("after")
"""
    done = completed([sys.executable, "-c", code], input="hello\n")
    assert (done.stdout, done.stderr) == ("hello\nafter\n", "from a library\nfrom a child\n")


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)], ids=["term", "int"]
)
def test_a_signal_ends_it_though_the_client_stays(number: int, code: int) -> None:
    process = begun()
    process.send_signal(number)
    assert process.wait(timeout=10) == code
    output, errors = process.communicate()
    assert (output, errors) == ("", "")


def test_a_signal_ends_it_while_a_model_is_asked() -> None:
    with LoopbackServer(HELD) as server:
        process = begun(*model_at(server))
        send(process, call(2, "check_text", output=WRONG, task="summarization"))
        anyio.run(until_asked, server, 1)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=10) == 143
        _, errors = process.communicate()
    assert errors == ""


def test_a_client_that_leaves_ends_it_and_what_it_asked_for() -> None:
    with LoopbackServer(HELD) as server:
        process = begun(*model_at(server))
        send(process, call(2, "check_text", output=WRONG, task="summarization"))
        anyio.run(until_asked, server, 1)
        assert process.stdout is not None
        process.stdout.close()
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(timeout=10) == 0
        assert process.stderr is not None
        assert process.stderr.read() == ""
        process.stderr.close()
        assert len(server.requests) == 1


def test_a_client_that_stops_reading_ends_it_without_a_trace() -> None:
    process = begun()
    assert process.stdout is not None
    process.stdout.close()
    send(process, call(2, "list_aspects"))
    assert process.wait(timeout=10) == 0
    assert process.stderr is not None
    assert process.stderr.read() == ""
    process.stderr.close()
    assert process.stdin is not None
    process.stdin.close()


def test_a_line_that_does_not_end_is_not_kept_for_ever() -> None:
    process = begun()
    # `communicate` goes on where the server reads no more.
    _, errors = process.communicate("x" * (40 * 1024 * 1024), timeout=30)
    assert (process.returncode, errors) == (1, "spanjury: a message has more than 16777216 bytes\n")


def test_flags_are_checked_before_a_client_is_served() -> None:
    process = started("--judge", "justice")
    output, errors = process.communicate(timeout=30)
    assert (process.returncode, output) == (2, "")
    assert "justice" in errors
    assert errors.count("\n") == 1


@pytest.mark.parametrize(
    ("frame", "number", "code"),
    [
        ("{not json", None, -32700),
        ('{"jsonrpc": "2.0", "id": 7}', 7, -32600),
        ('{"id": "a", "method": "tools/list"}', "a", -32600),
        ('[{"jsonrpc": "2.0"}]', None, -32600),
    ],
)
def test_a_frame_that_is_no_request_is_answered(frame: str, number: object, code: int) -> None:
    with begun("--judge", "form") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{frame}\n")
        send(process, {"jsonrpc": "2.0", "id": 9, "method": "ping"})
        refused = json.loads(process.stdout.readline())
        assert (refused["id"], refused["error"]["code"]) == (number, code)
        assert json.loads(process.stdout.readline())["id"] == 9
        process.stdin.close()
        assert process.wait(timeout=30) == 0
