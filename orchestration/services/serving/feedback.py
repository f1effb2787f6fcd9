"""Feedback on a text that fails: its errors, numbered, as a writer can act on them."""

from collections.abc import Sequence
from dataclasses import replace

from spanjury.judges.core import Result
from spanjury.judges.text import fence, fill_template
from spanjury.orchestration.services.judging.text_report import TextReport
from spanjury.orchestration.services.serving.agent_reports import text_check
from spanjury.orchestration.services.serving.agent_texts import numbered_errors
from spanjury.orchestration.studies.failing.conditions import Condition, failure_of

_PACKAGE = "spanjury.orchestration.services.serving"


def feedback_on(report: TextReport, conditions: Sequence[Condition]) -> str | None:
    """Return what is to be corrected in a text; None if it meets none of `conditions`.

    All errors on the aspects that fail are named, the gravest first, with words, place, reason,
    severity and the evidence from the source: to correct them one by one costs more rounds. A
    quote that is not in the text is named only if a condition asks for such quotes.
    """
    failing = [result for result in report.results if failure_of(result, conditions)]
    if not failing:
        return None
    asked = any(condition.asks_for_unlocated for condition in conditions)
    listed = text_check(failing).errors
    errors = [error for error in listed if asked or not error.is_misquoted]
    numbered = (replace(error, number=number) for number, error in enumerate(errors, 1))
    lines = numbered_errors(numbered) or [*map(_reason, failing)]
    fenced = fence({"Report": "\n".join(lines)})
    return fill_template(_PACKAGE, "feedback.txt", {"report": fenced.text, "mark": fenced.mark})


def _reason(result: Result) -> str:
    """Say why a report fails that names no error."""
    report = result.report
    reason = report.basis.reason if report.basis else report.reason
    return f"{result.aspect.name}: {report.decision or report.outcome.value}: {reason}"
