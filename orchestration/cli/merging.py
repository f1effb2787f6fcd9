"""What `spanjury merge` does once its flags are read."""

from pathlib import Path

from spanjury.orchestration.cli.exits import say
from spanjury.orchestration.wiring import find_parts, merge_parts

__all__ = ["merge_shards"]


def merge_shards(*, parts: list[Path], output: Path | None) -> None:
    """Join the results of all shards of a run, beside the first of them if not to `output`."""
    found = find_parts(parts)
    target = output or found[0].whole
    rows = merge_parts(found, target)
    say(f"{rows} rows of {len(found)} shards are in {target}")
