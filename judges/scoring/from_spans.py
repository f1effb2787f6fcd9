"""A judge whose score follows from its spans, by construction."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import anyio.lowlevel

from spanjury.judges.core import (
    Aspect,
    ErrorSpan,
    Judge,
    Outcome,
    Report,
    Rescoring,
    RescoringMethod,
    Segment,
    fingerprint,
    signature,
)
from spanjury.judges.core.code_digest import code_digest
from spanjury.judges.core.keys import canonical, digest, report_key
from spanjury.judges.scoring.span_map import SpanMap, names_its_errors


@dataclass(frozen=True, slots=True, kw_only=True)
class FromSpans:
    """Another judge's spans, with the score that they make.

    The judge's own score does not count. A report that names no error, and yet has less than
    the best label, gives nothing to compute a score from: it becomes an abstention. So does
    every report of a judge that only scores, but for its best ones, and a report of which
    each error that could count quotes what the text does not contain.

    Parameters
    ----------
    judge
        The judge that finds the spans.
    span_map
        The map from spans to a score.
    """

    judge: Judge
    span_map: SpanMap = field(default_factory=SpanMap)

    @property
    def signature(self) -> str:
        """The judge, and how its spans become a score."""
        return signature(
            "from-spans",
            judge=fingerprint(self.judge.signature),
            map=fingerprint(self.span_map.signature),
            code=code_digest(__name__),
        )

    def report_key(self, segment: Segment, aspect: Aspect) -> str:
        """Return what the other judge's report depends on, and the scale."""
        return digest(report_key(self.judge, segment, aspect), canonical(aspect.scale))

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        """Return the judge's report with the score that its spans make, if it has a score.

        Raises
        ------
        JudgeError, ModelError
            As the judge raises it.
        """
        report = await self.judge.assess(segment, aspect)
        if report.score is None:
            return report
        if not names_its_errors(report, aspect=aspect):
            return Report(
                outcome=Outcome.ABSTAINED,
                reason=f"the judge scores {report.score:g}, but names no error that says why",
                rationale=report.rationale,
                reply=report.reply,
                usage=report.usage,
            )
        computed = self._computed(segment, aspect, report.spans)
        return replace(computed, rationale=report.rationale, reply=report.reply, usage=report.usage)

    async def rescore(
        self, segment: Segment, aspect: Aspect, spans: Sequence[ErrorSpan]
    ) -> Rescoring:
        """Return the score that `spans` make; the judge is not asked."""
        await anyio.lowlevel.checkpoint()
        return Rescoring(
            report=self._computed(segment, aspect, spans), method=RescoringMethod.COMPUTED
        )

    def _computed(self, segment: Segment, aspect: Aspect, spans: Sequence[ErrorSpan]) -> Report:
        score = self.span_map.score(segment.output, spans, aspect=aspect)
        if score is not None:
            return Report(score=score, spans=tuple(spans))
        misquotes = self.span_map.penalty.misquotes(spans, aspect=aspect)
        return Report(
            outcome=Outcome.ABSTAINED,
            spans=tuple(spans),
            reason=f"no error counts: {misquotes} quote what the text does not contain",
        )
