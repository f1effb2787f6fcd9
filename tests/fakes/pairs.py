"""Pairs of texts, and a pair judge with a script."""

from collections.abc import Callable
from dataclasses import dataclass, field

from fakes.judges import segment

from spanjury.judges.core import Aspect, PairReport, Preference, TextPair

__all__ = ["TIE", "A", "B", "ScriptedPairJudge", "pair", "preferring"]

A, B, TIE = Preference.A, Preference.B, Preference.TIE


def pair(a: str = "It opened in 1932.", b: str = "It opened in 1935.") -> TextPair:
    return TextPair(a=segment("a", a), b=segment("b", b))


def preferring(preference: Preference, probability: float | None = None) -> PairReport:
    return PairReport(preference=preference, probability=probability)


@dataclass(slots=True)
class ScriptedPairJudge:
    """Says of each pair what `says` returns, or raises it; notes which text it saw first."""

    says: Callable[[TextPair], object]
    is_order_free: bool = False
    seen: list[str] = field(default_factory=list)

    @property
    def signature(self) -> str:
        return "scripted-pair"

    async def compare(self, pair: TextPair, aspect: Aspect) -> PairReport:
        del aspect
        self.seen.append(pair.a.segment_id)
        report = self.says(pair)
        if isinstance(report, BaseException):
            raise report
        return report  # type: ignore[return-value]  # a broken judge returns anything
