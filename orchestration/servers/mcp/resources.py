"""The resources of the protocol: tasks, aspects, the judges of the panel, and metric cards."""

import inspect
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TypeVar

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError

from spanjury.judges.core import ConfigError, ForthrightJudge
from spanjury.judges.tasks import Catalogue
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.engine.seats import Seat
from spanjury.orchestration.report.metric_card import card_page
from spanjury.orchestration.services.serving.agent_tools import list_aspects
from spanjury.orchestration.wiring.metrics import find_card, metric_cards

T = TypeVar("T")
Rows = list[dict[str, object]]

_JSON = "application/json"


def add_resources(server: MCPServer, panel: Panel, *, aspects_files: Iterable[Path]) -> None:
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
