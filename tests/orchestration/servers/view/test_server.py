"""The server of a view, asked over HTTP as its page, and as anybody else, would ask it."""

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from aiohttp import web
from fakes.logs import capture_logs
from fakes.viewed_runs import ROWS, TOKEN, judge, open_run, results, served, write_rows

from spanjury.judges.core import StoreError
from spanjury.orchestration.report.view.page import view_page
from spanjury.orchestration.servers.view.answers import Refused, answer
from spanjury.orchestration.services.viewing.view import View


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("viewed")
    write_rows(folder / "rows.jsonl")
    return judge(folder)


@pytest.fixture
def view(run: Path) -> Iterator[View]:
    with open_run(run) as opened:
        yield opened


@contextmanager
def client(address: str, token: str = TOKEN) -> Iterator[httpx.Client]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    with httpx.Client(base_url=address, headers=headers) as opened:
        yield opened


@pytest.fixture
def asking(view: View) -> Iterator[httpx.Client]:
    with served(view) as address, client(address) as opened:
        yield opened


def test_the_page_gets_all_that_it_asks_for(asking: httpx.Client, view: View, run: Path) -> None:
    assert asking.get("/api/head").json() == json.loads(json.dumps(view.head()))
    columns = asking.get("/api/columns", params={"from": 0}).json()
    assert (columns["rows"], columns["done"]) == (8, True)
    details = asking.get("/api/rows", params={"numbers": "3,0"}).json()
    assert [row["results"] for row in details["rows"]] == [[results(run)[3]], [results(run)[0]]]
    assert asking.get("/api/search", params={"text": "Harbour-T5"}).json() == {"numbers": [6, 7]}
    systems = {"first": "system:bart", "second": "system:t5"}
    compared = asking.get("/api/comparison", params=systems).json()
    assert {row["texts"] for row in compared["rows"]} == {2}
    assert asking.get("/api/asked", params={"number": 0}).json()["seats"] == []


def test_the_page_is_served_without_data_and_under_its_own_policy(view: View) -> None:
    page = view_page("a run")
    with served(view, page=page) as address, client(address, token="") as asking:
        response = asking.get("/")
    assert response.text == page
    assert str(ROWS[0]["output"]) not in response.text
    policy = response.headers["Content-Security-Policy"]
    assert policy.endswith("; frame-ancestors 'none'")
    assert "script-src 'sha256-" in policy
    assert "connect-src 'self'" in policy


@pytest.mark.parametrize("path", ["/", "/api/head", "/api/rows?numbers=99", "/nowhere"])
def test_no_answer_lacks_the_headers_that_keep_it_here(asking: httpx.Client, path: str) -> None:
    headers = asking.get(path).headers
    assert (headers["Cache-Control"], headers["X-Content-Type-Options"]) == ("no-store", "nosniff")
    assert headers["Referrer-Policy"] == "no-referrer"
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"] or path == "/"
    assert "Access-Control-Allow-Origin" not in headers


@pytest.mark.parametrize("token", ["", "wrong", TOKEN[:-1], f"{TOKEN}x", "\u00e9"])
def test_without_the_token_there_is_nothing(view: View, token: str) -> None:
    given = {b"Authorization": f"Bearer {token}".encode()} if token else {}
    with served(view) as address, httpx.Client(base_url=address, headers=given) as asking:
        for name in ("head", "columns", "rows", "search", "asked", "comparison", "nothing"):
            response = asking.get(f"/api/{name}")
            assert response.status_code == 401
            assert list(response.json()) == ["title"]
            assert response.headers["WWW-Authenticate"] == "Bearer"


def test_a_token_in_the_address_counts_for_nothing(view: View) -> None:
    with served(view) as address, client(address, token="") as asking:
        assert asking.get("/api/head", params={"token": TOKEN}).status_code == 401
        assert asking.get("/api/head", headers={"Authorization": TOKEN}).status_code == 401


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost@evil", ""]
)
@pytest.mark.parametrize("path", ["/", "/api/head"])
def test_a_name_made_to_lead_here_is_refused(asking: httpx.Client, host: str, path: str) -> None:
    response = asking.get(path, headers={"Host": host})
    assert response.status_code == 403
    assert "127.0.0.1" in response.json()["title"]


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]", "LOCALHOST"])
def test_the_names_of_this_machine_are_answered(asking: httpx.Client, host: str) -> None:
    assert asking.get("/api/head", headers={"Host": f"{host}:80"}).status_code == 200


def test_two_hosts_in_one_request_are_refused(asking: httpx.Client) -> None:
    at = urlsplit(str(asking.base_url))
    with socket.create_connection((at.hostname, at.port)) as wire:
        wire.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\n\r\n")
        status = wire.recv(100).split()[1]
    assert status in {b"400", b"403"}


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("rows?numbers=", "numbers must be a whole number"),
        ("rows?numbers=1,x", "numbers must be a whole number"),
        ("rows?numbers=-1", "numbers must be a whole number"),
        ("rows?numbers=8", "there is no row 8"),
        ("rows?numbers=9999999999999", "numbers must be a whole number"),
        ("rows?numbers=" + ",".join(["0"] * 201), "expected 200 at most"),
        ("rows", "numbers is needed once"),
        ("rows?numbers=1&numbers=2", "numbers is needed once"),
        ("columns?from=x", "from must be a whole number"),
        ("search", "text is needed once"),
        ("search?text=" + "x" * 1_001, "expected 1000 at most"),
        ("asked?number=0&run=1", "there is no run 1"),
        ("comparison?first=run:0&second=run:1", "there is no run:1"),
    ],
)
def test_an_unanswerable_request_is_refused(asking: httpx.Client, path: str, said: str) -> None:
    response = asking.get(f"/api/{path}")
    assert response.status_code == 400
    assert said in response.json()["title"]


def test_other_addresses_and_methods_are_refused_as_json(asking: httpx.Client) -> None:
    assert asking.get("/api/../../etc/passwd").status_code == 404
    assert asking.get("/nowhere").json() == {"title": "404 Not Found"}
    assert asking.post("/api/head").json() == {"title": "405 Method Not Allowed"}
    assert asking.get("/favicon.ico").status_code == 204


def test_columns_beyond_the_last_row_are_empty(asking: httpx.Client) -> None:
    columns = asking.get("/api/columns", params={"from": 100}).json()
    assert (columns["rows"], columns["id"], columns["done"]) == (0, [], True)


def test_further_routes_stand_behind_the_same_guard(view: View) -> None:
    async def refuse(request: web.Request) -> web.Response:
        if request.method == "GET":
            raise Refused(409, "it was changed meanwhile", mark={"revision": 2})
        await request.read()
        return answer({"revision": 1})

    async def fail(request: web.Request) -> web.Response:
        raise StoreError("the disk is full")

    async def break_down(request: web.Request) -> web.Response:
        raise ZeroDivisionError(str(request.url))

    routes = [
        *(web.get("/api/mark", refuse), web.put("/api/mark", refuse)),
        *(web.get("/api/full", fail), web.get("/api/broken", break_down)),
    ]
    with capture_logs() as logs, served(view, routes=routes) as address, client(address) as asking:
        assert httpx.put(f"{address}/api/mark").status_code == 401
        response = asking.get("/api/mark")
        assert response.status_code == 409
        assert response.json() == {"title": "it was changed meanwhile", "mark": {"revision": 2}}
        assert asking.put("/api/mark", content=b"x" * 1_000_000).json() == {"revision": 1}
        assert asking.put("/api/mark", content=b"x" * 2_000_000).status_code == 413
        assert asking.get("/api/full").json() == {"title": "the disk is full"}
        assert asking.get("/api/broken").json() == {"title": "the server failed on this request"}
    [event] = logs
    assert (event["event"], event["error"]) == ("view.answer_failed", "ZeroDivisionError")
