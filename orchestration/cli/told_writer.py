"""What the flags say of the model that writes for an exam."""

from dataclasses import replace

from spanjury.judges.core import ConfigError
from spanjury.orchestration.cli.told_panel import ToldPanel
from spanjury.orchestration.wiring.config import ModelConfig

__all__ = ["told_writer"]


def told_writer(
    name: str | None, base_urls: list[str] | None, *, judging: ToldPanel | None = None
) -> ModelConfig | None:
    """Return the model that writes, if the flags name one.

    Parameters
    ----------
    name, base_urls
        Its own flags. Without an address a model that judges, too, is reached as there.
    judging
        The flags of the panel: how often and how long any model is asked.

    Raises
    ------
    ConfigError
        If an address is given and no name, or a panel file cannot be read.
    """
    if name is None:
        if base_urls:
            raise ConfigError("--writer-base-url is of no model: name it by --writer")
        return None
    if judging is None:
        return ModelConfig(name=name, base_url=tuple(base_urls or ()) or None)
    known = [] if base_urls else _configs(judging)
    alone = replace(
        judging, judge=None, panel=None, model=[name], via=None, model_base_url=base_urls
    )
    return next(model for model in (*known, *_configs(alone)) if model.name == name)


def _configs(told: ToldPanel) -> list[ModelConfig]:
    models = told.config().models
    return [ModelConfig(name=model) if isinstance(model, str) else model for model in models]
