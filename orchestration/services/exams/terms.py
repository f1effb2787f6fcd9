"""The terms of an exam as Python gives them: panels and names become those of a job."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from spanjury.judges.core import Aspect
from spanjury.orchestration.report.files import make_folder
from spanjury.orchestration.services.judging.panels import Judges, Models, panel_config
from spanjury.orchestration.wiring.config import ModelConfig, PanelConfig

PanelSource = PanelConfig | Path | str
"""A whole panel, or the TOML file that describes one, in place of judges and models."""
Aspects = str | Aspect | Sequence[str | Aspect]
Paths = Path | str | Sequence[Path | str]


def panel_of(
    panel: PanelSource | None = None,
    *,
    judges: Judges = (),
    models: Models = (),
    seed: int | None = None,
) -> PanelConfig:
    """Return the description of a panel; without any part it is that of the offline judges.

    Raise `ConfigError` if a panel and judges or models are named, or a panel file cannot be read.
    """
    described = panel_config(panel, judges=judges, models=models)
    return described if seed is None else replace(described, seed=seed)


def aspects_of(aspects: Aspects) -> tuple[str | Aspect, ...]:
    """Return one aspect or several as several."""
    return (aspects,) if isinstance(aspects, str | Aspect) else tuple(aspects)


def names_of(names: str | Sequence[str]) -> tuple[str, ...]:
    """Return one name or several as several."""
    return (names,) if isinstance(names, str) else tuple(names)


def model_of(
    model: str | ModelConfig | None, *, base_url: tuple[str, ...] = ()
) -> ModelConfig | None:
    """Return a model that is named, with the addresses of its server, or described."""
    if isinstance(model, str):
        return ModelConfig(name=model, base_url=base_url or None)
    return model


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


def path_of(path: Path | str | None) -> Path | None:
    """Return a path, if there is one."""
    return None if path is None else Path(path)
