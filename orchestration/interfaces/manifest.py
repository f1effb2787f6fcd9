"""What a run must be known by later: versions, words, flags, machine, state of the code."""

import os
import platform
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import distributions
from importlib.resources import files

from pydantic import TypeAdapter, ValidationError

from spanjury.judges.core import (
    VERSION,
    ConfigError,
    StoreError,
    fingerprint,
    hide,
    is_secret_name,
)
from spanjury.orchestration.interfaces.job import Job

__all__ = ["manifest_of", "read_job"]

_FORMAT = 1
_JOB: TypeAdapter[Job] = TypeAdapter(Job)
_PROMPTS = ("judges/llm", "judges/agent", "orchestration")


def manifest_of(job: Job) -> Mapping[str, object]:
    """Return the manifest of a run of `job` that begins now, ready for JSON.

    Raises
    ------
    ConfigError
        If the job holds a secret, which must not be stored.
    """
    values = _JOB.dump_python(job, mode="json")
    _check_secrets(values, ())
    return {
        "format": _FORMAT,
        "begun": datetime.now(UTC).isoformat(timespec="seconds"),
        "job": values,
        "spanjury": VERSION,
        "python": platform.python_version(),
        "machine": f"{platform.platform()}, {os.cpu_count()} cores",
        "git": _git_state(),
        "packages": {found.name: found.version for found in distributions()},
        "prompts": {name: text for folder in _PROMPTS for name, text in _templates(folder)},
    }


def read_job(manifest: Mapping[str, object]) -> Job:
    """Return the job that `manifest` tells of.

    Raises
    ------
    StoreError
        If it tells of none, or was written in a format that is not known.
    """
    if manifest.get("format") != _FORMAT:
        raise StoreError(f"the manifest has format {manifest.get('format')!r}, expected {_FORMAT}")
    try:
        return _JOB.validate_python(manifest.get("job"))
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        place = ".".join(map(str, problem["loc"]))
        raise StoreError(f"the manifest tells of no job: {place}: {problem['msg']}") from error


def _check_secrets(value: object, names: tuple[str, ...]) -> None:
    """Turn away a job with a known secret in it, or with a text in an option named as one is."""
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
    found = sorted(templates.iterdir(), key=lambda file: file.name)
    package = f"spanjury.{folder.replace('/', '.')}"
    return [(f"{package}/{file.name}", file.read_text(encoding="utf-8")) for file in found]


def _git_state() -> Mapping[str, str] | None:
    """Return the commit of the folder we are in, and a digest of what is changed there."""
    try:
        commit = _git("rev-parse", "HEAD")
        changes = _git("status", "--porcelain")
    except (OSError, subprocess.SubprocessError):
        return None
    return {"commit": commit, "changes": fingerprint(changes) if changes else ""}


def _git(*arguments: str) -> str:
    command = ["git", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=10)  # noqa: S603
    return done.stdout.strip()
