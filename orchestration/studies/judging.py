"""A hearing: a panel judges clean and damaged texts, each without knowing of the other."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from spanjury.judges.core import Aspect, Outcome, PanelReport, Report, Result, Segment
from spanjury.orchestration.engine.batch import evaluate
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.engine.stopping import StopToken

__all__ = ["Examinee", "Judgement", "OpenPanel", "hear", "judgement_of"]

OpenPanel = Callable[[str], AbstractAsyncContextManager[Panel]]
"""Opens the panel for one draw: under another name of a draw, all that is random is drawn anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What a panel said of one text on one aspect.

    Parameters
    ----------
    score
        None where there is none.
    outcome
        How the assessment ended.
    spans
        Where it sees errors, as half-open offsets in code points.
    """

    score: float | None
    outcome: Outcome
    spans: tuple[tuple[int, int], ...]


async def hear(
    open_panel: OpenPanel,
    segments: Sequence[Segment],
    aspects: Sequence[Aspect],
    *,
    draw: str,
    workers: int,
    stop_token: StopToken,
    show: Callable[[Result], None],
) -> dict[tuple[str, str], Judgement]:
    """Judge every segment on every aspect.

    Parameters
    ----------
    open_panel
        Opens the panel.
    segments
        Under distinct ids.
    draw
        Name of the draw.
    workers, stop_token
        As in `batch.evaluate`.
    show
        Is told of every result.

    Returns
    -------
    dict
        ``(segment id, aspect name)`` -> what was said.
    """
    heard: dict[tuple[str, str], Judgement] = {}

    def keep(result: Result) -> None:
        heard[result.segment.segment_id, result.aspect.name] = judgement_of(result.report)
        show(result)

    async with open_panel(draw) as panel:
        pairs = _pairs(segments, aspects)
        await evaluate(panel, pairs, write=keep, workers=workers, stop_token=stop_token)
    return heard


def _pairs(
    segments: Iterable[Segment], aspects: Sequence[Aspect]
) -> Iterator[tuple[Segment, Aspect]]:
    for segment in segments:
        for aspect in aspects:
            yield segment, aspect


def judgement_of(report: Report) -> Judgement:
    """Return what `report`, of a panel or of a seat, comes to."""
    return Judgement(
        score=report.score,
        outcome=report.outcome,
        spans=tuple(span.interval for span in report.spans if span.interval is not None),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Examinee:
    """Who sat on a panel.

    Parameters
    ----------
    signature
        Of the panel: everything that can change a number.
    seats
        Name -> signature of the judge there, with its model and decoding.
    """

    signature: str
    seats: Mapping[str, str]

    @classmethod
    def of(cls, report: PanelReport) -> "Examinee":
        """Return who made `report`."""
        seats = {seat.seat: seat.signature for seat in report.seats}
        return cls(signature=report.signature, seats=seats)

    @property
    def name(self) -> str:
        """The names of its seats."""
        return ", ".join(self.seats)
