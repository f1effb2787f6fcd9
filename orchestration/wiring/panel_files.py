"""Panels and cascades as TOML files, the panel called best, and panels in former formats."""

import tomllib
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import TypeVar, cast

from spanjury.judges.core import MASK, ConfigError, TokenPrice, choices_for, is_secret_name, scrub
from spanjury.judges.core.errors import reason_of
from spanjury.judges.core.former_names import with_todays_names
from spanjury.judges.core.lazy import Once, lazily
from spanjury.judges.core.log import EventLog
from spanjury.orchestration.wiring import checker_models
from spanjury.orchestration.wiring.cascades import CascadeConfig, StageConfig
from spanjury.orchestration.wiring.config import ModelConfig, PanelConfig, SeatConfig

with lazily():
    import pydantic

T = TypeVar("T")
log = EventLog()

_PANEL = Once(lambda: pydantic.TypeAdapter(PanelConfig))
_CASCADE = Once(lambda: pydantic.TypeAdapter(CascadeConfig))
_TABLE = "cascade"
_KEYS = {
    "panel file": PanelConfig,
    "seats": SeatConfig,
    "ModelConfig": ModelConfig,
    "price": TokenPrice,
    "cascade file": CascadeConfig,
    _TABLE: CascadeConfig,
    "StageConfig": StageConfig,
}
"""Name of a file or a table, as pydantic names it -> the class whose fields are its keys."""


def read_panel_file(path: Path) -> PanelConfig:
    """Read a panel from TOML; its keys are the fields of `PanelConfig`.

    A name such as ``best`` stands for the panel of that name, unless there is a file of that name;
    the log says what that panel contains. Raise `ConfigError` if the file cannot be read, is not
    TOML, or a key or a value is invalid; the message names the file and the key.
    """
    if (chosen := named_panel(path)) is not None:
        log.info("panel.chosen", reason=chosen.reason)
        return chosen.panel
    values = _toml(path, what="panel file")
    if isinstance(cascade := values.get(_TABLE), dict) and "file" in cascade:
        named = path.parent / str(cascade.pop("file"))
        values[_TABLE] = {**_toml(named, what="cascade file"), **cascade}
    panel = _fitting(_PANEL.get(), with_todays_models(values), path, what="panel file")
    folder = path.absolute().parent
    return replace(
        panel,
        calibration=None if panel.calibration is None else folder / panel.calibration,
        models=tuple(_placed(model, folder) for model in panel.models),
        seats=tuple(replace(seat, model=_placed(seat.model, folder)) for seat in panel.seats),
        consolidate_model=_placed(panel.consolidate_model, folder),
    )


def _placed(model: T, folder: Path) -> T:
    """Return `model` with the path of its tokenizer resolved against `folder`, if it names one."""
    if not isinstance(model, ModelConfig) or model.tokenizer is None:
        return model
    placed = replace(model, tokenizer=folder / model.tokenizer)
    return cast("T", placed)  # a ModelConfig, as it was


def named_panel(path: Path) -> checker_models.NamedPanel | None:
    """Return the panel that `path` is the name of; None if it is none, or there is such a file."""
    return None if path.is_file() else checker_models.named_panel(str(path))


def read_cascade_file(path: Path) -> CascadeConfig:
    """Read a cascade from TOML; its keys are the fields of `CascadeConfig`.

    Raise `ConfigError` like `read_panel_file`.
    """
    values = _toml(path, what="cascade file")
    if _TABLE in values:
        raise ConfigError(f"{path} has a table [{_TABLE}]: name it as a panel file, by --panel")
    return _fitting(_CASCADE.get(), values, path, what="cascade file")


def _toml(path: Path, *, what: str) -> dict[str, object]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"the {what} {path} cannot be read: {reason_of(error)}") from error


def _fitting(kind: "pydantic.TypeAdapter[T]", values: object, path: Path, *, what: str) -> T:
    try:
        return kind.validate_python(values)
    except pydantic.ValidationError as error:
        raise ConfigError(
            f"the {what} {path} does not fit: {_first_problem(error, what=what)}"
        ) from error
    except ConfigError as error:
        raise ConfigError(f"the {what} {path} does not fit: {error}") from error


def with_todays_models(values: Mapping[str, object]) -> Mapping[str, object]:
    """Return the table of a panel with its models in the current format."""
    tables = {**values}
    if isinstance(models := values.get("models"), list | tuple):
        tables["models"] = list(map(_todays_model, models))
    if isinstance(seats := values.get("seats"), list | tuple):
        tables["seats"] = [_with_todays_model(seat, "model") for seat in seats]
    return _with_todays_model(tables, "consolidate_model")


def _with_todays_model(table: T, key: str) -> T:
    if not isinstance(table, Mapping) or key not in table:
        return table
    return cast("T", {**table, key: _todays_model(table[key])})


def _todays_model(model: object) -> object:
    return with_todays_names(model, {"via": "client"}, texts={"fast": "lean"})


def _first_problem(error: "pydantic.ValidationError", *, what: str) -> str:
    problem = error.errors(include_url=False)[0]
    *tables, key = map(str, problem["loc"])
    field = ".".join((*tables, key))
    if problem["type"] == "unexpected_keyword_argument":
        table = next(_KEYS[part] for part in (*reversed(tables), what) if part in _KEYS)
        choices = choices_for(key, [key_field.name for key_field in fields(table)])
        return f"{field}: there is no such key; {choices}"
    got = MASK if is_secret_name(field) else scrub(repr(problem["input"]))
    return f"{field}: {problem['msg']}, got {got}"
