"""A panel that is held: opened in one place, closed in another, and shared meanwhile."""

from collections.abc import Generator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, fields
from types import TracebackType

from anyio import CancelScope, Event

from spanjury.judges.core import Aspect, ClosedModelError, PanelReport, Segment
from spanjury.judges.tasks import Catalogue
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.services.judging.likely_task import likely_task
from spanjury.orchestration.wiring.config import PanelConfig
from spanjury.orchestration.wiring.panels import open_configured_panel


@dataclass(slots=True)
class _Life:
    """The models of a panel while it is open, and the number of assessments under way."""

    models: AsyncExitStack
    is_closed: bool = False
    under_way: int = 0
    idle: Event | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldPanel(Panel):
    """A panel that knows whether it is open.

    It takes no new assessment once it is being closed; those under way come to their end first.
    """

    life: _Life = field(repr=False, compare=False)

    async def assess(self, segment: Segment, aspect: Aspect | str) -> PanelReport:
        """Return the panel's report on an aspect, which may be named.

        A name is of the segment's task, or of that which `likely_task` says. Raise
        `ClosedModelError` if the panel is closed, and `ConfigError` if there is no such aspect.
        """
        life = self.life
        if life.is_closed:
            raise ClosedModelError("a text comes after its panel was closed: open another")
        named = _named(segment, aspect) if isinstance(aspect, str) else aspect
        life.under_way += 1
        try:
            return await Panel.assess(self, segment, named)
        finally:
            life.under_way -= 1
            if life.idle is not None and not life.under_way:
                life.idle.set()

    async def aclose(self) -> None:
        """Wait for the assessments under way, and close the models; a second call does nothing.

        Whoever does not want to wait cancels what is under way first.
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
    """A panel about to be opened: entered with ``async with``, or awaited and then held."""

    def __init__(self, config: PanelConfig) -> None:
        self._config = config
        self._panel: HeldPanel | None = None

    def __await__(self) -> Generator[object, None, HeldPanel]:
        """Open the panel, which is open until its `HeldPanel.aclose`."""
        return self._opened().__await__()

    async def __aenter__(self) -> HeldPanel:
        """Open the panel."""
        self._panel = await self._opened()
        return self._panel

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the panel."""
        del kind, error, trace
        if self._panel is not None:
            await self._panel.aclose()

    async def _opened(self) -> HeldPanel:
        async with AsyncExitStack() as opening:
            panel = await opening.enter_async_context(open_configured_panel(self._config))
            life = _Life(models=opening.pop_all())
        parts = {part.name: getattr(panel, part.name) for part in fields(Panel) if part.init}
        return HeldPanel(**parts, life=life)


def _named(segment: Segment, aspect: str) -> Aspect:
    catalogue = Catalogue.load()
    headers = segment.inputs.keys()
    task = segment.task or likely_task(catalogue, [aspect], headers=headers)
    return catalogue.aspect(task, aspect)
