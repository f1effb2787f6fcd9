"""The part of the record of a training that says how the model is asked."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from spanjury.judges.core import ConfigError
from spanjury.judges.llm.short_prompt import Layout


class _Threshold(BaseModel):
    model_config = ConfigDict(extra="ignore")

    value: float


class _Judging(BaseModel):
    model_config = ConfigDict(extra="ignore")

    layout: Layout
    threshold: _Threshold | None = None


class _Record(BaseModel):
    model_config = ConfigDict(extra="ignore")

    judging: _Judging | None = None


def recorded_options(path: Path) -> dict[str, object]:
    """Return the options that the record in the file `path` holds.

    Raise `ConfigError` if it cannot be read.
    """
    try:
        judging = _Record.model_validate_json(path.read_bytes()).judging
    except (OSError, ValidationError) as error:
        raise ConfigError(f"{path}: not the record of a training") from error
    if judging is None:
        return {}
    chosen = {} if judging.threshold is None else {"threshold": judging.threshold.value}
    return {"layout": judging.layout, **chosen}
