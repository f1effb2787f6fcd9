"""The pair judge without a model of its own: the better text is the one that a panel scores higher.

Each text is assessed alone, so no order and no other text can sway its score.
"""

from anyio import Lock, create_task_group

from spanjury.judges.core import (
    Aspect,
    Outcome,
    PairReport,
    PanelReport,
    Preference,
    Segment,
    TextPair,
    signature,
)
from spanjury.orchestration.engine.panel import Panel


class PanelDifference:
    """Prefer the text with the higher score of a panel; scores that are near each other tie.

    Raises `ValueError` if the margin is negative.

    Parameters
    ----------
    panel
        Assesses each text once, in however many pairs it stands.
    margin
        The difference of scores up to which two texts tie, in points of the aspect's scale; half a
        step by default, since smaller ones say little.
    """

    is_order_free = True

    def __init__(self, panel: Panel, *, margin: float = 0.5) -> None:
        if margin < 0:
            raise ValueError(f"margin must not be negative, got {margin!r}")
        self._panel = panel
        self._margin = margin
        self._texts: dict[tuple[str, str, str, str], _Assessed] = {}

    @property
    def signature(self) -> str:
        """The panel's, and the margin."""
        return signature("panel", margin=self._margin, panel=self._panel.signature)

    async def compare(self, pair: TextPair, aspect: Aspect) -> PairReport:
        """Return the preference that follows from the two scores.

        A text without a score leaves none, and its outcome is that of the comparison.
        """
        texts = [self._assessed(pair.a, aspect), self._assessed(pair.b, aspect)]
        async with create_task_group() as group:
            for text in texts:
                group.start_soon(text.assess, self._panel, aspect)
        a, b = (text.report for text in texts)
        if a.score is None or b.score is None:
            failed, name = (a, "A") if a.score is None else (b, "B")
            return PairReport(outcome=failed.outcome, reason=f"text {name}: {failed.reason}")
        return PairReport(
            outcome=Outcome.SCORED,
            preference=self._preferred(a.score - b.score),
            explanation=f"A scores {a.score:.2f} and B {b.score:.2f}.",
            spans_a=a.spans,
            spans_b=b.spans,
        )

    def _preferred(self, difference: float) -> Preference:
        if abs(difference) <= self._margin:
            return Preference.TIE
        return Preference.A if difference > 0 else Preference.B

    def _assessed(self, segment: Segment, aspect: Aspect) -> "_Assessed":
        key = (segment.segment_id, segment.system, segment.output, aspect.name)
        return self._texts.setdefault(key, _Assessed(segment))


class _Assessed:
    """A text, assessed when it is first needed."""

    def __init__(self, segment: Segment) -> None:
        self._segment = segment
        self._reports: list[PanelReport] = []
        self._lock = Lock()

    @property
    def report(self) -> PanelReport:
        """The panel's report, once it is there."""
        return self._reports[0]

    async def assess(self, panel: Panel, aspect: Aspect) -> None:
        """Have the panel assess the text, unless it has."""
        async with self._lock:
            if not self._reports:
                self._reports.append(await panel.assess(self._segment, aspect))
