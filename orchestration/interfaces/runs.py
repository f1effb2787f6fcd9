"""Jobs that keep what they learn in a run's folder, and how a run is found again."""

from dataclasses import replace
from pathlib import Path

from spanjury.orchestration.interfaces.job import Job
from spanjury.orchestration.interfaces.manifest import manifest_of, read_job
from spanjury.orchestration.wiring import RunFolder

__all__ = ["begin_run", "change_run", "job_of"]


def begin_run(job: Job, folder: RunFolder, *, output: Path | None) -> Job:
    """Make the folder of a run of `job`; return the job that keeps its memory there.

    Its manifest names files by their absolute paths, but for those in the folder, which
    may be moved.

    Raises
    ------
    StoreError
        If there is a run in the folder, or it cannot be written.
    """
    job = replace(job, output=output or folder.results, memory=folder.memory)
    folder.create(manifest_of(_kept(job, folder)))
    return job


def change_run(job: Job, folder: RunFolder) -> None:
    """Have the manifest tell of `job`, which goes on with the run in `folder`.

    Raises
    ------
    StoreError
        If it cannot be written.
    """
    folder.change(manifest_of(_kept(job, folder)))


def job_of(folder: RunFolder) -> Job:
    """Return the job that was begun in `folder`.

    Raises
    ------
    StoreError
        If there is none.
    """
    job = read_job(folder.manifest())
    return replace(job, output=folder.path / job.output, memory=folder.memory)


def _kept(job: Job, folder: RunFolder) -> Job:
    """Return `job` as the manifest tells of it, wherever it is read."""
    inside = job.output.absolute() == folder.results.absolute()
    return replace(
        job,
        data=job.data.absolute(),
        aspects_files=tuple(path.absolute() for path in job.aspects_files),
        output=Path(folder.results.name) if inside else job.output.absolute(),
        memory=Path(folder.memory.name),
    )
