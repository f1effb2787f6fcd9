"""Align an aspect with people: sharpen its definition, and keep it if held-out marks improve.

A model sees half of the sources that people marked, with the texts on which the judge disagrees
with people. It writes a new definition. The run's panel judges the other half by it, and the scores
are compared with those by the present definition.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from numpy.random import default_rng

from spanjury.judges.core import Aspect, ConfigError, DataError, Result, Segment, fingerprint
from spanjury.judges.llm.examples import review
from spanjury.judges.llm.sharpen import Disagreement, sharpened
from spanjury.orchestration.engine.batch import evaluate
from spanjury.orchestration.report.files import write_whole
from spanjury.orchestration.services.judging.session import RunSession, open_session
from spanjury.orchestration.services.people.marked_texts import (
    JudgedText,
    MarkedSource,
    read_marked,
)
from spanjury.orchestration.services.runs.run_folder import job_of
from spanjury.orchestration.studies.estimates import grouped
from spanjury.orchestration.wiring.config import ModelConfig, PanelConfig
from spanjury.orchestration.wiring.models import open_generator
from spanjury.orchestration.wiring.runs import find_run
from spanjury.orchestration.wiring.toml_lines import toml_lines
from spanjury.stats.resampling import bootstrap, percentile_interval
from spanjury.stats.weighted import mean_drop

FEWEST = 10
"""Fewest sources with marked texts; half of them are held out."""
_DRAWS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Alignment:
    """A proposed definition and its gain on the held-out texts.

    `before` and `after` are the mean distances between the panel's and people's scores by the
    present and by the proposed definition, averaged over sources, as a share of the scale, 0 to 1.
    Both cover the held-out texts that the panel scored by the proposed definition. `gain` is their
    difference, with its 95 % interval clustered by source.
    """

    aspect: Aspect
    sources: int
    texts: int
    before: float
    after: float
    gain: float
    low: float
    high: float
    unscored: int

    @property
    def is_better(self) -> bool:
        """True if the interval of the gain lies above 0 and no text has lost its score."""
        return self.low > 0 and not self.unscored


async def align(
    run: Path, *, aspect: str, model: ModelConfig | None = None, data: Path | None = None
) -> Alignment:
    """Have `model` propose a definition of an aspect, and measure it on held-out marks.

    The replies are kept in the memory of the run, under its limits. Without `model`, the first
    model of the run's panel writes the definition. `data` are the texts, if those of the run have
    moved. Raise `ConfigError` if no model is named, or the aspect is a criterion or has no
    definition here, and `DataError` if fewer than `FEWEST` sources have marked texts, the panel
    never disagrees with people, or the model writes no definition. Raise `EvaluationError` if the
    run cannot be read, or judging ends early.
    """
    job = job_of(find_run(run))
    seats = (seat.model for seat in job.panel.seats if seat.model is not None)
    named = [*filter(None, [model]), *job.panel.models, *seats]
    if not named:
        raise ConfigError("the run asked no model: name one with --model")
    writer = ModelConfig.of(named[0])
    marked = read_marked(MarkedSource(results=(run,), data=data, aspects=(aspect,)))
    texts = [
        text
        for text in marked.marked
        if text.segment is not None
        and text.row.score is not None
        and text.human is not None
        and text.human in text.scale
    ]
    learnt, held_out = _halves(texts)
    present = held_out[0].meaning
    if present is None or ": " in present.name:
        raise ConfigError(
            f"{held_out[0].row.aspect!r} has no definition to sharpen: it is a criterion, or its"
            " aspects file is gone"
        )
    with open_session(job) as session:

        async def work() -> Alignment:
            proposed = await _proposal(session, writer, present, learnt=learnt)
            scores = await _scores(session, job.panel, proposed, texts=held_out)
            return _measured(proposed, held_out, scores)

        return await session.run(work)


def write_aspect(aspect: Aspect, path: Path) -> None:
    """Write `aspect` as a file for ``--aspects-file``; raise `StoreError` if that fails."""
    words: dict[str, object] = {
        "kind": aspect.kind,
        "definition": aspect.definition,
        "worst": aspect.worst,
        "best": aspect.best,
        "confusable": list(aspect.confusable),
        "needs": list(aspect.needs),
        "scale": list(aspect.scale.labels),
    }
    if aspect.inputs is not None:
        words["inputs"] = list(aspect.inputs)
    table = {"tasks": {aspect.task.name: {"aspects": {aspect.name: words}}}}
    write_whole(path, ("\n".join(toml_lines(table)).lstrip() + "\n").encode())


def _halves(texts: Sequence[JudgedText]) -> tuple[list[JudgedText], list[JudgedText]]:
    """Return the texts to learn from and the held-out texts; no source is in both."""
    sources = sorted({text.source for text in texts}, key=fingerprint)
    if len(sources) < FEWEST:
        raise DataError(
            f"{len(sources)} sources have texts that people and the panel scored; an alignment"
            f" takes at least {FEWEST}"
        )
    held = set(sources[::2])
    return (
        [text for text in texts if text.source not in held],
        [text for text in texts if text.source in held],
    )


def _distance(text: JudgedText, score: float) -> float:
    """Return the distance of a score from people's, as a share of the scale."""
    assert text.human is not None
    return abs(score - text.human) / (text.scale.high - text.scale.low)


def _now(text: JudgedText) -> float:
    assert text.row.score is not None
    return _distance(text, text.row.score)


async def _proposal(
    session: RunSession, model: ModelConfig, present: Aspect, *, learnt: Sequence[JudgedText]
) -> Aspect:
    """Return the aspect as redefined by the model, which sees the largest disagreements."""
    ordered = sorted(learnt, key=lambda text: (-_now(text), text.row.id))
    shown = [
        Disagreement(
            segment=text.segment,
            people=review(text.spans or (), text.human, scale=text.scale),
            judge=review(text.row.spans, text.row.score, scale=text.scale),
        )
        for text in ordered
        if _now(text) > 0 and text.segment is not None
    ]
    if not shown:
        raise DataError("people and the panel give the same scores: there is nothing to align")
    opening = open_generator(model, memory=session.memory, meter=session.meter, guard=session.guard)
    async with opening as writer:
        reply = await sharpened(present, shown, model=writer)
    if reply.value is None:
        raise DataError(f"{model.name} wrote no definition: {reply.reason}")
    try:
        return reply.value.of(present)
    except ValueError as error:
        raise DataError(f"{model.name} wrote no definition: {error}") from error


async def _scores(
    session: RunSession, panel: PanelConfig, aspect: Aspect, *, texts: Sequence[JudgedText]
) -> Mapping[int, float]:
    """Return the panel's scores on `aspect`, keyed by the `id()` of the segments."""
    segments: dict[int, Segment] = {
        id(text.segment): text.segment for text in texts if text.segment is not None
    }
    scores: dict[int, float] = {}

    def take(result: Result) -> None:
        if result.report.score is not None:
            scores[id(result.segment)] = result.report.score

    async with session.open_panel(panel) as opened:
        await evaluate(
            opened,
            [(segment, aspect) for segment in segments.values()],
            write=take,
            workers=panel.workers,
            stop_token=session.stop_token,
        )
    return scores


def _measured(
    aspect: Aspect, texts: Sequence[JudgedText], scores: Mapping[int, float]
) -> Alignment:
    """Compare the distances from people, averaged source by source."""
    scored = [text for text in texts if id(text.segment) in scores]
    if not scored:
        raise DataError("no held-out text got a score by the proposed definition")
    means = [
        (
            fmean([_now(text) for text in own]),
            fmean([_distance(text, scores[id(text.segment)]) for text in own]),
        )
        for own in grouped(scored, lambda text: text.source).values()
    ]
    gains = [now - then for now, then in means]
    drawn = bootstrap(mean_drop(gains), items=len(gains), rng=default_rng(1), draws=_DRAWS)
    interval = percentile_interval(drawn)
    return Alignment(
        aspect=aspect,
        sources=len(gains),
        texts=len(scored),
        before=fmean([now for now, _ in means]),
        after=fmean([then for _, then in means]),
        gain=fmean(gains),
        low=float(interval.low),
        high=float(interval.high),
        unscored=len(texts) - len(scored),
    )
