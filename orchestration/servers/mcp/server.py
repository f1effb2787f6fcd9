"""An MCP server for an open panel, independent of the transport.

Its tools use the panel: a client names texts, a task and aspects, but never a judge, a model, a
file or an address. Its resources are the tasks, aspects, judges and metric cards.
"""

import inspect
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, TypeAlias, TypeVar

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError, ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase, FuncMetadata
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError

from spanjury.judges.core import VERSION, ConfigError, EvaluationError, ForthrightJudge, hide
from spanjury.judges.tasks import Catalogue
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.engine.seats import Seat
from spanjury.orchestration.report.metric_card import card_page
from spanjury.orchestration.servers.invalid_fields import invalid_fields
from spanjury.orchestration.services.judging import agent_reports, check
from spanjury.orchestration.services.serving import agent_tools
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


MOST_CHARACTERS = 200_000
"""Most characters of the texts of one call: rules need a second for them, an encoder minutes."""


Source = Annotated[
    str | list[str | dict[str, str]],
    Field(
        description="What it was made from, such as the article of a summary: a text; passages; or"
        ' documents, by whose ids evidence is named: [{"id": "a.txt", "text": "…"}].'
    ),
]
Inputs = Annotated[
    dict[str, str | list[str]],
    Field(
        description='Instead of a source, several by name; passages as a list: {"Question": "…", '
        '"Context": ["passage 1", "passage 2"]}.'
    ),
]
Question = Annotated[
    str,
    Field(
        description="The question that the text answers; the task is then question-answering,"
        " unless task or aspects name another."
    ),
]
Task = Annotated[
    str,
    Field(description="The task it was written for, such as summarization; guessed if empty."),
]
ListedTask = Annotated[
    str, Field(description="The task whose aspects are listed; all tasks if empty.")
]


def _listed(names: object) -> object:
    return list(filter(None, [names])) if isinstance(names, str) else names


Aspects = Annotated[
    list[str],
    BeforeValidator(_listed),
    Field(
        description="Names from list_aspects, or requirements of your own: 'criterion: Every price"
        " is in euros'. The usual aspects of the task if empty."
    ),
]
Rubric = Annotated[
    dict[str, object],
    Field(
        description='Weighted criteria to judge by, with one result: {"criteria": [{"text": "Every'
        ' price is in euros.", "weight": 2, "must": true}, {"text": "The tone is friendly.",'
        ' "kind": "graded"}]}.'
    ),
]


Messages = Annotated[
    list[dict[str, object]],
    Field(
        description="Instead of output: the messages of a user, an agent and its tools, with the"
        " calls and their results."
    ),
]
Tools = Annotated[
    list[dict[str, object]],
    Field(description="Beside messages: the tools that the agent could call, with their schemas."),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class AspectList:
    """The aspects that can be asked for."""

    aspects: tuple[agent_reports.AspectCard, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolbox:
    """The functions behind the tools, for one open panel."""

    panel: Panel
    aspects_files: tuple[Path, ...] = ()

    async def check_text(  # noqa: PLR0913  all but the text have defaults
        self,
        *,
        context: Context,
        output: Annotated[str | None, Field(description="The text to check.")] = None,
        messages: Messages = [],  # noqa: B006  the SDK copies it, and nothing here changes it
        tools: Tools = [],  # noqa: B006  as above
        source: Source = "",
        inputs: Inputs = {},  # noqa: B006  as above
        question: Question = "",
        task: Task = "",
        aspects: Aspects = [],  # noqa: B006  as above
        rubric: Rubric = {},  # noqa: B006  as above
    ) -> CallToolResult:
        """Check a text for errors: a decision, a score on each aspect, and numbered error spans.

        Each error has its place in the text, a severity, an explanation and, where the source says
        otherwise, the passage that does. Correct the errors one by one and check again; change
        nothing else. A text without a score was not judged, so it may have errors.
        """
        with _readable_errors():
            if (output is None) != bool(messages):
                raise ToolError("give either output or messages")
            text = output if output is not None else json.dumps([messages, tools])
            _check_lengths(question + text, source, inputs)
            checked = await agent_tools.check_text(
                self.panel,
                messages if output is None else output,
                source=_source(source, inputs),
                question=question or None,
                tools=tools,
                task=task or None,
                aspects=aspects,
                rubric=rubric or None,
                aspects_files=self.aspects_files,
                progress=_reporting(context),
            )
        return _result(agent_reports.TextCheck, checked, text=agent_reports.check_lines(checked))

    async def compare_texts(
        self,
        *,
        a: Annotated[str, Field(description="One text.")],
        b: Annotated[str, Field(description="The other text, made from the same source.")],
        context: Context,
        source: Source = "",
        inputs: Inputs = {},  # noqa: B006  as above
        question: Question = "",
        task: Task = "",
        aspects: Aspects = [],  # noqa: B006  as above
    ) -> CallToolResult:
        """Compare two texts: which is better on each aspect, or no difference, or unscored.

        Each text is judged separately, so their order does not matter; both reports are returned.
        """
        with _readable_errors():
            _check_lengths(question + a + b, source, inputs)
            comparison = await agent_tools.compare_texts(
                self.panel,
                a,
                b,
                source=_source(source, inputs),
                question=question or None,
                task=task or None,
                aspects=aspects,
                aspects_files=self.aspects_files,
                progress=_reporting(context),
            )
        return _result(
            agent_reports.TextComparison,
            comparison,
            text=agent_reports.comparison_lines(comparison),
        )

    async def list_aspects(self, *, task: ListedTask = "") -> CallToolResult:
        """List the aspects that a text can be judged on, with their definitions."""
        with _readable_errors():
            cards = agent_tools.list_aspects(task or None, aspects_files=self.aspects_files)
        return _result(AspectList, AspectList(aspects=cards), text=agent_reports.card_lines(cards))


def protocol_tools(toolbox: Toolbox) -> list[Tool]:
    """Return the tools; each rejects unknown arguments."""
    return [
        _tool(toolbox.check_text, agent_reports.TextCheck, title="Check a text"),
        _tool(toolbox.compare_texts, agent_reports.TextComparison, title="Compare two texts"),
        _tool(toolbox.list_aspects, AspectList, title="List aspects"),
    ]


class _Tool(Tool):
    """A tool that says in one line which of its arguments are wrong."""

    async def run(
        self,
        arguments: dict[str, Any],
        context: Context[Any, Any],
        convert_result: bool = False,  # noqa: FBT001, FBT002  the SDK's
    ) -> Any:  # noqa: ANN401  as above
        try:
            return await super().run(arguments, context, convert_result)
        except ToolError as error:
            if not isinstance(error.__cause__, ValidationError):
                raise
            fields = invalid_fields(error.__cause__.errors(), unknown="there is no such argument")
            problems = "; ".join(f"{field}: {detail}" for field, detail in fields)
            raise ToolError(f"Error executing tool {self.name}: {problems}") from error


def _tool(function: Callable[..., object], output: type, *, title: str) -> Tool:
    tool = _Tool.from_function(
        function,
        title=title,
        description=(function.__doc__ or "").replace("\n        ", "\n").strip(),
        annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False),
        structured_output=False,
    )

    # Otherwise a mistyped name would be dropped, and the text judged without that argument.
    class Arguments(tool.fn_metadata.arg_model):  # type: ignore[name-defined, misc]  # made above
        model_config = ConfigDict(extra="forbid")

    assert issubclass(Arguments, ArgModelBase)
    return tool.model_copy(
        update={
            "fn_metadata": _TextsAsGiven(arg_model=Arguments, output_model=output),
            "parameters": Arguments.model_json_schema(by_alias=True),
        }
    )


def _result(kind: type[T], value: T, *, text: str) -> CallToolResult:
    return CallToolResult(
        content=[TextContent(text=text)],
        structured_content=TypeAdapter(kind).dump_python(value, mode="json"),
    )


class _TextsAsGiven(FuncMetadata):
    """The arguments of a tool; an output or a source that looks like JSON stays a text."""

    def pre_parse_json(self, data: dict[str, Any]) -> dict[str, Any]:
        """Parse lists and objects that a client sent as text, except an output or a source."""
        given = {name: data[name] for name in data.keys() & {"output", "source"}}
        return {**super().pre_parse_json(data), **given}


def _source(
    source: str | list[str | dict[str, str]], inputs: dict[str, str | list[str]]
) -> check.Source | None:
    if source and inputs:
        raise ToolError("give a source or inputs, not both")
    return inputs or source or None


def _check_lengths(
    text: str, source: str | list[str | dict[str, str]], inputs: dict[str, str | list[str]]
) -> None:
    characters = len(text)
    for passage in [source] if isinstance(source, str) else source:
        parts = [passage] if isinstance(passage, str) else passage.values()
        characters += sum(map(len, parts))
    characters += sum(len(each_text) for several in inputs.values() for each_text in several)
    if characters > MOST_CHARACTERS:
        raise ToolError(
            f"the texts have {characters} characters in total; at most {MOST_CHARACTERS} are "
            "allowed: check one part at a time"
        )


def _reporting(context: Context) -> check.Progress:
    async def report(done: int, total: int, aspect: str) -> None:
        await context.report_progress(done, total, f"{aspect} is judged")

    return report


@contextmanager
def _readable_errors() -> Iterator[None]:
    """Pass the text of our errors to the client, which gets no details of any other exception."""
    try:
        yield
    except EvaluationError as error:
        raise ToolError(hide(str(error))) from error


def panel_server(panel: Panel, *, aspects_files: Sequence[Path] = ()) -> Server:
    """Return a server whose tools use `panel`, which must stay open while the server runs.

    `aspects_files` are TOML files that add tasks and aspects. The SDK configures the root logger
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
    """Add the resources; an unknown name is answered with the choices."""
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
            asdict(card)
            for card in _or_not_found(lambda: agent_tools.list_aspects(task, aspects_files=files))
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
