"""A gate: what a run is held to, and what of it is missed, counted result by result."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from spanjury.judges.core import Result, Segment
from spanjury.orchestration.engine.finished_rows import FinishedRow
from spanjury.orchestration.engine.summary import Figures, Row, figures_of
from spanjury.orchestration.studies.failing.conditions import (
    Condition,
    Failure,
    failure_of,
    parse_condition,
)
from spanjury.orchestration.studies.failing.demands import (
    FlaggedTexts,
    MeanDemand,
    add_figures,
    parse_mean_demand,
    parse_share,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """The terms on which a run passes.

    Parameters
    ----------
    conditions
        No report may meet one.
    means
        Each must be reached.
    most_flagged
        The share of texts that may be faulty; None for any.
    """

    conditions: tuple[Condition, ...] = ()
    means: tuple[MeanDemand, ...] = ()
    most_flagged: float | None = None

    def __bool__(self) -> bool:
        return bool(self.conditions or self.means or self.most_flagged is not None)

    @property
    def aspects(self) -> frozenset[str]:
        """The names of the aspects that they are about."""
        named = {mean.aspect for mean in self.means if mean.aspect}
        return frozenset(named.union(*(condition.aspects for condition in self.conditions)))


def parse_terms(
    *, fail_on: Iterable[str] = (), fail_under: Iterable[str] = (), max_flagged: str | None = None
) -> Terms:
    """Read terms as the command line has them.

    Raises
    ------
    ConfigError
        If one cannot be read; the message lists the choices.

    Examples
    --------
    >>> terms = parse_terms(fail_on=["severity>=4"], fail_under=["consistency=4"])
    >>> [condition.text for condition in terms.conditions], sorted(terms.aspects)
    (['severity>=4'], ['consistency'])
    """
    return Terms(
        conditions=tuple(map(parse_condition, fail_on)),
        means=tuple(map(parse_mean_demand, fail_under)),
        most_flagged=None if max_flagged is None else parse_share(max_flagged),
    )


@dataclass(slots=True, kw_only=True)
class Gate:
    """Holds results to `terms`, one after the other.

    Parameters
    ----------
    most
        How many failing rows are kept; the others are counted.
    """

    terms: Terms
    most: int | None = None
    failures: list[Failure] = field(default_factory=list)
    failing: int = 0
    total: int = 0
    _met: Counter[str] = field(default_factory=Counter)
    _means: dict[tuple[str, str], Row] = field(default_factory=dict)
    _flagged: FlaggedTexts = field(default_factory=FlaggedTexts)

    def add(self, result: Result) -> None:
        """Hold one result to the terms."""
        self._count(result.segment, figures_of(result))
        if self.terms.conditions:
            self._judge(result)

    def add_row(self, row: FinishedRow) -> None:
        """Hold a remembered row to the terms; it is read only if there are conditions."""
        self._count(row.segment, row.figures)
        if self.terms.conditions:
            self._judge(row.result())

    def missed(self) -> Iterator[str]:
        """Yield each term that is not met, with what was counted."""
        for condition in self.terms.conditions:
            if count := self._met[condition.text]:
                yield f"no report with {condition.text} ({count} of {self.total} fail)"
        for demand in self.terms.means:
            yield from demand.missed(self._means)
        if self.terms.most_flagged is not None:
            yield from self._flagged.missed(self.terms.most_flagged)

    @property
    def unscored(self) -> int:
        """The number of results without a score."""
        return sum(row.total - row.scored for row in self._means.values())

    def _count(self, segment: Segment, figures: Figures) -> None:
        self.total += 1
        add_figures(self._means, figures)
        self._flagged.count(segment, figures.decision)

    def _judge(self, result: Result) -> None:
        failure = failure_of(result, self.terms.conditions)
        if failure is None:
            return
        self.failing += 1
        self._met.update(failure.conditions)
        if self.most is None or len(self.failures) < self.most:
            self.failures.append(failure)


def held_to(terms: Terms, results: Iterable[Result]) -> Gate:
    """Return a gate that all `results` went through; those of a text follow each other."""
    gate = Gate(terms=terms)
    for result in results:
        gate.add(result)
    return gate
