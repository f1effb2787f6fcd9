"""Reports as the console prints them; importing from `report` would load it for every command."""

from spanjury.orchestration.report.document import Report
from spanjury.orchestration.report.terminal import report_view

__all__ = ["Report", "report_view"]
