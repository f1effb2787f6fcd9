"""What `spanjury export` does once its flags are read."""

from enum import StrEnum
from pathlib import Path
from typing import TypeVar

import typer

from spanjury.judges.core import ConfigError, StoreError
from spanjury.orchestration.interfaces.cli.exits import say
from spanjury.orchestration.interfaces.runs import job_of
from spanjury.orchestration.wiring import Export, ExportForm, ExportUnit, find_run

__all__ = ["export_run"]

_PART = ".part"

WordT = TypeVar("WordT", bound=StrEnum)


def export_run(*, run: Path, output: Path | None, form: str | None, rows: str) -> None:
    """Write the results of `run`, a run's folder or a results file, for other programs."""
    target = None if output == Path("-") else output
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
        raise ConfigError(f"cannot export {word!r}; known: {', '.join(words)}") from error
