"""Build a panel from its configuration."""

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from anyio import to_thread

from spanjury.adapters.telemetry.tracing import Untraced
from spanjury.judges.core import (
    UNANSWERED,
    Aggregation,
    ConfigError,
    Consolidator,
    Memory,
    Outcome,
    Rescorable,
)
from spanjury.judges.core.lazy import lazily
from spanjury.judges.text.turns import Processes
from spanjury.orchestration.engine.deferral import Deferral
from spanjury.orchestration.engine.families import FamilyWatch
from spanjury.orchestration.engine.memory import remembered
from spanjury.orchestration.engine.metering import AskedBy, Meter
from spanjury.orchestration.engine.panel import Panel, unobserved
from spanjury.orchestration.engine.replay import NoMemory, Recorder
from spanjury.orchestration.engine.seats import Seat
from spanjury.orchestration.engine.thresholds import SHIPPED
from spanjury.orchestration.wiring.checking import with_checker
from spanjury.orchestration.wiring.checks import (
    checked_aggregation,
    checked_consolidator,
    checked_judge,
)
from spanjury.orchestration.wiring.config import (
    CHECKER,
    EMBEDDED,
    PanelConfig,
    SeatConfig,
)
from spanjury.orchestration.wiring.examples import with_examples
from spanjury.orchestration.wiring.models import Guard, Models
from spanjury.orchestration.wiring.plugins import (
    AGGREGATIONS,
    CONSOLIDATORS,
    JUDGES,
    built,
    parameters,
)
from spanjury.orchestration.wiring.reading import with_reader
from spanjury.orchestration.wiring.seats import NamedSeat, is_metric, named_seats
from spanjury.orchestration.wiring.specs import parse_options

with lazily():
    from spanjury.orchestration.engine import span_score as span_scores
    from spanjury.orchestration.engine import staging
    from spanjury.orchestration.wiring import calibrations, cascades, metrics, trained


@asynccontextmanager
async def open_configured_panel(  # noqa: PLR0913  all but the panel have defaults
    config: PanelConfig,
    *,
    memory: Memory | None = None,
    again: frozenset[Outcome] = UNANSWERED,
    meter: Meter | None = None,
    silent: bool = False,
    draw: str = "",
    guard: Guard | None = None,
    recorder: Recorder | None = None,
    deferral: Deferral | None = None,
) -> AsyncIterator[Panel]:
    """Build the panel that `config` describes, and close its models at the end.

    Raise `ConfigError` if a name is unknown, an option does not fit, or a judge lacks its model.

    Parameters
    ----------
    config
        The panel.
    memory
        Stores reports and replies, so that nothing is requested twice.
    again
        Outcomes for which a judge is run again although they are remembered.
    meter
        Counts the calls to models.
    silent
        Whether models are never called: only remembered replies are available.
    draw
        Name of a sample: values remembered under one name are not used under another, so that
        judging twice shows whether the reports agree. Warnings about families come only with an
        empty name.
    guard
        The run's guard, which ends the run if a model fails every call; None outside of runs.
    recorder
        Records each call to a model; reports are then made again from remembered replies.
    deferral
        As in `Models`; it requires a memory.
    """
    async with AsyncExitStack() as stack:
        models = Models(
            stack=stack,
            memory=memory,
            meter=meter or Meter(),
            silent=silent,
            guard=guard,
            recorder=recorder,
            deferral=deferral,
        )
        if config.processes:
            stack.enter_context(Processes(config.processes).working())
        panel = await _panel(config, models, again=again, draw=draw)
        yield calibrated(panel, config.calibration)


async def _panel(
    config: PanelConfig, models: Models, *, again: frozenset[Outcome], draw: str
) -> Panel:
    """Build the panel that `config` describes, without its calibration."""
    named = named_seats(config)
    seats = tuple([await _seat(seat, config, models) for seat in named])
    agents = [NamedSeat(str(seat.judge), seat, None) for seat in config.agent_seats]
    agent_seats = tuple([await _seat(seat, config, models) for seat in agents])
    aggregation = checked_aggregation(AGGREGATIONS.get(config.aggregate), config.aggregate)
    stages = _open_stages(config, models, named=named, seats=seats, aggregation=aggregation)
    recorder, deferral, tracing = models.recorder, models.deferral, models.tracing
    families = None
    is_first = deferral is None or deferral.rounds == 1
    if not draw and recorder is None and is_first:  # otherwise the warning was given before
        families = FamilyWatch({seat.name: seat.signature for seat in seats}, config.families)
        families.check_seats()
    reports = models.memory if recorder is None else NoMemory()

    def opened(bare: tuple[Seat, ...]) -> tuple[Seat, ...]:
        """Wrap every judge: from the inside out, it is remembered, recorded and traced."""
        behind = []
        for seat in _remembered(bare, reports, again=again, draw=draw):
            judge = recorder.judge(seat.judge, seat=seat.name) if recorder else seat.judge
            behind.append(Seat(name=seat.name, judge=tracing.judge(judge, seat=seat.name)))
        return tuple(behind)

    return Panel(
        seats=opened(seats),
        agent_seats=opened(agent_seats),
        aggregation=aggregation,
        aggregation_name=config.aggregate,
        consolidator=await _consolidator(config, models),
        span_score=_span_score(config.score),
        thresholds=SHIPPED,
        observer=unobserved if isinstance(tracing, Untraced) else tracing.assessment,
        stages=stages,
        families=families,
    )


def _open_stages(
    config: PanelConfig,
    models: Models,
    *,
    named: Sequence[NamedSeat],
    seats: Sequence[Seat],
    aggregation: Aggregation,
) -> "staging.Staging | None":
    """Return the stages of a cascade, whose budget is held as long as the models are open."""
    if config.cascade is None:
        return None
    if config.score != "aggregate":
        raise ConfigError(
            f"a cascade expects the score that is aggregated, and cannot go with {config.score!r}"
        )
    stages = cascades.opened_cascade(
        config.cascade,
        signatures={seat.name: seat.signature for seat in seats},
        prices={seat.name: models.price(seat.model) for seat in named if seat.model},
        aggregation=aggregation,
        aggregation_name=config.aggregate,
        memory=models.memory,
        meter=None if models.silent else models.meter,
    )
    models.stack.enter_context(stages.holding_budget())
    return stages


def calibrated(panel: Panel, file: Path | None) -> Panel:
    """Return the panel with the calibration in a file, or unchanged without a file.

    Raise `ConfigError` if the file cannot be read, or was made for another panel.
    """
    if file is None:
        return panel
    calibration = calibrations.read_calibration(file)
    calibrations.check_made_for(panel, calibration, file=file)
    return replace(panel, calibration=calibration)


async def _seat(named: NamedSeat, config: PanelConfig, models: Models) -> Seat:
    seat, model = named.seat, named.model
    if not isinstance(seat.judge, str):
        return Seat(name=named.name, judge=checked_judge(seat.judge, named.name))
    if is_metric(seat.judge):
        measuring = metrics.open_metric_judge(seat.judge, seat.options)
        return Seat(name=named.name, judge=measuring)
    factory = JUDGES.get(seat.judge)
    has_seed = config.seed is not None and "seed" in parameters(factory)
    seeded = {"seed": config.seed, **seat.options} if has_seed else seat.options
    options = with_examples(factory, with_reader(factory, seeded))
    opened = None if model is None else await models.get(model)
    if CHECKER in parameters(factory):  # in a thread: a model may have to be downloaded
        opening = partial(with_checker, factory, options, judge=seat.judge, model=opened)
        options = await to_thread.run_sync(opening, abandon_on_cancel=True)
    if model is not None and "model" in (accepted := parameters(factory)):
        # The embedded model is constrained by a grammar: unaided, 135M parameters write no valid
        # report. A trained model gets the prompts that it was trained on.
        own: dict[str, object] = {"form": "grammar"}
        if model.name != EMBEDDED:
            own = trained.judging_options(model.name)
        own = {name: option for name, option in own.items() if name in accepted}
        options = {**own, **options, "model": opened}
    judge = checked_judge(built(factory, seat.judge, options), seat.judge)
    return Seat(name=named.name, judge=judge)


async def _consolidator(config: PanelConfig, models: Models) -> Consolidator:
    name, given = parse_options(config.consolidate, what="consolidator")
    factory = CONSOLIDATORS.get(name)
    options = dict(given)
    if "model" in parameters(factory):
        model = config.consolidate_model or next(iter(config.models), None)
        if model is None:
            raise ConfigError(f"consolidator {name!r} asks a model: name one with --model")
        options["model"] = AskedBy(await models.get(config.configured(model)), "consolidator")
    return checked_consolidator(built(factory, name, options), name)


def _span_score(spec: str) -> "span_scores.SpanScore | None":
    name, options = parse_options(spec, what="score")
    if spec == "aggregate":
        return None
    if name != "from-spans":
        raise ConfigError(f"score {spec!r}: expected aggregate, from-spans or from-spans:option=…")
    score = built(span_scores.span_score, name, options)
    assert isinstance(score, span_scores.SpanScore)
    return score


def _remembered(
    seats: tuple[Seat, ...], memory: Memory | None, *, again: frozenset[Outcome], draw: str
) -> tuple[Seat, ...]:
    """Wrap every judge with the memory; judges with equal signatures get different numbers."""
    if memory is None:
        return seats
    taken: Counter[str] = Counter()
    behind = []
    for seat in seats:
        draw_key = f"{draw}{taken[seat.signature] or ''}"
        taken[seat.signature] += 1
        judge = remembered(seat.judge, memory, place=draw_key, again=again)
        behind.append(Seat(name=seat.name, judge=judge))
    return tuple(behind)


def rescorable_panel(panel: PanelConfig, *, agents: bool = False) -> PanelConfig:
    """Return `panel`, or if it names no judge and no model, a panel of judges that can rescore.

    With `agents` these include the judges of trajectories. Raise `ConfigError` if none of them can
    rescore, or one cannot be built.
    """
    if panel.seats or panel.models:
        return panel
    usual = (*panel.seats_or_default, *(panel.agent_seats if agents else ()))
    seats = tuple(filter(_can_rescore, usual))
    if not seats:
        names = ", ".join(str(seat.judge) for seat in usual)
        raise ConfigError(
            f"none of {names} can say which score follows from an error list: name a judge"
        )
    return replace(panel, seats=seats)


def _can_rescore(seat: SeatConfig) -> bool:
    if not isinstance(seat.judge, str):
        return isinstance(seat.judge, Rescorable)
    factory = JUDGES.get(seat.judge)
    if "model" in parameters(factory):
        return False
    return isinstance(built(factory, seat.judge, with_reader(factory, seat.options)), Rescorable)
