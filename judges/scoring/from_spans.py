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
    """Another judge's spans, with the score that follows from them.

    The judge's own score does not count. A report without errors whose score is below the best
    label gives nothing to compute a score from, so it becomes an abstention. This applies to all
    reports of a judge that only scores, except its best ones. A report also becomes an abstention
    if every error that could count quotes words that the text does not contain.

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
        """The judge's signature, and the map from spans to a score."""
        return signature(
            "from-spans",
            judge=fingerprint(self.judge.signature),
            map=fingerprint(self.span_map.signature),
            code=code_digest(__name__),
        )

    def report_key(self, segment: Segment, aspect: Aspect) -> str:
        """Return a digest of the other judge's report key and the scale."""
        return digest(report_key(self.judge, segment, aspect), canonical(aspect.scale))

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        """Return the judge's report with the score of its spans, if it has a score.

        Raises `JudgeError` or `ModelError` if the judge raises it.
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
        """Return the score that follows from `spans`, without asking the judge."""
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
