"""Commands in their own processes, and their cost. Unix only, because it needs wait4."""

import os
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile

__all__ = ["Cost", "RowCost", "cost_of", "row_cost"]

_TAIL = 2_000
_NO_VARIABLES: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """CPU seconds (user and system, all threads and children), wall-clock seconds, peak memory."""

    cpu: float
    wall: float
    peak_mb: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RowCost:
    """Cost of each row beyond a run of few rows, and the CPU seconds of that run."""

    start_up: float
    cpu_ms: float
    wall_ms: float
    peak_mb: float

    @property
    def rate(self) -> float:
        """Rows per second; raise `RuntimeError` if the runs were too short to measure."""
        if self.wall_ms <= 0:
            raise RuntimeError("all rows took no longer than few: take more rows")
        return 1e3 / self.wall_ms


def cost_of(
    command: Sequence[str], *, cwd: Path | None = None, variables: Mapping[str, str] = _NO_VARIABLES
) -> Cost:
    """Run `command`, discard its output, and return its cost.

    It inherits no SPANJURY variables from the environment, and may write bytecode.

    Raises
    ------
    RuntimeError
        If its exit status is not 0; the message has the end of its standard error.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if name != "PYTHONDONTWRITEBYTECODE" and not name.startswith("SPANJURY_")
    }
    with TemporaryFile() as errors:
        begun = time.perf_counter()
        child = subprocess.Popen(  # noqa: S603 - our own commands, and those of named environments
            command,
            cwd=cwd,
            env={**kept, **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
        )
        _, status, used = os.wait4(child.pid, 0)
        wall = time.perf_counter() - begun
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            errors.seek(0)
            text = errors.read()[-_TAIL:].decode(errors="replace")
            raise RuntimeError(f"{' '.join(command)} exited with {child.returncode}: …{text}")
    return Cost(cpu=used.ru_utime + used.ru_stime, wall=wall, peak_mb=used.ru_maxrss * 1024 / 1e6)


def row_cost(run: Callable[[int], Cost], *, rows: int, few: int) -> RowCost:
    """Run few rows, then `rows`; return the cost of each additional row.

    Raises
    ------
    RuntimeError
        If `rows` took no more CPU than `few`, so that only start-up was measured.
    """
    start, whole = run(few), run(rows)
    if whole.cpu <= start.cpu:
        raise RuntimeError(f"{rows} rows cost no more than {few}: take more rows")
    return RowCost(
        start_up=start.cpu,
        cpu_ms=(whole.cpu - start.cpu) / (rows - few) * 1e3,
        wall_ms=(whole.wall - start.wall) / (rows - few) * 1e3,
        peak_mb=whole.peak_mb,
    )
