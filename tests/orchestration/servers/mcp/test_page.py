"""The page on the protocol says what the server does; its blocks run as they stand."""

import json
import os
import re
import sys
from pathlib import Path

import anyio
import pytest
from fakes.mcp_process import environment, over_http
from fakes.pages import blocks, read_page
from fakes.processes import completed
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from spanjury.orchestration.servers.mcp.server import MOST_CHARACTERS

PAGE = read_page("mcp")
ROWS = re.compile(r"^\| `(?P<name>[^`]+)` \| (?P<rest>.*) \|$", re.MULTILINE)


def block(language: str) -> str:
    (text,) = blocks(PAGE, language)
    return text


@pytest.fixture
def path_with_the_command(tmp_path: Path) -> str:
    """Return a search path on which `spanjury` is this checkout's."""
    script = tmp_path / "spanjury"
    script.write_text(f'#!/bin/sh\nexec {sys.executable} -m spanjury "$@"\n')
    script.chmod(0o755)
    return f"{tmp_path}{os.pathsep}{os.environ['PATH']}"


def test_the_example_prints_the_report_that_stands_above_it(path_with_the_command: str) -> None:
    done = completed(
        [sys.executable, "-c", block("python")],
        env=environment(PATH=path_with_the_command),
        timeout=60,
    )
    assert done.stdout == block("text")


def test_a_host_is_given_a_server_with_the_tools_and_resources_of_the_page() -> None:
    (host,) = json.loads(block("json"))["mcpServers"].values()
    assert host["command"] == "uvx"
    origin, package, program, *flags = host["args"]
    assert (origin, package, program) == ("--from", "spanjury[mcp]", "spanjury")
    started = StdioServerParameters(
        command=sys.executable, args=["-m", program, *flags], env=environment()
    )
    takes: dict[str, set[str]] = {}
    resources: set[str] = set()

    async def look() -> None:
        async with Client(stdio_client(started)) as client:
            for tool in (await client.list_tools()).tools:
                takes[tool.name] = set(tool.input_schema["properties"])
            resources.update(one.uri for one in (await client.list_resources()).resources)
            templates = (await client.list_resource_templates()).resource_templates
            resources.update(one.uri_template for one in templates)

    anyio.run(look)
    rows = {row["name"]: row["rest"] for row in ROWS.finditer(PAGE)}
    named = {
        name: set(re.findall(r"`(\w+)`", rest.partition("|")[0]))
        for name, rest in rows.items()
        if "://" not in name
    }
    assert (named, {name for name in rows if "://" in name}) == (takes, resources)


def test_the_command_for_http_serves_where_the_page_says() -> None:
    program, *flags = block("sh").split()
    assert (program, flags) == ("spanjury", ["mcp", "--http"])
    with over_http("--http") as (url, _):
        assert url.startswith("http://127.0.0.1:")
        assert url.endswith("/mcp")
    assert "http://127.0.0.1:8766/mcp" in PAGE


def test_the_limit_on_texts_is_the_one_of_the_page() -> None:
    assert f"{MOST_CHARACTERS:,} characters" in PAGE
