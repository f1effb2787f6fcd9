"""Carburacy: quality of outputs in relation to the carbon dioxide that they cost."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, pvariance
from typing import ClassVar

from rouge_score_rs import RougeScorer

from spanjury.judges.core import ConfigError, Sample
from spanjury.judges.metrics.reductions import SummedRows
from spanjury.judges.metrics.signed import Signed

_TYPES = ("rouge1", "rouge2", "rougeL")


@dataclass(frozen=True, slots=True, kw_only=True)
class Carburacy(SummedRows, Signed):
    """Effectiveness, discounted by emissions, Moro, Ragazzi & Valgimigli (2023) [1]_.

    Effectiveness R is the mean F1 of ROUGE-1, -2 and -L, with stemming, divided by one plus their
    variance; a corpus has the R of its mean ROUGE. With C kilograms per text::

        exp(log(R, alpha)) / (1 + beta * C)

    If the emissions of training are given, they give a second score of this form, and the result
    is the harmonic mean of both. Raises `ConfigError` if `emissions_kg` is not given.

    Parameters
    ----------
    emissions_kg
        CO2 equivalent of one output in kilograms, for example as estimated by codecarbon's
        offline tracker; required.
    training_emissions_kg
        CO2 equivalent of the training in kilograms, or None to leave it out.
    alpha
        Above 1; a higher value gives effectiveness less weight.
    beta, training_beta
        Above 0; a higher value gives emissions more weight.

    References
    ----------
    .. [1] Moro, Ragazzi & Valgimigli, Carburacy: summarization models tuning and comparison
       in eco-sustainable regimes with a novel carbon-aware accuracy, AAAI 2023
    """

    emissions_kg: float | None = None
    training_emissions_kg: float | None = None
    alpha: float = 10.0
    beta: float = 100.0
    training_beta: float = 1.0

    kind: ClassVar[str] = "carburacy"
    libraries: ClassVar[tuple[str, ...]] = ("rouge-score-rs",)

    def __post_init__(self) -> None:
        if self.emissions_kg is None:
            raise ConfigError(
                "carburacy needs the emissions of one output in kilograms of CO2: "
                "--metric carburacy:emissions_kg=0.0004"
            )
        for kilograms in (self.emissions_kg, self.training_emissions_kg or 0.0):
            if not 0.0 <= kilograms < math.inf:
                raise ValueError(f"emissions must be 0 or more kilograms, got {kilograms!r}")
        if not 1.0 < self.alpha < math.inf:
            raise ValueError(f"alpha must be above 1, got {self.alpha!r}")
        for beta in (self.beta, self.training_beta):
            if not 0.0 < beta < math.inf:
                raise ValueError(f"beta and training_beta must be above 0, got {beta!r}")

    def statistics(self, samples: Sequence[Sample], /) -> list[list[float]]:
        """Return the F1 of ROUGE-1, -2 and -L, and 1; two empty texts score 1."""
        outputs = [sample.output for sample in samples]
        references = [sample.references[0] for sample in samples]
        scorer = RougeScorer(list(_TYPES), use_stemmer=True)
        scores = scorer.score_batch(references, outputs)
        return [
            [1.0, 1.0, 1.0, 1.0]
            if not output.strip() and not reference.strip()
            else [*(score[name].fmeasure for name in _TYPES), 1.0]
            for output, reference, score in zip(outputs, references, scores, strict=True)
        ]

    def score_statistics(self, total: Sequence[float], /) -> float:
        """Return the value, 0 to 1, for the sums of F1 and of samples."""
        *sums, samples = total
        means = [added / samples for added in sums]
        effectiveness = min(1.0, fmean(means) / (1.0 + pvariance(means)))
        # exp(log(R) / log(alpha)) is R to the power 1 / log(alpha), which is defined for 0.
        gain = math.pow(effectiveness, 1.0 / math.log(self.alpha))
        used = gain / (1.0 + self.beta * (self.emissions_kg or 0.0))
        if self.training_emissions_kg is None or not gain:
            return used
        trained = gain / (1.0 + self.training_beta * self.training_emissions_kg)
        return 2.0 * used * trained / (used + trained)
