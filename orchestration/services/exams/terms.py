"""The terms of an exam as Python gives them: texts, panels and names become those of a job."""

from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import replace
from functools import partial, wraps
from pathlib import Path
from typing import ParamSpec, TypeVar

from spanjury.judges.core import Aspect, ConfigError, Judge, Result, Segment
from spanjury.orchestration.report.files import make_folder
from spanjury.orchestration.services.exam_texts import Texts
from spanjury.orchestration.services.synchronous import run_synchronously
from spanjury.orchestration.wiring.config import (
    ModelConfig,
    PanelConfig,
    SeatConfig,
    parse_seat,
    read_panel_file,
)

P = ParamSpec("P")
T = TypeVar("T")

Data = Path | str | Iterable[Segment]
"""A file of texts, or texts in memory."""
PanelSource = PanelConfig | Path | str
"""A whole panel, the TOML file that describes one, in place of judges and models."""
Judges = str | Judge | SeatConfig | Sequence[str | Judge | SeatConfig]
Models = str | ModelConfig | Sequence[str | ModelConfig]
Aspects = str | Aspect | Sequence[str | Aspect]
Paths = Path | str | Sequence[Path | str]


def texts_of(data: Data) -> Path | Texts:
    """Return a file of texts as its path, and texts in memory as they stand for a file.

    Raise `DataError` as `Texts` does.
    """
    return Path(data) if isinstance(data, Path | str) else Texts(segments=tuple(data))


def panel_of(
    panel: PanelSource | None = None,
    *,
    judges: Judges = (),
    models: Models = (),
    seed: int | None = None,
) -> PanelConfig:
    """Return a panel of names; without any it is that of the offline judges.

    Raise `ConfigError` if a panel and judges or models are named, or a panel file cannot be read.
    """
    seats = (judges,) if isinstance(judges, str | SeatConfig | Judge) else tuple(judges)
    asked = (models,) if isinstance(models, str | ModelConfig) else tuple(models)
    if panel is not None and (seats or asked):
        raise ConfigError("a panel names judges and models: name no others")
    if panel is None:
        made = PanelConfig(seats=tuple(map(_seat, seats)), models=asked)
    else:
        made = panel if isinstance(panel, PanelConfig) else read_panel_file(Path(panel))
    return made if seed is None else replace(made, seed=seed)


def aspects_of(aspects: Aspects) -> tuple[str | Aspect, ...]:
    """Return one aspect or several as several."""
    return (aspects,) if isinstance(aspects, str | Aspect) else tuple(aspects)


def model_of(model: str | ModelConfig | None) -> ModelConfig | None:
    """Return a model that is named or described."""
    return ModelConfig(name=model) if isinstance(model, str) else model


def memory_of(memory: Path | str | None) -> Path | None:
    """Return the file of a memory, whose folder is made.

    Raise `StoreError` if it cannot be made.
    """
    if memory is None:
        return None
    make_folder(Path(memory).parent)
    return Path(memory)


def paths_of(paths: Paths) -> tuple[Path, ...]:
    """Return one path or several as several, each once."""
    named = (paths,) if isinstance(paths, Path | str) else paths
    return tuple(dict.fromkeys(map(Path, named)))


def ignore(result: Result) -> None:
    """Do nothing with a result."""
    del result


def synchronous(work: Callable[P, Coroutine[object, object, T]]) -> Callable[P, T]:
    """Return `work` for code that is not asynchronous, under its name without the leading ``a``.

    It runs an event loop of its own, also where one runs already.
    """

    @wraps(work)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        return run_synchronously(partial(work, *args, **kwargs))

    run.__name__ = run.__qualname__ = work.__name__.removeprefix("a")
    return run


def _seat(judge: str | Judge | SeatConfig) -> SeatConfig:
    if isinstance(judge, SeatConfig):
        return judge
    return parse_seat(judge) if isinstance(judge, str) else SeatConfig(judge=judge)
