"""The policy by which a run that fails is held up, and ended."""

import math
from dataclasses import dataclass

from spanjury.judges.core import ConfigError

__all__ = ["LONGEST_OUTAGE", "FailurePolicy"]

LONGEST_OUTAGE = 60.0
"""Seconds for which a run waits for a model that does not answer, if nothing else is said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailurePolicy:
    """The measures of a run against models that cannot be used or do not answer.

    Parameters
    ----------
    preflight
        Each model answers one small call before anything else is asked of it.
    max_outage
        Seconds for which calls wait for a model that does not answer; 0 to end the run at once.

    Raises
    ------
    ConfigError
        If the outage is negative or has no end.
    """

    preflight: bool = True
    max_outage: float = LONGEST_OUTAGE

    def __post_init__(self) -> None:
        if not 0 <= self.max_outage < math.inf:
            raise ConfigError(f"max_outage must be 0 or more seconds, got {self.max_outage!r}")
