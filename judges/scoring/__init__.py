"""Scores computed from error spans: more or graver errors never raise them.

`fitting` is not imported here, because only fitting a map needs `spanjury.stats`.
"""

from spanjury.judges.scoring.from_spans import FromSpans
from spanjury.judges.scoring.span_map import Curve, SpanMap, SpanPenalty, names_its_errors

__all__ = ["Curve", "FromSpans", "SpanMap", "SpanPenalty", "names_its_errors"]
