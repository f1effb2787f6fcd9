"""The options recorded with a trained model: its prompts and its threshold."""

from pathlib import Path

from pydantic import BaseModel, ValidationError

from spanjury.judges.core import ConfigError
from spanjury.judges.llm.distilled_form import Layout

_RECORD = "training.json"
_LOCAL = "local/"


class _Threshold(BaseModel):
    value: float


class _Judging(BaseModel):
    layout: Layout
    threshold: _Threshold | None = None


class _Record(BaseModel):
    judging: _Judging | None = None


def judging_options(model: str) -> dict[str, object]:
    """Return the options for the judge `distilled` that the folder in ``local/FOLDER`` records.

    Empty for any other model, and for folders of versions that recorded none. Raise `ConfigError`
    if there is a record that cannot be read.
    """
    path = Path(model.removeprefix(_LOCAL)) / _RECORD
    if not model.startswith(_LOCAL) or not path.is_file():
        return {}
    try:
        judging = _Record.model_validate_json(path.read_bytes()).judging
    except (OSError, ValidationError) as error:
        raise ConfigError(f"{path}: not the record of a training") from error
    if judging is None:
        return {}
    chosen = {} if judging.threshold is None else {"threshold": judging.threshold.value}
    return {"layout": judging.layout, **chosen}
