"""The command `spanjury runs repair`, once its flags are read."""

import shlex
from pathlib import Path

from spanjury.orchestration.cli.exits import say
from spanjury.orchestration.wiring import RunFolder, find_memory, repair_memory

__all__ = ["repair_run"]


def repair_run(*, run: Path) -> None:
    """Save what can be read of a run's memory, and say how much that is and how to go on."""
    memory = find_memory(run)
    repaired = repair_memory(memory)
    if repaired.kept is None:
        say(f"{memory}: nothing is damaged, all {repaired.saved} values are what was put")
        return
    say(f"{memory}: {repaired.saved} values are saved, {repaired.lost} are known to be lost")
    say(f"the damaged file is kept as {repaired.kept}")
    if RunFolder(memory.parent).exists:
        say(f"go on with: spanjury resume {shlex.quote(str(run))}")
