"""Assertions for tests of programs that write: a text has no grave error."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Literal, TypedDict, Unpack
from unittest import SkipTest

from spanjury.judges.core import GRAVE, Aspect, Decision, ErrorSpan, Judge, Result
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.frameworks.wording import (
    error_lines,
    in_words,
    marked,
    no_verdict,
    unscored,
)
from spanjury.orchestration.services.check import Source, acheck
from spanjury.orchestration.services.synchronous import run_synchronously
from spanjury.orchestration.services.text_report import TextReport
from spanjury.orchestration.wiring.config import ModelConfig, PanelConfig, SeatConfig


class CheckOptions(TypedDict, total=False):
    """What `spanjury.acheck` takes beside a text and its source."""

    task: str | None
    aspects: str | Aspect | Sequence[str | Aspect]
    references: Sequence[str]
    panel: Panel | PanelConfig | Path | str | None
    judges: Sequence[str | Judge | SeatConfig]
    models: Sequence[str | ModelConfig]
    aspects_files: Sequence[Path]


def assert_no_errors(
    output: str,
    source: Source | None = None,
    *,
    severity: int = GRAVE,
    on_unscored: Literal["fail", "skip"] = "fail",
    record: Callable[[str, object], None] | None = None,
    **options: Unpack[CheckOptions],
) -> TextReport:
    """Have a panel judge a text, and fail the test if it has an error.

    Parameters
    ----------
    output, source, options
        As `spanjury.acheck` takes them.
    severity
        The lowest severity of an error that fails the test. A text that is faulty as a whole,
        without any marked error, fails it too; an error of no stated severity does not.
    on_unscored
        Whether a test fails or is skipped where an aspect has no score.
    record
        Takes the decision, scores and number of errors, as pytest's ``record_property`` does.

    Returns
    -------
    TextReport
        What the panel said.

    Raises
    ------
    AssertionError
        If there is an error, or no verdict.
    unittest.SkipTest
        If there is no verdict, and this is asked for; pytest knows it, too.
    """
    __tracebackhide__ = True  # pytest then points to the line of the test
    report = run_synchronously(partial(acheck, output, source=source, **options))
    return _without_errors(report, severity, on_unscored=on_unscored, record=record)


async def aassert_no_errors(
    output: str,
    source: Source | None = None,
    *,
    severity: int = GRAVE,
    on_unscored: Literal["fail", "skip"] = "fail",
    record: Callable[[str, object], None] | None = None,
    **options: Unpack[CheckOptions],
) -> TextReport:
    """Do as `assert_no_errors`, from asynchronous code."""
    __tracebackhide__ = True
    report = await acheck(output, source=source, **options)
    return _without_errors(report, severity, on_unscored=on_unscored, record=record)


def _without_errors(
    report: TextReport,
    severity: int,
    *,
    on_unscored: Literal["fail", "skip"],
    record: Callable[[str, object], None] | None,
) -> TextReport:
    __tracebackhide__ = True
    for name, value in _properties(report) if record is not None else ():
        record(name, value)
    if complaint := _complaint(report, severity):
        raise AssertionError(complaint)
    if missing := unscored(report):
        raise (SkipTest if on_unscored == "skip" else AssertionError)(
            f"no verdict\n{no_verdict(missing)}"
        )
    return report


def _properties(report: TextReport) -> Iterator[tuple[str, object]]:
    yield "spanjury.decision", report.decision.value if report.decision else "none"
    yield "spanjury.spans", len(report.spans)
    for aspect, score in report.scores.items():
        yield f"spanjury.score.{aspect}", score
    for result in unscored(report):
        yield f"spanjury.unscored.{result.aspect.name}", result.report.outcome.value


def _complaint(report: TextReport, severity: int) -> str:
    """Return the message that fails a test; empty where nothing does."""
    errors = [span for span in report.spans if (span.severity or 0) >= severity]
    if errors:
        return _errors_in(report.text, errors, severity)
    whole = [result for result in report.results if _is_faulty_as_a_whole(result)]
    lines = [f"{result.aspect.name}: {in_words(result.report)}" for result in whole]
    return "\n".join(["the text has an error without a place", *lines]) if whole else ""


def _errors_in(text: str, errors: Sequence[ErrorSpan], severity: int) -> str:
    number = "1 error" if len(errors) == 1 else f"{len(errors)} errors"
    shown = marked(text, errors)
    return "\n".join(
        [f"{number} of severity {severity} or more in the text", shown, *error_lines(errors)]
    )


def _is_faulty_as_a_whole(result: Result) -> bool:
    return result.report.decision is Decision.FAULTY and not result.report.spans
