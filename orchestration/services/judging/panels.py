"""Panels and texts by name: open a panel, find an aspect, read a file of segments."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from spanjury.judges.core import Aspect, ConfigError, Judge, Segment
from spanjury.judges.tasks import Catalogue
from spanjury.orchestration.services.judging.held_panel import PanelOpening
from spanjury.orchestration.services.judging.likely_task import likely_task
from spanjury.orchestration.wiring.config import ModelConfig, PanelConfig, SeatConfig
from spanjury.orchestration.wiring.panel_files import read_panel_file
from spanjury.orchestration.wiring.sources import open_source
from spanjury.orchestration.wiring.specs import parse_seat

Judges = str | Judge | SeatConfig | Sequence[str | Judge | SeatConfig]
Models = str | ModelConfig | Sequence[str | ModelConfig]


def open_panel(
    panel: PanelConfig | Path | str | None = None,
    *,
    judges: Judges = (),
    models: Models = (),
    aggregate: str = "mean",
    consolidate: str = "rules",
    score: str = "aggregate",
    seed: int | None = None,
) -> PanelOpening:
    """Open a panel of judges, with ``async with`` or to be held until it is closed.

    Tasks of one event loop may share it.

    Parameters
    ----------
    panel
        A whole panel, or the TOML file that describes one; then nothing else is given.
    judges
        Names of judges, with options as in ``"annotator:max_tokens=512"``, or judges of
        your own; one or several. Without any: an annotator a model, or without models the
        offline judges.
    models
        Name of a model for the judges that ask one, as ``"ollama/gemma2:27b"``, or several.
    aggregate, consolidate
        Name of an aggregation, and of a consolidator with options as in ``rules:max_spans=5``.
    score
        ``aggregate``, or ``from-spans`` for a score that follows from the consolidated spans.
    seed
        For the judges that draw anything at random.

    Raises
    ------
    ConfigError
        On entering, if a name is unknown or something does not fit together.

    Examples
    --------
    ::

        async with open_panel() as panel:
            report = await panel.assess(segment, find_aspect("fluency"))

        panel = await open_panel(models=["ollama/gemma2:27b"])  # held: by a service, say
        ...
        await panel.aclose()
    """
    config = panel_config(
        panel,
        judges=judges,
        models=models,
        aggregate=aggregate,
        consolidate=consolidate,
        score=score,
        seed=seed,
    )
    return PanelOpening(config)


def panel_config(
    panel: PanelConfig | Path | str | None = None,
    *,
    judges: Judges = (),
    models: Models = (),
    aggregate: str = "mean",
    consolidate: str = "rules",
    score: str = "aggregate",
    seed: int | None = None,
) -> PanelConfig:
    """Return the description of a panel; `open_panel` explains the parameters.

    Raises
    ------
    ConfigError
        If the panel file cannot be read, a judge's name has no valid options, or a panel and
        judges or models are named.
    """
    seats = (judges,) if isinstance(judges, str | SeatConfig | Judge) else tuple(judges)
    asked = (models,) if isinstance(models, str | ModelConfig) else tuple(models)
    if panel is not None and (seats or asked):
        raise ConfigError("a panel has its judges and models: name no others")
    if isinstance(panel, PanelConfig):
        return panel
    if panel is not None:
        return read_panel_file(Path(panel))
    return PanelConfig(
        seats=tuple(map(_seat, seats)),
        models=asked,
        aggregate=aggregate,
        consolidate=consolidate,
        score=score,
        seed=seed,
    )


def find_aspect(name: str, aspect: str | None = None, *, files: Sequence[Path] = ()) -> Aspect:
    """Return an aspect by name.

    Parameters
    ----------
    name, aspect
        Of its task and of the aspect; or the aspect's alone, whose task is then that which
        `likely_task` says.
    files
        TOML files that add tasks and aspects to those that come with spanjury.

    Raises
    ------
    ConfigError
        With the choices, if there is none, or several tasks have one of this name.

    Examples
    --------
    >>> find_aspect("consistency") == find_aspect("summarization", "consistency")
    True
    """
    catalogue = Catalogue.load(*files)
    if aspect is None:
        return catalogue.aspect(likely_task(catalogue, [name]), name)
    return catalogue.aspect(name, aspect)


def read_segments(
    path: Path | str, *, columns: Sequence[str] = (), limits: Sequence[str] = ()
) -> Iterator[Segment]:
    """Read the segments of a file row by row.

    Parameters
    ----------
    path
        JSONL, CSV or TSV, or what a plugin reads.
    columns
        What its columns are called where it is not what we call them, as
        ``"output=summary"`` or ``"inputs.Article=text"``.
    limits
        How much it may hold, where that is more or less than usual, as ``"row=200MB"``.

    Raises
    ------
    ConfigError
        If `columns` or `limits` are not of this form.
    DataError
        At once if the file cannot be read, and at the first row that cannot.
    """
    for row in open_source(Path(path), columns=columns, limits=limits):
        if not isinstance(row, Segment):
            raise row
        yield row


def _seat(judge: str | Judge | SeatConfig) -> SeatConfig:
    if isinstance(judge, SeatConfig):
        return judge
    return parse_seat(judge) if isinstance(judge, str) else SeatConfig(judge=judge)
