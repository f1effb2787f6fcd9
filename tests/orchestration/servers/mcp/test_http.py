"""`spanjury mcp` over HTTP: a real process, the official client, and others who should not pass."""

import signal
from pathlib import Path

import anyio
import httpx
import pytest
from fakes.mcp_process import (
    WRONG,
    assert_call_is_given_up,
    assert_text_is_checked,
    model_at,
    over_http,
    started,
    until_asked,
)
from loopback.answers import HELD, chat
from loopback.server import LoopbackServer
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.exceptions import MCPError

REPLY = "No Error\n\nOverall score: Good\nExplanation of the score: It is fine."
TOKEN = "a-token-for-a-test"
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
ACCEPT = {"Accept": "application/json, text/event-stream"}


def posted(url: str, **headers: str) -> int:
    return httpx.post(url, json=PING, headers={**ACCEPT, **headers}, timeout=10).status_code


class TestByTheOfficialClient:
    pytestmark = pytest.mark.asyncio_only

    async def test_a_text_is_checked_with_progress(self) -> None:
        with over_http() as (url, _):
            async with Client(url) as connected:
                assert len((await connected.list_tools()).tools) == 3
                await assert_text_is_checked(connected)
                assert (await connected.read_resource("spanjury://metrics/bleu")).contents

    async def test_a_call_that_is_given_up_asks_models_nothing_more(self) -> None:
        with LoopbackServer(HELD, chat(REPLY)) as server, over_http(*model_at(server)) as (url, _):
            async with Client(url) as connected:
                await assert_call_is_given_up(connected, server)

    async def test_the_token_lets_a_client_in(self) -> None:
        with over_http(SPANJURY_SERVE_TOKEN=TOKEN) as (url, _):
            headers = {"Authorization": f"Bearer {TOKEN}"}
            async with (
                create_mcp_http_client(headers=headers) as http,
                Client(streamable_http_client(url, http_client=http)) as connected,
            ):
                assert (await connected.list_tools()).tools


def test_pages_of_a_browser_are_kept_out() -> None:
    with over_http() as (url, _):
        assert posted(url, Host="attacker.example:80") == 421
        assert posted(url, Origin="http://attacker.example") == 403
        assert posted(url, Origin="null") == 403
        assert posted(url) not in {401, 403, 421}


def test_a_token_is_asked_for_where_there_is_one() -> None:
    with over_http(SPANJURY_SERVE_TOKEN=TOKEN) as (url, _):
        assert posted(url) == 401
        assert posted(url, Authorization=f"Bearer {TOKEN}x") == 401
        assert posted(url, Authorization=f"Basic {TOKEN}") == 401
        assert posted(f"{url}?token={TOKEN}") == 401
        assert posted(url, Authorization=f"Bearer {TOKEN}") not in {401, 403, 421}


def test_beyond_this_machine_it_serves_with_a_token_only() -> None:
    process = started("--http", "--host", "0.0.0.0", "--port", "0")
    _, errors = process.communicate(timeout=30)
    assert (process.returncode, errors.count("\n")) == (2, 1)
    assert "SPANJURY_SERVE_TOKEN" in errors
    with over_http("--host", "0.0.0.0", SPANJURY_SERVE_TOKEN=TOKEN) as (url, _):
        here = url.replace("0.0.0.0", "127.0.0.1")
        assert posted(here) == 401
        assert posted(here, Authorization=f"Bearer {TOKEN}", Host="judge.example") not in {401, 421}


def test_quotas_that_it_would_not_keep_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    file.write_text(f"ann:{TOKEN} calls=5\n")
    process = started("--http", "--port", "0", "--token-file", str(file))
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 2
    assert "quotas apply to `spanjury serve` only" in errors


def test_a_body_that_is_too_large_is_refused() -> None:
    with over_http() as (url, _):
        large = httpx.post(url, content=b"x" * (5 << 20), headers=ACCEPT, timeout=10)
    assert large.status_code == 413


def test_a_doubled_key_is_refused_by_its_name() -> None:
    body = b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"_meta": {}, "_meta": {}}}'
    with over_http() as (url, _):
        answer = httpx.post(
            url, content=body, headers={**ACCEPT, "Content-Type": "application/json"}, timeout=10
        )
    assert answer.status_code == 400
    assert answer.json()["error"]["message"] == 'the key "_meta" occurs twice in one object'


def test_a_second_server_on_a_port_says_so_in_a_line() -> None:
    with over_http() as (url, _):
        address = url.removeprefix("http://").partition("/")[0]
        process = started("--http", "--port", address.rpartition(":")[2])
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 1
    assert errors == f"spanjury: {address}: cannot listen there: Address already in use\n"


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)], ids=["term", "int"]
)
def test_a_signal_ends_it_while_a_client_is_connected(number: int, code: int) -> None:
    async def work() -> None:
        with over_http() as (url, process):
            async with Client(url) as connected:
                await connected.list_tools()
                process.send_signal(number)
                ended = await anyio.to_thread.run_sync(lambda: process.wait(timeout=10))
            assert process.stderr is not None
            assert (ended, process.stderr.read()) == (code, "")

    anyio.run(work)


def test_a_signal_ends_it_while_a_model_is_asked() -> None:
    async def work() -> None:
        with LoopbackServer(HELD) as server, over_http(*model_at(server)) as (url, process):
            async with Client(url) as connected, anyio.create_task_group() as group:

                async def call() -> None:
                    with pytest.raises(MCPError):
                        await connected.call_tool(
                            "check_text", {"output": WRONG, "task": "summarization"}
                        )

                group.start_soon(call)
                await until_asked(server, 1)
                process.send_signal(signal.SIGTERM)
                ended = await anyio.to_thread.run_sync(lambda: process.wait(timeout=15))
            assert process.stderr is not None
            assert (ended, process.stderr.read()) == (143, "")

    anyio.run(work)
