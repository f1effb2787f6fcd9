"""Reports as the console prints them; imported only by commands that print one."""

from spanjury.orchestration.report.document import Report
from spanjury.orchestration.report.terminal import report_view

__all__ = ["Report", "report_view"]
