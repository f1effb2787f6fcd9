"""Turn the configuration of a cascade into the stages of an open panel."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from spanjury.judges.core import Aggregation, ConfigError, Memory, TokenPrice, check_field_types
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.engine.made_for import seat_differences, seats_digest, signed_seats
from spanjury.orchestration.engine.metering import Meter

with lazily():
    from spanjury.orchestration.engine import allowance as allowances
    from spanjury.orchestration.engine import cascade as cascades
    from spanjury.orchestration.engine import score_map as score_maps
    from spanjury.orchestration.engine import staging


@dataclass(frozen=True, slots=True, kw_only=True)
class StageConfig:
    """A stage of a cascade with its own numbers; `Stage` and `ScoreMap` explain them."""

    __pydantic_config__: ClassVar = {"extra": "forbid"}

    seats: tuple[str, ...]
    unsure: tuple[float, float] | None = None
    disagreement: float | None = None
    estimates: tuple[float, ...] = ()
    scores: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        check_field_types(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class CascadeConfig:
    """The stages in which the seats of a panel are asked.

    Parameters
    ----------
    stages
        Names of seats, stage by stage, with or without their own numbers; seats that are not named
        form the last stage.
    unsure, disagreement
        For the stages without their own numbers, as in `Stage`.
    cutoff
        As in `Cascade`.
    budget
        The most that a run may spend, as `parse_budget` reads it, or a number of dollars; empty for
        no limit.
    panel, seats
        Digest of the panel that the numbers were fitted to, and its seats as ``name=signature``;
        empty if the numbers are your own.
    aspect
        The aspect that the numbers were fitted to, as in `Cascade`.
    fitted_on
        A description of the texts that they were fitted to.
    """

    __pydantic_config__: ClassVar = {"extra": "forbid"}

    stages: tuple[tuple[str, ...] | StageConfig, ...] = ()
    unsure: tuple[float, float] | None = None
    disagreement: float | None = None
    cutoff: float | None = None
    budget: str | float = ""
    panel: str = ""
    seats: tuple[str, ...] = ()
    aspect: str = ""
    fitted_on: str = ""

    def __post_init__(self) -> None:
        check_field_types(self)


def opened_cascade(
    config: CascadeConfig,
    *,
    signatures: Mapping[str, str],
    prices: Mapping[str, TokenPrice | None],
    aggregation: Aggregation,
    aggregation_name: str,
    memory: Memory | None,
    meter: Meter | None,
) -> "staging.Staging":
    """Return the stages in which a panel is asked.

    `meter` is None if no model is called. Raise `ConfigError` if the cascade does not fit the
    panel, or if it could never end early.
    """
    if config.panel and config.panel != seats_digest(signatures, aggregation=aggregation_name):
        why = seat_differences(config.seats, signed_seats(signatures)) or (
            f"the seats are the same, but the aggregation is now {aggregation_name}"
        )
        raise ConfigError(
            f"the cascade is for another panel: {why}; fit one to this panel by"
            " 'spanjury panel cascade RUN'"
        )
    cascade = _cascade(config, tuple(signatures))
    budget = allowances.parse_budget(str(config.budget)) if config.budget != "" else None
    if not (budget or cascade.can_stop):
        raise ConfigError(
            "the cascade would always ask all seats: give it unsure, disagreement, cutoff or a "
            "budget"
        )
    if cascade.cutoff is not None and aggregation_name not in cascades.MONOTONE:
        raise ConfigError(
            f"a cutoff needs bounds of the score, which aggregation {aggregation_name!r} has "
            f"none of; {', '.join(sorted(cascades.MONOTONE))} have"
        )
    return staging.Staging(
        cascade,
        aggregation=aggregation,
        budget=budget,
        allowance=None
        if meter is None or budget is None
        else allowances.Allowance(budget, prices=prices, meter=meter),
        memory=memory,
        is_silent=meter is None,
    )


def _cascade(config: CascadeConfig, seats: Sequence[str]) -> "cascades.Cascade":
    stages = [_stage(stage, config) for stage in config.stages]
    named = {seat for stage in stages for seat in stage.seats}
    if rest := tuple(seat for seat in seats if seat not in named):
        stages.append(cascades.Stage(seats=rest))
    return cascades.Cascade(stages=tuple(stages), cutoff=config.cutoff, aspect=config.aspect)


def _stage(stage: tuple[str, ...] | StageConfig, config: CascadeConfig) -> "cascades.Stage":
    """Return a stage; a stage that consists of names only has the cascade's numbers."""
    own = stage if isinstance(stage, StageConfig) else StageConfig(seats=stage)
    has_own = own.unsure is not None or own.disagreement is not None
    score_map = None
    if own.estimates or own.scores:
        try:
            score_map = score_maps.ScoreMap(knots=own.estimates, values=own.scores)
        except ValueError as error:
            names = ", ".join(own.seats)
            raise ConfigError(f"estimates and scores of the stage of {names}: {error}") from error
    return cascades.Stage(
        seats=own.seats,
        unsure=own.unsure if has_own else config.unsure,
        disagreement=own.disagreement if has_own else config.disagreement,
        score_map=score_map,
    )
