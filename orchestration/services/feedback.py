"""Feedback on a text that fails: its errors, numbered, as a writer can act on them."""

from collections.abc import Sequence

from spanjury.judges.core import Result
from spanjury.judges.text import fence, fill_template
from spanjury.orchestration.services.agent_reports import text_check
from spanjury.orchestration.services.agent_texts import numbered_errors
from spanjury.orchestration.services.text_report import TextReport
from spanjury.orchestration.studies.failing.conditions import Condition, failure_of

_PACKAGE = "spanjury.orchestration.services"


def feedback_on(report: TextReport, conditions: Sequence[Condition]) -> str | None:
    """Return what is to be corrected in a text; None if it meets none of `conditions`.

    All errors on the aspects that fail are named, the gravest first, with words, place, reason,
    severity and the evidence from the source: to correct them one by one costs more rounds.
    """
    failing = [result for result in report.results if failure_of(result, conditions)]
    if not failing:
        return None
    lines = numbered_errors(text_check(failing).errors) or [*map(_reason, failing)]
    fenced = fence({"Report": "\n".join(lines)})
    return fill_template(_PACKAGE, "feedback.txt", {"report": fenced.text, "mark": fenced.mark})


def _reason(result: Result) -> str:
    """Say why a report fails that names no error."""
    report = result.report
    reason = report.basis.reason if report.basis else report.reason
    return f"{result.aspect.name}: {report.decision or report.outcome.value}: {reason}"
