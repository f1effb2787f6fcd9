"""Panels and texts by name: open a panel, find an aspect, read a file of segments."""

from collections.abc import Collection, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, nullcontext
from dataclasses import dataclass, field, fields, replace
from os import PathLike
from pathlib import Path

from anyio import CancelScope, Event

from spanjury.judges.core import (
    Aspect,
    ClosedModelError,
    ConfigError,
    Judge,
    PanelReport,
    Segment,
    check_arguments,
    repeatable,
)
from spanjury.judges.tasks import Catalogue, is_criterion
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.wiring.config import ModelConfig, PanelConfig, SeatConfig
from spanjury.orchestration.wiring.panel_files import read_panel_file
from spanjury.orchestration.wiring.panels import open_configured_panel
from spanjury.orchestration.wiring.sources import open_source, readable
from spanjury.orchestration.wiring.specs import parse_seat

Judges = str | Judge | SeatConfig | Sequence[str | Judge | SeatConfig]
Models = str | ModelConfig | Sequence[str | ModelConfig]


@dataclass(slots=True)
class _Life:
    """The models of a panel while it is open, and the number of assessments under way."""

    models: AsyncExitStack
    is_closed: bool = False
    under_way: int = 0
    idle: Event | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedPanel(Panel):
    """A panel that `open_panel` has opened; all tasks of its event loop can share it.

    It accepts no new assessment once `aclose` is called; assessments under way finish first.
    """

    life: _Life = field(repr=False, compare=False)

    async def assess(self, segment: Segment, aspect: Aspect | str) -> PanelReport:
        """Return the panel's report on an aspect, which may be named.

        A named aspect belongs to the segment's task, or to the one that `Catalogue.likely_task`
        infers. Raise `ClosedModelError` if the panel is closed, and `ConfigError` if there is no
        such aspect, or `segment` is none.
        """
        check_arguments(OpenedPanel.assess, locals())
        life = self.life
        if life.is_closed:
            raise ClosedModelError("the panel is closed: open a new one")
        if isinstance(aspect, str):
            catalogue, inputs = Catalogue.load(), segment.inputs
            task = segment.task or catalogue.likely_task(
                [aspect], inputs=inputs, output=segment.output
            )
            aspect = catalogue.aspect(task, aspect)
        life.under_way += 1
        try:
            return await Panel.assess(self, segment, aspect)
        finally:
            life.under_way -= 1
            if life.idle is not None and not life.under_way:
                life.idle.set()

    async def aclose(self) -> None:
        """Wait for the assessments under way, and close the models; a second call does nothing.

        To close without waiting, cancel the assessments first.
        """
        life = self.life
        if life.is_closed:
            return
        life.is_closed = True
        try:
            if life.under_way:
                life.idle = Event()
                await life.idle.wait()
        finally:
            with CancelScope(shield=True):
                await life.models.aclose()


class PanelOpening:
    """A panel to be opened: entered with ``async with``, or awaited and closed by the caller."""

    def __init__(self, config: PanelConfig) -> None:
        self._config = config
        self._panel: OpenedPanel | None = None

    def __await__(self) -> Generator[object, None, OpenedPanel]:
        """Open the panel; the caller must call `OpenedPanel.aclose`."""
        return self._opened().__await__()

    async def __aenter__(self) -> OpenedPanel:
        """Open the panel."""
        self._panel = await self._opened()
        return self._panel

    async def __aexit__(self, *_: object) -> None:
        """Close the panel."""
        if self._panel is not None:
            await self._panel.aclose()

    async def _opened(self) -> OpenedPanel:
        async with AsyncExitStack() as opening:
            panel = await opening.enter_async_context(open_configured_panel(self._config))
            life = _Life(models=opening.pop_all())
        parts = {part.name: getattr(panel, part.name) for part in fields(Panel) if part.init}
        return OpenedPanel(**parts, life=life)


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
    """Open a panel of judges, with ``async with`` or by ``await``, to be closed later.

    Tasks of one event loop may share it.

    Parameters
    ----------
    panel
        A whole panel, or the TOML file that describes one, or ``"best"`` for the default panel with
        the best checker on this machine, ``"tuned"`` with the tuned model. No other parameter may
        then be set.
    judges
        Names of judges, with options as in ``"annotator:max_tokens=512"``, or your own judges; one
        or several. By default: an annotator for each model, or the offline judges if there is no
        model.
    models
        Name of a model for the judges that use one, as ``"ollama/gemma2:27b"``, or several.
    aggregate, consolidate
        Name of an aggregation, and of a consolidator with options as in ``rules:max_spans=5``.
    score
        ``aggregate``, or ``from-spans`` for a score computed from the consolidated spans.
    seed
        For judges that use random numbers.

    Raises
    ------
    ConfigError
        On entering, if a name is unknown or parameters contradict each other.

    Examples
    --------
    ::

        async with open_panel() as panel:
            report = await panel.assess(segment, find_aspect("fluency"))

        panel = await open_panel(models=["ollama/gemma2:27b"])  # held: by a service, say
        ...
        await panel.aclose()
    """
    config = panel_config(panel, judges=judges, models=models)
    if panel is None:
        config = replace(
            config, aggregate=aggregate, consolidate=consolidate, score=score, seed=seed
        )
    return PanelOpening(config)


def entered(
    panel: Panel | PanelConfig | Path | str | None, *, judges: Judges, models: Models
) -> AbstractAsyncContextManager[Panel]:
    """Return a panel to enter: an open one, which stays open, or one that `open_panel` opens.

    Raise the errors of `open_panel`, and `ConfigError` if judges or models are named for an open
    panel.
    """
    if not isinstance(panel, Panel):
        return open_panel(panel, judges=judges, models=models)
    if judges or models:
        raise ConfigError(
            "an open panel has its own judges and models: name no others, or open a panel with them"
        )
    return nullcontext(panel)


def require_model(
    aspects: Iterable[str],
    *,
    panel: Panel | PanelConfig | Path | str | None,
    judges: Judges,
    models: Models,
) -> None:
    """Raise `ConfigError` if a criterion is among `aspects` and only offline judges would judge."""
    if panel is None and not (judges or models) and any(map(is_criterion, aspects)):
        raise ConfigError("only a model can judge a criterion: pass models=[NAME]")


def panel_config(
    panel: PanelConfig | Path | str | None = None, *, judges: Judges = (), models: Models = ()
) -> PanelConfig:
    """Return the configuration of a panel; `open_panel` explains the parameters.

    Raises
    ------
    ConfigError
        If the panel file cannot be read, a judge's options are invalid, a panel is combined with
        judges or models, or one of them has another type.
    """
    if isinstance(panel, Panel):
        raise ConfigError(
            "an open panel cannot be used here, since the texts are judged in another event loop:"
            " pass the PanelConfig or the path of a panel file"
        )
    judges, models = repeatable(judges), repeatable(models)
    check_arguments(panel_config, locals())
    if isinstance(judges, str | SeatConfig | Judge) or not isinstance(judges, Collection):
        judges = (judges,)
    asked = (models,) if isinstance(models, str | ModelConfig) else tuple(models)
    if panel is not None and (judges or asked):
        raise ConfigError(
            "a panel has its own judges and models: name no others, or describe all of them by a"
            " PanelConfig or in the panel file"
        )
    if isinstance(panel, PanelConfig):
        return panel
    if isinstance(panel, str | PathLike):
        return read_panel_file(Path(panel))
    return PanelConfig(seats=tuple(map(_seat, judges)), models=asked)


def find_aspect(name: str, aspect: str | None = None, *, files: Sequence[Path] = ()) -> Aspect:
    """Return an aspect by name.

    Parameters
    ----------
    name, aspect
        Names of its task and of the aspect; or of the aspect alone, for the task that
        `Catalogue.likely_task` infers.
    files
        TOML files that add tasks and aspects to the built-in ones.

    Raises
    ------
    ConfigError
        If there is no such aspect, or several tasks have one of this name; lists the choices.

    Examples
    --------
    >>> find_aspect("consistency") == find_aspect("summarization", "consistency")
    True
    """
    check_arguments(find_aspect, locals())
    catalogue = Catalogue.load(*files)
    if aspect is None:
        return catalogue.aspect(catalogue.likely_task([name]), name)
    return catalogue.aspect(name, aspect)


def read_segments(
    path: Path | str, *, columns: Sequence[str] = (), limits: Sequence[str] = ()
) -> Iterator[Segment]:
    """Read the segments of a file row by row.

    Parameters
    ----------
    path
        JSONL, CSV or TSV, or a format that a plugin reads.
    columns
        Names of the columns that differ from the standard ones, as ``"output=summary"`` or
        ``"inputs.Article=text"``.
    limits
        Size limits that differ from the defaults, as ``"row=200MB"``.

    Raises
    ------
    ConfigError
        If `columns` or `limits` have another form.
    DataError
        At once if the file cannot be read, and at the first unreadable row.
    """
    check_arguments(read_segments, locals())
    yield from readable(open_source(Path(path), columns=columns, limits=limits))


def _seat(judge: str | Judge | SeatConfig) -> SeatConfig:
    if isinstance(judge, SeatConfig):
        return judge
    return parse_seat(judge) if isinstance(judge, str) else SeatConfig(judge=judge)
