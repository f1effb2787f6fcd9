"""Results in the formats of other programs."""

from spanjury.adapters.files.results.exports import (
    MARKED_FORMS,
    Export,
    ExportForm,
    ExportUnit,
    JudgedTexts,
    marked_segments,
)

__all__ = [
    "MARKED_FORMS",
    "Export",
    "ExportForm",
    "ExportUnit",
    "JudgedTexts",
    "marked_segments",
]
