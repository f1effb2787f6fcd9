"""Assertions for tests of programs that generate text: the text has no grave error."""

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Literal, TypedDict, Unpack
from unittest import SkipTest

from spanjury.judges.core import (
    GRAVE,
    MAX_SEVERITY,
    MIN_SEVERITY,
    Aspect,
    ConfigError,
    Decision,
    check_arguments,
    choices_for,
    counted,
    is_whole,
)
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.frameworks.wording import error_lines, in_words, marked, no_verdict
from spanjury.orchestration.services.judging.check import Source, acheck
from spanjury.orchestration.services.judging.panels import Judges, Models
from spanjury.orchestration.services.judging.synchronous import run_synchronously
from spanjury.orchestration.services.judging.text_report import TextReport
from spanjury.orchestration.wiring.config import PanelConfig

Record = Callable[[str, object], None]


class CheckOptions(TypedDict, total=False):
    """The options of `spanjury.acheck` besides a text and its source."""

    task: str | None
    aspects: str | Aspect | Sequence[str | Aspect]
    references: str | Sequence[str]
    panel: Panel | PanelConfig | Path | str | None
    judges: Judges
    models: Models
    aspects_files: Sequence[Path]


def assert_no_errors(
    output: str,
    source: Source | None = None,
    *,
    severity: int = GRAVE,
    on_unscored: Literal["fail", "skip"] = "fail",
    record: Record | None = None,
    **options: Unpack[CheckOptions],
) -> TextReport:
    """Judge a text and return the report; raise `AssertionError` if the text has an error.

    Parameters
    ----------
    output, source, options
        As in `spanjury.acheck`.
    severity
        The lowest severity of an error that fails, from 1 to 5. A text that is faulty as a whole,
        without any marked error, fails too; an error without a severity does not.
    on_unscored
        ``fail`` raises `AssertionError` if an aspect has no score, and ``skip`` raises
        `unittest.SkipTest`, with which pytest also skips.
    record
        Called with the decision, scores and number of errors, like pytest's ``record_property``.

    Raises `ConfigError` if `severity` is not a whole number from 1 to 5, an option is unknown, or
    as `spanjury.acheck`.
    """
    __tracebackhide__ = True  # so that pytest points to the line of the test
    _check_severity(severity)
    check_options("assert_no_errors", options)
    check_arguments(assert_no_errors, locals())
    try:
        report = run_synchronously(partial(acheck, output, source=source, **options))
    except ConfigError as error:
        # The mistake is in the test, so pytest is to show its line and none of our frames.
        raise error.with_traceback(None) from error.__cause__
    return _without_errors(report, severity, on_unscored=on_unscored, record=record)


async def aassert_no_errors(
    output: str,
    source: Source | None = None,
    *,
    severity: int = GRAVE,
    on_unscored: Literal["fail", "skip"] = "fail",
    record: Record | None = None,
    **options: Unpack[CheckOptions],
) -> TextReport:
    """Like `assert_no_errors`, for asynchronous code."""
    __tracebackhide__ = True
    _check_severity(severity)
    check_options("aassert_no_errors", options)
    check_arguments(aassert_no_errors, locals())
    try:
        report = await acheck(output, source=source, **options)
    except ConfigError as error:
        raise error.with_traceback(None) from error.__cause__
    return _without_errors(report, severity, on_unscored=on_unscored, record=record)


def check_options(name: str, options: Iterable[str]) -> None:
    """Raise `ConfigError` for the first of `options` that no assertion has.

    `name`: that of an assertion, or of the mark of the pytest plugin.
    """
    __tracebackhide__ = True
    for option in options:
        if option not in _OPTIONS:
            raise ConfigError(f"{name} has no option {option!r}; {choices_for(option, _OPTIONS)}")


_OPTIONS = tuple(
    name
    for name in (*inspect.signature(acheck).parameters, "severity", "on_unscored")
    if name != "output"
)


def _check_severity(severity: int) -> None:
    """Raise `ConfigError` for a severity by which a test would always pass or always fail."""
    __tracebackhide__ = True
    if not (is_whole(severity) and MIN_SEVERITY <= severity <= MAX_SEVERITY):
        raise ConfigError(f"severity is a whole number from 1 to 5, got {severity!r}")


def _without_errors(
    report: TextReport,
    severity: int,
    *,
    on_unscored: Literal["fail", "skip"],
    record: Record | None,
) -> TextReport:
    __tracebackhide__ = True
    if record is not None:
        for name, value in _properties(report):
            record(f"spanjury.{name}", value)
    if complaint := _complaint(report, severity):
        raise AssertionError(complaint)
    if report.unscored:
        error = SkipTest if on_unscored == "skip" else AssertionError
        raise error(f"no verdict: {no_verdict(report)}")
    return report


def _properties(report: TextReport) -> Iterator[tuple[str, object]]:
    yield "decision", report.decision.value if report.decision else "none"
    yield "spans", len(report.spans)
    for aspect, judged in report.reports.items():
        if judged.score is None:
            yield f"unscored.{aspect}", judged.outcome.value
        else:
            yield f"score.{aspect}", judged.score


def _complaint(report: TextReport, severity: int) -> str:
    """Return the message that fails a test; empty if nothing fails."""
    if errors := [span for span in report.spans if (span.severity or 0) >= severity]:
        number = counted(len(errors), "error")
        heading = f"{number} of severity {severity} or more in the text"
        return "\n".join([heading, marked(report.text, errors), *error_lines(errors)])
    whole = {name: judged for name, judged in report.reports.items() if not judged.spans}
    lines = [
        f"{name}: {in_words(judged)}"
        for name, judged in whole.items()
        if judged.decision is Decision.FAULTY
    ]
    return "\n".join(["the text has an error that could not be located", *lines]) if lines else ""
