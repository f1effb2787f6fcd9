"""Gates: what a judge's measures must reach."""

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from spanjury.judges.core import ConfigError
from spanjury.orchestration.experiments.card.measure import Measure

__all__ = ["Gate", "parse_gate"]

_RELATIONS: Mapping[str, Callable[[float, float], bool]] = MappingProxyType(
    {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}
)
_GATE = re.compile(
    r"\s*(?P<name>[\w.-]+)\s*(?P<relation>>=|<=|>|<)\s*(?P<bound>[-+]?(?:\d+\.?\d*|\.\d+))\s*"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """One demand on a measure.

    Parameters
    ----------
    name
        Of the measure.
    relation
        ``>=``, ``<=``, ``>`` or ``<``.
    bound
        What it is compared with.
    """

    name: str
    relation: str
    bound: float

    def __str__(self) -> str:
        return f"{self.name} {self.relation} {self.bound:g}"

    def is_passed(self, measures: Mapping[str, Sequence[Measure]]) -> bool:
        """Say whether the measure is as demanded in every exam that tells it.

        One that is not defined never is.

        Raises
        ------
        ConfigError
            If there is no such measure; the message lists those that there are.
        """
        if self.name not in measures:
            raise ConfigError(f"no exam tells {self.name!r}; there are {', '.join(measures)}")
        holds = _RELATIONS[self.relation]
        return all(
            told.value is not None and holds(told.value, self.bound) for told in measures[self.name]
        )


def parse_gate(text: str) -> Gate:
    """Read a demand.

    Raises
    ------
    ConfigError
        If it is none.

    Examples
    --------
    >>> gate = parse_gate("retest.moved <= .1")
    >>> gate.name, gate.relation, gate.bound
    ('retest.moved', '<=', 0.1)
    """
    found = _GATE.fullmatch(text)
    if not found:
        raise ConfigError(f"a demand is MEASURE>=NUMBER (or <=, >, <), not {text!r}")
    return Gate(name=found["name"], relation=found["relation"], bound=float(found["bound"]))
