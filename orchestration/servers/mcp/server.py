"""A server of the Model Context Protocol over an open panel, whatever carries its messages."""

from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

from mcp.server.mcpserver import MCPServer

from spanjury.judges.core import VERSION
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.servers.mcp.resources import add_resources
from spanjury.orchestration.servers.mcp.tools import Toolbox, protocol_tools

Server: TypeAlias = MCPServer

_INSTRUCTIONS = """\
A panel of judges marks the error spans of generated texts, says why, and scores them. Call \
check_text with a text and what it was made from before you hand the text on; correct what is \
marked, inside the marked spans only, and check again. compare_texts says which of two versions is \
better. An aspect without a score was not judged: never take that for a good score."""


def panel_server(panel: Panel, *, aspects_files: Sequence[Path] = ()) -> Server:
    """Return a server whose tools ask `panel`, which stays open as long as the server runs.

    `aspects_files` are TOML files that add tasks and aspects. The SDK sets up the root logger
    unless it has a handler.
    """
    server = Server(
        "spanjury",
        title="spanjury",
        instructions=_INSTRUCTIONS,
        version=VERSION,
        tools=protocol_tools(Toolbox(panel=panel, aspects_files=tuple(aspects_files))),
    )
    add_resources(server, panel, aspects_files=aspects_files)
    return server
