"""The settings of the service; only its operator can change them, never a request."""

from dataclasses import dataclass, field
from pathlib import Path

from spanjury.orchestration.servers.http.limits import ServiceLimits
from spanjury.orchestration.servers.tokens import Tokens
from spanjury.orchestration.services.serving.batches.batch import BatchPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceSettings:
    """The settings of a service: its address, its clients, and its panels.

    Requests name the panels of `batches`; one is called ``default``. Without `tokens`, only this
    machine may connect. `state` is the folder of the batches. At `health_port`, only health checks
    are answered; None opens no such port.
    """

    batches: BatchPlan
    state: Path
    host: str = "127.0.0.1"
    port: int = 8765
    health_port: int | None = None
    tokens: Tokens = field(default_factory=Tokens)
    limits: ServiceLimits = field(default_factory=ServiceLimits)

    @property
    def processes(self) -> int:
        """The number of processes that answer checks: the largest number that any panel names."""
        return max([1, *(panel.processes for panel in self.batches.panels.values())])
