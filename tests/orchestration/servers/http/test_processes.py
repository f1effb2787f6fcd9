"""The service as a process: killed, ended, crowded, kept waiting, and left by its clients."""

import itertools
import json
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, BinaryIO

import httpx
import pytest
from fakes.command import call, complaint
from fakes.processes import completed
from fakes.service import RULES, rows, serving, started
from loopback.answers import HELD, chat
from loopback.chaos import ChaosServer, judged_text
from loopback.server import LoopbackServer

CHECK = {"output": "It opened in 1935.", "task": "summarization", "aspects": ["fluency"]}
NDJSON = {"Content-Type": "application/x-ndjson"}
TOKEN = "secret-0123456789-token"
FINE = chat("No Error\n\nOverall score: Good")


def model(url: str, *, connections: int = 1) -> tuple[str, ...]:
    return (
        *("--model", "openai-compatible/judge", "--model-base-url", url),
        *("--max-connections", str(connections)),
    )


def until(holds: Callable[[], bool], *, seconds: float = 30.0) -> None:
    """Return once something holds."""
    tick, end = threading.Event(), time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        tick.wait(0.01)


def figure(client: httpx.Client, name: str) -> float:
    lines = client.get("/metrics").text.splitlines()
    (line,) = (line for line in lines if line.startswith(f"{name} "))
    return float(line.rpartition(" ")[2])


def submitted(client: httpx.Client, count: int) -> str:
    """Submit texts that a `ChaosServer` knows, and return the address of the batch."""
    body = rows(*map(judged_text, range(count)))
    answer = client.post("/v1/batches?aspect=fluency", content=body, headers=NDJSON)
    assert answer.status_code == 202, answer.text
    return answer.headers["location"]


def finished(client: httpx.Client, batch: str) -> list[dict[str, object]]:
    """Return the results of a batch, once it has ended well."""
    until(lambda: client.get(batch).json()["state"] not in {"queued", "running"})
    last = client.get(batch).json()
    assert (last["state"], last["reason"]) == ("finished", "")
    return [json.loads(line) for line in client.get(f"{batch}/results").text.splitlines()]


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM])
def test_a_batch_goes_on_after_the_service_was_ended_and_no_row_is_paid_for_twice(
    tmp_path: Path, sent: signal.Signals
) -> None:
    count = 30
    with ChaosServer(seconds=0.05) as judge:
        first = started(tmp_path, judges=model(judge.base_url))
        with first.client() as client:
            batch = submitted(client, count)
            until(lambda: client.get(batch).json()["done"] >= 5)
            so_far = client.get(f"{batch}/results").text
        first.process.send_signal(sent)
        assert first.wait() == (0 if sent is signal.SIGTERM else -signal.SIGKILL)
        assert 5 <= judge.asked < count
        with serving(tmp_path, judges=model(judge.base_url)) as second, second.client() as client:
            results = finished(client, batch)
        # A call that was under way when the process was killed was paid for, and is lost.
        assert judge.asked - count in ({0} if sent is signal.SIGTERM else {0, 1})
    assert [result["id"] for result in results] == [str(number) for number in range(count)]
    assert {result["outcome"] for result in results} == {"scored"}
    assert 5 <= len(so_far.splitlines()) < count
    for line, result in zip(so_far.splitlines(), results, strict=False):
        assert {**json.loads(line), "seats": []} == {**result, "seats": []}  # they hold seconds
    with serving(tmp_path) as third, third.client() as client:
        assert finished(client, batch) == results


def test_sigterm_lets_a_check_end_and_takes_no_other_on(tmp_path: Path) -> None:
    with LoopbackServer(HELD) as judge, serving(tmp_path, judges=model(judge.base_url)) as served:
        with served.client() as client, ThreadPoolExecutor() as pool:
            under_way = pool.submit(served.check, CHECK)
            until(lambda: bool(judge.requests))
            served.process.terminate()
            until(lambda: client.get("/readyz").status_code == 503)
            assert client.get("/healthz").status_code == 200
            refused = client.post("/v1/check", json=CHECK)
            assert refused.json()["type"] == "/problems/service-closing"
            judge.released.set()
            answer = under_way.result()
        assert answer.json()["results"][0]["outcome"] == "scored"
        assert served.wait() == 0


def test_the_time_to_drain_is_bounded_and_a_second_signal_ends_it_at_once(tmp_path: Path) -> None:
    with LoopbackServer(HELD) as judge, ThreadPoolExecutor() as pool:
        for flags, again, code in (
            (("--drain-seconds", "0.3"), False, 0),
            (("--drain-seconds", "600"), True, 128 + signal.SIGTERM),
        ):
            served = started(tmp_path, *flags, judges=model(judge.base_url))
            known = len(judge.requests)
            under_way = pool.submit(served.check, CHECK)
            until(partial(lambda before: len(judge.requests) > before, known))
            served.process.terminate()
            served.wait_until("running work has")
            if again:
                served.process.terminate()
            assert served.wait() == code
            failed = under_way.exception()
            if failed is None:
                assert under_way.result().status_code >= 500
            else:
                assert isinstance(failed, httpx.RemoteProtocolError | httpx.ReadError)


def test_the_work_of_a_client_that_goes_away_is_dropped_and_not_paid_on(tmp_path: Path) -> None:
    request = {**CHECK, "aspects": ["fluency", "coherence", "relevance"], "source": "It opened."}
    with LoopbackServer(HELD) as judge, serving(tmp_path, judges=model(judge.base_url)) as served:
        with served.client(seconds=1.0) as client, pytest.raises(httpx.ReadTimeout):
            client.post("/v1/check", json=request)
        with served.client() as client:
            until(lambda: figure(client, "spanjury_checks_in_flight") == 0)
            assert len(judge.requests) == 1  # of three: one call at a time is made
            judge.released.set()
            answer = client.post("/v1/check", json=CHECK)
            assert answer.json()["results"][0]["outcome"] == "scored"
            assert len(judge.requests) == 2
            # The call that was dropped was sent, and counts.
            assert figure(client, 'spanjury_model_calls_total{panel="default"}') == 2


def test_a_batch_that_is_cancelled_asks_no_more_and_keeps_what_it_has(tmp_path: Path) -> None:
    with (
        ChaosServer() as judge,
        serving(tmp_path, "--max-batches", "1", judges=model(judge.base_url)) as served,
        served.client() as client,
    ):
        judge.may_answer.clear()
        batch = submitted(client, 20)
        waiting = [submitted(client, 1) for _ in range(2)]
        until(lambda: judge.probes > 0)
        assert client.get(waiting[0]).json()["state"] == "queued"
        for one in (waiting[1], batch):
            assert client.post(f"{one}/cancel").status_code == 200
            assert "event: end" in client.get(f"{one}/events").text
            assert client.get(one).json()["state"] == "cancelled"
        judge.may_answer.set()
        assert len(finished(client, waiting[0])) == 1
        assert judge.asked == 1


def test_a_cancelled_batch_does_not_go_on_after_the_service_was_killed(tmp_path: Path) -> None:
    with ChaosServer() as judge:
        judge.may_answer.clear()
        judges = model(judge.base_url)
        first = started(tmp_path, judges=judges)
        with first.client() as client:
            batch = submitted(client, 5)
            until(lambda: judge.probes > 0)
            client.post(f"{batch}/cancel")
        first.process.kill()
        first.wait()
        judge.may_answer.set()
        with serving(tmp_path, judges=judges) as second, second.client() as client:
            assert client.get(batch).json()["state"] == "cancelled"
    assert judge.asked == 0


def test_a_check_that_would_have_to_wait_for_too_long_is_refused(tmp_path: Path) -> None:
    with (
        LoopbackServer(HELD) as judge,
        serving(
            tmp_path,
            *("--max-checks", "2", "--max-check-wait", "0"),
            judges=model(judge.base_url, connections=2),
        ) as served,
        served.client() as client,
        ThreadPoolExecutor() as pool,
    ):
        taken = [pool.submit(served.check, CHECK) for _ in range(2)]
        until(lambda: len(judge.requests) == 2)
        head = b"POST /v1/check HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n"
        answer = said(served.port, head, b"Connection: close\r\n\r\n")  # its body never comes
        assert answer.startswith(b"HTTP/1.1 429 Too Many Requests\r\n")
        refused = client.post("/v1/check", content=b"no JSON", headers=NDJSON)
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
        assert refused.headers["cache-control"] == "no-store"
        assert refused.json()["type"] == "/problems/too-busy"
        judge.released.set()
        assert [answer.result().status_code for answer in taken] == [200, 200]
        assert client.post("/v1/check", json=CHECK).status_code == 200


def test_a_refused_check_is_refused_again_until_there_is_room(tmp_path: Path) -> None:
    body = json.dumps(CHECK).encode()
    head = b"POST /v1/check HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    head += b"Content-Length: %d\r\n\r\n" % len(body)
    whole = head + body
    with (
        LoopbackServer(HELD) as judge,
        serving(
            tmp_path,
            *("--max-checks", "2", "--max-check-wait", "0"),
            judges=model(judge.base_url, connections=2),
        ) as served,
        ThreadPoolExecutor() as pool,
        socket.create_connection(("127.0.0.1", served.port), timeout=20) as connection,
        connection.makefile("rb") as answers,
    ):
        taken = [pool.submit(served.check, CHECK) for _ in range(2)]
        until(lambda: len(judge.requests) == 2)
        for pieces in ((whole,), (whole,), (head, body), (whole[:-5], whole[-5:]), (whole,)):
            connection.sendall(pieces[0])
            assert answer_of(answers)[0] == 429
            for piece in pieces[1:]:
                connection.sendall(piece)
        connection.sendall(whole + whole)
        assert [answer_of(answers)[0] for _ in range(2)] == [429, 429]
        health = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
        empty = whole.partition(b"Content-Length")[0] + b"Content-Length: 0\r\n\r\n"
        connection.sendall(health + empty)
        assert {answer_of(answers)[0] for _ in range(2)} == {200, 429}
        connection.sendall(health)  # its head is not taken for that of the other
        assert answer_of(answers)[0] == 200
        judge.released.set()
        assert [answer.result().status_code for answer in taken] == [200, 200]
        connection.sendall(whole)
        status, report = answer_of(answers)
    assert (status, report["output"], len(judge.requests)) == (200, CHECK["output"], 3)


def answer_of(answers: BinaryIO) -> tuple[int, Any]:
    """Read the next answer from a connection: its status and its JSON."""
    status, length = int(answers.readline().split()[1]), 0
    while (line := answers.readline().strip().lower()) != b"":
        if line.startswith(b"content-length:"):
            length = int(line.partition(b":")[2])
    return status, json.loads(answers.read(length))


def test_a_check_that_takes_too_long_is_given_up(tmp_path: Path) -> None:
    with LoopbackServer(HELD) as judge:
        judges = model(judge.base_url)
        with (
            serving(tmp_path, "--check-seconds", "0.3", judges=judges) as served,
            served.client() as client,
        ):
            answer = client.post("/v1/check", json=CHECK)
    assert (answer.status_code, answer.json()["type"]) == (504, "/problems/check-timed-out")


def said(port: int, *pieces: bytes) -> bytes:
    """Send `pieces`, as far as the server takes them, and return all that comes."""
    answer = b""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        # A server that has refused may close while the rest is on its way.
        with suppress(BrokenPipeError, ConnectionResetError):
            for piece in pieces:
                connection.sendall(piece)
        with suppress(ConnectionResetError):
            while more := connection.recv(65_536):
                answer += more
    return answer


def test_slow_and_endless_requests_are_ended(tmp_path: Path) -> None:
    head = b"POST /v1/check HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    flags = ("--head-seconds", "0.5", "--body-seconds", "0.5")
    with serving(tmp_path, *flags) as served:
        slow = said(served.port, head, b"Content-Length: 100\r\n\r\n", b'{"output')
        assert slow.startswith(b"HTTP/1.1 408 ")
        assert b"/problems/body-too-slow" in slow
        assert said(served.port).startswith(b"HTTP/1.1 408 ")
        assert said(served.port, head).startswith(b"HTTP/1.1 408 ")
        endless = said(served.port, head, *(b"X: " + b"x" * 60_000 + b"\r\n",) * 6)
        assert endless.startswith(b"HTTP/1.1 431 ")
        large = said(served.port, head, b"Content-Length: 9999999\r\n\r\n", b"x" * 9_999_999)
        assert large.startswith(b"HTTP/1.1 413 ")
        assert b"/problems/body-too-large" in large
        chunk = b"100000\r\n" + b"x" * 2**20 + b"\r\n"
        chunks = said(
            served.port, head, b"Transfer-Encoding: chunked\r\n\r\n", *(chunk,) * 5, b"0\r\n\r\n"
        )
        assert chunks.startswith(b"HTTP/1.1 413 ")
        assert said(served.port, b"nonsense\r\n\r\n").startswith(b"HTTP/1.1 400 ")
        with served.client() as client:
            assert client.post("/v1/check", json=CHECK).status_code == 200


@pytest.mark.parametrize(
    ("kind", "body", "status"),
    [
        ("application/x-www-form-urlencoded", b"x" * 20_000_000, 415),
        ("application/x-ndjson", b"\x1f\x8b" + b"x" * 20_000_000, 415),
        ("application/x-ndjson", b"x" * 20_000_000, 413),
        ("application/x-ndjson", b"{}\n" * 7_000_000, 413),
    ],
    ids=["form", "packed", "long row", "many rows"],
)
def test_a_refused_body_is_answered_once_its_client_has_sent_it(
    tmp_path: Path, kind: str, body: bytes, status: int
) -> None:
    with serving(tmp_path) as served, served.client() as client:
        answer = client.post("/v1/batches", content=body, headers={"Content-Type": kind})
    assert answer.status_code == status


@pytest.mark.parametrize(
    ("line", "kind", "status"),
    [
        (b"{no JSON\n", "body-invalid", 422),
        (b"{" + b"x" * 5_000_000, "body-too-large", 413),
    ],
    ids=["first line", "size"],
)
def test_a_refused_stream_is_answered_once_its_client_has_sent_it(
    tmp_path: Path, line: bytes, kind: str, status: int
) -> None:
    chunks = itertools.chain([line], itertools.repeat(b'"text"\n' * 10_000, 400))
    headers = {"Content-Type": "application/x-ndjson"}
    with serving(tmp_path) as served:  # httpx would not mind a reset connection
        client = HTTPConnection("127.0.0.1", served.port, timeout=30)
        client.request("POST", "/v1/check/stream", chunks, headers, encode_chunked=True)
        with client.getresponse() as answer:
            problem = json.load(answer)
        client.close()
    assert problem["status"] == status
    assert problem["type"].endswith(kind)


def test_a_client_that_goes_away_while_it_sends_a_batch_leaves_nothing(tmp_path: Path) -> None:
    head = b"POST /v1/batches HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n"
    incoming = tmp_path / "state" / "incoming"
    with serving(tmp_path) as served, served.client() as client:
        with socket.create_connection(("127.0.0.1", served.port), timeout=20) as connection:
            connection.sendall(head + b"Content-Type: application/x-ndjson\r\n\r\n" + rows("a"))
            until(lambda: bool(list(incoming.iterdir())))
        until(lambda: not list(incoming.iterdir()))
        assert client.get("/v1/batches").json() == {"batches": []}


def test_connections_beyond_the_limit_are_refused_and_the_others_served(tmp_path: Path) -> None:
    with serving(tmp_path, "--max-http-connections", "50") as served:
        address = ("127.0.0.1", served.port)
        idle = [socket.create_connection(address, timeout=20) for _ in range(1_000)]
        refused = idle[0].recv(65_536)
        assert refused.startswith(b"HTTP/1.1 503 ")
        assert b"Retry-After: 1" in refused
        assert httpx.post(f"{served.url}/v1/check", json=CHECK, timeout=30).status_code == 200
        for connection in idle:
            connection.close()
        assert httpx.get(f"{served.url}/healthz", timeout=30).status_code == 200


def test_without_an_idle_connection_that_gives_way_another_is_refused(tmp_path: Path) -> None:
    with (
        LoopbackServer(HELD) as judge,
        serving(
            tmp_path, "--max-http-connections", "3", judges=model(judge.base_url, connections=3)
        ) as served,
        ThreadPoolExecutor() as pool,
    ):
        taken = [pool.submit(served.check, CHECK) for _ in range(3)]
        until(lambda: len(judge.requests) == 3)
        assert said(served.port).startswith(b"HTTP/1.1 503 ")
        judge.released.set()
        assert [answer.result().status_code for answer in taken] == [200] * 3


def test_health_has_a_port_of_its_own_that_knows_nothing_else(tmp_path: Path) -> None:
    flags = ("--max-http-connections", "1", "--health-port", "0")
    with (
        LoopbackServer(HELD) as judge,
        serving(tmp_path, *flags, token=TOKEN, judges=model(judge.base_url)) as served,
        served.client(token=TOKEN) as client,
        ThreadPoolExecutor() as pool,
        ExitStack() as stack,
    ):
        (line,) = (line for line in served.lines if line.startswith("health"))
        url = line.split()[-1]
        under_way = pool.submit(client.post, "/v1/check", json=CHECK)
        until(lambda: bool(judge.requests))
        assert said(served.port).startswith(b"HTTP/1.1 503 ")
        for _ in range(200):
            address = ("127.0.0.1", int(url.rpartition(":")[2]))
            stack.enter_context(socket.create_connection(address, timeout=20))
        health = stack.enter_context(httpx.Client(base_url=url, headers=client.headers))
        assert health.get("/healthz").status_code == 200
        assert health.get("/readyz").status_code == 200
        assert [health.head(path).status_code for path in ("/healthz", "/readyz")] == [200, 200]
        for path in ("/v1/judges", "/metrics", "/openapi.json"):
            assert health.get(path).status_code == 404
        served.process.terminate()
        until(lambda: health.get("/readyz").status_code == 503)
        judge.released.set()
        assert under_way.result().status_code == 200
        assert served.wait() == 0


def test_health_is_answered_while_long_texts_are_judged(tmp_path: Path) -> None:
    sentence = "The bridge over the river was opened in 1932 by the mayor of the town. "
    text = {"output": sentence * 400, "source": sentence * 2_000, "aspects": ["consistency"]}
    with serving(tmp_path) as served, ThreadPoolExecutor() as pool, served.client() as client:
        judged = pool.submit(served.check, text)
        longest = 0.0
        while not judged.done():
            began = time.monotonic()
            assert client.get("/healthz").status_code == 200
            longest = max(longest, time.monotonic() - began)
        assert judged.result().status_code == 200
    assert longest < 2.0  # generous, since other tests use the machine


def test_one_address_and_one_folder_have_one_service(tmp_path: Path) -> None:
    with serving(tmp_path) as first:
        port = started(tmp_path / "", "--port", str(first.port), "--state-dir", "other")
        assert port.wait() == 1
        assert port.lines[0].strip() == (
            f"spanjury: 127.0.0.1:{first.port}: cannot listen there: Address already in use"
        )
        state = started(tmp_path)
        assert state.wait() == 1
        assert f"in use by process {first.process.pid}" in state.lines[0]
        with first.client() as client:
            assert client.get("/readyz").status_code == 200


@pytest.mark.parametrize(
    ("flags", "token", "words"),
    [
        (("--host", "0.0.0.0"), "", "is not a loopback address"),
        (("--token-file", "nothing"), "", "cannot be read"),
        ((), "short", "16 printable ASCII characters or more"),
        (("--panel", "x"), "", "expected NAME=FILE"),
        (
            ("--panel", "x=panel.toml", "--panel", "x=panel.toml"),
            "",
            "two panels have the same name",
        ),
        (("--panel", "default=panel.toml"), "", "leave out --judge and --model"),
    ],
)
def test_a_service_that_cannot_be_as_asked_does_not_begin(
    tmp_path: Path, flags: tuple[str, ...], token: str, words: str
) -> None:
    (tmp_path / "panel.toml").write_text('[[seats]]\njudge = "form"\n')
    variables = {"SPANJURY_SERVE_TOKEN": token} if token else {}
    with socket.create_server(("127.0.0.1", 0)) as taken:  # where none can begin by mistake
        served = ("serve", "--port", taken.getsockname()[1], "--state-dir", "state", *RULES)
        ended = call(tmp_path, *served, *flags, code=2, **variables)
    said = complaint(ended.stderr)
    assert words in said
    assert "short" not in said


@pytest.mark.parametrize(
    ("judge", "words"),
    [("nothing", "there is no judge"), ("form:api_key=abcdefgh1234", "holds a secret")],
)
def test_a_service_whose_judge_cannot_be_made_does_not_begin(
    tmp_path: Path, judge: str, words: str
) -> None:
    ended = started(tmp_path, "--judge", judge)
    assert ended.wait() == 2
    (line,) = (line for line in ended.lines if line.startswith("spanjury: "))
    assert words in line
    assert "abcdefgh1234" not in line


def test_without_the_extra_the_command_says_what_to_install(tmp_path: Path) -> None:
    without = (
        "import sys; sys.modules['uvicorn'] = None; from spanjury.orchestration.cli import main"
    )
    command = [sys.executable, "-c", f"{without}; main()", "serve", "--state-dir", "state"]
    done = completed(command, code=2, cwd=tmp_path)
    assert "pip install 'spanjury[serve]'" in done.stderr


def test_other_addresses_are_served_only_with_a_token(tmp_path: Path) -> None:
    with serving(tmp_path, "--host", "0.0.0.0", token=TOKEN) as served:
        url = f"http://127.0.0.1:{served.port}"
        assert httpx.post(f"{url}/v1/check", json=CHECK).status_code == 401
        right = {"Authorization": f"Bearer {TOKEN}"}
        assert httpx.post(f"{url}/v1/check", json=CHECK, headers=right).status_code == 200


def test_the_log_has_routes_and_no_texts_queries_or_tokens(tmp_path: Path) -> None:
    with serving(tmp_path, "--log-file", "log.jsonl", token=TOKEN) as served:
        with served.client(token=TOKEN) as client:
            client.post("/v1/check", json={**CHECK, "output": "A confidential text."})
            client.get("/v1/judges", params={"token": TOKEN})
            client.get("/v1/secret-path", params={"query": "confidential"})
            client.post("/v1/batches", content=rows("confidential"), headers=NDJSON)
        log = (tmp_path / "log.jsonl").read_text()
    lines = [json.loads(line) for line in log.splitlines()]
    answered = [line for line in lines if line["event"] == "request.answered"]
    seen = [(line["route"], line["status"], line["tenant"]) for line in answered]
    assert ("/v1/check", 200, "default") in seen
    assert ("other", 400, "") in seen
    for secret in ("confidential", TOKEN, "secret-path"):
        assert secret not in log
        assert secret not in "".join(served.lines)


def test_the_folder_of_the_batches_is_its_owners_alone(tmp_path: Path) -> None:
    with serving(tmp_path) as served, served.client() as client:
        finished(client, submitted(client, 1))
    state = tmp_path / "state"
    folders = [
        state,
        *(path for path in state.rglob("*") if path.is_dir() and path.parent == state),
    ]
    assert {folder.stat().st_mode & 0o777 for folder in folders} == {0o700}


def test_batches_are_kept_for_so_many_days(tmp_path: Path) -> None:
    with serving(tmp_path) as served, served.client() as client:
        batch = submitted(client, 1)
        finished(client, batch)
    with serving(tmp_path, "--keep-days", "0") as served, served.client() as client:
        until(lambda: client.get(batch).status_code == 404)
    assert not list((tmp_path / "state" / "batches").iterdir())
