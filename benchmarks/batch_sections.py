"""The sections of `batch`: each measures and prints a table."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.batch_lanes import BARE, LANES, measured_calls
from benchmarks.batch_peers import measured_peer
from benchmarks.batch_runs import (
    CONNECTIONS,
    Measured,
    fixed_panel,
    measured_run,
    offline_panel,
    stub_panel,
    trivial_panel,
)
from benchmarks.batch_server import served

from spanjury.orchestration.wiring.config import PanelConfig

__all__ = ["SECTIONS", "Asked", "Section"]

DELAY = 0.05
ROUNDS = 3
IDEAL = CONNECTIONS / DELAY
MANY = 10_000  # from here on one round is enough, and a bare client's calls are
SLOW = "LiteLLM"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The numbers of rows or calls (a line of the table each), the folder for files, the peers."""

    counts: Sequence[int]
    folder: Path
    peers: Mapping[str, Path]


@dataclass(frozen=True, slots=True)
class Section:
    """A table, and the counts that are usual for it."""

    show: Callable[[Asked], None]
    counts: Sequence[int]


def harness(asked: Asked) -> None:
    """CPU of a row (one aspect, one seat) beyond that of the bare client's call, and memory."""
    print(f"{'rows':>8} memory {'bare µs':>8}{'run µs':>8}{'beyond':>8}{'/ bare':>8}  resident MB")
    with served(delay=DELAY) as address:
        for rows in asked.counts:
            for remembers in (False, True):
                bare, run = _beyond(address, asked.folder, rows=rows, remembers=remembers)
                beyond = run.cpu_us - bare
                print(
                    f"{rows:>8} {'yes' if remembers else 'no':<6} {bare:>8.0f}{run.cpu_us:>8.0f}"
                    f"{beyond:>8.0f}{beyond / bare:>8.2f}  {_memory(run)}",
                    flush=True,
                )


def _beyond(address: str, folder: Path, *, rows: int, remembers: bool) -> tuple[float, Measured]:
    """Return the CPU microseconds of a bare call, and a run right after it: of the best round."""
    rounds = []
    for _ in range(ROUNDS if rows < MANY else 1):
        _forget(folder)
        calls = min(rows, MANY)
        bare = measured_calls(BARE, address=address, calls=calls).cpu / calls * 1e6
        panel = partial(stub_panel, address)
        run = measured_run(panel, rows=rows, folder=folder, remembers=remembers)
        rounds.append((bare, run))
    return min(rounds, key=lambda pair: pair[1].cpu_us / pair[0])


def _forget(folder: Path) -> None:
    for path in folder.glob("memory.sqlite3*"):
        path.unlink()


def _memory(run: Measured) -> str:
    return f"{run.resident[0]:.0f} to {run.resident[-1]:.0f}, peak {run.peak:.0f}"


def scale(asked: Asked) -> None:
    """CPU of a row and memory up to many rows; the model is a function in the process."""
    _print_curves(asked, panel=fixed_panel)


def engine(asked: Asked) -> None:
    """CPU of a row and memory up to very many rows; a judge says the same of all of them."""
    _print_curves(asked, panel=trivial_panel)


def _print_curves(asked: Asked, *, panel: Callable[[], PanelConfig]) -> None:
    print(f"{'rows':>8} memory {'read µs':>9}{'all µs':>8}  resident MB at each tenth; peak")
    for rows in asked.counts:
        for remembers in (False, True):
            _forget(asked.folder)
            run = measured_run(panel, rows=rows, folder=asked.folder, remembers=remembers)
            print(f"{rows:>8} {'yes' if remembers else 'no':<6} {_curve(run)}", flush=True)


def _curve(run: Measured) -> str:
    resident = " ".join(f"{megabytes:.0f}" for megabytes in run.resident)
    return f"{run.read_us:>9.0f}{run.cpu_us:>8.0f}  {resident}; {run.peak:.0f}"


def lanes(asked: Asked) -> None:
    """Share of the ideal throughput, the server answering after 50 ms on 64 connections."""
    print(f"{'road':<32}{'calls a s':>10}{'share':>7}{'CPU ms':>8}")
    with served(delay=DELAY) as address:
        for calls in asked.counts:
            for lane in LANES:
                some = calls // 5 if SLOW in lane else calls
                rounds = [measured_calls(lane, address=address, calls=some) for _ in range(ROUNDS)]
                best = min(rounds, key=lambda spent: spent.wall)
                _print_road(lane, calls=some, wall=best.wall, cpu=best.cpu)
            panel = partial(stub_panel, address)
            runs = [measured_run(panel, rows=calls, folder=asked.folder) for _ in range(ROUNDS)]
            judged = min((run.judged for run in runs), key=lambda spent: spent.wall)
            _print_road("run with annotator", calls=calls, wall=judged.wall, cpu=judged.cpu)


def _print_road(name: str, *, calls: int, wall: float, cpu: float) -> None:
    rate = calls / wall
    print(f"{name:<32}{rate:>10.0f}{rate / IDEAL:>7.0%}{cpu / calls * 1e3:>8.2f}", flush=True)


def warm(asked: Asked) -> None:
    """Rows a CPU second when everything is remembered, with both readings of the file."""
    print(f"{'rows':>8}{'read µs':>9}{'all µs':>8}{'rows a CPU s':>14}")
    for rows in asked.counts:
        _forget(asked.folder)
        again = partial(measured_run, fixed_panel, rows=rows, folder=asked.folder, remembers=True)
        again()
        run = min((again() for _ in range(ROUNDS)), key=lambda run: run.cpu_us)
        print(f"{rows:>8}{run.read_us:>9.0f}{run.cpu_us:>8.0f}{1e6 / run.cpu_us:>14.0f}")


def offline(asked: Asked) -> None:
    """Run the offline panel: time, CPU and memory."""
    print(f"{'rows':>8}{'s':>7}{'CPU s':>7}{'all µs':>8}  resident MB at each tenth; peak")
    for rows in asked.counts:
        run = measured_run(offline_panel, rows=rows, folder=asked.folder)
        wall, cpu = run.planned.wall + run.judged.wall, run.planned.cpu + run.judged.cpu
        resident = " ".join(f"{megabytes:.0f}" for megabytes in run.resident)
        print(f"{rows:>8}{wall:>7.0f}{cpu:>7.0f}{run.cpu_us:>8.0f}  {resident}; {run.peak:.0f}")


def peers(asked: Asked) -> None:
    """Other libraries making the same calls at the same server; CPU beside ours, and memory."""
    print(f"{'library':<16}{'scored':>8}{'CPU ms':>8}{'ratio':>7}{'calls a s':>11}{'peak MB':>9}")
    with served(delay=DELAY) as address:
        for calls in asked.counts:
            ours = measured_run(partial(stub_panel, address), rows=calls, folder=asked.folder)
            rate = calls / (ours.planned.wall + ours.judged.wall)
            cost = f"{ours.cpu_us / 1e3:>8.2f}{1:>7.1f}"
            print(f"{'spanjury':<16}{calls:>8}{cost}{rate:>11.0f}{ours.peak:>9.0f}", flush=True)
            for name, environment in asked.peers.items():
                peer = measured_peer(name, environment=environment, address=address, calls=calls)
                cpu_us = peer.spent.cpu / calls * 1e6
                cost = f"{cpu_us / 1e3:>8.2f}{cpu_us / ours.cpu_us:>7.1f}"
                rate = calls / peer.spent.wall
                print(f"{name:<16}{peer.scored:>8}{cost}{rate:>11.0f}{peer.peak:>9.0f}", flush=True)


SECTIONS: Mapping[str, Section] = {
    "harness": Section(harness, (1_000, 10_000)),
    "scale": Section(scale, (1_000, 10_000)),
    "engine": Section(engine, (1_000, 10_000)),
    "lanes": Section(lanes, (5_000,)),
    "warm": Section(warm, (10_000,)),
    "offline": Section(offline, (10_000,)),
    "peers": Section(peers, (1_000,)),
}
