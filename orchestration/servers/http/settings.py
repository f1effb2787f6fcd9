"""The settings of the service; only its operator can change them, never a request."""

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
    """The limits of requests and of the service's capacity.

    Parameters
    ----------
    body, batch_body, row
        Bytes of a request, of a batch, and of one row of it.
    output, source
        Characters of a judged text, and of all texts that it is compared with.
    rows
        Rows of a batch.
    checks
        Most concurrent checks; further ones wait.
    check_wait
        Longest expected wait of a check; beyond it a check is refused with 429.
    connections
        Most connections; a further one is refused with 503, unless it can replace another.
    check_seconds, body_seconds, batch_body_seconds, head_seconds
        Longest time of a check, and for the body of a request, that of a batch, and a head to
        arrive.
    drain_seconds
        Longest time for checks under way to finish once the service should end.
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
        """Return the limits of one of `processes`, which share connections and checks."""
        return replace(
            self,
            checks=math.ceil(self.checks / processes),
            connections=math.ceil(self.connections / processes),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceSettings:
    """The settings of a service: its address, its clients, and its panels.

    Parameters
    ----------
    panels
        Panels by the names that requests use; one is called ``default``.
    aspects_files
        TOML files that add tasks and aspects.
    tokens
        Those of its clients; without any, only this machine may connect.
    state
        Folder of the batches.
    batches
        The limits of their work.
    health_port
        Port of a listener for health checks only; None to open none.
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
        """The number of processes that answer checks: the largest number that any panel names."""
        return max(1, max((panel.processes for panel in self.panels.values()), default=1))
