"""Cost of viewing a run: until its first rows are shown, until all are loaded, and per query.

Run as ``python benchmarks/view.py [ROWS …]``. Four systems share an article of 4,000 characters; an
output has 400; a row has two seats, two error spans with evidence, and 3,000 bytes. The command
`spanjury view` is a separate process, measured from its start; its queries are those of the page.
"""

import json
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import sysconf
from pathlib import Path

import numpy as np
from numpy.random import Generator, default_rng

ROWS = (1_000, 10_000, 100_000)
SYSTEMS = 4
SENTENCE = "The bridge in the harbour was opened by the premier of the state in a year of rain"
WORDS = np.array(SENTENCE.split())
RARE = "zeppelin"
TICKS = sysconf("SC_CLK_TCK")


def write_run(folder: Path, rows: int) -> None:
    """Write the folder of a finished run, and its data."""
    rng = default_rng(1)
    article = ""
    data, results = folder / "data.jsonl", folder / "results.jsonl"
    with data.open("w") as texts, results.open("w") as judged:
        for number in range(rows):
            if number % SYSTEMS == 0:
                article = _text(rng, 4_000)
            output = _text(rng, 400) + (f" {RARE}" if number % 1_000 == 0 else "")
            row = {"id": f"{number}", "system": f"system-{number % SYSTEMS}", "output": output}
            texts.write(json.dumps({**row, "inputs": {"Article": article}}) + "\n")
            judged.write(json.dumps(_result(row, article)) + "\n")
    job = {"data": str(data), "output": "results.jsonl", "columns": [], "aspects_files": []}
    (folder / "run.json").write_text(json.dumps({"format": 1, "begun": "", "job": job}))
    (folder / "done").touch()


def _text(rng: Generator, length: int) -> str:
    return " ".join(rng.choice(WORDS, size=length // 5))


def _result(row: dict[str, str], article: str) -> dict[str, object]:
    output = row["output"]
    spans = [
        {
            "start": start,
            "end": start + 10,
            "text": output[start : start + 10],
            "explanation": "The article says another year than the summary does here.",
            "severity": 3,
            "category": "contradicted date",
            "located": "exact",
            "evidence": [{"input": "Article", "start": 7, "end": 20, "text": article[7:20]}],
            "probability": None,
        }
        for start in (5, 50)
    ]
    seat = {
        "signature": "grounding|rules:1",
        "outcome": "scored",
        "score": 3.0,
        "spans": spans,
        "rationale": "Wrong year, or no such bridge.",
        "usage": {"calls": 0, "prompt": 0, "cached": 0, "completion": 0, "reasoning": 0},
        "seconds": 0.1,
        "reason": "",
        "reply": None,
        "error_probability": None,
    }
    return {
        "id": row["id"],
        "aspect": "consistency",
        "score": 2.5,
        "outcome": "scored",
        "spans": [{**span, "found_by": ["a", "b"]} for span in spans],
        "seats": [{"judge": "a", **seat}, {"judge": "b", **seat, "score": 2.0}],
        "aggregation": "mean",
        "consolidator": "rules",
        "task": "summarization",
        "system": row["system"],
        "reason": "",
        "signature": "panel",
        "set_aside": [],
        "left_out": 0,
        "decision": "unsure",
        "error_probability": None,
        "decision_basis": None,
    }


@dataclass(frozen=True, slots=True)
class Served:
    """A run served by a process."""

    process: "subprocess.Popen[str]"
    address: str

    def ask(self, path: str) -> dict[str, list[object]]:
        """Return the answer to a query of the page."""
        url, token = self.address.split("#")
        request = urllib.request.Request(  # noqa: S310
            f"{url}api/{path}", headers={"Authorization": f"Bearer {token}"}
        )
        with urllib.request.urlopen(request) as reply:  # noqa: S310
            answer: dict[str, list[object]] = json.load(reply)
            return answer

    @property
    def cpu(self) -> float:
        """CPU seconds of the process so far."""
        stat = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(stat[11]) + int(stat[12])) / TICKS

    @property
    def memory(self) -> tuple[float, float]:
        """Peak and current resident memory, in MiB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        values = dict(line.split(":", 1) for line in status.splitlines())
        peak, now = (int(values[name].split()[0]) / 1024 for name in ("VmHWM", "VmRSS"))
        return peak, now

    def milliseconds(self, path: str) -> float:
        """Return the CPU time of a repeated query."""
        self.ask(path)
        begun, times = self.cpu, 10
        for _ in range(times):
            self.ask(path)
        return (self.cpu - begun) / times * 1_000


@contextmanager
def serve(folder: Path) -> Iterator[Served]:
    """Serve a run in a separate process."""
    command = [sys.executable, "-m", "spanjury", "view", str(folder), "--no-browser"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:  # noqa: S603
        assert process.stderr is not None
        address = process.stderr.readline().split()[-1]
        try:
            yield Served(process, address)
        finally:
            process.send_signal(signal.SIGINT)
        assert process.wait() == 0


def measure(rows: int) -> str:
    """Return a row of the table."""
    with tempfile.TemporaryDirectory() as folder:
        write_run(Path(folder), rows)
        with serve(Path(folder)) as served:
            return _measured(served, rows)


def _measured(served: Served, rows: int) -> str:
    begun = time.perf_counter()
    served.ask("head")
    loaded = len(served.ask("columns?from=0")["id"])
    first, waited = served.cpu, time.perf_counter() - begun
    while loaded < rows:
        loaded += len(served.ask(f"columns?from={loaded}")["id"])
    whole, (_, resident) = served.cpu, served.memory
    numbers = ",".join(map(str, range(rows // 2, min(rows // 2 + 50, rows))))
    details = served.milliseconds(f"rows?numbers={numbers}")
    searches = [served.milliseconds(f"search?text={text}") for text in (RARE, "premier")]
    begun_comparison = served.cpu
    served.ask("comparison?first=system:system-0&second=system:system-1")
    compared = served.cpu - begun_comparison
    cells = (first, waited, whole, details, *searches, compared, resident, served.memory[0])
    specs = (".2f", ".2f", ".2f", ".1f", ".0f", ".0f", ".1f", ".0f", ".0f")
    shown = " | ".join(format(cell, spec) for cell, spec in zip(cells, specs, strict=True))
    return f"| {rows:,} | {shown} |"


def main(all_rows: list[int]) -> None:
    """Print the table."""
    columns = (
        *("rows", "CPU s to first rows", "s of them at the page", "CPU s to all rows"),
        *("50 details, ms", "rare word, ms", "word of all, ms", "comparison, s"),
        *("MiB with all rows", "MiB at most"),
    )
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}", flush=True)
    for rows in all_rows:
        print(measure(rows), flush=True)


if __name__ == "__main__":
    main([int(rows) for rows in sys.argv[1:]] or list(ROWS))
