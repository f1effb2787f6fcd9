"""`spanjury export`: results in other formats. `spanjury merge`: join the results of shards."""

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from spanjury.judges.core import ConfigError, Segment, StoreError, counted
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.cli.command import Flag
from spanjury.orchestration.cli.exits import say
from spanjury.orchestration.cli.flags.data import RunOrResults

with lazily():
    from spanjury.orchestration.services.judging import job as jobs
    from spanjury.orchestration.services.runs import run_folder as runs
    from spanjury.orchestration.wiring import cluster, exports, sources
    from spanjury.orchestration.wiring import runs as run_folders

_DATASET = "hf"

WordT = TypeVar("WordT", bound=StrEnum)


def export(
    *,
    run: RunOrResults,
    output: Annotated[
        Path | None,
        Flag(
            "File to write: .csv, .tsv or .jsonl; hf:FOLDER for a Hugging Face dataset; '-', the"
            " default, prints CSV.",
            "FILE",
            also=("-o", "--to"),
        ),
    ] = None,
    form: Annotated[
        str | None,
        Flag("Format, whatever the name of the file: jsonl, csv, tsv, mqm or factgenie.", "FORM"),
    ] = None,
    rows: Annotated[
        str,
        Flag("Write one row per assessment ('assessments') or per error span ('spans').", "UNIT"),
    ] = "assessments",
    texts: Annotated[
        bool, Flag("Add the texts from the run's data: output, inputs and references.")
    ] = False,
) -> None:
    """Export the results of a run, finished or not, as JSON Lines, CSV or TSV."""
    target = None if output == Path("-") else output
    if form is not None and form in exports.MARKED_FORMS:
        _export_marked(run, target, form)
        return
    folder = _dataset_folder(target, form)
    chosen = exports.Export(
        results=_results(run),
        form=_word(form, exports.ExportForm) if form else _form_of(None if folder else target),
        unit=_word(rows, exports.ExportUnit),
        texts=_texts(run) if texts else None,
    )
    noun = chosen.unit.removesuffix("s")
    if folder is not None:
        count = chosen.to_dataset(folder)
        say(
            f"{counted(count, f'{noun} is', f'{noun}s are')} in {folder}:"
            f" datasets.load_from_disk({str(folder)!r})"
        )
    elif target is None:
        count = chosen.to_stream(typer.get_binary_stream("stdout"))
    else:
        count = chosen.to_file(target)
        say(f"{counted(count, f'{noun} is', f'{noun}s are')} in {target}")
    if chosen.results.suffix == run_folders.PART:
        say(f"{chosen.results} belongs to an unfinished run: {counted(count, noun)} so far")
    if chosen.texts is not None and (missing := chosen.texts.missing):
        say(
            f"{len(missing)} texts were left empty, the first {min(missing)!r}: the run's data no"
            " longer hold them as they were judged"
        )


def _dataset_folder(target: Path | None, form: str | None) -> Path | None:
    """Return the folder of a dataset if the target names one; None otherwise."""
    scheme, colon, folder = str(target).partition(":")
    if target is None or scheme != _DATASET or not colon:
        return None
    if form is not None or not folder:
        raise ConfigError(f"got {target}, expected hf:FOLDER without --form")
    return Path(folder)


def _texts(run: Path) -> "exports.JudgedTexts":
    """Return the texts of a run, from the data that its manifest names."""
    if run.is_file():
        raise ConfigError(f"--texts needs the folder or name of a run, which names its data: {run}")
    job = runs.job_of(run_folders.find_run(run))

    def read() -> Iterator[Segment]:
        segments = _segments(job)
        return sources.by_source(segments) if job.order == "source" else segments

    return exports.JudgedTexts(read)


def _segments(job: "jobs.Job") -> Iterator[Segment]:
    """Yield the segments in the data of a run, which may include others."""
    for row in sources.open_source(job.data, columns=job.columns):
        if isinstance(row, Segment):
            yield row


def _export_marked(run: Path, target: Path | None, form: str) -> None:
    """Write error spans as an annotator's marks in the texts of the run's data."""
    if target is None or run.is_file():
        raise ConfigError(f"{form} needs a run's folder and an output file: got {run} -o {target}")
    job = runs.job_of(run_folders.find_run(run))
    marked = exports.marked_segments(_segments(job), _results(run))
    lines = exports.MARKED_FORMS[form](target, marked)
    say(f"{counted(lines, 'line is', 'lines are')} in {target}")


def _results(run: Path) -> Path:
    """Return the results file of `run`, complete or partial."""
    if run.is_file():
        return run
    folder = run_folders.find_run(run)
    results = runs.job_of(folder).output
    for path in (results, run_folders.part_of(results)):
        if path.is_file():
            return run_folders.own_results(path, folder)
    raise StoreError(f"{run} has no results yet, or {results} has gone elsewhere: name the file")


def _form_of(target: Path | None) -> "exports.ExportForm":
    """Return the format that a file's suffix names."""
    if target is None:
        return exports.ExportForm.CSV
    return _word(target.suffix.removeprefix("."), exports.ExportForm)


def _word(word: str, words: type[WordT]) -> WordT:
    try:
        return words(word)
    except ValueError as error:
        forms = ", ".join([*words, *(exports.MARKED_FORMS if words is exports.ExportForm else ())])
        raise ConfigError(f"cannot export {word!r}; known: {forms}") from error


def merge(
    *,
    parts: Annotated[
        tuple[Path, ...],
        typer.Argument(
            metavar="PARTS", help="Result files of all shards, or the folder that holds them."
        ),
    ],
    output: Annotated[
        Path | None, Flag("File for the results; by default beside the shards.", also="-o")
    ] = None,
) -> None:
    """Join the results of the shards of a run, in the order of the rows."""
    shards = cluster.find_parts(parts)
    target = output or shards[0].whole
    rows = cluster.merge_parts(shards, target)
    say(f"{rows} rows of {len(shards)} shards are in {target}")
