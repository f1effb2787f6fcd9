"""A shard: the part of a run's rows that one of several machines judges."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TypeVar

from spanjury.judges.core import ConfigError

T = TypeVar("T")

_NUMBER = re.compile(r"[0-9]{1,9}")
_NAMED = re.compile(rf"({_NUMBER.pattern})/({_NUMBER.pattern})")
_KUBERNETES = "JOB_COMPLETION_INDEX"
_SLURM = "SLURM_ARRAY_TASK_ID"
_SLURM_COUNT = "SLURM_ARRAY_TASK_COUNT"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """Shard number `number` of `of` shards.

    Raises `ConfigError` if there is no such shard.

    Parameters
    ----------
    number
        1 to `of`.
    of
        The number of shards that the rows are distributed over.

    Examples
    --------
    >>> list(Shard(number=2, of=3).of_rows(iter("abcdefg")))
    ['b', 'e']
    """

    number: int
    of: int

    def __post_init__(self) -> None:
        if not 1 <= self.number <= self.of:
            raise ConfigError(
                f"got shard {self.number} of {self.of}: the number must be 1 to the number of"
                " shards, which must be 1 or more"
            )

    def __str__(self) -> str:
        return f"shard-{self.number}-of-{self.of}"

    def of_rows(self, rows: Iterator[T]) -> Iterator[T]:
        """Yield every `of`-th of `rows`, beginning with row `number`.

        Dealt out this way, and not in blocks, each shard has rows of all kinds, and interleaving
        the shards restores the order of the rows.
        """
        return islice(rows, self.number - 1, None, self.of)

    def path(self, path: Path) -> Path:
        """Return the shard's counterpart of the whole run's file `path`.

        Examples
        --------
        >>> Shard(number=3, of=16).path(Path("results.jsonl")).name
        'results.shard-3-of-16.jsonl'
        """
        return path.with_name(f"{path.stem}.{self}{path.suffix}")

    def folder(self, path: Path) -> Path:
        """Return the shard's folder within the folder `path` of the whole run."""
        return path / str(self)


def parse_shard(text: str, environment: Mapping[str, str]) -> Shard:
    """Parse a shard from a flag; the environment supplies the parts that the flag leaves open.

    Raise `ConfigError` if `text` has none of the forms below, there is no such shard, or the
    environment does not name it: a variable is missing or not a number, or the size of the array
    differs from the number of shards, so that its tasks do not match the shards.

    Parameters
    ----------
    text
        ``3/16`` for the third of sixteen shards; ``16`` for the one of sixteen that
        ``JOB_COMPLETION_INDEX`` (Kubernetes, counted from 0) or, without it,
        ``SLURM_ARRAY_TASK_ID`` names; ``auto`` for the task of a Slurm array, with as many shards
        as tasks.
    environment
        The environment variables. They are read only if `text` asks for it: an array of jobs may
        serve any purpose.

    Notes
    -----
    The first task of an array, ``SLURM_ARRAY_TASK_MIN``, is shard 1; consecutive shards are
    ``SLURM_ARRAY_TASK_STEP`` apart.
    """
    if named := _NAMED.fullmatch(text):
        return Shard(number=int(named[1]), of=int(named[2]))
    if text == "auto":
        of = _number_in(environment, _SLURM_COUNT)
        return Shard(number=_slurm_number(environment, of=of), of=of)
    if not _NUMBER.fullmatch(text):
        raise ConfigError(f"got the shard {text!r}, expected one as 3/16, a count as 16, or auto")
    of = int(text)
    if of < 1:
        raise ConfigError("got 0 shards, expected 1 or more")
    if _KUBERNETES in environment:
        return Shard(number=_number_in(environment, _KUBERNETES) + 1, of=of)
    if _SLURM not in environment:
        raise ConfigError(
            f"got {of} shards, but neither {_KUBERNETES} nor {_SLURM} is set to say which of"
            f" them: name it, as 1/{of}"
        )
    return Shard(number=_slurm_number(environment, of=of), of=of)


def _slurm_number(environment: Mapping[str, str], *, of: int) -> int:
    """Return this task's position in its array, counted from 1."""
    tasks = _number_in(environment, _SLURM_COUNT, default=of)
    if tasks != of:  # as if two of sixteen are resubmitted: the first is not shard 1
        raise ConfigError(
            f"got {of} shards in an array of {tasks} tasks, expected a task for each: name the"
            f" shard, as 1/{of}"
        )
    task = _number_in(environment, _SLURM)
    first = _number_in(environment, "SLURM_ARRAY_TASK_MIN", default=0)
    step = _number_in(environment, "SLURM_ARRAY_TASK_STEP", default=1)
    before, rest = divmod(task - first, step) if step else (0, 1)
    if rest or not 0 <= before < of:
        raise ConfigError(
            f"{_SLURM} is {task} in an array that begins with {first} in steps of {step}, expected"
            f" one of its first {of} tasks: submit an array without gaps, or name the shard, as"
            f" 1/{of}"
        )
    return before + 1


def _number_in(environment: Mapping[str, str], name: str, *, default: int | None = None) -> int:
    """Return the number in an environment variable."""
    value = environment.get(name)
    if value is None and default is not None:
        return default
    if value is None or not _NUMBER.fullmatch(value):
        got = "is not set" if value is None else f"is {value!r}"
        raise ConfigError(f"{name} {got}, expected a whole number: name the shard, as 3/16")
    return int(value)
