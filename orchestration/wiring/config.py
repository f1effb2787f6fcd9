"""The configuration of a panel: plain values."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar, Literal

from spanjury.judges.core import (
    ConfigError,
    Judge,
    ModelOptions,
    TokenPrice,
    check_address,
    check_field_types,
)
from spanjury.orchestration.wiring.cascades import CascadeConfig

EMBEDDED = "embedded"
"""Name of the model that is installed by the extra of the same name."""
TUNED = "tuned"
"""Prefix of the model that this project trained."""
LOCAL = "local"
"""Prefix of models that are loaded from a folder."""
VLLM = "vllm"
"""Prefix of models that vLLM runs in this process."""
CHECKER, READER = "checker", "reader"
"""The judge that uses a checker, and its parameter; the judge that is fitted to its own reader."""
KIND = "kind"
"""Option that names the checker plugin; by default that of the judge's name, or that of folders."""

_USUAL = ModelOptions()
_EMBEDDED = ModelOptions(max_connections=2, timeout=600.0)
"""It runs on one core, and its time limit includes the wait for other calls."""
_IN_A_FOLDER = ModelOptions(max_connections=32, timeout=600.0)
"""Waiting calls are answered in one batch."""
_BY_VLLM = ModelOptions(max_connections=256, timeout=3600.0)
"""A batch consists of all waiting calls, and is answered when its last reply is complete."""
_OPTIONS = {EMBEDDED: _EMBEDDED, TUNED: _EMBEDDED, LOCAL: _IN_A_FOLDER, VLLM: _BY_VLLM}
_STRICT: Mapping[str, object] = MappingProxyType(
    {"extra": "forbid", "arbitrary_types_allowed": True}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelConfig:
    """A model and how to reach it; `ModelOptions` explains the numbers.

    Parameters
    ----------
    base_url
        The addresses of its servers; each call goes to the least busy one. A secret address is
        given as ``env:NAME``, where NAME is the variable that holds it.
    client
        ``lean`` for the lean client, which calls servers with OpenAI's interface and accepts
        LiteLLM's names for them; None to choose by the name. Files may say ``via = "fast"``, as in
        earlier versions.
    price
        Price of its tokens; None for the price in LiteLLM's list of models, if any.
    tokenizer
        File or folder that names its special tokens, which are escaped in judged texts; in a panel
        file, its path is relative to the folder of that file. None to query the model's own
        tokenizer.

    Raises
    ------
    ConfigError
        If a base URL is invalid, or contains what looks like a secret, or a value is of another
        type.
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
    tokenizer: Path | None = None

    def __post_init__(self) -> None:
        check_field_types(self)
        if not isinstance(self.base_url, str | tuple | None):
            raise ConfigError("base_url must be an address or a tuple of addresses, got a list")
        for url in self.base_urls:
            if url is not None:
                check_address(url)

    @classmethod
    def of(cls, model: "ModelConfig | str") -> "ModelConfig":
        """Return the configuration of a model, which may be given as a mere name."""
        if not isinstance(model, ModelConfig | str):
            raise ConfigError(f"a model is a name or a ModelConfig, got {type(model).__name__}")
        return cls(name=model) if isinstance(model, str) else model

    @property
    def base_urls(self) -> tuple[str | None, ...]:
        """Addresses of the servers; a single None for the provider's own address."""
        if isinstance(self.base_url, str | None):
            return (self.base_url,)
        return self.base_url or (None,)

    @property
    def options(self) -> ModelOptions:
        """All values but the name, for the first server; None becomes the model's default."""
        numbers = [each.name for each in fields(ModelOptions) if each.name != "base_url"]
        own = {name: value for name in numbers if (value := getattr(self, name)) is not None}
        usual = _OPTIONS.get(self.name.partition("/")[0], _USUAL)
        try:
            return replace(usual, base_url=self.base_urls[0], **own)
        except ValueError as error:
            raise ConfigError(f"model {self.name!r}: {error}") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatConfig:
    """One seat of a panel.

    Parameters
    ----------
    judge
        Name of a judge, or your own judge.
    name
        Name of the seat; derived from judge and model if empty.
    model
        The model that it uses, also by the name of one of the panel's models; if None, there is a
        seat for each model of the panel.
    options
        Options of the judge by name.
    """

    __pydantic_config__: ClassVar = _STRICT

    judge: str | Judge
    name: str = ""
    model: ModelConfig | str | None = None
    options: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_field_types(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelConfig:
    """A panel.

    Parameters
    ----------
    seats
        Its seats. If empty: an annotator for each of `models`, or the offline judges if there are
        no models.
    models
        Models for judges, and for a consolidator, that use a model but name none.
    aggregate, consolidate
        Name of an aggregation, and of a consolidator with options as in ``rules:max_spans=5``.
    score
        ``aggregate`` to aggregate the seats' scores; ``from-spans`` to compute the score from
        the consolidated spans, with options as in ``from-spans:by=error,rest=0.5``.
    consolidate_model
        The consolidator's model, if it uses one, also by the name of one of `models`; by default
        the first of them.
    seed
        For every judge that takes a seed and has none.
    calibration
        A file that ``spanjury calibrate`` made for this panel; in a panel file, its path is
        relative to the folder of that file.
    cascade
        Stages in which the seats are asked; None to ask all at once.
    families
        Family -> words in its models' names, in addition to the known ones; they only affect
        warnings.
    processes
        Processes for judges that use no model; 0 to use threads of this process.
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
    processes: int = 0

    def __post_init__(self) -> None:
        check_field_types(self)
        if self.processes < 0:
            raise ConfigError(f"processes must be 0 or more, got {self.processes!r}")

    def with_workers(self, workers: int | Literal["auto"] | None) -> "PanelConfig":
        """Return the panel with so many processes, or one per core; None changes nothing.

        Raise `ConfigError` if `workers` is negative.
        """
        if workers is None:
            return self
        processes = (os.cpu_count() or 1) if workers == "auto" else workers
        if processes < 0:
            raise ConfigError(f"workers must be 0 or more, got {workers!r}")
        return replace(self, processes=processes)

    @property
    def seats_or_default(self) -> tuple[SeatConfig, ...]:
        """The seats, or the default seats if none are named."""
        if self.seats:
            return tuple(map(_with_own_judge, self.seats))
        names = ("annotator",) if self.models else ("grounding", READER, "form")
        return tuple(SeatConfig(judge=name) for name in names)

    @property
    def agent_seats(self) -> tuple[SeatConfig, ...]:
        """The additional seats of a default panel for trajectories of agents."""
        return () if self.seats or self.models else (SeatConfig(judge="calls"),)

    def configured(self, model: ModelConfig | str) -> ModelConfig:
        """Return a seat's or the consolidator's model; a name may be that of one of `models`."""
        given = ModelConfig.of(model)
        declared = (each for each in map(ModelConfig.of, self.models) if each.name == model)
        return next(declared, given)

    @property
    def is_fitted(self) -> bool:
        """True if it has a calibration, or a cascade."""
        return self.calibration is not None or self.cascade is not None

    @property
    def connections(self) -> int:
        """The most concurrent calls to one model."""
        each = (
            len(model.base_urls) * model.options.max_connections for model in self._named_models
        )
        return max(each, default=_USUAL.max_connections)

    @property
    def uses_gpu(self) -> bool:
        """True if vLLM runs one of its models in this process."""
        return any(model.name.startswith(f"{VLLM}/") for model in self._named_models)

    @property
    def _named_models(self) -> tuple[ModelConfig, ...]:
        named = (*self.models, *(seat.model for seat in self.seats), self.consolidate_model)
        return tuple(self.configured(model) for model in named if model is not None)

    @property
    def workers(self) -> int:
        """The number of concurrent assessments that keeps every model and process busy."""
        return 2 * max(self.connections, self.processes)


def _with_own_judge(seat: SeatConfig) -> SeatConfig:
    """Return a seat of the checker `reader` as a seat of the judge `reader`."""
    if seat.judge != CHECKER or seat.options.get(KIND) != READER:
        return seat
    options = {name: option for name, option in seat.options.items() if name != KIND}
    return replace(seat, judge=READER, options=options)
