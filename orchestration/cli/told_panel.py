"""What the flags say of the panel, for a new run and for one that is taken up again."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Literal

from spanjury.judges.core import ConfigError
from spanjury.orchestration.wiring.config import (
    ModelConfig,
    PanelConfig,
    parse_seat,
    read_panel_file,
)

__all__ = ["ToldPanel"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldPanel:
    """The flags that name judges and models, by their names; `flags.heard` describes them."""

    judge: list[str] | None
    panel: Path | None
    model: list[str] | None
    via: Literal["fast"] | None
    model_base_url: list[str] | None
    max_connections: int | None
    min_connections: int | None
    requests_per_minute: int | None
    tokens_per_minute: int | None
    timeout: float | None
    attempts: int | None
    aggregate: str | None
    consolidate: str | None
    seed: int | None
    score: str | None = None

    @classmethod
    def taken_from(cls, flags: dict[str, object]) -> "ToldPanel":
        """Take the flags that are of this kind out of `flags`."""
        taken = {told.name: flags.pop(told.name) for told in fields(cls) if told.name in flags}
        return cls(**taken)  # type: ignore[arg-type]  # the command line has checked their types

    def config(self, before: PanelConfig | None = None) -> PanelConfig:
        """Return the panel: that of a run `before`, with what is told changed.

        Raises
        ------
        ConfigError
            If a flag does not fit the others, or a panel file cannot be read.
        """
        config = self._seated(before or PanelConfig())
        return replace(
            config,
            models=tuple(map(self._reached, config.models)),
            aggregate=self.aggregate or config.aggregate,
            consolidate=self.consolidate or config.consolidate,
            score=self.score or config.score,
            seed=config.seed if self.seed is None else self.seed,
        )

    def _seated(self, before: PanelConfig) -> PanelConfig:
        if self.panel is None:
            seats, models = map(parse_seat, self.judge or ()), tuple(self.model or ())
            return replace(
                before, seats=tuple(seats) or before.seats, models=models or before.models
            )
        if self.judge or self.model:
            raise ConfigError("--panel names judges and models; leave out --judge and --model")
        return read_panel_file(self.panel)

    def _reached(self, model: ModelConfig | str) -> ModelConfig | str:
        """Return `model` as the flags say that it is reached."""
        told: Mapping[str, object] = {
            "via": self.via,
            "base_url": tuple(self.model_base_url or ()) or None,
            "max_connections": self.max_connections,
            "min_connections": self.min_connections,
            "requests_per_minute": self.requests_per_minute,
            "tokens_per_minute": self.tokens_per_minute,
            "timeout": self.timeout,
            "attempts": self.attempts,
        }
        given = {name: value for name, value in told.items() if value is not None}
        if not given:
            return model
        named = ModelConfig(name=model) if isinstance(model, str) else model
        return replace(named, **given)  # type: ignore[arg-type]  # each of its own type
