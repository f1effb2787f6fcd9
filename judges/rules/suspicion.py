"""Probability that a text says something that its source does not support."""

import math
from collections.abc import Sequence

from spanjury.judges.core import ErrorSpan
from spanjury.judges.rules.evidence import CONTRADICTIONS, WORDING
from spanjury.judges.rules.support import Support

# A logistic regression, fitted to 3,343 summaries that people had checked: the files
# train_cliff, train_xsumfaith, train_diasumfact and train_summedits_* of SummEdits, CLIFF,
# XSum hallucination annotations and DiaSumFact, each weighted by the root of its size, with a
# ridge of .001. They have an error in 18 % to 96 % of the cases from the lowest to the highest
# of six bins, in which it says 21 % to 96 %. No text of QAGS or SummEval was used.
_EXACT = 1.49  # each number, date or name that is reported, at most 3
_WORDING = 0.98  # each stretch of words that is reported, at most 2
_UNKNOWN = 0.50  # the share of what is said that the source lacks
_JOINED = -2.10  # the share of sequences of words that the source has, cubed
_DOUBTFUL = 0.30  # each name that the source has in part, at most 3
_CONSTANT = 0.32
_MOST_EXACT, _MOST_WORDING, _MOST_DOUBTFUL = 3, 2, 3
_POWER = 3


def error_probability(support: Support, spans: Sequence[ErrorSpan]) -> float:
    """Return the probability, 0 to 1, that a text with `support` and errors `spans` has an error.

    It is right on average over texts like those it was fitted to, of which 63 % have one. A
    contradiction, which those texts hardly hold, is as sure as its own probability.
    """
    if not support.sentences and not spans:
        return 0.0
    against = [span for span in spans if span.category in CONTRADICTIONS.values()]
    spans = [span for span in spans if span not in against]
    wording = sum(span.category == WORDING for span in spans)
    doubtful = sum(
        not claim.known and not claim.sure
        for sentence in support.sentences
        for claim in sentence.claims
    )
    total = (
        _CONSTANT
        + _EXACT * min(_MOST_EXACT, len(spans) - wording)
        + _WORDING * min(_MOST_WORDING, wording)
        + _UNKNOWN * (1 - support.known)
        + _JOINED * (support.joined or 0.0) ** _POWER
        + _DOUBTFUL * min(_MOST_DOUBTFUL, doubtful)
    )
    innocent = math.prod(1 - (span.probability or 0.0) for span in against)
    return 1 - innocent * (1 - 1 / (1 + math.exp(-total)))
