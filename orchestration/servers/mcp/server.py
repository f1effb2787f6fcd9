"""A server of the Model Context Protocol over an open panel, whatever carries its messages.

Its tools ask the panel. Its resources are the tasks, aspects, judges and metric cards.
"""

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TypeAlias, TypeVar

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError

from spanjury.judges.core import VERSION, ConfigError, ForthrightJudge
from spanjury.judges.tasks import Catalogue
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.engine.seats import Seat
from spanjury.orchestration.report.metric_card import card_page
from spanjury.orchestration.servers.mcp.tools import Toolbox, protocol_tools
from spanjury.orchestration.services.serving.agent_tools import list_aspects
from spanjury.orchestration.wiring.metrics import find_card, metric_cards

Server: TypeAlias = MCPServer
Rows = list[dict[str, object]]
T = TypeVar("T")

_JSON = "application/json"

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
    _add_resources(server, panel, aspects_files=aspects_files)
    return server


def _add_resources(server: MCPServer, panel: Panel, *, aspects_files: Iterable[Path]) -> None:
    """Add the resources; what names something unknown is answered with the choices."""
    files = tuple(aspects_files)
    catalogue = Catalogue.load(*files)

    @server.resource("spanjury://tasks", title="Tasks", mime_type=_JSON)
    def tasks() -> Rows:
        """List the tasks, what else they are called, and by which aspects they are judged."""
        return [
            {
                "task": task.name,
                "description": task.description,
                "aliases": task.aliases,
                "inputs": tuple(task.input_headers),
                "default_aspects": task.default_aspects,
            }
            for task in catalogue.tasks()
        ]

    @server.resource("spanjury://aspects/{task}", title="Aspects of a task", mime_type=_JSON)
    def aspects(task: str) -> Rows:
        """List the aspects of a task with their definitions."""
        return [
            asdict(card) for card in _or_not_found(lambda: list_aspects(task, aspects_files=files))
        ]

    @server.resource("spanjury://judges", title="Judges of the panel", mime_type=_JSON)
    def judges() -> Rows:
        """List the judges that check texts here, and what each cannot see."""
        return [_seat(seat) for seat in panel.seats]

    @server.resource("spanjury://metrics", title="Metrics", mime_type=_JSON)
    def metrics() -> Rows:
        """List the classic metrics, each with what it says."""
        return [{"metric": name, "says": card.summary} for name, card in metric_cards().items()]

    @server.resource(
        "spanjury://metrics/{name}", title="Card of a metric", mime_type="text/markdown"
    )
    def metric(name: str) -> str:
        """Show what a metric measures, its formula, its bounds and its limits."""
        return card_page(_or_not_found(lambda: find_card(name)))


def _seat(seat: Seat) -> dict[str, object]:
    judge = seat.judge
    return {
        "judge": seat.name,
        "about": (inspect.getdoc(judge) or "").partition("\n")[0],
        "cannot_see": judge.blind_spots if isinstance(judge, ForthrightJudge) else "",
        "signature": seat.signature,
    }


def _or_not_found(look_up: Callable[[], T]) -> T:
    try:
        return look_up()
    except ConfigError as error:
        raise ResourceNotFoundError(str(error)) from error
