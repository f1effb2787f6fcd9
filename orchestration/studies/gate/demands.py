"""Demands: what a distilled judge's measures must reach, in numbers or beside its base's."""

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from spanjury.judges.core import ConfigError
from spanjury.orchestration.studies.card import Gate, Measure
from spanjury.orchestration.studies.card_page import number

__all__ = ["OverBase", "Verdict", "verdicts"]

Told = Mapping[str, Sequence[Measure]]
"""Name -> what each exam that tells it says of a measure."""

_LESS_IS_BETTER = (
    "severity.apart",
    "score.error",
    "retest.moved",
    "invariance.moved",
    "bias.moved",
    "faithfulness.against",
    "faithfulness.null_adjusted_against",
    "faithfulness.null_moved",
    "robustness.attack_success",
    "robustness.net_success",
    "robustness.weakest_seat",
    "robustness.repeat",
    "robustness.plain-addition",
    "robustness.denied",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OverBase:
    """A measure that must be better than the base's: higher, or lower where less is better.

    Where the base's is not defined, as without a readable report, it must be above 0, or
    defined where less is better.
    """

    name: str

    @property
    def less_is_better(self) -> bool:
        """Whether less is better, in a group of examples as well."""
        return any(self.name == one or self.name.startswith(f"{one}.") for one in _LESS_IS_BETTER)

    def result(self, distilled: Told, base: Told) -> "Verdict":
        """Hold the two against each other; raise `ConfigError` if one has no such measure."""
        for told in (distilled, base):
            if self.name not in told:
                raise ConfigError(f"no exam tells {self.name!r}; there are {', '.join(told)}")
        value, bound = distilled[self.name][0].value, base[self.name][0].value
        if bound is None:
            met = value is not None and (self.less_is_better or value > 0)
            relation = (
                ", which the base has not" if self.less_is_better else " > 0, as the base has none"
            )
        else:
            better = operator.lt if self.less_is_better else operator.gt
            met = value is not None and better(value, bound)
            relation = f" {'<' if self.less_is_better else '>'} {number(bound)}, the base's"
        return DemandResult(demand=f"{self.name}{relation}", values=(value,), met=met)


@dataclass(frozen=True, slots=True, kw_only=True)
class DemandResult:
    """What became of a demand.

    Parameters
    ----------
    demand
        Measure, relation and bound.
    values
        What the measure is, exam by exam.
    met
        Whether it is as demanded.
    """

    demand: str
    values: tuple[float | None, ...]
    met: bool

    @property
    def line(self) -> str:
        """The demand with what the measure is."""
        return f"{self.demand} (it is {', '.join(map(number, self.values))})"


def demand_results(
    gates: Sequence[Gate], over_base: Sequence[OverBase], *, distilled: Told, base: Told
) -> tuple[DemandResult, ...]:
    """Hold a distilled judge against all demands.

    Raises
    ------
    ConfigError
        If no exam tells a measure; the message lists those that there are.
    """
    held = [
        DemandResult(
            demand=str(gate),
            met=gate.is_passed(distilled),
            values=tuple(told.value for told in distilled[gate.name]),
        )
        for gate in gates
    ]
    return (*held, *(one.result(distilled, base) for one in over_base))
