"""Reports as the console prints them; only commands that print one need the tables."""

from spanjury.orchestration.report.document import Report
from spanjury.orchestration.report.terminal import report_view

__all__ = ["Report", "report_view"]
