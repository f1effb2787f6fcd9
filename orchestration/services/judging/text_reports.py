"""Reports on several texts: a sequence, and tables of it."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import overload

from spanjury.judges.core import Decision, Result, shown
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.services.judging.text_report import TextReport
from spanjury.orchestration.studies.failing.conditions import Failure, failing

with lazily():
    import pandas as pd
    import polars as pl


class TextReports(Sequence[TextReport]):
    """Reports on several texts, in the order of the data."""

    def __init__(self, reports: Iterable[TextReport]) -> None:
        self._reports = tuple(reports)

    @overload
    def __getitem__(self, index: int) -> TextReport: ...
    @overload
    def __getitem__(self, index: slice) -> "TextReports": ...
    def __getitem__(self, index: int | slice) -> "TextReport | TextReports":
        """Return the report at `index`, or those of a slice."""
        if isinstance(index, slice):
            return TextReports(self._reports[index])
        return self._reports[index]

    def __len__(self) -> int:
        """Return the number of texts."""
        return len(self._reports)

    @property
    def results(self) -> tuple[Result, ...]:
        """The results of all texts, text by text and aspect by aspect."""
        return tuple(result for report in self._reports for result in report.results)

    def failing(self, *conditions: str) -> list[Failure]:
        """Return what fails under any condition, as ``"severity>=4"`` or ``"decision=faulty"``.

        Raise `ConfigError` if one cannot be read; ``docs/runs.md`` has the fields.
        """
        return failing(self.results, *conditions)

    def rows(self) -> list[dict[str, object]]:
        """Return a flat row for each result, as `to_pandas` and `to_polars` take them."""
        return [_flat(result) for result in self.results]

    def to_pandas(self) -> "pd.DataFrame":
        """Return a row for each text and aspect; needs pandas."""
        return pd.DataFrame(self.rows(), columns=[*_COLUMNS])

    def to_polars(self) -> "pl.DataFrame":
        """Return a row for each text and aspect; needs polars."""
        columns = {name: [row[name] for row in self.rows()] for name in _COLUMNS}
        return pl.DataFrame(columns)

    def __repr__(self) -> str:
        """Say how many there are, and how they were decided."""
        counts = {decision.value: 0 for decision in Decision} | {"no decision": 0}
        for report in self._reports:
            counts[report.decision.value if report.decision else "no decision"] += 1
        decided = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
        texts = "1 text" if len(self) == 1 else f"{len(self)} texts"
        return f"<TextReports: {texts}; {decided or 'none'}>"

    def _repr_html_(self) -> str:
        """Show a table in a notebook."""
        head = "".join(f"<th>{name}</th>" for name in _COLUMNS)
        rows = "".join(
            "<tr>" + "".join(f"<td>{_cell(row[name])}</td>" for name in _COLUMNS) + "</tr>"
            for row in self.rows()
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


_COLUMNS = (
    *("id", "system", "task", "aspect", "score", "outcome", "decision"),
    *("error_probability", "spans", "worst_severity", "reason", "output"),
)


def _flat(result: Result) -> dict[str, object]:
    report = result.report
    severities = [span.severity for span in report.spans if span.severity is not None]
    values = (
        *(result.segment.segment_id, result.segment.system, result.aspect.task.name),
        *(result.aspect.name, report.score, report.outcome.value),
        *(report.decision.value if report.decision else None, report.error_probability),
        *(len(report.spans), max(severities, default=None), report.reason, result.segment.output),
    )
    return dict(zip(_COLUMNS, values, strict=True))


def _cell(value: object) -> str:
    text = "" if value is None else f"{value:.2f}" if isinstance(value, float) else str(value)
    return f"<bdi>{escape(shown(text))}</bdi>"
