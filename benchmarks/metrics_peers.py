"""Common programs, each paired with our metric that has the same values."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec

import jiwer
import textstat
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from textstat.backend.counts import _count_syllables

from spanjury.judges.core import Sample, SegmentMetric
from spanjury.judges.metrics.edits.character import Cer, Wer
from spanjury.judges.metrics.edits.eed import Eed
from spanjury.judges.metrics.overlap.bleu import SacreBleu
from spanjury.judges.metrics.overlap.chrf import Chrf
from spanjury.judges.metrics.overlap.cider import CiderD
from spanjury.judges.metrics.overlap.rouge import Rouge1, Rouge2, RougeL, RougeLsum
from spanjury.judges.metrics.reference_free.readability import (
    ColemanLiau,
    FleschKincaidGrade,
    FleschReadingEase,
    GunningFog,
)

__all__ = ["Comparison", "Texts", "absent_peers", "comparisons"]

_SLOW = 100  # pairs for programs that take tens of milliseconds each
_READABILITY = (
    ("flesch_reading_ease", FleschReadingEase()),
    ("flesch_kincaid_grade", FleschKincaidGrade()),
    ("gunning_fog", GunningFog()),
    ("coleman_liau_index", ColemanLiau()),
)
_ROUGE: tuple[tuple[str, type[Rouge1]], ...] = (
    ("rouge1", Rouge1),
    ("rouge2", Rouge2),
    ("rougeL", RougeL),
    ("rougeLsum", RougeLsum),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """A corpus in our form, and in that of other programs."""

    samples: Sequence[Sample]
    outputs: list[str]
    references: list[str]

    @classmethod
    def of(cls, samples: Sequence[Sample]) -> "Texts":
        """Build both forms from samples."""
        return cls(
            samples=samples,
            outputs=[sample.output for sample in samples],
            references=[sample.references[0] for sample in samples],
        )


Work = Callable[[Texts], Sequence[float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two computations of the same values, the required speed ratio, and the most pairs to use.

    `new` is for texts in which hardly any word occurs twice.
    """

    name: str
    ours: Work
    theirs: Work
    bar: float
    pairs: int | None = None
    new: bool = False


def comparisons() -> Iterator[Comparison]:
    """Yield the comparisons with programs that are installed."""
    yield from _rouge()
    yield from _error_rates()
    yield from _overlap()
    yield from _readability()
    if not absent_peers():
        yield Comparison(
            name="CIDEr-D, pycocoevalcap",
            ours=_segments(CiderD(tokenize="whitespace")),
            theirs=_pycocoevalcap,
            bar=5,
        )
        yield Comparison(
            name="EED, torchmetrics",
            ours=_segments(Eed()),
            theirs=_torchmetrics,
            bar=20,
            pairs=_SLOW,
        )


def absent_peers() -> list[str]:
    """Return the names of missing programs that we do not install."""
    return [name for name in ("pycocoevalcap", "torchmetrics") if find_spec(name) is None]


def _segments(metric: SegmentMetric) -> Work:
    return lambda texts: metric.score_segments(texts.samples)


def _rouge() -> Iterator[Comparison]:
    for kind, metric in _ROUGE:
        for stem in (False, True):
            yield Comparison(
                name=f"{metric.__name__}{', stems' if stem else ''}, rouge-score",
                ours=_segments(metric(stem=stem)),
                theirs=_rouge_score(kind, stem=stem),
                bar=40,
            )


def _rouge_score(kind: str, *, stem: bool) -> Work:
    scorer = RougeScorer([kind], use_stemmer=stem)
    return lambda texts: [
        scorer.score(reference, output)[kind].fmeasure
        for output, reference in zip(texts.outputs, texts.references, strict=True)
    ]


def _error_rates() -> Iterator[Comparison]:
    yield Comparison(
        name="WER, jiwer",
        ours=lambda texts: [Wer().score_corpus(texts.samples)],
        theirs=lambda texts: [jiwer.wer(texts.references, texts.outputs)],
        bar=10,
    )
    yield Comparison(
        name="CER, jiwer",
        ours=lambda texts: [Cer().score_corpus(texts.samples)],
        theirs=lambda texts: [jiwer.cer(texts.references, texts.outputs)],
        bar=25,
    )


def _overlap() -> Iterator[Comparison]:
    yield Comparison(
        name="BLEU of a corpus, sacrebleu",
        ours=lambda texts: [SacreBleu().score_corpus(texts.samples)],
        theirs=lambda texts: [BLEU().corpus_score(texts.outputs, [texts.references]).score],
        bar=6,
    )
    yield Comparison(
        name="chrF of a corpus, sacrebleu",
        ours=lambda texts: [Chrf().score_corpus(texts.samples)],
        theirs=lambda texts: [CHRF().corpus_score(texts.outputs, [texts.references]).score],
        bar=2.4,
    )


def _readability() -> Iterator[Comparison]:
    # textstat would download a pronouncing dictionary; without one it hyphenates words instead,
    # so that its values differ.
    _count_syllables.get_cmudict = lambda _: None
    for name, metric in _READABILITY:
        for new in (False, True):
            yield Comparison(
                name=f"{type(metric).__name__}{', new words' if new else ''}, textstat",
                ours=_segments(metric),
                theirs=_textstat(getattr(textstat, name)),
                bar=7,
                new=new,
            )


def _textstat(score: Callable[[str], float]) -> Work:
    return lambda texts: [*map(score, texts.outputs)]


def _pycocoevalcap(texts: Texts) -> Sequence[float]:
    scorer = import_module("pycocoevalcap.cider.cider_scorer").CiderScorer()
    for output, reference in zip(texts.outputs, texts.references, strict=True):
        scorer += (output, [reference])
    scores: list[float] = scorer.compute_score()[1].tolist()
    return scores


def _torchmetrics(texts: Texts) -> Sequence[float]:
    compare = import_module("torchmetrics.functional.text").extended_edit_distance
    results = compare(texts.outputs, texts.references, return_sentence_level_score=True)
    scores: list[float] = results[1].tolist()
    return scores
