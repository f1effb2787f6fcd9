"""A gate: the requirements on a run, and those that it does not meet, counted result by result.

A report without a score is in no mean and in no share; how many reports need one is a requirement
on coverage, which is separate. A mean or a share of nothing meets no requirement.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from spanjury.judges.core import Aspect, ConfigError, Decision, Result, Scale, Segment, counted
from spanjury.orchestration.engine.finished_rows import FinishedRow
from spanjury.orchestration.engine.summary import Figures, Row, figures_of
from spanjury.orchestration.studies.failing.conditions import (
    Condition,
    Failure,
    failure_of,
    parse_condition,
    unfit_score,
)
from spanjury.orchestration.studies.relations import parse_number

_PERCENT = 100
_USUAL = Scale()
_ROUNDING = 1e-9
"""The most that a mean is off by for being a sum of fractions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanDemand:
    """The least mean score of an aspect on its own scale, or of each aspect on the usual scale."""

    aspect: str = ""
    least: float

    def missed(
        self, means: Mapping[tuple[str, str], Row], scales: Mapping[tuple[str, str], Scale]
    ) -> Iterator[str]:
        """Yield the unmet requirements; `means` and `scales` are by task and aspect."""
        judged = {name: row for name, row in means.items() if self.aspect in {"", name[1]}}
        if not judged:
            yield f"mean score of {self.aspect or 'any aspect'} >= {self.least:g} (no score)"
        tasks = {task for task, _ in judged}
        for (task, aspect), row in judged.items():
            name = aspect if len(tasks) == 1 else f"{task}: {aspect}"
            scale = scales.get((task, aspect), _USUAL)
            least = self._least_on(scale)
            if row.mean is None or row.mean < least - _ROUNDING:
                mean = (
                    "no text has a score"
                    if row.mean is None
                    else f"it is {row.mean:.4g} over {counted(row.scored, 'scored text')}"
                )
                own = "" if scale.high == _USUAL.high else f"; its scale is 1 to {scale.high}"
                yield f"mean score of {name} >= {least:g} ({mean}{own})"

    def _least_on(self, scale: Scale) -> float:
        """Return the least score on `scale`; one for every aspect is mapped to it."""
        if self.aspect:
            return self.least
        share = (self.least - _USUAL.low) / (_USUAL.high - _USUAL.low)
        return scale.low + share * (scale.high - scale.low)


def parse_mean_demand(text: str) -> MeanDemand:
    """Read ``ASPECT=SCORE`` or ``SCORE``; raise `ConfigError` if it is neither.

    ``SCORE`` is on the usual scale, of at most 5. Every mean is 1 or more, so only more can be
    demanded.

    Examples
    --------
    >>> parse_mean_demand("consistency=4")
    MeanDemand(aspect='consistency', least=4.0)
    """
    aspect, equals, score = text.rpartition("=")
    least = parse_number(score.strip())
    if least is None or (equals and not aspect.strip()):
        raise ConfigError(
            f"invalid score {text!r}: write SCORE or ASPECT=SCORE, for example consistency=4"
        )
    if least <= _USUAL.low:
        raise ConfigError(f"invalid score {text!r}: every mean meets it, since scores begin at 1")
    if not equals and least > _USUAL.high:
        raise ConfigError(
            f"invalid score {text!r}: a score for all aspects is on the scale of 1 to"
            f" {_USUAL.high}; write ASPECT=SCORE for an aspect with another scale"
        )
    return MeanDemand(aspect=aspect.strip(), least=least)


def parse_share(text: str) -> float:
    """Read a share, as ``5%`` or ``0.05``; raise `ConfigError` if it is none.

    A bare number of 1 or more is refused, because it may be meant in percent.

    Examples
    --------
    >>> parse_share("5%"), parse_share(".05"), parse_share("0")
    (0.05, 0.05, 0.0)
    """
    bare = text.strip()
    digits = bare.removesuffix("%").rstrip()
    number = parse_number(digits)
    if number is None:
        raise ConfigError(f"invalid share {text!r}: write a share such as 5% or 0.05")
    if bare.endswith("%"):
        # Rounded once, so that it is the very number that as many of all texts are.
        number = float(Fraction(digits) / _PERCENT)
    elif 1 <= number < _PERCENT:
        raise ConfigError(f"invalid share {bare!r}: write {bare}% or {number / _PERCENT:g}")
    if not 0 <= number <= 1:
        raise ConfigError(f"invalid share {text!r}: a share is between 0% and 100%")
    return number


@dataclass(slots=True)
class FlaggedTexts:
    """A count of texts that are faulty on some aspect, among those with a decision on any.

    The results of a text are counted one after the other, as a run gives them.
    """

    texts: int = 0
    flagged: int = 0
    _text: tuple[str, str] | None = None
    _is_flagged: bool = False

    def count(self, segment: Segment, decision: Decision | None) -> None:
        """Count one result in."""
        if decision is None:
            return
        text = (segment.segment_id, segment.system)
        if text != self._text:
            self._text, self._is_flagged = text, False
            self.texts += 1
        if decision is Decision.FAULTY and not self._is_flagged:
            self._is_flagged = True
            self.flagged += 1

    def missed(self, most: float) -> Iterator[str]:
        """Yield a line if more than a share of `most` is faulty, or no text has a decision."""
        if not self.texts:
            yield f"faulty texts <= {_percent(most)} (no text has a decision)"
        elif (share := self.flagged / self.texts) > most:
            of = f"{self.flagged} of {self.texts}"
            yield f"faulty texts <= {_percent(most)} (it is {_percent(share)}: {of})"


def _percent(share: float) -> str:
    return f"{_PERCENT * share:.4g}%"


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """The terms on which a run passes."""

    conditions: tuple[Condition, ...] = ()
    """No report may meet one."""
    means: tuple[MeanDemand, ...] = ()
    """Each must be reached."""
    most_flagged: float | None = None
    """The share of texts that may be faulty; None for any."""

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
    """Read terms as the command line has them; raise `ConfigError` if one cannot be read."""
    return Terms(
        conditions=tuple(map(parse_condition, fail_on)),
        means=tuple(map(parse_mean_demand, fail_under)),
        most_flagged=None if max_flagged is None else parse_share(max_flagged),
    )


def unfit_term(terms: Terms, aspects: Collection[Aspect]) -> str:
    """Return which terms no text that is judged on `aspects` can miss or meet; empty if none.

    They name another aspect, or compare scores with a number that does not divide their scale.
    """
    judged = dict.fromkeys(aspect.name for aspect in aspects)
    if others := sorted(terms.aspects - judged.keys()):
        names = ", ".join(map(repr, others))
        return f"no text is judged on {names}; aspects: {', '.join(judged)}"
    if problem := unfit_score(terms.conditions, aspects):
        return problem
    for mean in terms.means:
        highest = max((each.scale.high for each in aspects if each.name == mean.aspect), default=0)
        if highest and mean.least > highest:
            return (
                f"mean score of {mean.aspect} >= {mean.least:g} can never be reached; its scale is"
                f" 1 to {highest}"
            )
    return ""


@dataclass(slots=True, kw_only=True)
class Gate:
    """Holds results to `terms`, one after the other."""

    terms: Terms
    most: int | None = None
    """Number of failing rows that are kept; the others are counted."""
    failures: list[Failure] = field(default_factory=list)
    failing: int = 0
    total: int = 0
    _met: Counter[str] = field(default_factory=Counter)
    _means: dict[tuple[str, str], Row] = field(default_factory=lambda: defaultdict(Row))
    _scales: dict[tuple[str, str], Scale] = field(default_factory=dict)
    _flagged: FlaggedTexts = field(default_factory=FlaggedTexts)

    def add(self, result: Result) -> None:
        """Hold one result to the terms."""
        self._count(result.segment, result.aspect, figures_of(result))
        if self.terms.conditions:
            self._judge(result)

    def add_row(self, row: FinishedRow) -> None:
        """Hold a remembered row to the terms; it is read only if there are conditions."""
        self._count(row.segment, row.aspect, row.figures)
        if self.terms.conditions:
            self._judge(row.result())

    def missed(self) -> Iterator[str]:
        """Yield each term that is not met, with what was counted."""
        for condition in self.terms.conditions:
            if count := self._met[condition.text]:
                total = counted(self.total, "report")
                yield f"no report with {condition.text} ({count:,} of {total})"
            elif self._is_untested(condition):
                yield f"no report with {condition.text} (no text has a score on the aspect)"
        for demand in self.terms.means:
            yield from demand.missed(self._means, self._scales)
        if self.terms.most_flagged is not None:
            yield from self._flagged.missed(self.terms.most_flagged)

    def _is_untested(self, condition: Condition) -> bool:
        """Return whether a condition names an aspect on which no text has a score."""
        if condition.asks_for_outcome:
            return False
        named = [row for (_, name), row in self._means.items() if condition.names(name)]
        return bool(named) and not any(row.scored for row in named)

    @property
    def unscored(self) -> int:
        """The number of results without a score."""
        return sum(row.total - row.scored for row in self._means.values())

    def _count(self, segment: Segment, aspect: Aspect, figures: Figures) -> None:
        self.total += 1
        self._means[figures.task, figures.aspect].add(figures)
        self._scales[figures.task, figures.aspect] = aspect.scale
        if not aspect.rubric:  # a criterion counts through it
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
    """Return a gate that all `results` went through; those of a text follow each other.

    Raise `ConfigError` if a term is unfit for the aspects of `results`.
    """
    results = tuple(results)
    if problem := unfit_term(terms, [result.aspect for result in results]):
        raise ConfigError(problem)
    gate = Gate(terms=terms)
    for result in results:
        gate.add(result)
    return gate
