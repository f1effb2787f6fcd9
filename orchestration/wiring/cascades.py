"""The description of a cascade becomes the stages in which an open panel is asked."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from spanjury.judges.core import Aggregation, ConfigError, Memory, TokenPrice, fingerprint
from spanjury.judges.core.lazy import lazily

with lazily():
    from spanjury.orchestration.engine import allowance as allowances
    from spanjury.orchestration.engine import cascade as cascades
    from spanjury.orchestration.engine import staging

__all__ = ["CascadeConfig", "StageConfig", "fitted_to", "opened_cascade"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StageConfig:
    """A stage of a cascade with numbers of its own; `Stage` and `ScoreMap` explain them."""

    __pydantic_config__: ClassVar = {"extra": "forbid"}

    seats: tuple[str, ...]
    unsure: tuple[float, float] | None = None
    disagreement: float | None = None
    estimates: tuple[float, ...] = ()
    scores: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CascadeConfig:
    """Stages in which a panel is asked.

    Parameters
    ----------
    stages
        Names of seats, stage by stage, each alone or with numbers of its own; the seats that
        none names are the last stage.
    unsure, disagreement
        For the stages without numbers of their own, as in `Stage`.
    cutoff
        As in `Cascade`.
    budget
        What a run may take, as `parse_budget` reads it; empty for no limit.
    panel
        Digest of the panel that the numbers were fitted to; empty for numbers of one's own.
    fitted_on
        The texts that they were fitted on, in words.
    """

    __pydantic_config__: ClassVar = {"extra": "forbid"}

    stages: tuple[tuple[str, ...] | StageConfig, ...] = ()
    unsure: tuple[float, float] | None = None
    disagreement: float | None = None
    cutoff: float | None = None
    budget: str = ""
    panel: str = ""
    fitted_on: str = ""


def fitted_to(signatures: Mapping[str, str], *, aggregation: str) -> str:
    """Return the digest of a panel that a cascade is fitted to.

    Parameters
    ----------
    signatures
        Of its seats by name, without the version of spanjury.
    """
    seats = sorted(f"{name}={signature}" for name, signature in signatures.items())
    return fingerprint(*seats, aggregation)


def opened_cascade(
    config: CascadeConfig,
    *,
    signatures: Mapping[str, str],
    prices: Mapping[str, TokenPrice | None],
    aggregation: Aggregation,
    aggregation_name: str,
    memory: Memory | None,
    silent: bool,
) -> "staging.Staging":
    """Return the stages in which a panel is asked.

    Parameters
    ----------
    signatures
        Of its seats by name.
    prices
        Of the seats that ask a model.
    silent
        No model is asked, and the budget is not touched.

    Raises
    ------
    ConfigError
        If the cascade does not fit the panel, or nothing would ever end it early.
    """
    made_for = fitted_to(signatures, aggregation=aggregation_name)
    if config.panel and config.panel != made_for:
        now = f"{made_for}, of {', '.join(signatures)} with aggregation {aggregation_name}"
        raise ConfigError(_another_panel(config, frozenset(signatures), now=now))
    cascade = _cascade(config, tuple(signatures))
    budget = allowances.parse_budget(config.budget) if config.budget else None
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
        allowance=None if silent or budget is None else allowances.Allowance(budget, prices=prices),
        memory=memory,
        is_silent=silent,
    )


def _cascade(config: CascadeConfig, seats: Sequence[str]) -> "cascades.Cascade":
    stages = [_stage(stage, config) for stage in config.stages]
    named = {seat for stage in stages for seat in stage.seats}
    if rest := tuple(seat for seat in seats if seat not in named):
        stages.append(cascades.Stage(seats=rest))
    return cascades.Cascade(stages=tuple(stages), cutoff=config.cutoff)


def _stage(stage: tuple[str, ...] | StageConfig, config: CascadeConfig) -> "cascades.Stage":
    """Return a stage; one that is named alone has the numbers of all."""
    own = stage if isinstance(stage, StageConfig) else StageConfig(seats=stage)
    has_own = own.unsure is not None or own.disagreement is not None
    score_map = None
    if own.estimates or own.scores:
        score_map = cascades.ScoreMap(estimates=own.estimates, scores=own.scores)
    return cascades.Stage(
        seats=own.seats,
        unsure=own.unsure if has_own else config.unsure,
        disagreement=own.disagreement if has_own else config.disagreement,
        score_map=score_map,
    )


def _another_panel(config: CascadeConfig, seats: Collection[str], *, now: str) -> str:
    named = [
        seat
        for stage in config.stages
        for seat in (stage.seats if isinstance(stage, StageConfig) else stage)
    ]
    same = "; their judges, options or models have changed" if set(seats) == set(named) else ""
    return (
        f"the cascade was fitted to another panel: {config.panel}, of {', '.join(named)}; this "
        f"one is {now}{same}: fit it again with spanjury panel cascade"
    )
