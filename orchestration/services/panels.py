"""Panels and texts by name: open a panel, find an aspect, read a file of segments."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from spanjury.judges.core import Aspect, Judge, Segment
from spanjury.judges.tasks import Catalogue
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.wiring.config import (
    ModelConfig,
    PanelConfig,
    SeatConfig,
    parse_seat,
    read_panel_file,
)
from spanjury.orchestration.wiring.panels import open_configured_panel
from spanjury.orchestration.wiring.sources import open_source


def open_panel(
    panel: PanelConfig | Path | str | None = None,
    *,
    judges: Sequence[str | Judge | SeatConfig] = (),
    models: Sequence[str | ModelConfig] = (),
    aggregate: str = "mean",
    consolidate: str = "rules",
    score: str = "aggregate",
    seed: int | None = None,
) -> AbstractAsyncContextManager[Panel]:
    """Open a panel of judges for ``async with``; its models close with it.

    Parameters
    ----------
    panel
        A whole panel, or the TOML file that describes one; then nothing else is given.
    judges
        Names of judges, with options as in ``"annotator:max_tokens=512"``, or judges of
        your own. Without any: an annotator a model, or without models the offline judges.
    models
        Names of models for the judges that ask one, as ``"ollama/gemma2:27b"``.
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
            report = await panel.assess(segment, find_aspect("summarization", "fluency"))
    """
    if isinstance(panel, PanelConfig):
        return open_configured_panel(panel)
    if panel is not None:
        return open_configured_panel(read_panel_file(Path(panel)))
    config = PanelConfig(
        seats=tuple(_seat(judge) for judge in judges),
        models=tuple(models),
        aggregate=aggregate,
        consolidate=consolidate,
        score=score,
        seed=seed,
    )
    return open_configured_panel(config)


def find_aspect(task: str, aspect: str, *, files: Sequence[Path] = ()) -> Aspect:
    """Return an aspect by name; raise `ConfigError` with the choices if there is none.

    `files` are TOML files that add tasks and aspects to those that come with spanjury.
    """
    return Catalogue.load(*files).aspect(task, aspect)


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
