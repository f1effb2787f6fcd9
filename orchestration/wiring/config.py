"""The description of a panel: plain values, from flags or from a TOML file."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar, Literal, TypeVar, cast

from spanjury.judges.core import (
    MASK,
    ConfigError,
    Judge,
    ModelOptions,
    TokenPrice,
    check_address,
    is_secret_name,
    scrub,
)
from spanjury.judges.core.former_names import with_todays_names
from spanjury.judges.core.lazy import Once, lazily
from spanjury.orchestration.wiring.cascades import CascadeConfig
from spanjury.orchestration.wiring.reading import WEIGHTS, is_reader

with lazily():
    import pydantic

T = TypeVar("T")

__all__ = [
    "EMBEDDED",
    "ModelConfig",
    "PanelConfig",
    "SeatConfig",
    "parse_options",
    "parse_seat",
    "read_cascade_file",
    "read_panel_file",
    "with_todays_models",
]

EMBEDDED = "embedded"
"""Name of the model that comes with the extra of the same name."""
_LOCAL = "local"
"""Name of the opener of a model in a folder."""

_USUAL = ModelOptions()
_EMBEDDED = ModelOptions(max_connections=2, timeout=600.0)
"""It runs on one core, and calls that wait inside it run against their time."""
_IN_A_FOLDER = ModelOptions(max_connections=32, timeout=600.0)
"""Calls that wait are answered in one batch."""
_READER, _DISTILLED = "reader", "distilled"
"""Judges that may be named with a folder that holds a reader."""

_STRICT: Mapping[str, object] = MappingProxyType(
    {"extra": "forbid", "arbitrary_types_allowed": True}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelConfig:
    """A model and how it is reached; `ModelOptions` explains the numbers.

    Parameters
    ----------
    base_url
        Where its servers answer; each call goes to the one with the least to do. An address
        that is secret is given as ``env:NAME``, the name of the variable that holds it.
    client
        ``lean`` for the lean client, which speaks to servers with OpenAI's interface and
        takes LiteLLM's names for them; None for what the name says. Files may say
        ``via = "fast"``, as they did before.
    price
        Of its tokens; None for what LiteLLM's list of models says, if it does.

    Raises
    ------
    ConfigError
        If a base URL is not an address, or holds what looks like a secret.
    """

    __pydantic_config__: ClassVar = _STRICT

    name: str
    client: Literal["lean"] | None = None
    price: TokenPrice | None = None
    base_url: str | tuple[str, ...] | None = None
    max_connections: int | None = None
    min_connections: int | None = None
    timeout: float | None = None
    attempts: int | None = None
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None

    def __post_init__(self) -> None:
        for url in self.base_urls:
            if url is not None:
                check_address(url)

    @property
    def base_urls(self) -> tuple[str | None, ...]:
        """Addresses of the servers; one None for the provider's own address."""
        if isinstance(self.base_url, tuple):
            return self.base_url or (None,)
        return (self.base_url,)

    @property
    def options(self) -> ModelOptions:
        """All but the name, for the first server; what is None is what suits the model."""
        usual = _usual_options(self.name)
        try:
            return ModelOptions(
                base_url=self.base_urls[0],
                max_connections=self.max_connections or usual.max_connections,
                min_connections=self.min_connections or usual.min_connections,
                timeout=self.timeout or usual.timeout,
                attempts=self.attempts or usual.attempts,
                requests_per_minute=self.requests_per_minute,
                tokens_per_minute=self.tokens_per_minute,
            )
        except ValueError as error:
            raise ConfigError(f"model {self.name!r}: {error}") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatConfig:
    """One seat of a panel.

    Parameters
    ----------
    judge
        Name of a judge, or a judge of your own.
    name
        Name of the seat; made of judge and model where it is left empty.
    model
        The model that it asks; without one, a seat is made for each model of the panel.
    options
        Options of the judge by name.
    """

    __pydantic_config__: ClassVar = _STRICT

    judge: str | Judge
    name: str = ""
    model: ModelConfig | str | None = None
    options: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelConfig:
    """A panel.

    Parameters
    ----------
    seats
        Its seats. Without any: an annotator for each of `models`, or without models
        the two offline judges.
    models
        Models for the judges, and a consolidator, that ask one and name none.
    aggregate, consolidate
        Name of an aggregation, and of a consolidator with options as in ``rules:max_spans=5``.
    score
        ``aggregate`` to aggregate the seats' scores; ``from-spans`` to compute the score from
        the consolidated spans, with options as in ``from-spans:by=error,rest=0.5``.
    consolidate_model
        The consolidator's model, where it asks one; the first of `models` by default.
    seed
        For every judge that takes a seed and names none.
    calibration
        A file of ``spanjury calibrate`` that was made for this panel; in a panel file, its path
        begins at the folder of that file.
    cascade
        Stages in which the seats are asked; None to ask all at once.
    families
        Family -> words in its models' names, beside those known; they change warnings alone.
    """

    __pydantic_config__: ClassVar = _STRICT

    seats: tuple[SeatConfig, ...] = ()
    models: tuple[ModelConfig | str, ...] = ()
    aggregate: str = "mean"
    consolidate: str = "rules"
    score: str = "aggregate"
    consolidate_model: ModelConfig | str | None = None
    seed: int | None = None
    calibration: Path | None = None
    cascade: CascadeConfig | None = None
    families: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def seats_or_default(self) -> tuple[SeatConfig, ...]:
        """The seats, or those of a panel that names none."""
        if self.seats:
            return self.seats
        names = ("annotator",) if self.models else ("grounding", "reader", "form")
        return tuple(SeatConfig(judge=name) for name in names)

    @property
    def is_fitted(self) -> bool:
        """Whether it has a calibration, or a cascade."""
        return self.calibration is not None or self.cascade is not None

    @property
    def connections(self) -> int:
        """The most calls that one model may have under way at once."""
        named = (*self.models, *(seat.model for seat in self.seats), self.consolidate_model)
        models = (model for model in named if isinstance(model, ModelConfig))
        each = (len(model.base_urls) * model.options.max_connections for model in models)
        return max(each, default=_USUAL.max_connections)

    @property
    def workers(self) -> int:
        """Assessments at once that keep every model busy, though seats wait for each other."""
        return 2 * self.connections


_PANEL = Once(lambda: pydantic.TypeAdapter(PanelConfig))
_CASCADE = Once(lambda: pydantic.TypeAdapter(CascadeConfig))


def read_panel_file(path: Path) -> PanelConfig:
    """Read a panel from TOML; its keys are the fields of `PanelConfig`.

    Raises
    ------
    ConfigError
        If the file cannot be read, is not TOML, or a key or a value does not fit; the
        message names the file and the key.
    """
    values = _toml(path, what="panel file")
    if isinstance(cascade := values.get("cascade"), dict) and "file" in cascade:
        named = path.parent / str(cascade.pop("file"))
        values["cascade"] = {**_toml(named, what="cascade file"), **cascade}
    panel = _fitting(_PANEL.get(), with_todays_models(values), path, what="panel file")
    if panel.calibration is None:
        return panel
    return replace(panel, calibration=path.absolute().parent / panel.calibration)


def read_cascade_file(path: Path) -> CascadeConfig:
    """Read a cascade from TOML; its keys are the fields of `CascadeConfig`.

    Raise `ConfigError` as `read_panel_file` does.
    """
    return _fitting(_CASCADE.get(), _toml(path, what="cascade file"), path, what="cascade file")


def _toml(path: Path, *, what: str) -> dict[str, object]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"the {what} {path} cannot be read: {error}") from error


def _fitting(kind: "pydantic.TypeAdapter[T]", values: object, path: Path, *, what: str) -> T:
    try:
        return kind.validate_python(values)
    except pydantic.ValidationError as error:
        raise ConfigError(f"the {what} {path} does not fit: {_first_problem(error)}") from error


def with_todays_models(values: Mapping[str, object]) -> Mapping[str, object]:
    """Return the table of a panel, whose models may be described as they were before."""
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


def _usual_options(name: str) -> ModelOptions:
    if name == EMBEDDED:
        return _EMBEDDED
    return _IN_A_FOLDER if name.startswith(f"{_LOCAL}/") else _USUAL


def parse_seat(spec: str) -> SeatConfig:
    """Read a seat from a flag, as `parse_options` does.

    ``NAME:FOLDER`` is a judge that asks the model in a folder, as ``distil train`` writes one;
    ``NAME:FOLDER:option=value`` has options besides. Where the folder holds a reader,
    ``distilled`` is the judge that has it read.

    Raises
    ------
    ConfigError
        As `parse_options` does, and if there is no such folder.

    Examples
    --------
    >>> parse_seat("annotator:max_tokens=512,score=numeric").options["max_tokens"]
    512
    """
    judge, _, rest = spec.partition(":")
    folder, _, options = rest.partition(":")
    if not folder or "=" in folder:
        name, given = parse_options(spec, what="judge")
        return SeatConfig(judge=name, options=given)
    if not Path(folder).is_dir():
        raise ConfigError(f"judge {spec!r}: {folder!r} is neither option=value nor a folder")
    name, given = parse_options(f"{judge}:{options}", what="judge")
    if name == _READER or (name == _DISTILLED and is_reader(Path(folder))):
        given = {WEIGHTS: folder, **given}
        return SeatConfig(judge=_READER, name=f"{name}:{folder}", options=given)
    return SeatConfig(
        judge=name, model=f"{_LOCAL}/{folder}", name=f"{name}:{folder}", options=given
    )


def parse_options(spec: str, *, what: str) -> tuple[str, Mapping[str, object]]:
    """Read ``NAME`` or ``NAME:option=value,option=value`` as a plugin's name and its options.

    Values are TOML where they can be read as such and text where not.

    Raises
    ------
    ConfigError
        If the text is neither; it says of `what`.
    """
    name, _, pairs = spec.partition(":")
    options: dict[str, object] = {}
    for pair in filter(None, pairs.split(",")):
        option, equals, value = pair.partition("=")
        if not equals or not option.strip():
            raise ConfigError(f"{what} {spec!r}: expected option=value, got {pair!r}")
        options[option.strip()] = _value(value.strip())
    if not name.strip():
        raise ConfigError(f"{what} {spec!r}: expected NAME or NAME:option=value,…")
    return name.strip(), options


def _value(text: str) -> object:
    try:
        value: object = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
    return value


def _first_problem(error: "pydantic.ValidationError") -> str:
    problem = error.errors(include_url=False)[0]
    place = ".".join(str(part) for part in problem["loc"])
    got = MASK if is_secret_name(place) else scrub(repr(problem["input"]))
    return f"{place}: {problem['msg']}, got {got}"
