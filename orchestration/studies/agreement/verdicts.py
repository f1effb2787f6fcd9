"""Verdicts of people on judges' spans: how many of each judge's spans people keep."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from spanjury.stats.proportions import Proportion, clustered_proportion

Verdict = Literal["accepted", "edited", "rejected"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanVerdict:
    """One person's verdict on one span of a judge; None where the person gave none.

    Parameters
    ----------
    source
        The input of the text: verdicts on texts for one input hang together.
    """

    aspect: str
    judge: str
    source: str
    verdict: Verdict | None


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptSpans:
    """Counts of people's verdicts on one judge's spans on one aspect.

    Parameters
    ----------
    spans
        With a verdict or without, one for each person who finished the text.
    kept
        The share of spans with a verdict that people accepted or edited: there is an error.
    """

    aspect: str
    judge: str
    spans: int
    accepted: int
    edited: int
    rejected: int
    kept: Proportion

    @property
    def judged(self) -> int:
        """Spans with a verdict."""
        return self.accepted + self.edited + self.rejected


def kept_spans(verdicts: Iterable[SpanVerdict]) -> tuple[KeptSpans, ...]:
    """Count verdicts by aspect and judge, in the order in which they come."""
    by_judge: dict[tuple[str, str], list[SpanVerdict]] = {}
    for verdict in verdicts:
        by_judge.setdefault((verdict.aspect, verdict.judge), []).append(verdict)
    return tuple(
        _counted(given, aspect=aspect, judge=judge) for (aspect, judge), given in by_judge.items()
    )


def _counted(verdicts: Sequence[SpanVerdict], *, aspect: str, judge: str) -> KeptSpans:
    given = [verdict for verdict in verdicts if verdict.verdict is not None]
    sources = list(dict.fromkeys(verdict.source for verdict in given))
    kept, judged = np.zeros(len(sources)), np.zeros(len(sources))
    for verdict in given:
        number = sources.index(verdict.source)
        judged[number] += 1
        kept[number] += verdict.verdict != "rejected"
    words = [verdict.verdict for verdict in given]
    return KeptSpans(
        aspect=aspect,
        judge=judge,
        spans=len(verdicts),
        accepted=words.count("accepted"),
        edited=words.count("edited"),
        rejected=words.count("rejected"),
        kept=clustered_proportion(kept, judged),
    )
