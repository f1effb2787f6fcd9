"""Results in the formats of other programs."""

from spanjury.adapters.files.results.exports import (
    MARKED_FORMS,
    Export,
    ExportForm,
    ExportUnit,
    marked_segments,
)
from spanjury.adapters.files.results.judged_texts import JudgedTexts

__all__ = [
    "MARKED_FORMS",
    "Export",
    "ExportForm",
    "ExportUnit",
    "JudgedTexts",
    "marked_segments",
]
