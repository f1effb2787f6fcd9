"""The settings of the service, all of them its operator's: no request can change one."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

from spanjury.orchestration.servers.tokens import Tokens
from spanjury.orchestration.services.serving.batches.batch import BatchPlan
from spanjury.orchestration.wiring.config import PanelConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceLimits:
    """The bounds of what clients may ask for at once.

    Parameters
    ----------
    body, batch_body, row
        Bytes of a request, of a batch, and of one row of it.
    output, source
        Characters of a text that is judged, and of all texts that it is compared with.
    rows
        Rows of a batch.
    checks
        Checks under way at once; another waits.
    check_wait
        Longest time that a check may have to wait, as far as is known; else it is refused with 429.
    connections
        Connections at once; another is refused with 503, unless one gives way to it.
    check_seconds, body_seconds, batch_body_seconds, head_seconds
        Longest time of a check, and for a request's body, a batch's and a head to arrive.
    drain_seconds
        Longest time that checks under way may take once the service is to end.
    """

    body: int = 2**22
    batch_body: int = 2**28
    row: int = 2**22
    output: int = 100_000
    source: int = 1_000_000
    rows: int = 100_000
    checks: int = 100
    check_wait: float = 10.0
    connections: int = 1_000
    check_seconds: float = 300.0
    body_seconds: float = 20.0
    batch_body_seconds: float = 600.0
    head_seconds: float = 10.0
    drain_seconds: float = 30.0

    def of_one(self, processes: int) -> Self:
        """Return the bounds of one of so many processes, which share connections and checks."""
        return replace(
            self,
            checks=math.ceil(self.checks / processes),
            connections=math.ceil(self.connections / processes),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceSettings:
    """The service: where it listens, to whom, and which panels it has.

    Parameters
    ----------
    panels
        Panels by the names that requests may say; one is called ``default``.
    aspects_files
        TOML files that add tasks and aspects.
    tokens
        Those of its clients; without any, only this machine is listened to.
    state
        Folder of the batches.
    batches
        The bounds of their work.
    health_port
        Port of a listener for health alone; None for none.
    """

    panels: Mapping[str, PanelConfig]
    batches: BatchPlan
    state: Path
    aspects_files: tuple[Path, ...] = ()
    host: str = "127.0.0.1"
    port: int = 8765
    health_port: int | None = None
    tokens: Tokens = field(default_factory=Tokens)
    limits: ServiceLimits = ServiceLimits()

    @property
    def processes(self) -> int:
        """Processes that answer checks: as many as the panel with the most has for its judges."""
        return max(1, max((panel.processes for panel in self.panels.values()), default=1))
