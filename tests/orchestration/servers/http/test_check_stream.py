"""A text over HTTP, judged sentence by sentence as server-sent events."""

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio import wait_all_tasks_blocked
from fakes.http_app import RULES, TOKEN, held_service, open_service, problem
from fakes.service import serving
from loopback.answers import HELD, chat
from loopback.server import LoopbackServer
from openapi_schema_validator import OAS31Validator
from starlette.types import Message

from spanjury.orchestration.servers.http.app import create_app
from spanjury.orchestration.servers.http.check_stream import EventStream, SendEvent
from spanjury.orchestration.servers.http.check_turns import CheckTurns
from spanjury.orchestration.servers.http.limits import ServiceLimits
from spanjury.orchestration.servers.http.problems import ProblemError
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
    assert not {"messages", "tools"} & {
        *page["components"]["schemas"]["StreamRequest"]["properties"]
    }
    forms = page["paths"][STREAM]["post"]["requestBody"]["content"]
    assert [*forms] == ["application/json", "application/x-ndjson"]


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
    async with open_service(tmp_path, limits=ServiceLimits(max_output=100)) as client:
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
        (b"[" * 100_000 + b"\n", "body-invalid"),
        (lines({"source": "A."}) + b"[" * 100_000 + b"\n", "body-invalid"),
        (b'{"source": "A", "source": "B"}\n', "body-invalid"),
        (lines({"panel": "other"}, "A."), "panel-not-found"),
        (lines({"source": "A."}, {"text": "A."}), "body-invalid"),
        (lines({"source": "A."}, "x" * 101), "text-too-long"),
    ],
)
async def test_lines_that_do_not_fit_are_a_problem(tmp_path: Path, body: bytes, kind: str) -> None:
    async with open_service(tmp_path, limits=ServiceLimits(max_output=100)) as client:
        assert problem(await client.post(STREAM, content=body, headers=LINES)) == kind


@pytest.mark.asyncio_only
@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"sources": "secret"}', '"field": "sources", "detail": "there is no such field'),
        (b'{"source": ["secret", 5]}', '"field": "source.1", "detail": "Input should be a valid s'),
        (b'["secret"]', '"line 1: expected a JSON object"'),
        (b"secret", '"line 1: not JSON"'),
    ],
)
async def test_a_first_line_that_does_not_fit_is_explained_without_its_texts(
    tmp_path: Path, line: bytes, reason: str
) -> None:
    async with open_service(tmp_path) as client:
        answer = await client.post(STREAM, content=line + b'\n"A."\n', headers=LINES)
    assert problem(answer) == "body-invalid"
    assert reason in answer.text
    assert "line 1" in answer.json()["detail"]
    assert not any(word in answer.text for word in ("secret", "pydantic"))


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


@pytest.mark.heavy
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


def turns(clock: list[float], *, lanes: int = 1, most: int = 100) -> CheckTurns:
    """Return turns of several tenants whose time is the first of `clock`."""
    return CheckTurns(
        most=most, longest_wait=10.0, lanes=lambda: lanes, is_shared=True, now=lambda: clock[0]
    )


async def judged(checks: CheckTurns, clock: list[float], *, seconds: float, size: int) -> None:
    """Judge a text of so many characters, which takes so long."""
    async with checks.turn("ann", characters=size):
        clock[0] += seconds


async def held(checks: CheckTurns, done: anyio.Event, began: Callable[[], None]) -> None:
    async with checks.turn("ann", characters=100):
        began()
        await done.wait()


async def test_a_check_is_refused_by_the_seconds_that_it_would_wait_and_not_by_a_count() -> None:
    clock = [0.0]
    for seconds, taken in ((0.1, 100), (5.0, 3)):
        checks, done, waiting = turns(clock), anyio.Event(), 0
        await judged(checks, clock, seconds=seconds, size=100)
        async with anyio.create_task_group() as group:
            while not checks.wait("ann") > 10.0:
                group.start_soon(held, checks, done, lambda: None)
                await wait_all_tasks_blocked()
                waiting += 1
            with pytest.raises(ProblemError, match="too-busy") as refused:
                checks.require_soon("ann")
            assert refused.value.headers == {"Retry-After": "1" if seconds < 1 else "5"}
            assert checks.wait("bob") == pytest.approx(seconds)
            done.set()
        assert waiting == pytest.approx(taken, abs=1)
        assert checks.wait("ann") == 0


async def test_checks_that_were_let_in_by_their_heads_count_before_they_are_in_a_queue() -> None:
    clock = [0.0]
    checks = turns(clock)
    await judged(checks, clock, seconds=4.0, size=100)
    leave = [checks.arrive("ann") for _ in range(2)]
    assert (checks.wait("ann"), checks.wait("bob")) == (12.0, 4.0)
    with pytest.raises(ProblemError, match="too-busy"):
        checks.arrive("ann")
    leave[0]()
    leave[0]()
    assert checks.wait("ann") == 8.0
    turns(clock, lanes=2).arrive("ann")()  # two may begin at once
    leave[1]()
    assert checks.wait("ann") == 0.0


async def test_a_long_text_is_expected_to_take_longer_and_a_short_one_as_long_as_usual() -> None:
    clock = [0.0]
    checks, done = turns(clock), anyio.Event()
    await judged(checks, clock, seconds=2.0, size=1_000)
    async with anyio.create_task_group() as group:
        group.start_soon(held, checks, done, lambda: None)
        await wait_all_tasks_blocked()
        waits = []
        for size in (10, 1_000, 3_000):
            group.start_soon(partial(judged, checks, clock, seconds=2.0, size=size))
            await wait_all_tasks_blocked()
            waits.append(checks.wait("ann"))
        assert waits == [4.0, 6.0, 12.0]
        done.set()


async def test_checks_at_once_are_measured_as_if_each_were_alone() -> None:
    clock = [0.0]
    checks, done = turns(clock, lanes=2), anyio.Event()
    begun = 0

    def count() -> None:
        nonlocal begun
        begun += 1

    async with anyio.create_task_group() as group:
        for _ in range(4):  # before one was measured, all may begin
            group.start_soon(held, checks, done, count)
        await wait_all_tasks_blocked()
        assert begun == 4
        clock[0] += 8.0
        done.set()
    done = anyio.Event()
    async with anyio.create_task_group() as group:
        for _ in range(3):
            group.start_soon(held, checks, done, count)
        await wait_all_tasks_blocked()
        assert begun == 6  # a third one would slow the others down
        assert checks.wait("bob") == pytest.approx(4.0 / 2)
        done.set()


async def test_a_check_that_is_cancelled_while_it_waits_takes_no_turn() -> None:
    clock = [0.0]
    checks, done = turns(clock, most=1), anyio.Event()
    async with anyio.create_task_group() as group:
        group.start_soon(held, checks, done, lambda: None)
        await wait_all_tasks_blocked()
        with anyio.move_on_after(0):
            await judged(checks, clock, seconds=0.0, size=1)
        done.set()
    assert checks.wait("ann") == 0
    await judged(checks, clock, seconds=0.0, size=1)
