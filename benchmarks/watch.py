"""Live traffic: traces per second that `spanjury watch` judges by rules, and losses after kill -9.

Run as ``python -m benchmarks.watch [--seconds N] [--rate N] [--kills N]``. The watch runs on one
core, if the system supports pinning. Each trace is an OTLP request in JSON with two spans, a
question, an article of 2,250 characters and an answer; rules judge it on two aspects.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
from aiohttp import ClientError, ClientSession

RULES = (
    "--judge",
    "grounding",
    "--judge",
    "form",
    "--aspect",
    "faithfulness",
    "--aspect",
    "fluency",
)
CONTEXT = " ".join(
    f"Section {number} of the bridge opened in {1900 + number} and is {number + 3} metres long."
    for number in range(36)
)
SENDERS = 8
AHEAD = 20.0
"""Seconds within which all traces must be judged after the last has arrived."""


def trace(number: int) -> bytes:
    """Return the request of a trace."""
    answer = f"Section {number % 36} opened in {1900 + number % 36 + (number % 7 == 0)}."
    texts = {
        "input": ("user", f"When did section {number % 36} open?"),
        "output": ("assistant", answer),
    }
    about = {
        "gen_ai.operation.name": "chat",
        "gen_ai.retrieval.documents": json.dumps([{"content": CONTEXT}]),
        **{
            f"gen_ai.{side}.messages": json.dumps(
                [{"role": role, "parts": [{"type": "text", "content": text}]}]
            )
            for side, (role, text) in texts.items()
        },
    }
    attributes = [{"key": name, "value": {"stringValue": value}} for name, value in about.items()]
    ids = {"traceId": f"{number + 1:032x}", "startTimeUnixNano": "1", "endTimeUnixNano": "2"}
    chat = {**ids, "spanId": f"{2:016x}", "parentSpanId": f"{1:016x}", "attributes": attributes}
    spans = [chat, {**ids, "spanId": f"{1:016x}", "name": "root"}]
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).encode()


class Service:
    """The watch as a process on one core; it can be started again after a kill."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.url = ""
        self.process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Start the process, and return once it accepts traces."""
        command = [sys.executable, "-m", "spanjury", "watch", "--port", "0", *RULES]
        state = ("--state-dir", str(self._folder / "state"), "-o", str(self._folder / "out.jsonl"))
        self.process = subprocess.Popen(  # noqa: S603
            [*command, *state], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
        )
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(self.process.pid, {0})
        assert self.process.stderr is not None
        line = self.process.stderr.readline()
        if "taking traces at " not in line:
            raise RuntimeError(f"the watch did not begin: {line}")
        self.url = line.partition(" at ")[2].strip()

    def end(self, number: int = signal.SIGTERM) -> None:
        """Send the process a signal, and wait for its end."""
        assert self.process is not None
        self.process.send_signal(number)
        self.process.wait()
        if self.process.stderr is not None:
            self.process.stderr.close()

    def status(self) -> dict[str, int]:
        """Return its health status."""
        with urllib.request.urlopen(self.url.replace("/v1/traces", "/healthz")) as answer:  # noqa: S310
            status: dict[str, int] = json.load(answer)
        return status

    def cpu_seconds(self) -> float:
        """Return its CPU seconds so far."""
        assert self.process is not None
        stat = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="utf-8")
        fields = stat.rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def offer(service: Service, numbers: Sequence[int], *, rate: float) -> set[int]:
    """Send traces at a steady rate; return the numbers of those accepted."""
    taken: set[int] = set()
    todo = iter(numbers)
    begin = time.monotonic()

    async def send(session: ClientSession) -> None:
        for number in todo:
            due = begin + (number - numbers[0]) / rate
            await anyio.sleep(max(0.0, due - time.monotonic()))
            headers = {"Content-Type": "application/json"}
            with suppress(ClientError, OSError):
                async with session.post(service.url, data=trace(number), headers=headers) as answer:
                    if answer.status == 200:  # noqa: PLR2004  only this promises storage
                        taken.add(number)

    async with ClientSession() as session, anyio.create_task_group() as group:
        for _ in range(SENDERS):
            group.start_soon(send, session)
    return taken


def judged(folder: Path) -> list[int]:
    """Return the numbers of the traces in the results file, one per row."""
    with (folder / "out.jsonl").open(encoding="utf-8") as rows:
        return [int(json.loads(row)["id"], 16) - 1 for row in rows]


def drained(service: Service) -> float:
    """Wait until no trace is waiting; return the seconds that this took."""
    begin = time.monotonic()
    while service.status()["waiting"]:
        if time.monotonic() - begin > AHEAD:
            raise RuntimeError(f"it fell behind: {service.status()}")
        threading.Event().wait(0.05)
    return time.monotonic() - begin


def throughput(*, rate: float, seconds: float) -> Iterator[str]:
    """Yield the measured throughput at a steady rate."""
    with TemporaryDirectory() as folder:
        service = Service(Path(folder))
        service.start()
        anyio.run(_offered, service, range(50), 50.0)
        drained(service)
        cpu, begin = service.cpu_seconds(), time.monotonic()
        count = int(rate * seconds)
        taken = anyio.run(_offered, service, range(50, 50 + count), rate)
        sent = time.monotonic() - begin
        behind = drained(service)
        cpu = service.cpu_seconds() - cpu
        service.end()
        rows = judged(Path(folder))
        if len(taken) < count or sorted(rows) != sorted([*range(50 + count)] * 2):
            raise RuntimeError(f"{len(taken)} of {count} were taken on, {len(rows)} rows written")
        yield (
            f"| {rate:.0f} | {count / sent:.0f} | {1000 * cpu / count:.1f} ms |"
            f" {100 * cpu / (sent + behind):.0f} % | {behind:.1f} s |"
        )


async def _offered(service: Service, numbers: Sequence[int], rate: float) -> set[int]:
    return await offer(service, numbers, rate=rate)


def kills(*, times: int, rate: float) -> Iterator[str]:
    """Yield the numbers of lost traces and duplicated rows after repeated kills."""
    with TemporaryDirectory() as folder:
        service = Service(Path(folder))
        taken: set[int] = set()
        for go in range(times):
            service.start()
            numbers = range(1_000 * go, 1_000 * go + int(rate))
            taken |= anyio.run(_offered_until_killed, service, numbers, rate)
        service.start()
        drained(service)
        service.end()
        rows = judged(Path(folder))
        written = Counter(rows)
        whole = {number for number, count in written.items() if count >= 2}  # noqa: PLR2004  two aspects
        yield f"| {times} | {len(taken)} | {len(taken - whole)} | {len(rows) - 2 * len(written)} |"


async def _offered_until_killed(service: Service, numbers: Sequence[int], rate: float) -> set[int]:
    async def kill() -> None:
        await anyio.sleep(0.7 * len(numbers) / rate)
        service.end(signal.SIGKILL)

    taken: set[int] = set()
    async with anyio.create_task_group() as group:
        group.start_soon(kill)
        taken |= await offer(service, numbers, rate=rate)
    return taken


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description="Measure the watch over live traffic.")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--rate", type=float, nargs="*", default=[100.0])
    parser.add_argument("--kills", type=int, default=5)
    options = parser.parse_args()
    print("| offered a s | taken a s | CPU a trace | of one core | behind at the end |")
    print("|---|---|---|---|---|")
    for rate in options.rate:
        print(*throughput(rate=rate, seconds=options.seconds), sep="\n", flush=True)
    print("\n| kills | traces taken on | lost | rows too many |\n|---|---|---|---|")
    print(*kills(times=options.kills, rate=100.0), sep="\n")


if __name__ == "__main__":
    main()
