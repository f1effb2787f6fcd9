"""Other libraries making the same calls: one call of a scorer a sample, at the same server.

Each runs in an environment of its own; `peers/` holds a script for each.
"""

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.batch_lanes import prompt
from benchmarks.batch_process import Spent
from benchmarks.batch_runs import CONNECTIONS

__all__ = ["PEERS", "PeerRun", "measured_peer"]

_FOLDER = Path(__file__).parent / "peers"
PEERS: Sequence[str] = ("inspect-ai", "deepeval", "pydantic-evals")


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerRun:
    """The cost of a peer's calls, its peak memory, and the number of samples with a score."""

    spent: Spent
    peak: float
    scored: int


def measured_peer(name: str, *, environment: Path, address: str, calls: int) -> PeerRun:
    """Have the peer called `name` make `calls` calls, in `environment`.

    Raises
    ------
    RuntimeError
        If it fails; the message ends as its standard error does.
    """
    order = {
        "address": address,
        "prompt": prompt(),
        "calls": calls,
        "connections": CONNECTIONS,
    }
    script = _FOLDER / f"with_{name.replace('-', '_')}.py"
    done = subprocess.run(  # noqa: S603 - the environment was named by who runs this
        [str(environment / "bin" / "python"), str(script)],
        input=json.dumps(order),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{name} failed: …{done.stderr[-2000:]}")
    said = json.loads(done.stdout.splitlines()[-1])
    return PeerRun(
        spent=Spent(wall=said["wall"], cpu=said["cpu"]),
        peak=said["peak_mb"],
        scored=said["scored"],
    )
