"""People with people: their agreement, what they keep of judges' spans, and the report on both.

Annotators answer the same questions as judges, so their agreement is a yardstick for a judge.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from spanjury.judges.core import Segment
from spanjury.orchestration.report import (
    Block,
    Cell,
    Entry,
    Report,
    Section,
    Table,
    estimate_cell,
    left,
    right,
    spread,
    table_of,
)
from spanjury.orchestration.report.json import plain
from spanjury.orchestration.studies.agreement.findings import (
    Coefficient,
    SeatAgreement,
    SeatTable,
    seat_agreement,
)
from spanjury.orchestration.studies.agreement.spans.measures import (
    PairFinding,
    annotator_pairs,
    gold_of,
)
from spanjury.orchestration.studies.agreement.tables import span_figures
from spanjury.orchestration.studies.estimates import Effects, Settings, estimates, grouped, numbered
from spanjury.orchestration.studies.sources import source_of
from spanjury.stats.arrays import FloatArray
from spanjury.stats.proportions import Proportion, share_by_source
from spanjury.stats.raters.agreement import cohen_kappa, krippendorff_alpha
from spanjury.stats.resampling import Estimate

Verdict = Literal["accepted", "edited", "rejected"]
_VALUE = ".3f"
_SPANS = {
    "characters.micro": "soft F1",
    "hard.micro": "hard F1",
    "exact.micro": "F1 of same spans",
    "matched.micro": "F1 of half overlaps",
}
_ALWAYS = frozenset({"characters.micro", "exact.micro"})


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleOnAspect:
    """The agreement of annotators on one aspect.

    `texts` counts the texts that anyone finished, `shared` those that two or more people finished.
    """

    aspect: str
    annotators: tuple[str, ...]
    """Those who finished a text, by name."""
    texts: int
    shared: int
    scored: int
    """With scores of two or more."""
    alpha: Estimate
    """Krippendorff's, ordinal, of the scores."""
    kappas: Mapping[tuple[str, str], Estimate]
    """Two names -> Cohen's kappa with quadratic weights."""
    scores: SeatAgreement
    """All coefficients of the scores, as of the seats of a panel."""
    spans: tuple[PairFinding, ...]


def people_on_aspect(
    segments: Sequence[Segment], *, aspect: str, settings: Settings
) -> PeopleOnAspect:
    """Compare the annotators of one aspect.

    `segments`: the finished texts, with scores on the aspect by annotator, spans of this aspect
    only, and in their meta the ``annotators`` who looked for errors.
    """
    gold = gold_of(read_texts(segments))
    readers = {name for names in gold.readers.values() for name in names}
    names = tuple(sorted(readers.union(*(segment.human.get(aspect, {}) for segment in segments))))
    scores = np.array(
        [
            [segment.human.get(aspect, {}).get(name, np.nan) for segment in segments]
            for name in names
        ],
        dtype=np.float64,
    ).reshape(len(names), len(segments))
    table = SeatTable(run="", seats=names, scores=scores[:, np.newaxis])
    owner, _ = numbered([*map(source_of, segments)])
    return PeopleOnAspect(
        aspect=aspect,
        annotators=names,
        texts=len(segments),
        shared=sum(_people(segment, aspect) > 1 for segment in segments),
        scored=int(np.count_nonzero(_has_several(scores))),
        alpha=_estimate(scores, owner, settings=settings),
        kappas={
            (names[first], names[second]): _estimate(
                scores[[first, second]], owner, settings=settings, is_kappa=True
            )
            for first, second in combinations(range(len(names)), 2)
        },
        scores=seat_agreement(table),
        spans=tuple(annotator_pairs(gold, settings=settings)),
    )


def read_texts(segments: Iterable[Segment]) -> list[Segment]:
    """Return the texts in which someone looked for errors, as their meta says."""
    return [segment for segment in segments if segment.meta.get("annotators")]


def _people(segment: Segment, aspect: str) -> int:
    readers = segment.meta.get("annotators")
    looked = map(str, readers) if isinstance(readers, list) else ()
    return len({*segment.human.get(aspect, {}), *looked})


def _has_several(scores: FloatArray) -> NDArray[np.bool_]:
    """Return which texts have several scores; `scores` has the shape ``(annotators, texts)``."""
    return np.asarray(np.count_nonzero(~np.isnan(scores), axis=0) > 1)


def _estimate(
    scores: FloatArray, owner: NDArray[np.intp], *, settings: Settings, is_kappa: bool = False
) -> Estimate:
    """Return a coefficient of scores, ``(annotators, texts)``, of texts with several of them.

    The sources of these texts, as `owner` numbers them, are resampled.
    """
    chosen = _has_several(scores)
    compared = scores[:, chosen]

    def coefficient(counts: FloatArray) -> float:
        drawn = np.repeat(compared, counts.astype(np.int64), axis=1)
        if is_kappa:
            return cohen_kappa(*drawn, weights="quadratic").value
        return krippendorff_alpha(drawn.T, level="ordinal").value

    effects: Effects = {
        ("coefficient",): lambda counts: np.array([*map(coefficient, counts)], dtype=np.float64)
    }
    sources, _ = numbered(owner[chosen].tolist())
    return estimates(effects, sources=sources, settings=settings)["coefficient"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanVerdict:
    """One person's verdict on one span of a judge; None where the person gave none."""

    aspect: str
    judge: str
    source: str
    """The input of the text: verdicts on texts for one input are correlated."""
    verdict: Verdict | None


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptSpans:
    """Counts of people's verdicts on one judge's spans on one aspect."""

    aspect: str
    judge: str
    spans: int
    """With a verdict or without, one for each person who finished the text."""
    accepted: int
    edited: int
    rejected: int
    kept: Proportion
    """The share of spans with a verdict that people accepted or edited: there is an error."""

    @property
    def judged(self) -> int:
        """Spans with a verdict."""
        return self.accepted + self.edited + self.rejected


def kept_spans(verdicts: Iterable[SpanVerdict]) -> tuple[KeptSpans, ...]:
    """Count verdicts by aspect and judge, in the order in which they come."""
    by_judge = grouped(verdicts, lambda verdict: (verdict.aspect, verdict.judge))
    kept = []
    for (aspect, judge), own in by_judge.items():
        judged = [(each.source, each.verdict) for each in own if each.verdict is not None]
        words = Counter(word for _, word in judged)
        spans = KeptSpans(
            aspect=aspect,
            judge=judge,
            spans=len(own),
            accepted=words["accepted"],
            edited=words["edited"],
            rejected=words["rejected"],
            kept=share_by_source((source, word != "rejected", 1) for source, word in judged),
        )
        kept.append(spans)
    return tuple(kept)


def people_report(
    aspects: Sequence[PeopleOnAspect], *, judges: Sequence[KeptSpans] = (), title: str
) -> Report:
    """Return the report of how far annotators agree with each other, and with judges' spans."""
    sections = [
        Section("Agreement on scores", [_scores(aspects)]),
        Section("Agreement on scores, pair by pair", [_pairs(aspects)]),
        Section("Agreement on error spans, pair by pair", list(_spans(aspects))),
    ]
    return Report(title=title, sections=[*(sections if aspects else ()), *_kept(judges)])


def people_json(aspects: Sequence[PeopleOnAspect]) -> list[dict[str, object]]:
    """Return the agreement for a machine; None for what is undefined."""
    return [
        {
            "aspect": aspect.aspect,
            "annotators": list(aspect.annotators),
            "texts": aspect.texts,
            "shared": aspect.shared,
            "scores": {
                "texts": aspect.scored,
                "alpha": plain(aspect.alpha),
                "pairs": [
                    {
                        "first": pair.first,
                        "second": pair.second,
                        "texts": pair.outputs,
                        "kappa": plain(aspect.kappas[pair.first, pair.second]),
                        "spearman": plain(pair.spearman),
                    }
                    for pair in aspect.scores.pairs
                ],
            },
            "spans": [
                {
                    "first": pair.first,
                    "second": pair.second,
                    "texts": pair.texts,
                    "figures": plain(pair.figures),
                    "gamma": plain(pair.gamma.gamma),
                }
                for pair in aspect.spans
            ],
        }
        for aspect in aspects
    ]


def judges_json(judges: Sequence[KeptSpans]) -> list[dict[str, object]]:
    """Return people's verdicts on judges' spans for a machine; None for what is undefined."""
    return [
        {
            "aspect": judge.aspect,
            "judge": judge.judge,
            "spans": judge.spans,
            "judged": judge.judged,
            "accepted": judge.accepted,
            "edited": judge.edited,
            "rejected": judge.rejected,
            "sources": judge.kept.clusters,
            "kept": plain(Estimate(judge.kept.value, judge.kept.low, judge.kept.high)),
        }
        for judge in judges
    ]


def _kept(judges: Sequence[KeptSpans]) -> Iterator[Section]:
    for aspect in dict.fromkeys(judge.aspect for judge in judges):
        shown = table_of(
            (
                (
                    left("judge", judge.judge),
                    right("spans", judge.spans),
                    right("accepted", judge.accepted),
                    right("edited", judge.edited),
                    right("rejected", judge.rejected),
                    spread("kept", judge.kept, ".2f"),
                )
                for judge in judges
                if judge.aspect == aspect
            ),
            note="Spans: every finished text counts once for each person. Kept: accepted or "
            "edited, as a share of the spans with a verdict. Brackets are 95 % intervals "
            "over sources.",
        )
        yield Section(f"Judges' spans that people keep, {aspect}", [shown])


def _scores(aspects: Sequence[PeopleOnAspect]) -> Table:
    return table_of(
        (
            (
                left("aspect", aspect.aspect),
                right("annotators", len(aspect.annotators)),
                right("texts", aspect.shared),
                right("scored", aspect.scored),
                right("alpha", _noted(aspect.alpha, aspect.scores.alpha["ordinal"])),
            )
            for aspect in aspects
        ),
        note="Texts: those that two or more people finished, and those that two or more scored. "
        "Alpha is Krippendorff's, ordinal; brackets are 95 % intervals over sources.",
    )


def _pairs(aspects: Sequence[PeopleOnAspect]) -> Table:
    return table_of(
        (
            (
                *_pair(aspect.aspect, pair.first, pair.second, texts=pair.outputs),
                right(
                    "kappa", _noted(aspect.kappas[pair.first, pair.second], pair.kappa["quadratic"])
                ),
                right("Spearman", pair.spearman, _VALUE),
            )
            for aspect in aspects
            for pair in aspect.scores.pairs
        ),
        note="kappa: Cohen's, with quadratic weights.",
    )


def _pair(aspect: str, first: str, second: str, *, texts: int) -> Iterator[Entry]:
    yield left("aspect", aspect)
    yield left("annotator", first)
    yield left("annotator", second)
    yield right("texts", texts)


def _noted(estimate: Estimate, coefficient: Coefficient) -> Cell:
    return estimate_cell(estimate, _VALUE, note=coefficient.reason)


def _spans(aspects: Sequence[PeopleOnAspect]) -> Iterator[Block]:
    yield table_of(
        (
            (
                *_pair(aspect.aspect, pair.first, pair.second, texts=pair.texts),
                *span_figures(pair.figures, _SPANS, _ALWAYS),
                right("gamma", pair.gamma.gamma, _VALUE),
            )
            for aspect in aspects
            for pair in aspect.spans
        ),
        note="Soft: characters that both marked; hard: with the same category too. Gamma is "
        "agreement on positions beyond chance.",
    )
