"""The composition root: names become judges, models, panels. Nothing else joins them."""

from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from spanjury.adapters.files.results import ResultWriter, result_row
from spanjury.adapters.models.gateway import Gateway
from spanjury.adapters.runs.run_folder import RunFolder
from spanjury.adapters.runs.sqlite_memory import SqliteMemory
from spanjury.judges.core import (
    Aggregation,
    ChatModel,
    ConfigError,
    Consolidator,
    DataError,
    Judge,
    Memory,
    ModelOpener,
    Outcome,
    PluginError,
    Segment,
    Source,
)
from spanjury.judges.core.registry import Registry
from spanjury.orchestration.building import built, parameters
from spanjury.orchestration.config import EMBEDDED, ModelConfig, PanelConfig, SeatConfig
from spanjury.orchestration.memory import UNANSWERED, RememberedJudge, RememberedModel
from spanjury.orchestration.panel import Panel, Seat

__all__ = [
    "AGGREGATIONS",
    "CONSOLIDATORS",
    "GROUPS",
    "JUDGES",
    "MODELS",
    "SOURCES",
    "RunFolder",
    "open_configured_panel",
    "open_memory",
    "open_model",
    "open_results",
    "open_source",
    "result_row",
]

JUDGES: Registry[Callable[..., object]] = Registry("spanjury.judges")
MODELS: Registry[ModelOpener] = Registry("spanjury.models")
AGGREGATIONS: Registry[Aggregation] = Registry("spanjury.aggregations")
CONSOLIDATORS: Registry[Callable[..., object]] = Registry("spanjury.consolidators")
SOURCES: Registry[Source] = Registry("spanjury.sources")
GROUPS = (JUDGES, MODELS, AGGREGATIONS, CONSOLIDATORS, SOURCES)

_ANY_MODEL = "litellm"
"""The opener of every model whose name does not begin with another opener's."""


@asynccontextmanager
async def open_configured_panel(
    config: PanelConfig,
    *,
    memory: Memory | None = None,
    again: frozenset[Outcome] = UNANSWERED,
) -> AsyncIterator[Panel]:
    """Build the panel that `config` describes and close its models at the end.

    Parameters
    ----------
    config
        Who sits on it.
    memory
        Keeps what judges and models say, so that nobody is asked twice.
    again
        Outcomes for which a judge is asked again although they are remembered.

    Raises
    ------
    ConfigError
        If a name is unknown, an option does not fit, or a judge lacks its model.
    """
    async with AsyncExitStack() as stack:
        models = _Models(stack, memory)
        seats = [seat for told in config.heard for seat in await _seats(told, config, models)]
        yield Panel(
            seats=_remembered(_distinct(seats), memory, again=again),
            aggregation=AGGREGATIONS.get(config.aggregate),
            aggregation_name=config.aggregate,
            consolidator=await _consolidator(config, models),
        )


def open_source(path: Path) -> Iterator[Segment | DataError]:
    """Read `path` with the source that is named after its ending.

    Raises
    ------
    DataError
        If the file cannot be read, or no source reads files with such an ending.
    """
    endings = [suffix.lstrip(".").lower() for suffix in path.suffixes if suffix != ".gz"]
    ending = endings[-1] if endings else ""
    if ending not in SOURCES.names():
        choices = ", ".join(f".{name}" for name in SOURCES.names())
        raise DataError(f"{path}: no source reads files that end in {ending!r}; known: {choices}")
    return SOURCES.get(ending)(path)


def open_results(path: Path) -> ResultWriter:
    """Open a file for result rows, for ``with``; see `ResultWriter`."""
    return ResultWriter(path)


def open_memory(path: Path) -> SqliteMemory:
    """Open a memory in a file, for ``with``; see `SqliteMemory`."""
    return SqliteMemory(path)


@asynccontextmanager
async def open_model(model: ModelConfig) -> AsyncIterator[ChatModel]:
    """Open a model behind the gateway, which bounds, times and retries its calls.

    Raises
    ------
    ConfigError
        If nothing can open a model of that name.
    """
    prefix, _, _ = model.name.partition("/")
    opener = MODELS.get(prefix if prefix in MODELS.names() else _ANY_MODEL)
    options = model.options
    async with AsyncExitStack() as stack:
        first, *replicas = [
            await stack.enter_async_context(
                opener(model.name, options=replace(options, base_url=base_url))
            )
            for base_url in model.base_urls
        ]
        yield Gateway(first, options=options, replicas=tuple(replicas))


@dataclass(slots=True)
class _Models:
    """The models that are open, each once however many seats ask it."""

    stack: AsyncExitStack
    memory: Memory | None
    open: dict[ModelConfig, ChatModel] = field(default_factory=dict)

    async def get(self, model: ModelConfig) -> ChatModel:
        if model not in self.open:
            opened = await self.stack.enter_async_context(open_model(model))
            self.open[model] = RememberedModel(opened, self.memory) if self.memory else opened
        return self.open[model]


async def _seats(told: SeatConfig, config: PanelConfig, models: _Models) -> list[Seat]:
    """Build one seat, or one for each model of the panel if the judge asks one."""
    if not isinstance(told.judge, str):
        return [Seat(name=told.name or type(told.judge).__name__, judge=told.judge)]
    factory = JUDGES.get(told.judge)
    options = _with_seed(factory, told.options, config.seed)
    if "model" not in parameters(factory):
        if told.model is not None:
            raise ConfigError(f"judge {told.judge!r} asks no model, but is given {told.model!r}")
        judge = built(factory, told.judge, options)
        return [Seat(name=told.name or told.judge, judge=_as_judge(judge, told.judge))]
    asked = (told.model,) if told.model is not None else config.models
    if not asked:
        raise ConfigError(f"judge {told.judge!r} asks a model: name one with --model")
    seats = []
    for model in map(_model_config, asked):
        fitted = {**_fitted_to(model, factory), **options, "model": await models.get(model)}
        judge = _as_judge(built(factory, told.judge, fitted), told.judge)
        seats.append(Seat(name=told.name or f"{told.judge}:{model.name}", judge=judge))
    return seats


async def _consolidator(config: PanelConfig, models: _Models) -> Consolidator:
    name = config.consolidate
    factory = CONSOLIDATORS.get(name)
    options: dict[str, object] = {}
    if "model" in parameters(factory):
        model = config.consolidate_model or next(iter(config.models), None)
        if model is None:
            raise ConfigError(f"consolidator {name!r} asks a model: name one with --model")
        options["model"] = await models.get(_model_config(model))
    consolidator = built(factory, name, options)
    if not isinstance(consolidator, Consolidator):
        raise PluginError(f"consolidator {name!r} lacks signature or consolidate: {consolidator!r}")
    return consolidator


def _fitted_to(model: ModelConfig, factory: Callable[..., object]) -> dict[str, object]:
    """Hold the embedded model to a grammar: unaided, 135M parameters write no report."""
    takes_one = model.name == EMBEDDED and "grammar" in parameters(factory)
    return {"grammar": True} if takes_one else {}


def _with_seed(
    factory: Callable[..., object], options: Mapping[str, object], seed: int | None
) -> dict[str, object]:
    if seed is not None and "seed" in parameters(factory):
        return {"seed": seed, **options}
    return dict(options)


def _as_judge(made: object, name: str) -> Judge:
    if not isinstance(made, Judge):
        raise PluginError(f"judge {name!r} lacks signature or assess: {made!r}")
    return made


def _model_config(model: ModelConfig | str) -> ModelConfig:
    return ModelConfig(name=model) if isinstance(model, str) else model


def _remembered(
    seats: tuple[Seat, ...], memory: Memory | None, *, again: frozenset[Outcome]
) -> tuple[Seat, ...]:
    """Put the memory before every judge; judges of one signature are told apart by number."""
    if memory is None:
        return seats
    taken: Counter[str] = Counter()
    remembered = []
    for seat in seats:
        place = str(taken[seat.signature] or "")
        taken[seat.signature] += 1
        judge = RememberedJudge(seat.judge, memory, place=place, again=again)
        remembered.append(Seat(name=seat.name, judge=judge))
    return tuple(remembered)


def _distinct(seats: list[Seat]) -> tuple[Seat, ...]:
    """Tell seats apart whose names coincide by a number behind the name."""
    taken: dict[str, int] = {}
    distinct = []
    for seat in seats:
        taken[seat.name] = count = taken.get(seat.name, 0) + 1
        name = seat.name if count == 1 else f"{seat.name}#{count}"
        distinct.append(Seat(name=name, judge=seat.judge))
    return tuple(distinct)
