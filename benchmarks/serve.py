"""Checks over HTTP: throughput, latency, and the throughput that remains under overload.

Run as ``python -m benchmarks.serve [--requests N] [--clients N] [--endurance N] [--overload]``. The
service and its clients share this machine. For comparison, the service also runs with several
processes behind one port, and a bare application runs on the same server and returns the same
bytes. ``--overload`` measures only the overload.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks import batch_server
from benchmarks.serve_load import answers, ask, bare_service, offer

EXAMPLES = Path(__file__).parents[1] / "examples" / "summaries.jsonl"
DELAY = 0.05
RULES = ("--judge", "grounding", "--judge", "form")
PROCESSES = (2,)
WARM = 200
CROWD = 5
"""Load under overload, as a multiple of the service's capacity."""
CROWD_SECONDS = 10.0
CROWD_CLIENTS = 256


def bodies() -> list[bytes]:
    """Return request bodies that check the examples."""
    rows = map(json.loads, EXAMPLES.read_text(encoding="utf-8").splitlines())
    return [
        json.dumps(
            {
                "output": row["output"],
                "inputs": row["inputs"],
                "task": row["task"],
                "aspects": ["consistency"],
            }
        ).encode()
        for row in rows
    ]


@contextmanager
def service(*flags: str) -> Iterator[tuple[int, int]]:
    """Run the service with these flags; yield its port and its process id."""
    with TemporaryDirectory() as state:
        command = [sys.executable, "-m", "spanjury", "serve", "--port", "0", "--state-dir", state]
        process = subprocess.Popen([*command, *flags], stderr=subprocess.PIPE, text=True)  # noqa: S603
        assert process.stderr is not None
        try:
            address = process.stderr.readline().strip()
            if not process.stderr.readline().startswith("ready"):
                raise RuntimeError(f"the service did not begin: {address}")
            yield int(address.rpartition(":")[2]), process.pid
        finally:
            process.terminate()
            process.wait()
            process.stderr.close()


def memory_mb(process: int) -> float:
    """Return the resident memory of a process in MiB."""
    lines = Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines()
    (line,) = (line for line in lines if line.startswith("VmRSS:"))
    return int(line.split()[1]) / 1024


def cpu_seconds(process: int) -> float:
    """Return the CPU seconds so far of a process and its children."""
    stats = (path.read_text("utf-8") for path in Path("/proc").glob("[0-9]*/stat"))
    fields = [(stat.partition(" ")[0], stat.rpartition(")")[2].split()) for stat in stats]
    ticks = (
        int(after[11]) + int(after[12])
        for number, after in fields
        if str(process) in {number, after[1]}
    )
    return sum(ticks) / os.sysconf("SC_CLK_TCK")


def overload(asked: Sequence[bytes], *, clients: int, requests: int) -> Iterator[str]:
    """Yield the service's throughput at its own pace, and under several times that load."""
    with service(*RULES, "--max-check-wait", "0.2") as (port, process):
        clients = min(clients, 8)  # so few that none waits longer than that
        ask(port, asked, clients=2, requests=WARM)
        began = cpu_seconds(process)
        alone = ask(port, asked, clients=clients, requests=requests)
        check = (cpu_seconds(process) - began) / requests
        began = cpu_seconds(process)
        crowd = offer(
            port, asked, rate=CROWD * alone.rate, seconds=CROWD_SECONDS, clients=CROWD_CLIENTS
        )
        judged, refused = len(crowd.taken.seconds), len(crowd.refused.seconds)
        spent = cpu_seconds(process) - began
    yield f"Checks a second as fast as they are answered: {alone.rate:.0f}"
    sent = (judged + refused) / crowd.taken.wall / alone.rate
    yield f"Checks a second at {sent:.1f} times as many: {crowd.taken.rate:.0f}"
    yield f"Share of checks that is left: {crowd.taken.rate / alone.rate:.2f}"
    yield f"The same by CPU time of the service: {judged * check / spent:.2f}"
    refusal = max(0.0, spent - judged * check) / max(1, refused)
    yield f"CPU of a check and of a refusal (ms): {1e3 * check:.2f}, {1e3 * refusal:.3f}"
    times = ", ".join(f"{crowd.refused.quantile(share):.0f}" for share in (0.5, 0.9, 0.99))
    yield f"A refusal takes (ms; p50, p90, p99): {times}"
    times = ", ".join(f"{crowd.taken.quantile(share):.0f}" for share in (0.5, 0.99))
    yield f"A check takes (ms; p50, p99): {times}"


def row(
    name: str, served: tuple[int, int], asked: Sequence[bytes], *, clients: int, requests: int
) -> str:
    """Return a row of the table for a port and its process, after a warm-up."""
    port, process = served
    ask(port, asked, clients=clients, requests=max(WARM, clients))
    began = cpu_seconds(process)
    load = ask(port, asked, clients=clients, requests=requests)
    spent = 1e3 * (cpu_seconds(process) - began) / requests
    times = " | ".join(f"{load.quantile(share):.1f}" for share in (0.5, 0.99))
    return f"| {name} | {load.rate:,.0f} | {spent:.2f} | {times} |"


def growth(port: int, process: int, asked: Sequence[bytes], *, requests: int) -> Iterator[str]:
    """Yield the service's memory at the start, and after each fifth of the requests."""
    yield f"{memory_mb(process):.1f}"
    for _ in range(5):
        ask(port, asked, clients=8, requests=requests // 5)
        yield f"{memory_mb(process):.1f}"


def read_options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Ask a service over HTTP.")
    parser.add_argument("--requests", type=int, default=2_000)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--endurance", type=int, default=5_000, help="requests, for memory")
    parser.add_argument("--overload", action="store_true", help="measure a crowd, and no more")
    return parser.parse_args()


def main() -> None:
    """Print the table."""
    options = read_options()
    asked = bodies()
    many = {"clients": options.clients, "requests": options.requests}
    if options.overload:
        for line in overload(asked, **many):
            print(line, flush=True)
        return
    print(f"| {options.clients} clients | requests/s | CPU ms | p50, ms | p99, ms |")
    print("|---|---|---|---|---|")
    with service(*RULES) as served:
        print(row("offline judges (rules)", served, asked, **many), flush=True)
        few = {"clients": 1, "requests": max(options.requests // 10, 20)}
        print(row("the same, one client", served, asked, **few), flush=True)
        memory = ", ".join(growth(*served, asked, requests=options.endurance))
        with bare_service(answers(served[0], asked)) as bare:
            print(row("a bare application, the same bytes", bare, asked, **many), flush=True)
    for count in PROCESSES:
        with service(*RULES, "--workers", str(count)) as served:
            name = f"offline judges, {count} processes"
            print(row(name, served, asked, **many), flush=True)
    with batch_server.served(delay=DELAY) as address:
        model = ("--model", "openai-compatible/stub", "--model-base-url", f"{address}/v1")
        with service(*model, "--max-connections", str(options.clients)) as served:
            name = f"a model that answers after {1e3 * DELAY:.0f} ms"
            print(row(name, served, asked, **many))
        made = batch_server.counts(address).calls
        if made < options.requests:
            raise RuntimeError(f"expected {options.requests} calls or more, and {made} were made")
    print(f"\nMemory over {options.endurance:,} requests (MB): {memory}")


if __name__ == "__main__":
    main()
