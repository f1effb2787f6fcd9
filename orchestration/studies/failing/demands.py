"""Demands on a whole run: the mean score of an aspect, and the share of texts that are faulty.

A report without a score is in no mean and in no share; how many reports need one is a demand on
coverage, which is another. A mean or a share of nothing meets no demand.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from spanjury.judges.core import ConfigError, Decision, Segment
from spanjury.orchestration.engine.summary import Figures, Row
from spanjury.orchestration.studies.comparisons import parse_number

_PERCENT = 100
_ROUNDING = 1e-9
"""The most that a mean is off by for being a sum of fractions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanDemand:
    """The least mean score of an aspect, or, where it names none, of each."""

    aspect: str = ""
    least: float

    def missed(self, means: Mapping[tuple[str, str], Row]) -> Iterator[str]:
        """Yield what is not as demanded; `means` are by task and aspect."""
        judged = {name: row for name, row in means.items() if self.aspect in {"", name[1]}}
        if not judged:
            yield f"mean score of {self.aspect or 'any aspect'} >= {self.least:g} (no score)"
        tasks = {task for task, _ in judged}
        for (task, aspect), row in judged.items():
            name = aspect if len(tasks) == 1 else f"{task}: {aspect}"
            if row.mean is None or row.mean < self.least - _ROUNDING:
                yield f"mean score of {name} >= {self.least:g} (it is {_mean(row)})"


def parse_mean_demand(text: str) -> MeanDemand:
    """Read ``ASPECT=SCORE`` or ``SCORE``.

    Raises
    ------
    ConfigError
        If it is neither.

    Examples
    --------
    >>> parse_mean_demand("consistency=4")
    MeanDemand(aspect='consistency', least=4.0)
    """
    aspect, equals, score = text.rpartition("=")
    least = parse_number(score.strip())
    if least is None or (equals and not aspect.strip()):
        raise ConfigError(f"a mean score is ASPECT=SCORE, or SCORE for every aspect, not {text!r}")
    return MeanDemand(aspect=aspect.strip(), least=least)


def parse_share(text: str) -> float:
    """Read a share, as ``5%`` or ``0.05``.

    Raises
    ------
    ConfigError
        If it is none; a bare number of 1 or more is refused, since it may be meant in percent.

    Examples
    --------
    >>> parse_share("5%"), parse_share(".05"), parse_share("0")
    (0.05, 0.05, 0.0)
    """
    bare = text.strip()
    digits = bare.removesuffix("%").rstrip()
    number = parse_number(digits)
    if number is None:
        raise ConfigError(f"a share is 5% or 0.05, not {text!r}")
    if bare.endswith("%"):
        # Rounded once, so that it is the very number that as many of all texts are.
        number = float(Fraction(digits) / _PERCENT)
    elif number >= 1:
        raise ConfigError(f"a share is 5% or 0.05: write {bare}% if {bare!r} is in percent")
    if not 0 <= number <= 1:
        raise ConfigError(f"a share is 0% to 100%, not {text!r}")
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
        """Yield what is not as demanded: more than a share of `most` is faulty, or none counts."""
        if not self.texts:
            yield f"faulty texts <= {_percent(most)} (no text has a decision)"
        elif (share := self.flagged / self.texts) > most:
            of = f"{self.flagged} of {self.texts}"
            yield f"faulty texts <= {_percent(most)} (it is {_percent(share)}: {of})"


def add_figures(means: dict[tuple[str, str], Row], figures: Figures) -> None:
    """Count the figures of one result into the mean of its aspect."""
    name = (figures.task, figures.aspect)
    row = means.get(name)
    if row is None:
        row = means[name] = Row()
    row.add(figures)


def _percent(share: float) -> str:
    return f"{_PERCENT * share:.4g}%"


def _mean(row: Row) -> str:
    return "no score" if row.mean is None else f"{row.mean:.4g} of {row.scored} scored"
