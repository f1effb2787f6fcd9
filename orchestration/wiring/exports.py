"""Results in the formats of other programs."""

from spanjury.adapters.files.results.exports import Export, ExportForm, ExportUnit
from spanjury.adapters.files.results.marked_results import MARKED_FORMS, marked_segments

__all__ = ["MARKED_FORMS", "Export", "ExportForm", "ExportUnit", "marked_segments"]
