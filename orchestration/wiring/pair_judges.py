"""Pair judges by name, with the model that they use or the panel whose scores they compare."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from spanjury.judges.core import ConfigError, Memory, PairJudge
from spanjury.orchestration.engine.comparing import PairSeat
from spanjury.orchestration.engine.metering import Meter
from spanjury.orchestration.wiring.checks import checked_pair_judge
from spanjury.orchestration.wiring.config import ModelConfig, PanelConfig
from spanjury.orchestration.wiring.models import Guard, Models
from spanjury.orchestration.wiring.panels import open_configured_panel
from spanjury.orchestration.wiring.plugins import PAIR_JUDGES, built, parameters
from spanjury.orchestration.wiring.specs import parse_options

BY_MODEL, BY_PANEL = "comparer", "panel"
"""The default pair judges: one that uses a model, and one that does not."""


def pair_judge_name(spec: str | PairJudge, config: PanelConfig) -> str:
    """Return the name of the pair judge, with its model if it uses one.

    Raise `ConfigError` if it is unknown, or uses a model and `config` does not name exactly one.
    """
    if not isinstance(spec, str):
        return type(spec).__name__
    name, _ = parse_options(_named(spec, config), what="pair judge")
    if "model" not in parameters(PAIR_JUDGES.get(name)):
        return name
    return f"{name}:{_model(name, config).name}"


@asynccontextmanager
async def open_pair_judge(
    spec: str | PairJudge,
    config: PanelConfig,
    *,
    memory: Memory | None,
    meter: Meter,
    guard: Guard | None = None,
) -> AsyncIterator[PairSeat]:
    """Open a pair judge, and close its models at the end.

    `spec` is a name with options, as in ``panel:margin=0.5``, or your own pair judge; empty means
    the `comparer` if `config` names a model and no judge, else the `panel`.

    Raise the `ConfigError` of `pair_judge_name`, and `ConfigError` if an option does not fit.
    """
    if not isinstance(spec, str):
        name = pair_judge_name(spec, config)
        yield PairSeat(name=name, judge=checked_pair_judge(spec, name))
        return
    name, given = parse_options(_named(spec, config), what="pair judge")
    factory, options = PAIR_JUDGES.get(name), dict(given)
    async with AsyncExitStack() as stack:
        if "seed" in parameters(factory) and config.seed is not None:
            options = {"seed": config.seed, **options}
        if "model" in parameters(factory):
            models = Models(stack=stack, memory=memory, meter=meter, guard=guard)
            options["model"] = await models.get(_model(name, config))
        if "panel" in parameters(factory):
            panel = open_configured_panel(config, memory=memory, meter=meter, guard=guard)
            options["panel"] = await stack.enter_async_context(panel)
        judge = checked_pair_judge(built(factory, name, options), name)
        yield PairSeat(name=pair_judge_name(spec, config), judge=judge)


def _named(spec: str, config: PanelConfig) -> str:
    return spec or (BY_MODEL if config.models and not config.seats else BY_PANEL)


def _model(name: str, config: PanelConfig) -> ModelConfig:
    """Return the single model that a pair judge uses."""
    if len(config.models) != 1:
        count = len(config.models) or "none"
        raise ConfigError(f"pair judge {name!r} asks one model, got {count}: name it with --model")
    (model,) = config.models
    return ModelConfig.of(model)
