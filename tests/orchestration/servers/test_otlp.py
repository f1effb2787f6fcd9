"""The server of traces, over a real socket."""

import gzip
import json
import zlib
from pathlib import Path

import aiohttp
import pytest
from fakes.otlp_traffic import RIGHT, exported

from spanjury.orchestration.servers.otlp import serving_traces
from spanjury.orchestration.servers.tokens import Tokens, read_tokens
from spanjury.orchestration.services.serving.watching.watch import WatchPlan, open_watch
from spanjury.orchestration.wiring.config import PanelConfig, SeatConfig

pytestmark = pytest.mark.asyncio_only

JSON = {"Content-Type": "application/json"}
TOKEN = "t" * 16
BODY = exported(1, RIGHT)


async def answers(
    folder: Path,
    *requests: tuple[bytes, dict[str, str]],
    tokens: Tokens | None = None,
    most: int = 9,
) -> tuple[list[tuple[int, str]], int]:
    """Return status and text of the answer to each request, and how many traces then wait."""
    panel = PanelConfig(seats=(SeatConfig(judge="grounding"),))
    plan = WatchPlan(panel=panel, folder=folder, most_waiting=most)
    got: list[tuple[int, str]] = []
    async with open_watch(plan, emit=lambda _: None, say=lambda _: None) as watch:
        serving = serving_traces(watch, host="127.0.0.1", port=0, tokens=tokens or Tokens())
        async with serving as url, aiohttp.ClientSession() as session:
            for body, headers in requests:
                async with session.post(url, data=body, headers=headers) as answer:
                    got.append((answer.status, await answer.text()))
            async with session.get(url.replace("/v1/traces", "/healthz")) as answer:
                waiting: int = (await answer.json())["waiting"]
    return got, waiting


async def test_traces_are_taken_plain_and_packed_and_as_protobuf(tmp_path: Path) -> None:
    packed = {**JSON, "Content-Encoding": "gzip"}
    protobuf = {"Content-Type": "application/x-protobuf"}
    got, waiting = await answers(
        tmp_path, (BODY, JSON), (gzip.compress(exported(2, RIGHT)), packed), (b"", protobuf)
    )
    assert got == [(200, "{}"), (200, "{}"), (200, "")]
    assert waiting == 2


async def test_an_invalid_span_is_counted_in_the_answer_and_costs_no_other(tmp_path: Path) -> None:
    body = BODY.replace(b'"spanId": "0000000000000001"', b'"spanId": "1"')
    ((status, text),), waiting = await answers(tmp_path, (body, JSON))
    partial = json.loads(text)["partialSuccess"]
    assert (status, partial["rejectedSpans"], waiting) == (200, "1", 1)
    assert partial["errorMessage"].startswith("resourceSpans[0].scopeSpans[0].spans[1]: spanId")


@pytest.mark.parametrize(
    ("body", "headers", "status", "message"),
    [
        (b"{", JSON, 400, "not JSON"),
        (b"[" * 10_000 + b"]" * 10_000, JSON, 400, "nested too deeply"),
        (BODY, {"Content-Type": "text/plain"}, 415, "expected Content-Type"),
        (BODY, {**JSON, "Content-Encoding": "gzip"}, 400, "not gzip"),
        (gzip.compress(BODY, mtime=0)[:90], {**JSON, "Content-Encoding": "gzip"}, 400, "too early"),
        (gzip.compress(bytes(2**24 + 1)), {**JSON, "Content-Encoding": "gzip"}, 413, "at most"),
        (zlib.compress(BODY), {**JSON, "Content-Encoding": "br"}, 400, "gzip or none"),
        (BODY, {**JSON, "Host": "page.example"}, 403, "loopback"),
    ],
)
async def test_other_requests_are_refused(
    tmp_path: Path, body: bytes, headers: dict[str, str], status: int, message: str
) -> None:
    got, waiting = await answers(tmp_path, (body, headers))
    assert got[0][0] == status
    assert message in got[0][1]
    assert waiting == 0


async def test_a_token_is_needed_where_there_is_one(tmp_path: Path) -> None:
    right = {**JSON, "Authorization": f"Bearer {TOKEN}"}
    tokens = read_tokens(TOKEN, None)
    got, waiting = await answers(tmp_path, (BODY, JSON), (BODY, right), tokens=tokens)
    assert [status for status, _ in got] == [401, 200]
    assert waiting == 1


async def test_senders_are_asked_to_wait_while_too_much_does(tmp_path: Path) -> None:
    more = exported(2, RIGHT)
    got, _ = await answers(tmp_path, (BODY, JSON), (more, JSON), most=0)
    assert {status for status, _ in got} == {429}
