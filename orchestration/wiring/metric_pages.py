"""A metric and a text become a page that shows what the metric sees.

Apart from the rest of the wiring, since it takes metrics' libraries, which few commands need.
"""

from collections.abc import Callable, Mapping
from pkgutil import resolve_name
from types import MappingProxyType
from typing import cast

from spanjury.adapters.pages.page import write_page
from spanjury.judges.core import ConfigError, Sample, SegmentMetric
from spanjury.judges.metrics.named import NamedMetric, check_samples
from spanjury.orchestration.wiring.config import parse_options
from spanjury.orchestration.wiring.metrics import open_metric

__all__ = ["SHOWN", "metric_page", "write_page"]

Draw = Callable[[str, NamedMetric, Sample], str]
"""Makes a page of a title, a metric, and a text with its references."""

_PAGES = "spanjury.orchestration.wiring"
SHOWN: Mapping[str, str] = MappingProxyType(
    {
        "bertscore": f"{_PAGES}.token_pages:similarity_page",
        "bleu": f"{_PAGES}.word_pages:bleu_page",
        "moverscore": f"{_PAGES}.token_pages:movement_page",
        "rouge-1": f"{_PAGES}.word_pages:rouge_page",
        "rouge-2": f"{_PAGES}.word_pages:rouge_page",
        "rouge-l": f"{_PAGES}.word_pages:rouge_alignment",
        "sacrebleu": f"{_PAGES}.word_pages:bleu_page",
        "wmd": f"{_PAGES}.token_pages:movement_page",
    }
)
"""Name of a metric that can be shown -> what draws it, loaded when it is first named."""


def metric_page(spec: str, sample: Sample, *, row: str) -> str:
    """Return a page of HTML on which a metric compares a text with its references.

    Parameters
    ----------
    spec
        ``NAME`` or ``NAME:option=value,…``.
    sample
        The text; of several references n-gram pages show all, the others the best by the
        metric's score.
    row
        What the text is called.

    Raises
    ------
    ConfigError
        As `open_metric`, and if there is no page of the metric.
    DataError
        If the text has no reference.
    """
    name, _ = parse_options(spec, what="metric")
    if name not in SHOWN:
        raise ConfigError(f"there is no page of {name!r}; choose from {', '.join(SHOWN)}")
    named = open_metric(spec)
    check_samples(named, [sample], ids=[row])
    draw = cast("Draw", resolve_name(SHOWN[name]))  # the tests draw with each
    return draw(f"{named.name}: {row}", named, _with_best_reference(named, sample))


def _with_best_reference(named: NamedMetric, sample: Sample) -> Sample:
    """Keep the reference that counts, for a metric that takes one."""
    if named.card.references != "one" or len(sample.references) == 1:
        return sample
    assert isinstance(named.metric, SegmentMetric)  # those of `SHOWN` are
    pairs = [
        Sample(output=sample.output, references=(reference,), source=sample.source)
        for reference in sample.references
    ]
    scores = named.metric.score_segments(pairs)
    sign = -1 if named.card.direction == "lower" else 1
    return max(zip(scores, pairs, strict=True), key=lambda one: sign * one[0])[1]
