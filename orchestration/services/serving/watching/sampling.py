"""Sampling: choose the traces of live traffic to judge."""

import re
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

from spanjury.judges.core import ConfigError
from spanjury.orchestration.wiring.traffic import Trace

Fact = Literal["errors", "length", "seconds"]

_RULE = re.compile(
    r"(?P<fact>length|seconds)\s*>\s*(?P<most>[0-9]+(?:\.[0-9]+)?)|(?P<errors>errors)"
)
_RANGE = 2.0**64  # of the 8 bytes of the hash


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Traces that are always judged: those with an error, or longer than `most` in text or time."""

    fact: Fact
    most: float = 0.0

    def holds(self, trace: Trace) -> bool:
        """Return whether the rule applies to `trace`."""
        if self.fact == "errors":
            return trace.failed
        if self.fact == "seconds":
            return trace.seconds > self.most
        return len(trace.segment.output) > self.most


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """A share of all traces, and all traces of some kinds.

    The share is chosen by the traces' ids, so that every process chooses the same traces.

    Raises `ConfigError` if the share is not within 0 and 1.
    """

    rate: float = 1.0
    always: tuple[Rule, ...] = ()

    def __post_init__(self) -> None:
        if not 0 <= self.rate <= 1:
            raise ConfigError(f"a sample is a share, 0 to 1, got {self.rate!r}")

    def chooses(self, trace: Trace) -> bool:
        """Return whether `trace` is judged."""
        if self.rate >= 1 or any(rule.holds(trace) for rule in self.always):
            return True
        drawn = int.from_bytes(sha256(trace.trace_id.encode()).digest()[:8], "big")
        return drawn < self.rate * _RANGE


def parse_rule(text: str) -> Rule:
    """Parse a rule from a flag: ``errors``, ``length>2000`` or ``seconds>30``.

    Raise `ConfigError` if it has another form.

    Examples
    --------
    >>> parse_rule("length>2000")
    Rule(fact='length', most=2000.0)
    """
    match = _RULE.fullmatch(text.strip())
    if match is None:
        raise ConfigError(
            f"{text!r}: expected errors, length>CHARACTERS or seconds>SECONDS, in quotes"
        )
    if match["errors"]:
        return Rule(fact="errors")
    fact: Fact = "length" if match["fact"] == "length" else "seconds"
    return Rule(fact=fact, most=float(match["most"]))
