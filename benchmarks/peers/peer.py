"""Parts that the scripts beside it share: the order they read and the figures they print.

Run as ``python with_NAME.py`` in an environment that has the peer; spanjury is not needed
there. The order comes on standard input, the figures go to standard output.
"""

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Order", "print_cost"]

_WARM_UP = 100


@dataclass(frozen=True)
class Order:
    """The prompt, the address, the number of calls, and how many of them run at once."""

    address: str
    prompt: str
    calls: int
    connections: int


def print_cost(run: Callable[[Order, int], int]) -> None:
    """Have the calls made, after some that load what is loaded once; print what they cost."""
    order = Order(**json.load(sys.stdin))
    run(order, _WARM_UP)
    wall, cpu = time.perf_counter(), time.process_time()
    scored = run(order, order.calls)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    status = Path("/proc/self/status").read_text(encoding="ascii")
    peak_mb = int(status.split("VmHWM:")[1].split()[0]) * 1024 / 1e6
    print(json.dumps({"wall": wall, "cpu": cpu, "peak_mb": peak_mb, "scored": scored}))
