"""A text over HTTP, judged sentence by sentence as server-sent events."""

import json
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest
from fakes.http_app import RULES, TOKEN, held_service, open_service, problem
from fakes.service import serving
from loopback.answers import HELD, chat
from loopback.server import LoopbackServer
from openapi_schema_validator import OAS31Validator
from starlette.types import Message

from spanjury.orchestration.servers.http.app import create_app
from spanjury.orchestration.servers.http.check_stream import EventStream, SendEvent
from spanjury.orchestration.servers.http.problems import ProblemError
from spanjury.orchestration.servers.http.settings import ServiceLimits
from spanjury.orchestration.servers.tokens import read_tokens

TEXT = "The bridge opened in 1935. It has three lanes."
ASKED = {"output": TEXT, "source": "The bridge opened in 1932. It has three lanes."}
STREAM = "/v1/check/stream"
FINE = chat("No Error\n\nOverall score: Good\nExplanation of the score: Nothing is wrong.")


def events(body: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name and the data of each event."""
    for block in body.strip().split("\n\n"):
        name, data = block.split("\n")
        assert name.startswith("event: ")
        yield name.removeprefix("event: "), json.loads(data.removeprefix("data: "))


def stable(report: Mapping[str, Any]) -> str:
    """Return a report without the seconds of its seats."""
    return json.dumps({**report, "results": [{**r, "seats": []} for r in report["results"]]})


@pytest.mark.asyncio_only
async def test_each_sentence_comes_as_an_event_and_the_report_of_a_check_last(
    tmp_path: Path,
) -> None:
    async with open_service(tmp_path) as client:
        answer = await client.post(STREAM, json=ASKED)
        whole = (await client.post("/v1/check", json=ASKED)).json()
        page = (await client.get("/openapi.json")).json()
    assert answer.headers["content-type"].startswith("text/event-stream")
    first, second, (name, report) = events(answer.text)
    assert (first[0], second[0], name) == ("sentence", "sentence", "report")
    assert [TEXT[each["start"] : each["end"]] for _, each in (first, second)] == [
        *("The bridge opened in 1935.", "It has three lanes."),
    ]
    assert [first[1]["decision"], second[1]["decision"]] == ["faulty", "ok"]
    assert report.pop("stopped_at") is None
    assert stable(report) == stable(whole)
    for name, data in (("SentenceEvent", first[1]), ("ReportEvent", {**report, "stopped_at": 1})):
        schema = {"$ref": f"#/components/schemas/{name}", "components": page["components"]}
        OAS31Validator(schema).validate(data)


@pytest.mark.asyncio_only
async def test_a_stream_stops_at_a_faulty_sentence_and_says_where(tmp_path: Path) -> None:
    async with held_service(tmp_path) as (client, service):
        answer = await client.post(STREAM, json={**ASKED, "stop_when": "faulty"})
        assert service.requests == 0
    (_, sentence), (_, report) = events(answer.text)
    assert report["stopped_at"] == sentence["end"] == 26
    assert report["output"] == TEXT[:26]


@pytest.mark.asyncio_only
@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"stop_when": "bad"}, "body-invalid"),
        ({"aspects": ["fluensy"]}, "request-not-understood"),
        ({"aspects": ["relevance"], "stop_when": "faulty"}, "request-not-understood"),
        ({"output": "x" * 101}, "text-too-long"),
        ({"panel": "other"}, "panel-not-found"),
    ],
)
async def test_a_request_that_does_not_fit_is_a_problem_and_no_stream(
    tmp_path: Path, change: Mapping[str, object], kind: str
) -> None:
    async with open_service(tmp_path, limits=ServiceLimits(output=100)) as client:
        assert problem(await client.post(STREAM, json={**ASKED, **change})) == kind


@pytest.mark.asyncio_only
async def test_a_used_up_quota_refuses_a_stream_before_it_begins(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    file.write_text(f"ann:{TOKEN} rows=1 per=day\n", "utf-8")
    file.chmod(0o600)
    tokens = read_tokens(None, file)
    async with open_service(tmp_path, tokens=tokens, panel=RULES) as client:
        client.headers["Authorization"] = f"Bearer {TOKEN}"
        assert (await client.post(STREAM, json=ASKED)).is_success
        assert problem(await client.post(STREAM, json=ASKED)) == "quota-reached"


LINES = {"Content-Type": "application/x-ndjson"}


def lines(*values: object) -> bytes:
    """Return JSON lines."""
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


@pytest.mark.asyncio_only
async def test_a_text_in_lines_is_judged_as_a_whole_one(tmp_path: Path) -> None:
    head = {key: value for key, value in ASKED.items() if key != "output"}
    pieces = (head, TEXT[:10], "", TEXT[10:30], TEXT[30:])
    async with open_service(tmp_path) as client:
        whole = await client.post(STREAM, json=ASKED)
        for body in (lines(*pieces), lines(ASKED), lines(*pieces).rstrip()):
            grown = await client.post(STREAM, content=body, headers=LINES)
            (*sentences, (name, report)), (*others, (_, wanted)) = map(
                list, (events(grown.text), events(whole.text))
            )
            assert ([each["text"] for _, each in sentences], name) == (
                [each["text"] for _, each in others],
                "report",
            )
            assert stable(report) == stable(wanted)


@pytest.mark.asyncio_only
@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (lines({"outputs": ""}, "A."), "body-invalid"),
        (lines(["A."]), "body-invalid"),
        (b"{\n", "body-invalid"),
        (b'{"source": "A", "source": "B"}\n', "body-invalid"),
        (lines({"panel": "other"}, "A."), "panel-not-found"),
        (lines({"source": "A."}, {"text": "A."}), "body-invalid"),
        (lines({"source": "A."}, "x" * 101), "text-too-long"),
    ],
)
async def test_lines_that_do_not_fit_are_a_problem(tmp_path: Path, body: bytes, kind: str) -> None:
    async with open_service(tmp_path, limits=ServiceLimits(output=100)) as client:
        assert problem(await client.post(STREAM, content=body, headers=LINES)) == kind


@pytest.mark.asyncio_only
async def test_sentences_of_a_text_are_judged_before_it_is_sent_to_its_end(tmp_path: Path) -> None:
    judged = anyio.Event()
    sent: list[bytes] = []
    bodies = iter(
        (lines({"source": "It opened in 1932."}, "It opened in 1935. ", "It"), lines(" is old."))
    )

    async def receive() -> Message:
        body = next(bodies, None)
        if body is None:
            await anyio.sleep_forever()
        if b"old" in (body or b""):
            await judged.wait()  # the first sentence has been answered before its text ended
        return {"type": "http.request", "body": body, "more_body": b"old" not in (body or b"")}

    async def send(message: Message) -> None:
        sent.append(message.get("body", b""))
        judged.set() if b"event: sentence" in sent[-1] else None

    scope = {"type": "http", "method": "POST", "path": STREAM, "query_string": b"", "headers": []}
    scope["headers"] = [(b"host", b"127.0.0.1"), (b"content-type", b"application/x-ndjson")]
    async with held_service(tmp_path) as (_, service):
        await create_app(service)(scope, receive, send)
    decisions = [data["decision"] for name, data in events(b"".join(sent).decode())]
    assert decisions == ["faulty", "unsure", "faulty"]


def test_sentences_are_sent_while_later_ones_are_judged_and_a_client_may_go_away(
    tmp_path: Path,
) -> None:
    asked = {"output": TEXT, "task": "summarization", "aspects": ["fluency"]}
    judges = ("--model", "openai-compatible/judge", "--max-connections", "1")
    with (
        LoopbackServer(FINE, HELD) as judge,
        serving(tmp_path, judges=(*judges, "--model-base-url", judge.base_url)) as served,
        served.client() as client,
    ):
        with client.stream("POST", STREAM, json=asked) as answer:
            lines = answer.iter_lines()
            assert [next(lines), json.loads(next(lines)[6:])["decision"]] == [
                "event: sentence",
                "ok",
            ]
            assert not judge.released.is_set()  # the second sentence is being judged
        end = time.monotonic() + 30.0
        while "spanjury_checks_in_flight 0" not in client.get("/metrics").text:
            assert time.monotonic() < end
            threading.Event().wait(0.01)
        judge.released.set()
        assert len(judge.requests) == 2  # neither the whole text nor anything else was asked about


@pytest.mark.asyncio_only
async def test_a_problem_behind_the_first_event_is_the_last_event() -> None:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def write(send_event: SendEvent) -> None:
        await send_event("sentence", {})
        raise ProblemError("check-timed-out")

    async def receive() -> Message:
        raise AssertionError("nothing is received")

    await EventStream(write)({}, receive, send)
    (_, (name, data)) = events(b"".join(each.get("body", b"") for each in sent).decode())
    assert (name, data["type"], data["status"]) == ("error", "/problems/check-timed-out", 504)
    assert [each.get("more_body", False) for each in sent] == [False, True, True, False]
