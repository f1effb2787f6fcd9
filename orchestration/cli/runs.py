"""`spanjury runs`: list runs, and repair the memory of one."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from spanjury.judges.core import ConfigError, StoreError
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.cli.exits import say

with lazily():
    from spanjury.orchestration.cli import console
    from spanjury.orchestration.services import runs as service
    from spanjury.orchestration.wiring import repair as repairing
    from spanjury.orchestration.wiring import runs as run_folders


def list_runs(
    *,
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="FOLDER", help="Folder of runs; that among your data by default."),
    ] = None,
) -> None:
    """List runs: those among your data, or in a folder."""
    home = folder or run_folders.runs_home()
    rows = []
    damaged: list[str] = []
    for run in run_folders.RunFolder.among(home):
        try:
            manifest = run.manifest()
            begun, data = str(manifest.get("begun")), _data_of(manifest)
        except StoreError as error:  # must not hide the others
            damaged.append(str(error))
            rows.append((run.path.name, "", "", "damaged"))
        else:
            rows.append((run.path.name, begun, data, "done" if run.is_done else "open"))
    console.print_table(("run", "begun", "data", "state"), rows)
    say(f"{len(rows)} runs in {home}")
    for problem in damaged:
        say(f"spanjury: {problem}")


def repair(
    *,
    run: Annotated[
        Path,
        typer.Argument(metavar="RUN", help="Folder or name of a run, or the file of a memory."),
    ],
) -> None:
    """Save every value that can be read in a damaged memory, in a new file.

    The damaged file is kept beside it. A resume asks again for what is lost.
    """
    memory = run_folders.find_memory(run)
    repaired = repairing.repair_memory(memory)
    if repaired.kept is None:
        say(f"{memory}: nothing is damaged, all {repaired.saved} values are what was put")
        return
    say(f"{memory}: {repaired.saved} values are saved, {repaired.lost} are known to be lost")
    say(f"the damaged file is kept as {repaired.kept}")
    if run_folders.RunFolder(memory.parent).exists:
        say(f"go on with: spanjury resume {shlex.quote(str(run))}")


def _data_of(manifest: Mapping[str, object]) -> str:
    """Return the data of a run; one that cannot be resumed must not hide the others."""
    job = manifest.get("job")
    if service.CLUSTER in manifest and isinstance(job, Mapping):
        return str(job.get("data"))
    try:
        return str(service.read_job(manifest).data)
    except ConfigError as error:
        return f"cannot be resumed: {error}"
