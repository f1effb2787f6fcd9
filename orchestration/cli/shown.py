"""The texts that a run prints: the first ones, all, none, failed ones or the worst ones."""

from bisect import insort
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Literal, cast

from spanjury.judges.core import ConfigError, Result, Segment

Kind = Literal["all", "none", "failures", "first", "worst"]

FIRST = 3
"""Number of texts that are shown by default."""

_COUNTED = ("first", "worst")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A selection of texts; `count` applies to ``"first"`` and ``"worst"``."""

    kind: Kind = "first"
    count: int = FIRST

    @classmethod
    def parse(cls, text: str) -> "Shown":
        """Parse ``all``, ``none``, ``failures``, ``first:N`` or ``worst:N``.

        Raises `ConfigError` if the text has none of these forms.
        """
        kind, _, count = text.partition(":")
        if kind in _COUNTED and count.isdecimal():
            return cls(kind=cast("Kind", kind), count=int(count))
        if kind in {"all", "none", "failures"} and not count:
            return cls(kind=cast("Kind", kind))
        raise ConfigError(f"--show takes all, none, failures, first:N or worst:N, not {text!r}")


@dataclass(slots=True, kw_only=True)
class Selector:
    """Decides whether a text, given all its results, is shown now or at the end.

    `left_out` counts the texts that were not shown so far.
    """

    shown: Shown
    left_out: int = 0
    _seen: int = 0
    _begun: int = 0
    _asked_about: Segment | None = None
    _worst: list[tuple[float, int, Sequence[Result]]] = field(default_factory=list)

    def now(self, results: Sequence[Result]) -> bool:
        """Return whether to show a text now, given its results; otherwise count it as left out."""
        self._seen += 1
        scores = [result.report.score for result in results]
        match self.shown.kind:
            case "all":
                return True
            case "first" if self._seen <= self.shown.count:
                return True
            case "failures" if None in scores:
                return True
            case "worst":
                worst = min((score for score in scores if score is not None), default=inf)
                if worst < inf:
                    kept = (worst, self._seen, results)
                    insort(self._worst, kept, key=lambda text: text[:2])
                    del self._worst[self.shown.count :]
        self.left_out += 1
        return False

    def wants(self, segment: Segment) -> bool:
        """Return whether the results of `segment` may be shown; call it in order of segments."""
        if self.shown.kind != "first":
            return self.shown.kind != "none"
        if segment is not self._asked_about:
            self._asked_about = segment
            self._begun += 1
        return self._begun <= self.shown.count

    def pass_by(self) -> None:
        """Count a text that is not shown."""
        self._seen += 1
        self.left_out += 1

    def at_the_end(self) -> list[Sequence[Result]]:
        """Return the texts with the lowest scores, worst first."""
        return [results for _, _, results in self._worst]
