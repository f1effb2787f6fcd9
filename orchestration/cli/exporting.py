"""What `spanjury export` does once its flags are read."""

from enum import StrEnum
from pathlib import Path
from typing import TypeVar

import typer

from spanjury.judges.core import ConfigError, Segment, StoreError
from spanjury.orchestration.cli.exits import say
from spanjury.orchestration.services.runs import job_of
from spanjury.orchestration.wiring import (
    MARKED_FORMS,
    Export,
    ExportForm,
    ExportUnit,
    find_run,
    marked_segments,
    open_source,
)

__all__ = ["export_run"]

_PART = ".part"

WordT = TypeVar("WordT", bound=StrEnum)


def export_run(*, run: Path, output: Path | None, form: str | None, rows: str) -> None:
    """Write the results of `run`, a run's folder or a results file, for other programs."""
    target = None if output == Path("-") else output
    if form is not None and form in MARKED_FORMS:
        _export_marked(run, target, form)
        return
    export = Export(
        results=_results(run),
        form=_word(form, ExportForm) if form else _form_of(target),
        unit=_word(rows, ExportUnit),
    )
    if target is None:
        count = export.to_stream(typer.get_binary_stream("stdout"))
    else:
        count = export.to_file(target)
        say(f"{count} {export.unit} are in {target}")
    if export.results.suffix == _PART:
        say(f"{export.results} is of a run that is open: {count} {export.unit} so far")


def _export_marked(run: Path, target: Path | None, form: str) -> None:
    """Write what was found as an annotator's marks in the texts, which are the run's data."""
    if target is None or run.is_file():
        raise ConfigError(f"{form} goes to a file and needs a run's folder: got {run} -o {target}")
    job = job_of(find_run(run))
    segments = (
        one for one in open_source(job.data, columns=job.columns) if isinstance(one, Segment)
    )
    lines = MARKED_FORMS[form](target, marked_segments(segments, _results(run)))
    say(f"{lines} lines are in {target}")


def _results(run: Path) -> Path:
    """Return where the results of `run` are, or as many as there are."""
    if run.is_file():
        return run
    results = job_of(find_run(run)).output
    for path in (results, results.with_name(f"{results.name}{_PART}")):
        if path.is_file():
            return path
    raise StoreError(f"{run} has no results yet, or {results} has gone elsewhere: name the file")


def _form_of(target: Path | None) -> ExportForm:
    """Return the form that the ending of a file names."""
    if target is None:
        return ExportForm.CSV
    return _word(target.suffix.removeprefix("."), ExportForm)


def _word(word: str, words: type[WordT]) -> WordT:
    try:
        return words(word)
    except ValueError as error:
        known = ", ".join([*words, *(MARKED_FORMS if words is ExportForm else ())])
        raise ConfigError(f"cannot export {word!r}; known: {known}") from error
