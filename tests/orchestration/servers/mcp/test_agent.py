"""The server as a toolset of a pydantic-ai agent, whose model is a script."""

import sys
from typing import Any

import pytest
from fakes.installed import is_absent

if is_absent("fastmcp"):
    pytest.skip("fastmcp comes with pydantic-ai-slim[mcp]", allow_module_level=True)

from fakes.mcp_process import arguments, environment
from fastmcp.client.transports import StdioTransport
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

pytestmark = pytest.mark.asyncio_only

SOURCE = "The bridge was built in 1932 by the Dorman Long company. It carries rail traffic."
WRONG = "The bridge was built in 1935 by Dorman Long."


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
    text = WRONG
    for error in sorted(report["errors"], key=lambda one: -one["start"]):
        (evidence,) = error["evidence"]
        assert "1932" in evidence["text"]
        text = f"{text[: error['start']]}1932{text[error['end'] :]}"
    return ModelResponse(parts=[TextPart(text)])


def checking(task: str) -> ModelResponse:
    given = {"output": WRONG, "source": SOURCE, "task": task}
    return ModelResponse(parts=[ToolCallPart("check_text", given)])


async def test_an_agent_corrects_a_text_by_the_report_of_the_server() -> None:
    server = StdioTransport(sys.executable, arguments(), env=environment(), keep_alive=False)
    agent = Agent(FunctionModel(script), toolsets=[MCPToolset(server)])
    result = await agent.run("Check the summary and correct it.")
    assert result.output == WRONG.replace("1935", "1932")
