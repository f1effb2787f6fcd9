"""The tools and resources, by the official client over streams in this process."""

import json
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]  # it comes without types
import pytest
from fakes.installed import is_absent
from fakes.judges import FixedJudge
from fakes.mcp_process import arguments, environment
from fastmcp.client.transports import StdioTransport
from mcp.client import Client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, TextContent, TextResourceContents
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from spanjury.judges.core import Judge, JudgeError
from spanjury.orchestration.servers.mcp.server import panel_server
from spanjury.orchestration.services.judging.panels import open_panel

pytestmark = pytest.mark.asyncio_only

SOURCE = "The bridge was built in 1932 by the Dorman Long company. It carries rail traffic."
WRONG = "The bridge was built in 1935 by Dorman Long. it it carries rail traffic."
RIGHT = "The bridge was built in 1932 by Dorman Long. It carries rail traffic."
WRONG_YEAR = "The bridge was built in 1935 by Dorman Long."


@asynccontextmanager
async def connected(
    *judges: str | Judge, aspects_files: tuple[Path, ...] = ()
) -> AsyncIterator[Client]:
    async with (
        open_panel(judges=judges or ["grounding", "form"]) as panel,
        Client(panel_server(panel, aspects_files=aspects_files)) as client,
    ):
        yield client


async def called(client: Client, tool: str, **arguments: object) -> CallToolResult:
    result = await client.call_tool(tool, arguments)
    assert isinstance(result, CallToolResult)
    return result


def text_of(result: CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


async def read(client: Client, uri: str) -> str:
    (content,) = (await client.read_resource(uri)).contents
    assert isinstance(content, TextResourceContents)
    return content.text


async def refusal(client: Client, **arguments: object) -> str:
    result = await called(client, "check_text", **arguments)
    assert result.is_error
    assert result.structured_content is None
    return text_of(result)


async def test_a_single_aspect_may_be_a_text() -> None:
    async with connected() as client:
        result = await called(
            client, "check_text", output=WRONG, source=SOURCE, aspects="consistency"
        )
    assert result.structured_content is not None
    assert [each["aspect"] for each in result.structured_content["aspects"]] == ["consistency"]


async def test_every_tool_is_described_and_says_that_it_changes_nothing() -> None:
    async with connected() as client:
        tools = (await client.list_tools()).tools
    assert [tool.name for tool in tools] == ["check_text", "compare_texts", "list_aspects"]
    for tool in tools:
        assert tool.description
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint
        assert tool.output_schema is not None
        assert tool.output_schema["type"] == "object"
        for argument in tool.input_schema["properties"].values():
            assert argument["description"]


async def test_no_tool_takes_a_judge_a_model_a_file_or_an_address() -> None:
    async with connected() as client:
        tools = (await client.list_tools()).tools
    texts = {"source", "inputs", "question", "task", "aspects"}
    assert {tool.name: set(tool.input_schema["properties"]) for tool in tools} == {
        "check_text": {"output", "messages", "tools", "rubric"} | texts,
        "compare_texts": {"a", "b"} | texts,
        "list_aspects": {"task"},
    }


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("check_text", {"output": WRONG, "source": SOURCE}),
        ("check_text", {"output": RIGHT, "task": "summarization", "aspects": ["coherence"]}),
        ("compare_texts", {"a": WRONG, "b": RIGHT, "source": SOURCE}),
        ("list_aspects", {"task": "summarization"}),
        ("list_aspects", {}),
    ],
)
async def test_structured_answers_fit_the_schema(tool: str, arguments: Mapping[str, Any]) -> None:
    async with connected() as client:
        schemas = {one.name: one.output_schema for one in (await client.list_tools()).tools}
        result = await called(client, tool, **arguments)
    assert not result.is_error, text_of(result)
    jsonschema.validate(result.structured_content, schemas[tool])


async def test_an_error_comes_with_its_place_and_evidence_and_in_words() -> None:
    async with connected() as client:
        result = await called(
            client, "check_text", output=WRONG, source=SOURCE, task="summarization"
        )
    check = result.structured_content
    assert check is not None
    assert check["decision"] == "faulty"
    first, second = check["errors"]
    assert (first["number"], first["text"], first["severity"]) == (1, "1935", 4)
    assert WRONG[first["start"] : first["end"]] == "1935"
    assert "1932" in first["evidence"][0]["text"]
    assert (second["text"], second["aspect"]) == ("it it", "fluency")
    assert '1. "1935" at 24-28' in text_of(result)


async def test_a_comparison_names_the_better_text_and_holds_both_reports() -> None:
    async with connected() as client:
        result = await called(
            client,
            "compare_texts",
            a=WRONG,
            b=RIGHT,
            source=SOURCE,
            task="summarization",
            aspects=["consistency", "coherence"],
        )
    comparison = result.structured_content
    assert comparison is not None
    better = {one["aspect"]: one["better"] for one in comparison["aspects"]}
    assert better == {"consistency": "b", "coherence": "unscored"}
    assert comparison["a"]["errors"]
    assert not comparison["b"]["errors"]


async def test_progress_is_reported_as_aspects_are_done() -> None:
    seen: list[tuple[float, float | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        assert message is not None
        seen.append((progress, total))

    async with connected() as client:
        await client.call_tool(
            "check_text",
            {"output": RIGHT, "source": SOURCE, "task": "summarization"},
            progress_callback=note,
        )
    assert seen == [(1, 2), (2, 2)]


async def test_passages_stay_apart_and_evidence_says_which() -> None:
    inputs = {"Question": "When was it built?", "Context": ["It is of steel.", SOURCE]}
    async with connected("grounding") as client:
        result = await called(
            client,
            "check_text",
            output="It was built in 1935 by the Dorman Long company.",
            inputs=inputs,
            task="question-answering",
            aspects=["faithfulness"],
        )
    assert result.structured_content is not None
    (error,) = result.structured_content["errors"]
    assert {one["input"] for one in error["evidence"]} == {"Context [2]"}


async def test_documents_of_a_source_give_evidence_their_ids() -> None:
    source = [{"id": "steel.txt", "text": "It is of steel."}, {"id": "years.txt", "text": SOURCE}]
    async with connected("grounding") as client:
        result = await called(
            client, "check_text", output=WRONG, source=source, aspects=["consistency"]
        )
        assert "has the key 'text'" in await refusal(client, output=WRONG, source=[{"id": "a"}])
        long = await refusal(client, output=WRONG, source=["word " * 40_001])
    assert result.structured_content is not None
    (error,) = result.structured_content["errors"]
    assert {one["input"] for one in error["evidence"]} == {"years.txt"}
    assert "at most 200000 are allowed" in long


@pytest.mark.parametrize("output", ["Zizzi has 4 stars.", '{"stars": 4}', "[4]", "null"])
async def test_a_text_that_looks_like_json_stays_a_text(output: str) -> None:
    record = '{"name": "Zizzi", "stars": 4}'
    async with connected("grounding") as client:
        result = await called(
            client, "check_text", output=output, source=record, task="data-to-text"
        )
    assert not result.is_error, text_of(result)


async def test_a_question_makes_a_text_an_answer() -> None:
    asked = {"source": SOURCE, "question": "When was the bridge built?"}
    async with connected("grounding") as client:
        checked = await called(client, "check_text", output=WRONG_YEAR, **asked)
        compared = await called(client, "compare_texts", a=WRONG_YEAR, b=RIGHT, **asked)
        twice = await refusal(
            client, output=WRONG_YEAR, inputs={"Question": "When?"}, question="When?"
        )
        beside = await refusal(
            client, messages=[{"role": "assistant", "content": "Hello."}], question="When?"
        )
        long = await refusal(client, output=WRONG_YEAR, question="word " * 40_001)
    assert checked.structured_content is not None
    assert compared.structured_content is not None
    for check in (checked.structured_content, compared.structured_content["a"]):
        assert [each["aspect"] for each in check["aspects"]] == ["faithfulness", "fluency"]
        assert check["decision"] == "faulty"
    assert "the source has a Question: give no question beside it" in twice
    assert "give no source or question beside them" in beside
    assert "at most 200000 are allowed" in long


async def test_an_empty_text_is_judged_as_everywhere_else() -> None:
    async with connected("grounding") as client:
        result = await called(client, "check_text", output="", source=SOURCE, task="summarization")
    assert not result.is_error, text_of(result)
    assert result.structured_content is not None
    assert result.structured_content["decision"] == "faulty"


async def test_a_judge_that_fails_is_an_outcome_and_no_error() -> None:
    async with connected(FixedJudge(says=JudgeError("the reply broke off"))) as client:
        result = await called(
            client, "check_text", output=RIGHT, task="summarization", aspects=["fluency"]
        )
    assert not result.is_error
    assert result.structured_content is not None
    assert result.structured_content["decision"] == "undecided"
    (aspect,) = result.structured_content["aspects"]
    assert aspect["score"] is None
    assert "the reply broke off" in aspect["reason"]


async def test_wrong_arguments_are_refused_in_words() -> None:
    async with connected() as client:
        wrong = await refusal(client, output=5, source=SOURCE, aspects={"a": 1})
        assert wrong == (
            "Error executing tool check_text: output: Input should be a valid string; aspects:"
            " Input should be a valid list"
        )
        assert "model: there is no such argument" in await refusal(
            client, output=RIGHT, model="openai/gpt"
        )
        assert "tool check_text: source: Input should be a valid string; source.0: I" in (
            await refusal(client, output=RIGHT, source=[5])
        )
        assert "output" in await refusal(client, source=SOURCE)
        assert "valid string" in await refusal(client, output=3)
        assert "unknown task 'nope'; choose from" in await refusal(
            client, output=RIGHT, task="nope"
        )
        assert "did you mean 'fluency'? Choose from accuracy, coherence" in await refusal(
            client, output=RIGHT, task="summarization", aspects=["fluence"]
        )
        assert "not both" in await refusal(
            client, output=RIGHT, source=SOURCE, inputs={"Article": SOURCE}
        )
        assert "at most 200000 are allowed" in await refusal(client, output="word " * 40_001)
        # It serves on.
        assert not (await called(client, "list_aspects")).is_error


async def test_resources_are_listed_and_read() -> None:
    async with connected() as client:
        fixed = {one.uri for one in (await client.list_resources()).resources}
        templates = (await client.list_resource_templates()).resource_templates
        tasks = json.loads(await read(client, "spanjury://tasks"))
        aspects = json.loads(await read(client, "spanjury://aspects/qa"))
        judges = json.loads(await read(client, "spanjury://judges"))
        metrics = json.loads(await read(client, "spanjury://metrics"))
        card = await read(client, "spanjury://metrics/bleu")
    assert fixed == {"spanjury://tasks", "spanjury://judges", "spanjury://metrics"}
    assert {one.uri_template for one in templates} == {
        "spanjury://aspects/{task}",
        "spanjury://metrics/{name}",
    }
    assert {"task": "summarization", "default_aspects": ["consistency", "fluency"]}.items() <= (
        next(task for task in tasks if task["task"] == "summarization").items()
    )
    assert {one["task"] for one in aspects} == {"question-answering"}
    assert [one["judge"] for one in judges] == ["grounding", "form"]
    assert all(one["about"] and one["cannot_see"] for one in judges)
    assert "bleu" in {one["metric"] for one in metrics}
    assert card.startswith("# BLEU\n")


@pytest.mark.parametrize(
    ("uri", "choice"),
    [("spanjury://metrics/bluu", "bleu"), ("spanjury://aspects/summing-up", "summarization")],
)
async def test_an_unknown_resource_is_refused_with_the_choices(uri: str, choice: str) -> None:
    async with connected() as client:
        with pytest.raises(MCPError, match=choice):
            await client.read_resource(uri)


async def test_aspects_of_ones_own_are_the_operators_to_add(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(
        '[tasks.summarization.aspects.wit]\ndefinition = "How witty it is."\nkind = "form"\n'
    )
    async with connected("form", aspects_files=(own,)) as client:
        listed = await read(client, "spanjury://aspects/summarization")
        result = await called(
            client, "check_text", output=RIGHT, task="summarization", aspects=["wit"]
        )
    assert "How witty it is." in listed
    assert not result.is_error


if is_absent("fastmcp"):
    pytest.skip("fastmcp comes with pydantic-ai-slim[mcp]", allow_module_level=True)


def script(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Check the text under a wrong task, then rightly, then repair what is marked."""
    assert {"check_text", "compare_texts", "list_aspects"} <= {
        tool.name for tool in info.function_tools
    }
    (*_, last) = messages[-1].parts
    if not isinstance(last, ToolReturnPart):
        return checking("summing up")
    report: Any = last.content
    if isinstance(report, str):  # a refusal, in words
        assert "unknown task 'summing up'; choose from" in report
        return checking("summarization")
    text = WRONG_YEAR
    for error in sorted(report["errors"], key=lambda one: -one["start"]):
        (evidence,) = error["evidence"]
        assert "1932" in evidence["text"]
        text = f"{text[: error['start']]}1932{text[error['end'] :]}"
    return ModelResponse(parts=[TextPart(text)])


def checking(task: str) -> ModelResponse:
    given = {"output": WRONG_YEAR, "source": SOURCE, "task": task}
    return ModelResponse(parts=[ToolCallPart("check_text", given)])


async def test_an_agent_corrects_a_text_by_the_report_of_the_server() -> None:
    server = StdioTransport(sys.executable, arguments(), env=environment(), keep_alive=False)
    agent = Agent(FunctionModel(script), toolsets=[MCPToolset(server, init_timeout=60)])
    result = await agent.run("Check the summary and correct it.")
    assert result.output == WRONG_YEAR.replace("1935", "1932")
