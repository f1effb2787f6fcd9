"""Demands: bounds that a distilled judge's measures must reach, in numbers or beside its base."""

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from spanjury.judges.core import ConfigError
from spanjury.orchestration.report import figure
from spanjury.orchestration.studies.card import Gate, Measure, unproven

MeasuresByName = Mapping[str, Sequence[Measure]]
"""Name -> the measure in each exam that has it."""

_SPEC = ".3g"
_LESS_IS_BETTER = (
    "severity.apart",
    "score.error",
    "discernment.false_alarms",
    "discernment.harmless_disturbed",
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
class DemandResult:
    """A demand, whether it is met, and why the values alone do not meet it."""

    demand: str
    values: tuple[float | None, ...]
    met: bool
    reason: str = ""

    @property
    def line(self) -> str:
        """The demand with the values of the measure."""
        values = ", ".join(figure(value, _SPEC) for value in self.values)
        return f"{self.demand} (it is {values}{f', but {self.reason}' if self.reason else ''})"


@dataclass(frozen=True, slots=True, kw_only=True)
class OverBase:
    """A measure that must be better than the base's: higher, or lower where less is better.

    Where the base's is not defined, as without a readable report, it must be above 0, or
    defined where less is better.
    """

    name: str

    @property
    def less_is_better(self) -> bool:
        """True if less is better, in a group of examples as well."""
        return any(self.name == one or self.name.startswith(f"{one}.") for one in _LESS_IS_BETTER)

    def result(self, distilled: MeasuresByName, base: MeasuresByName) -> DemandResult:
        """Compare the two; raise `ConfigError` if one has no such measure."""
        for measures in (distilled, base):
            if self.name not in measures:
                raise ConfigError(f"no exam has {self.name!r}; there are {', '.join(measures)}")
        value, bound = distilled[self.name][0].value, base[self.name][0].value
        less = self.less_is_better
        if bound is None:
            met = value is not None and (less or value > 0)
            relation = ", which the base has not" if less else " > 0, as the base has none"
        else:
            better = operator.lt if less else operator.gt
            met = value is not None and better(value, bound)
            relation = f" {'<' if less else '>'} {figure(bound, _SPEC)}, the base's"
        reason = unproven(self.name, distilled)
        return DemandResult(
            demand=f"{self.name}{relation}",
            values=(value,),
            met=met and not reason,
            reason=reason,
        )


def demand_results(
    gates: Sequence[Gate],
    over_base: Sequence[OverBase],
    *,
    distilled: MeasuresByName,
    base: MeasuresByName,
) -> tuple[DemandResult, ...]:
    """Compare a distilled judge with all demands.

    Raise `ConfigError` if no exam has a measure; the message lists those that there are.
    """
    results = [
        DemandResult(
            demand=str(gate),
            met=gate.is_passed(distilled),
            values=tuple(measure.value for measure in distilled[gate.name]),
            reason=unproven(gate.name, distilled),
        )
        for gate in gates
    ]
    return (*results, *(one.result(distilled, base) for one in over_base))
