"""The application, asked in this process: what is answered, and what is refused."""

import json
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from anyio import to_process
from fakes.http_app import CHECK, NDJSON, RULES, TOKEN, ended, open_service, problem
from fakes.service import rows
from openapi_schema_validator import OAS31Validator
from openapi_spec_validator import validate

from spanjury.orchestration.servers.http.app import create_app
from spanjury.orchestration.servers.http.limits import ServiceLimits
from spanjury.orchestration.servers.http.problems import KINDS
from spanjury.orchestration.servers.http.service import Service
from spanjury.orchestration.servers.http.settings import ServiceSettings
from spanjury.orchestration.servers.tokens import read_tokens
from spanjury.orchestration.services.serving.batches.batch import BatchPlan

pytestmark = pytest.mark.asyncio_only


async def test_a_text_is_judged_as_python_judges_it(tmp_path: Path) -> None:
    async with open_service(tmp_path) as client:
        answer = await client.post("/v1/check", json=CHECK)
    report = answer.json()
    assert answer.status_code == 200
    assert (report["decision"], report["output"]) == ("faulty", CHECK["output"])
    (result,) = report["results"]
    (span,) = result["spans"]
    assert (span["start"], span["end"], span["text"]) == (21, 25, "1935")
    assert span["evidence"][0]["text"] == CHECK["source"]


async def test_a_process_of_the_service_judges_checks_itself(tmp_path: Path) -> None:
    async with open_service(tmp_path, panel=replace(RULES, processes=2)) as client:
        answer = await client.post("/v1/check", json=CHECK)
        assert to_process._process_pool_workers.get(None) is None
    assert answer.json()["decision"] == "faulty"


def test_a_service_has_the_processes_of_the_panel_with_the_most_which_share_its_bounds(
    tmp_path: Path,
) -> None:
    panels = {"default": RULES, "b": replace(RULES, processes=2), "c": replace(RULES, processes=3)}
    settings = ServiceSettings(batches=BatchPlan(panels=panels), state=tmp_path)
    bounds = ServiceLimits(max_checks=10, max_http_connections=1).of_one(settings.processes)
    assert (settings.processes, bounds.max_checks, bounds.max_http_connections) == (3, 4, 1)
    alone = replace(settings, batches=BatchPlan(panels={"default": RULES}))
    assert alone.limits.of_one(alone.processes) == alone.limits


async def test_a_judge_that_cannot_judge_is_an_outcome_and_no_error(tmp_path: Path) -> None:
    request = {"output": "It opened.", "task": "summarization", "aspects": ["consistency"]}
    async with open_service(tmp_path) as client:
        answer = await client.post("/v1/check", json=request)
    (result,) = answer.json()["results"]
    assert (answer.status_code, result["score"], result["outcome"]) == (200, None, "abstained")


async def test_half_a_surrogate_pair_becomes_a_replacement_character(tmp_path: Path) -> None:
    body = rb'{"output": "It opened \ud800.", "aspects": ["fluency"], "task": "summarization"}'
    headers = {"Content-Type": "application/json"}
    async with open_service(tmp_path) as client:
        answer = await client.post("/v1/check", content=body, headers=headers)
        raw = body.replace(rb"\ud800", "\ud800".encode("utf-8", "surrogatepass"))
        refused = await client.post("/v1/check", content=raw, headers=headers)
    assert (answer.status_code, answer.json()["output"]) == (200, "It opened \ufffd.")
    assert problem(refused) == "body-not-json"


async def test_a_source_may_be_documents_that_evidence_names(tmp_path: Path) -> None:
    documents = ["It rains.", {"id": "history", "text": "It opened in 1932."}]
    body = {"output": "It opened in 1935.", "source": documents, "task": "rag"}
    async with open_service(tmp_path) as client:
        answer = (await client.post("/v1/check", json=body)).json()
    (span,) = answer["results"][0]["spans"]
    assert [evidence["input"] for evidence in span["evidence"]] == ["history"]


async def test_a_question_makes_the_text_an_answer(tmp_path: Path) -> None:
    body = {"output": "It opened in 1935.", "source": "It opened in 1932.", "question": "When?"}
    messages = {"messages": [{"role": "assistant", "content": "Hello."}]}
    async with open_service(tmp_path) as client:
        answer = (await client.post("/v1/check", json=body)).json()
        streamed = await client.post("/v1/check/stream", json=body)
        refusals = [
            await client.post("/v1/check", json={**other, "question": "When?"})
            for other in (
                {"output": "It opened in 1935.", "inputs": {"Question": "When?"}},
                messages,
            )
        ]
    for report in (answer["results"], streamed.text):
        assert "question-answering" in str(report)
    assert answer["decision"] == "faulty"
    for refused in refusals:
        assert problem(refused) == "request-not-understood"
        assert "question" in refused.json()["detail"]


async def test_messages_are_judged_in_place_of_a_text(tmp_path: Path) -> None:
    messages = [
        {"role": "user", "content": "Ring me."},
        {"role": "assistant", "content": "Now it it rings."},
    ]
    body = {"messages": messages, "task": "dialogue", "aspects": ["fluency"]}
    async with open_service(tmp_path) as client:
        answer = await client.post("/v1/check", json=body)
        unclear = await client.post("/v1/check", json={**body, "messages": messages[:1]})
    (span,) = answer.json()["results"][0]["spans"]
    assert span["at"] == {"turn": 2, "call": 0, "path": "", "start": 4, "end": 9}
    assert problem(unclear) == "request-not-understood"


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ({"output": 3}, "body-invalid"),
        ({**CHECK, "messages": []}, "body-invalid"),
        ({"messages": [{"role": "assistant", "content": "x" * 201}]}, "text-too-long"),
        ({}, "body-invalid"),
        ({**CHECK, "inputs": {"Article": "x"}}, "body-invalid"),
        ({**CHECK, "judges": ["annotator"]}, "body-invalid"),
        ({**CHECK, "model": "openai/gpt"}, "body-invalid"),
        ({**CHECK, "model_base_url": "http://169.254.169.254/"}, "body-invalid"),
        ({**CHECK, "aspects_files": ["/etc/passwd"]}, "body-invalid"),
        ({**CHECK, "panel": "/etc/passwd"}, "panel-not-found"),
        ({**CHECK, "panel": "openai/gpt"}, "panel-not-found"),
        ({**CHECK, "aspects": ["/etc/passwd"]}, "request-not-understood"),
        ({**CHECK, "task": "http://169.254.169.254/"}, "request-not-understood"),
        ({**CHECK, "output": "x" * 101}, "text-too-long"),
        ({**CHECK, "source": "x" * 201}, "text-too-long"),
        ({**CHECK, "source": ["x" * 101, {"text": "x" * 101}]}, "text-too-long"),
        ({**CHECK, "source": [{"id": "x"}]}, "body-invalid"),
        ({**CHECK, "references": ["x" * 101, "x" * 101]}, "text-too-long"),
        ({**CHECK, "question": "x" * 201}, "text-too-long"),
        ({**CHECK, "question": ["When?"]}, "body-invalid"),
        ({**CHECK, "output": "x" * 10_000}, "body-too-large"),
    ],
)
async def test_a_request_names_what_the_operator_allows_and_nothing_else(
    tmp_path: Path, body: dict[str, object], kind: str
) -> None:
    limits = ServiceLimits(max_output=100, max_source=200, max_body=5_000)
    async with open_service(tmp_path, limits=limits) as client:
        answer = await client.post("/v1/check", json=body)
        assert problem(answer) == kind
        assert "xxxx" not in answer.text
        assert str(tmp_path) not in answer.text
        assert (await client.post("/v1/check", json={**CHECK, "panel": "form"})).is_success


@pytest.mark.parametrize(
    ("body", "kind", "expected"),
    [
        (b"{", "application/json", "body-not-json"),
        (b"[" * 100_000, "application/json", "body-invalid"),
        (b'{"output": ' + b"9" * 5_000 + b"}", "application/json", "body-not-json"),
        (b"\xff", "application/json", "body-not-json"),
        (b"{}", "text/plain", "media-type-not-supported"),
        (b"{}", "", "media-type-not-supported"),
        (b"output=x", "application/x-www-form-urlencoded", "media-type-not-supported"),
    ],
)
async def test_a_body_of_another_kind_is_refused(
    tmp_path: Path, body: bytes, kind: str, expected: str
) -> None:
    async with open_service(tmp_path) as client:
        answer = await client.post("/v1/check", content=body, headers={"Content-Type": kind})
        assert problem(answer) == expected
        packed = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
        answer = await client.post("/v1/check", content=body, headers=packed)
        assert problem(answer) == "media-type-not-supported"


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        (b'{"output": "x" "y"}', "Expecting ',' delimiter (character 15, counted from 0)"),
        (b'{"output": "x", "sources": "y"}', "there is no such field; /openapi.json lists the f"),
        (b"{}", '"expected either output or messages"'),
        (b"null", '[{"field": "body", "detail": "expected a JSON object"}]'),
        (b"", '[{"field": "body", "detail": "expected a JSON object"}]'),
        (b'{"output": "x", "source": 5}', '"source", "detail": "Input should be a valid list"}]'),
        (b'{"output": "x", "source": [5]}', '{"field": "source.0", "detail": "expected a JSON ob'),
        (b'{"output": "x", "inputs": {"query": [5]}}', '"field": "inputs.query.0"'),
    ],
)
async def test_a_problem_of_a_body_says_what_is_wrong(
    tmp_path: Path, body: bytes, detail: str
) -> None:
    async with open_service(tmp_path) as client:
        answer = await client.post(
            "/v1/check", content=body, headers={"Content-Type": "application/json"}
        )
    assert detail in answer.text


async def test_a_body_that_is_nested_too_deeply_is_named_so(tmp_path: Path) -> None:
    body = b'{"output": "x", "meta": ' + b"[" * 10_000 + b"]" * 10_000 + b"}"
    async with open_service(tmp_path) as client:
        answer = await client.post(
            "/v1/check", content=body, headers={"Content-Type": "application/json"}
        )
    assert problem(answer) == "body-invalid"
    assert answer.json()["detail"] == "the body is nested too deeply to be read"


@pytest.mark.parametrize(
    ("body", "key"),
    [
        (b'{"output": "It opened.", "output": "It closed."}', "output"),
        (b'{"output": "It opened.", "inputs": {"A": "x", "B": "y", "A": "z"}}', "A"),
        (b'{"output": "It opened.", "out\\u0070ut": "It closed."}', "output"),
        (b'{"output": "x", "' + b"y" * 5_000 + b'": 1, "' + b"y" * 5_000 + b'": 2}', "y" * 59),
    ],
)
async def test_a_doubled_key_is_refused_by_its_name(tmp_path: Path, body: bytes, key: str) -> None:
    async with open_service(tmp_path) as client:
        answer = await client.post(
            "/v1/check", content=body, headers={"Content-Type": "application/json"}
        )
    assert problem(answer) == "body-invalid"
    assert f'the key "{key}' in answer.json()["detail"]
    assert "It closed" not in answer.text
    assert "y" * 61 not in answer.text


async def test_a_doubled_key_in_a_row_of_a_batch_is_refused_by_its_name(tmp_path: Path) -> None:
    row = b'{"id": "1", "task": "summarization", "output": "It opened.", "output": "It closed."}\n'
    async with open_service(tmp_path) as client:
        answer = await client.post("/v1/batches", content=row, headers=NDJSON)
    assert problem(answer) == "rows-invalid"
    assert answer.json()["rows"] == [
        {"line": 1, "detail": 'the key "output" occurs twice in one object'}
    ]


async def test_unknown_addresses_and_wrong_methods_are_problems(tmp_path: Path) -> None:
    async with open_service(tmp_path) as client:
        assert problem(await client.get("/v1/nothing")) == "not-found"
        assert problem(await client.get("/docs")) == "not-found"
        assert problem(await client.delete("/v1/check")) == "method-not-allowed"
        assert problem(await client.get("/v1/batches/../../etc/passwd")) == "not-found"
        assert problem(await client.get("/v1/batches/..%2F..%2Fetc")) in {
            "not-found",
            "batch-not-found",
        }


@pytest.mark.parametrize(
    ("headers", "kind"),
    [
        ({"Host": "evil.example"}, "address-not-allowed"),
        ({"Host": "127.0.0.1.evil.example:80"}, "address-not-allowed"),
        ({"Host": "localhost.evil.example"}, "address-not-allowed"),
        ({"Origin": "https://evil.example"}, "origin-not-allowed"),
        ({"Origin": "null"}, "origin-not-allowed"),
        ({"Sec-Fetch-Site": "cross-site"}, "origin-not-allowed"),
    ],
)
async def test_without_tokens_pages_of_other_sites_are_refused(
    tmp_path: Path, headers: dict[str, str], kind: str
) -> None:
    async with open_service(tmp_path) as client:
        assert problem(await client.post("/v1/check", json=CHECK, headers=headers)) == kind
        for host in ("localhost:8765", "[::1]:8765", "127.0.0.1"):
            answer = await client.post("/v1/check", json=CHECK, headers={"Host": host})
            assert answer.is_success, host
        own = {"Origin": "http://localhost:8765"}
        assert (await client.post("/v1/check", json=CHECK, headers=own)).is_success


async def test_a_token_that_is_wrong_absent_or_in_a_url_is_refused(tmp_path: Path) -> None:
    tokens = read_tokens(TOKEN, None)
    async with open_service(tmp_path, tokens=tokens) as client:
        absent = await client.post("/v1/check", json=CHECK)
        assert (problem(absent), absent.status_code) == ("token-missing", 401)
        assert absent.headers["www-authenticate"] == "Bearer"
        for wrong in (f"Bearer {TOKEN}x", f"Basic {TOKEN}", "Bearer ", TOKEN, "Bearer é"):
            headers = [(b"Authorization", wrong.encode())]
            answer = await client.post("/v1/check", json=CHECK, headers=headers)
            assert problem(answer) == "token-wrong", wrong
        right = {"Authorization": f"Bearer {TOKEN}"}
        for url in (
            f"/v1/judges?token={TOKEN}",
            "/v1/judges?access_token=x",
            "/healthz?api_key=x",
            f"/v1/judges?x={TOKEN}",
            f"/v1/batches/{TOKEN}",
        ):
            answer = await client.get(url, headers=right)
            assert problem(answer) == "token-in-url", url
            assert TOKEN not in answer.text
        assert (await client.post("/v1/check", json=CHECK, headers=right)).is_success
        assert (await client.get("/healthz")).is_success
        for path in ("/healthz", "/readyz"):
            answer = await client.head(path)
            assert (answer.status_code, answer.content) == (200, b""), path
        for path in ("/metrics", "/openapi.json", "/v1/aspects", "/v1/nothing"):
            assert problem(await client.get(path)) == "token-missing", path


async def test_a_batch_is_judged_and_its_results_are_rows(tmp_path: Path) -> None:
    body = rows("The bridge opened in 1935.", "The bridge opened in 1932.")
    async with open_service(tmp_path) as client:
        answer = await client.post("/v1/batches?aspect=consistency", content=body, headers=NDJSON)
        assert answer.status_code == 202
        batch = answer.json()
        assert answer.headers["location"] == f"/v1/batches/{batch['id']}"
        assert (batch["rows"], batch["total"], batch["done"]) == (2, 2, 0)
        last = await ended(client, batch["id"])
        assert (last["state"], last["done"], last["outcomes"]) == ("finished", 2, {"scored": 2})
        results = await client.get(f"/v1/batches/{batch['id']}/results")
        assert results.headers["spanjury-batch-state"] == "finished"
        first, second = map(json.loads, results.text.splitlines())
        assert [span["text"] for span in first["spans"]] == ["1935"]
        assert (second["id"], second["spans"]) == ("1", [])
        figures = (await client.get("/metrics")).text
        assert 'spanjury_assessments_total{outcome="scored",panel="default"} 2.0' in figures
        (listed,) = (await client.get("/v1/batches")).json()["batches"]
        assert listed["id"] == batch["id"]
        known = {"Last-Event-ID": "finished-2"}
        again = await client.get(f"/v1/batches/{batch['id']}/events", headers=known)
        assert again.text.startswith("id: finished-2\nevent: end\n")
        assert (await client.delete(f"/v1/batches/{batch['id']}")).status_code == 204
        gone = await client.get(f"/v1/batches/{batch['id']}/results")
        assert problem(gone) == "batch-not-found"
    assert not list((tmp_path / "state" / "batches").iterdir())


async def test_rows_that_cannot_be_read_are_named_by_line_or_skipped(tmp_path: Path) -> None:
    body = rows("It opened.") + b'{"id": "2"}\nnonsense\n' + b'{"id": "0", "output": "x"}\n'
    async with open_service(tmp_path) as client:
        answer = await client.post("/v1/batches", content=body, headers=NDJSON)
        assert problem(answer) == "rows-invalid"
        faults = answer.json()
        assert ([row["line"] for row in faults["rows"]], faults["rows_in_all"]) == ([2, 3, 4], 3)
        assert str(tmp_path) not in answer.text
        url = "/v1/batches?skip_bad_rows=true&aspect=fluency"
        batch = (await client.post(url, content=body, headers=NDJSON)).json()
        assert (batch["rows"], batch["skipped"]) == (1, 3)
        assert (await ended(client, batch["id"]))["state"] == "finished"
    assert not list((tmp_path / "state" / "incoming").iterdir())


UNNAMED = rows("a").replace(b'"task": "summarization", ', b"")
"""A row that names no task."""


@pytest.mark.parametrize(
    ("query", "body", "kind"),
    [
        ("", b"", "rows-invalid"),
        ("", b"\n\n", "rows-invalid"),
        ("?skip_bad_rows=true", b"x\n", "rows-invalid"),
        ("", b"\x1f\x8b\x08\x00", "media-type-not-supported"),
        ("", rows(*"abcd"), "too-many-rows"),
        ("", rows("x" * 3_000), "body-too-large"),
        ("", b"\n" * 20_000, "body-too-large"),
        ("?aspect=correctness", UNNAMED, "request-not-understood"),
        ("?task=nothing", rows("a"), "request-not-understood"),
        ("?aspect=/etc/passwd", rows("a"), "request-not-understood"),
        ("?panel=other", rows("a"), "panel-not-found"),
        ("?file=/etc/passwd", rows("a"), "body-invalid"),
    ],
)
async def test_a_batch_that_cannot_be_judged_is_refused_and_leaves_nothing(
    tmp_path: Path, query: str, body: bytes, kind: str
) -> None:
    limits = ServiceLimits(max_rows=3, max_body=2_000, max_batch_body=10_000)
    async with open_service(tmp_path, limits=limits) as client:
        answer = await client.post(f"/v1/batches{query}", content=body, headers=NDJSON)
        assert problem(answer) == kind
        assert str(tmp_path) not in answer.text
        assert (await client.get("/v1/batches")).json() == {"batches": []}
    for folder in ("incoming", "batches"):
        assert not list((tmp_path / "state" / folder).iterdir())


@pytest.mark.heavy
async def test_the_rows_of_a_body_are_counted_however_it_is_cut(tmp_path: Path) -> None:
    body = rows("a", "b", "c").rstrip(b"\n")

    async def pieces(size: int) -> AsyncIterator[bytes]:
        for begin in range(0, len(body), size):
            yield body[begin : begin + size]

    longest = max(map(len, body.splitlines()))
    for size in (1, 7, len(body)):
        for most, characters, accepted in (
            (3, longest, True),
            (2, longest, False),
            (3, longest - 1, False),
        ):
            limits = ServiceLimits(max_rows=most, max_body=characters)
            folder = tmp_path / f"{size}-{most}-{characters}"
            async with open_service(folder, limits=limits) as client:
                answer = await client.post("/v1/batches", content=pieces(size), headers=NDJSON)
                assert answer.is_success is accepted, (size, limits)


async def test_a_batch_of_another_tenant_is_as_one_that_is_not_there(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    file.write_text(f"# two tenants\nann:{TOKEN}-ann\n\nbob:{TOKEN}-bob\n")
    async with open_service(tmp_path, tokens=read_tokens(None, file)) as client:
        ann = {"Authorization": f"Bearer {TOKEN}-ann"}
        bob = {"Authorization": f"Bearer {TOKEN}-bob"}
        made = await client.post("/v1/batches", content=rows("a"), headers={**NDJSON, **ann})
        url = made.headers["location"]
        for method, path in (
            ("GET", url),
            ("GET", f"{url}/events"),
            ("GET", f"{url}/results"),
            ("POST", f"{url}/cancel"),
            ("DELETE", url),
        ):
            answer = await client.request(method, path, headers=bob)
            assert (problem(answer), answer.status_code) == ("batch-not-found", 404), path
        assert (await client.get("/v1/batches", headers=bob)).json() == {"batches": []}
        assert (await client.get(url, headers=ann)).is_success


@pytest.mark.heavy
async def test_the_description_is_valid_and_what_is_answered_is_as_it_says(tmp_path: Path) -> None:
    async with open_service(tmp_path) as client:
        page = (await client.get("/openapi.json")).json()
        validate(page)
        assert set(page["paths"]) == {
            "/v1/check",
            "/v1/check/stream",
            "/v1/batches",
            "/v1/batches/{batch_id}",
            "/v1/batches/{batch_id}/events",
            "/v1/batches/{batch_id}/results",
            "/v1/batches/{batch_id}/cancel",
            "/v1/judges",
            "/v1/aspects",
            "/healthz",
            "/readyz",
            "/metrics",
        }
        described = set(re.findall(r"`/problems/([a-z-]+)`", json.dumps(page["paths"])))
        assert described == set(KINDS) - {"client-closed", "method-not-allowed", "not-found"}
        made = await client.post("/v1/batches", content=rows("a"), headers=NDJSON)
        await ended(client, made.json()["id"])
        answers = {
            "CheckAnswer": await client.post("/v1/check", json=CHECK),
            "BatchAnswer": made,
            "BatchList": await client.get("/v1/batches"),
            "PanelList": await client.get("/v1/judges"),
            "TaskList": await client.get("/v1/aspects"),
            "Health": await client.get("/readyz"),
            "Problem": await client.post("/v1/check", json={}),
        }
    for name, answer in answers.items():
        schema = {"$ref": f"#/components/schemas/{name}", "components": page["components"]}
        validator = OAS31Validator(schema)
        validator.validate(answer.json())
        assert not validator.is_valid({}), name
    known = set(page["components"]["schemas"]["ResultRow"]["properties"])
    assert set(answers["CheckAnswer"].json()["results"][0]) == known


async def test_before_it_is_ready_and_while_it_drains_no_work_is_taken_on(tmp_path: Path) -> None:
    panels = {"default": RULES}
    settings = ServiceSettings(batches=BatchPlan(panels=panels), state=tmp_path / "state")
    service = Service(settings)
    transport = httpx.ASGITransport(create_app(service))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        for answer in (
            await client.get("/readyz"),
            await client.post("/v1/check", json=CHECK),
            await client.get("/v1/batches"),
        ):
            assert (problem(answer), answer.status_code) == ("service-starting", 503)
        assert (await client.get("/healthz")).is_success
        service.drain()
        for answer in (
            await client.get("/readyz"),
            await client.post("/v1/check", json=CHECK),
            await client.post("/v1/batches", content=rows("a"), headers=NDJSON),
        ):
            assert (problem(answer), answer.status_code) == ("service-closing", 503)
            assert answer.headers["connection"] == "close"
