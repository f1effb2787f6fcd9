"""Runs: jobs with a folder for their manifest, memory and results, from which they resume."""

import hashlib
import json
import os
import platform
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, replace
from datetime import UTC, datetime
from importlib.metadata import Distribution, distributions
from importlib.resources import files
from itertools import islice
from pathlib import Path

from spanjury.judges.core import (
    VERSION,
    Aspect,
    ConfigError,
    DataError,
    Segment,
    StoreError,
    counted,
    fingerprint,
    first_problem,
    hide,
    is_secret_name,
)
from spanjury.judges.core.lazy import Once, lazily
from spanjury.orchestration.services.judging.job import Job, Plan, pairs
from spanjury.orchestration.wiring import results
from spanjury.orchestration.wiring.config import PanelConfig
from spanjury.orchestration.wiring.panel_files import with_todays_models
from spanjury.orchestration.wiring.runs import RunFolder, is_kept_by_a_run, part_of, runs_home

with lazily():
    import pydantic

    from spanjury.orchestration.wiring import read_results

CLUSTER = "cluster"
"""The part of a manifest that only runs on a cluster have: its machines, and its shards."""
ASSESSMENTS = "assessments"
"""The key of a manifest for the number of result rows of the whole run."""
_FORMAT = 1
_JOB = Once(lambda: pydantic.TypeAdapter(Job))
_NAME = re.compile(r"^Name: *(\S+)", re.MULTILINE)
_VERSION = re.compile(r"^Version: *(\S+)", re.MULTILINE)
_ANNOTATOR, _VERDICT = "annotator", "spanjury.judges.llm/verdict-text.txt"
"""The judge whose prompt has changed since 0.1.0, and a template of the new prompt."""
_PROMPTS = ("judges/llm", "judges/agent", "orchestration/engine")


def manifest_of(job: Job) -> Mapping[str, object]:
    """Return the manifest, ready for JSON, of a run of `job` that begins now.

    Raise `ConfigError` if the job contains a secret, which must not be stored.
    """
    try:
        values: Mapping[str, object] = _plain_fields(job)
    except TypeError:  # an option or a judge of another type
        values = _JOB.get().dump_python(job, mode="json")
    manifest = manifest_of_values(values)
    if job.shard is not None:  # `merge` recognises shards of other data by a digest
        with suppress(OSError), job.data.open("rb") as file:  # not of a folder or a named set
            manifest["data_digest"] = hashlib.file_digest(file, "sha256").hexdigest()
    return manifest


def manifest_of_values(values: Mapping[str, object]) -> dict[str, object]:
    """Return the manifest of a run that begins now, given its job as plain `values`.

    Raise `ConfigError` if they contain a secret, which must not be stored.
    """
    _check_secrets(values, ())
    return {
        "format": _FORMAT,
        "begun": datetime.now(UTC).isoformat(timespec="seconds"),
        "job": values,
        "spanjury": VERSION,
        "python": platform.python_version(),
        "machine": f"{platform.platform()}, {os.cpu_count()} cores",
        "git": _git_state(),
        "packages": dict(map(_name_and_version, distributions())),
        "prompts": {name: text for folder in _PROMPTS for name, text in _templates(folder)},
    }


def read_job(manifest: Mapping[str, object]) -> Job:
    """Return the job that `manifest` describes.

    Raise `StoreError` if it describes none, or has an unknown format; raise `ConfigError` if it is
    that of a run on a cluster.
    """
    if CLUSTER in manifest:
        raise ConfigError(
            "it is a run on a cluster: continue it with the command that began it (spanjury "
            "evaluate DATA --engine ray --run-dir FOLDER …)"
        )
    if manifest.get("format") != _FORMAT:
        raise StoreError(f"the manifest has format {manifest.get('format')!r}, expected {_FORMAT}")
    values = manifest.get("job")
    if isinstance(values, Mapping) and isinstance(panel := values.get("panel"), Mapping):
        values = {**values, "panel": with_todays_models(panel)}
    try:
        job = _JOB.get().validate_python(values)
        return replace(job, panel=as_begun(job.panel, manifest))
    except pydantic.ValidationError as error:
        raise StoreError(f"the manifest has no valid job: {first_problem(error)}") from error


def as_begun(panel: PanelConfig, manifest: Mapping[str, object]) -> PanelConfig:
    """Return `panel` as it was when the run of `manifest` began.

    An annotator that used its first prompt uses it again, so that its replies remain valid.
    """
    prompts = manifest.get("prompts")
    if not isinstance(prompts, Mapping) or _VERDICT in prompts:
        return panel
    seats = tuple(
        replace(seat, options={"prompt": 1, **seat.options}) if seat.judge == _ANNOTATOR else seat
        for seat in panel.seats_or_default
    )
    return panel if seats == panel.seats_or_default else replace(panel, seats=seats)


def _plain(value: object) -> object:
    """Return `value` as pydantic would write it, without importing it; raise `TypeError`."""
    if value is None or type(value) in {bool, int, float, str}:
        return value
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return list(map(_plain, value))
    return _plain_fields(value)


def _plain_fields(value: object) -> dict[str, object]:
    return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}  # type: ignore[arg-type]  # raises as it should


def _check_secrets(value: object, names: tuple[str, ...]) -> None:
    """Raise `ConfigError` if a job holds a known secret, or a text in an option named like one."""
    if isinstance(value, Mapping):
        for name, part in value.items():
            _check_secrets(part, (*names, str(name)))
    elif isinstance(value, list | tuple):
        for part in value:
            _check_secrets(part, names)
    elif isinstance(value, str) and (hide(value) != value or is_secret_name(names[-1])):
        raise ConfigError(
            f"{hide('.'.join(names))} holds a secret, which would be stored with the run: have"
            " the judge or model read it from the environment, or use --no-memory"
        )


def _templates(folder: str) -> list[tuple[str, str]]:
    # By path: to name its package would import it, and pydantic-ai with it.
    templates = files("spanjury").joinpath(*folder.split("/"), "templates")
    paths = sorted(templates.iterdir(), key=lambda file: file.name)
    package = f"spanjury.{folder.replace('/', '.')}"
    return [(f"{package}/{file.name}", file.read_text(encoding="utf-8")) for file in paths]


def _name_and_version(package: Distribution) -> tuple[str, str]:
    # The first lines suffice: parsing the metadata of hundreds of packages outlasts a short run.
    text = package.read_text("METADATA") or ""
    name, version = _NAME.search(text), _VERSION.search(text)
    return name[1] if name else package.name, version[1] if version else package.version


def _git_state() -> Mapping[str, str] | None:
    """Return the commit of the current folder, and a digest of its uncommitted changes."""

    def git(*arguments: str) -> str:
        command = ["git", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=10)  # noqa: S603
        return done.stdout.strip()

    try:
        commit, changes = git("rev-parse", "HEAD"), git("status", "--porcelain")
    except (OSError, subprocess.SubprocessError):  # no git, or no repository
        return None
    return {"commit": commit, "changes": fingerprint(changes) if changes else ""}


def begin_run(
    job: Job, folder: RunFolder, *, copy: Path | None, assessments: int | None = None
) -> Job:
    """Create the folder of a run of `job`; return the job that stores memory and results there.

    The results also go to `copy`, so that the run keeps its own, whatever happens to that file.

    The manifest names files by absolute paths, except those in the folder, which may be moved. It
    contains the number of `assessments`, if known.

    Raise `StoreError` if there is a run in the folder, or it cannot be written, and the
    `ConfigError` of `check_output`.
    """
    is_inside = copy is not None and copy.resolve() == folder.results.resolve()
    copy = None if is_inside else copy
    job = replace(job, output=folder.results, copy=copy, memory=folder.memory)
    check_output(job)
    folder.create(_manifest(job, folder, assessments=assessments))
    return job


def check_output(job: Job) -> None:
    """Raise `ConfigError` if the results of `job` would replace its data or another run's."""
    for path in job.outputs:
        results.check_output(path, job.data)
        output = path.resolve()
        other = RunFolder(output.parent)
        is_own = job.memory is not None and job.memory.resolve() == other.memory
        if other.exists and output == other.results and not is_own:
            raise ConfigError(
                f"{path}: holds the results of the run {other.path}; name another file"
            )


def check_replaced(
    path: Path, *, is_keeping: bool, planned: Callable[[], Iterator[tuple[Segment, Aspect]]]
) -> None:
    """Raise `ConfigError` if a run would overwrite data at a `path` that the user did not choose.

    Results may be overwritten if a run among the user's data keeps them. If no run is kept, because
    this one is not (`is_keeping`) or there is none, results may be overwritten if they begin with
    the first `planned` pair: then they are those of the same command.
    """
    if not path.is_file() or not path.stat().st_size or is_kept_by_a_run(path):
        return
    keeps_runs = is_keeping and any(RunFolder.among(runs_home()))
    if not keeps_runs and _begins_with(path, planned()):
        return
    raise ConfigError(
        f"{path} would be overwritten, and no run keeps what is in it: name another file with -o,"
        f" or a folder for the run with --run-dir; -o {path} overwrites it"
    )


def check_changed_copy(job: Job, folder: RunFolder) -> None:
    """Raise `ConfigError` if the copy of a run's results was replaced by data that no run keeps."""
    path = job.copy
    if path is None or not path.is_file() or is_kept_by_a_run(path, folder):
        return
    begun = datetime.fromisoformat(str(folder.manifest().get("begun")))  # in whole seconds
    if path.stat().st_mtime > begun.timestamp() + 1:  # else the user named an existing file
        raise ConfigError(
            f"{path} has changed since the run wrote it, and would be overwritten: name another"
            " file with -o"
        )


def check_lost_texts(job: Job, folder: RunFolder, *, planned: Plan) -> None:
    """Raise `ConfigError` if the run has results of texts that its data no longer hold.

    The new results, which contain only texts of the data, would replace them.
    """
    path = folder.results if folder.results.is_file() else part_of(folder.results)
    if job.output.absolute() != folder.results.absolute() or not path.is_file():
        return
    lost: dict[tuple[str, str], None] = {}
    with suppress(DataError):  # rows from a damaged one on are lost already, and made again
        for name in read_results.read_result_names(path):
            lost[name] = None
    for segment, _ in pairs(job, planned=planned):
        lost.pop((segment.segment_id, segment.system), None)
    if lost:
        texts = counted(len(lost), "text")
        raise ConfigError(
            f"{path} has results of {texts} that {job.data} no longer holds, the first"
            f" {next(iter(lost))[0]!r}: put the rows back, or write the results of the others to"
            " another file with -o"
        )


def _begins_with(path: Path, pairs: Iterator[tuple[Segment, Aspect]]) -> bool:
    """Return whether the first row of `path` is a result on the first of `pairs`."""
    with path.open("rb") as file:
        line = file.readline()
    try:
        row = json.loads(line)
    except ValueError:
        return False
    names = [(segment.segment_id, aspect.name) for segment, aspect in islice(pairs, 1)]
    return isinstance(row, dict) and [(row.get("id"), row.get("aspect"))] == names


def change_run(job: Job, folder: RunFolder, *, assessments: int | None = None) -> None:
    """Write `job`, which resumes the run in `folder`, into the manifest.

    Raise `StoreError` if it cannot be written.
    """
    folder.change(_manifest(job, folder, assessments=assessments))


def _manifest(job: Job, folder: RunFolder, *, assessments: int | None) -> Mapping[str, object]:
    """Return the manifest of the run of `job` in `folder`, independent of the current folder."""
    inside = job.output.absolute() == folder.results.absolute()
    kept = replace(
        job,
        data=job.data.absolute(),
        aspects_files=tuple(path.absolute() for path in job.aspects_files),
        output=Path(folder.results.name) if inside else job.output.absolute(),
        copy=job.copy and job.copy.absolute(),
        memory=Path(folder.memory.name),
    )
    counted_rows = {} if assessments is None else {ASSESSMENTS: assessments}
    return {**manifest_of(kept), **counted_rows}


def job_of(folder: RunFolder) -> Job:
    """Return the job of the run in `folder`; raise `StoreError` if there is none."""
    job = read_job(folder.manifest())
    return replace(job, output=folder.path / job.output, memory=folder.memory)
