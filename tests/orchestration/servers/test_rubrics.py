"""Rubrics over HTTP and MCP: as an object in a check, as JSON for a batch, as a tool's argument."""

import json
from pathlib import Path

import pytest
from fakes.http_app import NDJSON, ended, open_service, problem
from fakes.service import rows
from loopback.answers import chat
from loopback.worded import WordedServer
from mcp.client import Client

from spanjury import open_panel
from spanjury.orchestration.servers.mcp.server import panel_server
from spanjury.orchestration.wiring.config import ModelConfig, PanelConfig

pytestmark = pytest.mark.asyncio_only

RUBRIC = {
    "name": "shop",
    "criteria": [
        {"text": "Every price is in euros.", "must": True},
        {"text": "The product has a name.", "weight": 3},
    ],
}
OK = chat("No Error\n\nOverall score: Met\nExplanation of the score: Nothing.")
ANSWERS = {
    "in euros&30 dollars": chat(
        'Error 1:\nLocation: "30 dollars"\nExplanation: Not in euros.\nSeverity: 3\n\n'
        "Overall score: Not met\nExplanation of the score: One price."
    )
}
TEXT = "The lamp Solis costs 30 dollars."
ASPECTS = [
    "criterion: Every price is in euros",
    "criterion: The product has a name",
    "rubric: shop",
]


def panel_at(url: str) -> PanelConfig:
    return PanelConfig(models=(ModelConfig(name="openai-compatible/judge", base_url=url),))


async def test_a_check_with_a_rubric_ends_with_its_result(tmp_path: Path) -> None:
    with WordedServer(ANSWERS, otherwise=OK) as server:
        async with open_service(tmp_path, panel=panel_at(server.base_url)) as client:
            answer = await client.post("/v1/check", json={"output": TEXT, "rubric": RUBRIC})
            wrong = {"criteria": [{"text": "A.", "weight": 0}]}
            refused = await client.post("/v1/check", json={"output": TEXT, "rubric": wrong})
    report = answer.json()
    assert [result["aspect"] for result in report["results"]] == ASPECTS
    assert [result["score"] for result in report["results"]] == [1, 2, 4]
    assert report["decision"] == "faulty"
    assert problem(refused) == "request-not-understood"
    assert "the rubric: [criterion 1]: 'weight'" in refused.text


async def test_a_batch_takes_a_rubric_as_json(tmp_path: Path) -> None:
    with WordedServer(ANSWERS, otherwise=OK) as server:
        async with open_service(tmp_path, panel=panel_at(server.base_url)) as client:
            posted = await client.post(
                "/v1/batches",
                params={"rubric": json.dumps(RUBRIC)},
                content=rows(TEXT, "It costs 28 euros."),
                headers=NDJSON,
            )
            last = await ended(client, posted.json()["id"])
            results = await client.get(f"/v1/batches/{posted.json()['id']}/results")
            refused = await client.post(
                "/v1/batches", params={"rubric": "[]"}, content=rows(TEXT), headers=NDJSON
            )
    assert (last["state"], last["done"]) == ("finished", 6)
    judged = [json.loads(line) for line in results.text.splitlines()]
    assert [(row["aspect"], row["score"]) for row in judged if "rubric" in row["aspect"]] == [
        ("rubric: shop", 4),
        ("rubric: shop", 5),
    ]
    assert problem(refused) == "request-not-understood"
    assert "the rubric must hold a JSON object" in refused.text


async def test_a_tool_takes_a_rubric() -> None:
    with WordedServer(ANSWERS, otherwise=OK) as server:
        async with (
            open_panel(panel_at(server.base_url)) as panel,
            Client(panel_server(panel)) as client,
        ):
            result = await client.call_tool("check_text", {"output": TEXT, "rubric": RUBRIC})
    report = result.structured_content
    assert report is not None
    assert [aspect["aspect"] for aspect in report["aspects"]] == ASPECTS
    assert report["decision"] == "faulty"
    assert report["aspects"][-1]["reason"].startswith("75% of the weight is met")
