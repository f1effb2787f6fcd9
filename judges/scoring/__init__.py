"""Scores that follow from error spans by functions that only fall.

`fitting` is not loaded with the rest: only who fits a map needs the numbers it needs.
"""

from spanjury.judges.scoring.curve import Curve
from spanjury.judges.scoring.from_spans import FromSpans
from spanjury.judges.scoring.penalty import SpanLoss
from spanjury.judges.scoring.span_map import SpanMap, names_its_errors

__all__ = ["Curve", "FromSpans", "SpanLoss", "SpanMap", "names_its_errors"]
