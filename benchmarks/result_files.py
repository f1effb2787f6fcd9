"""Cost of rows apart from judging: ordering by source, joining shards, and exporting.

Run as ``python benchmarks/result_files.py [ROWS …]``. Segments have an article of 4,000 characters,
each shared by four segments that are far apart; a result row has two seats, an error span and 2,000
bytes. Each figure is of a separate process.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from spanjury.adapters.files.reading.sources import by_source
from spanjury.adapters.files.results.exports import Export
from spanjury.adapters.files.results.merging import find_parts, merge_parts
from spanjury.adapters.files.results.results import result_row
from spanjury.judges.core import (
    Aspect,
    ErrorSpan,
    PanelReport,
    Report,
    Result,
    SeatReport,
    Segment,
    Task,
)

ROWS = (10_000, 100_000, 1_000_000)
SHARDS = 16
SYSTEMS = 4
ARTICLE = "The bridge in the harbour was opened in 1932 by the premier of the state. " * 54
SPAN = ErrorSpan(text="", explanation="The article says another year. ", severity=3)
REPORT = Report(score=3, spans=(SPAN,), rationale="Wrong year, or no such bridge. " * 20)
RESULT = Result(
    segment=Segment(segment_id="NUMBER", output=""),
    aspect=Aspect(
        name="consistency",
        task=Task(name="summarization", description=""),
        definition="",
        kind="grounding",
    ),
    report=PanelReport(
        score=3,
        spans=(SPAN,),
        signature="panel",
        seats=tuple(
            SeatReport(seat=name, signature=name, report=REPORT, seconds=0.1) for name in "ab"
        ),
    ),
)


def segments(rows: int) -> Iterator[Segment]:
    """Yield all outputs of the first system, then all of the second, and so on."""
    for number in range(rows):
        source = f"{number % (rows // SYSTEMS)} {ARTICLE}"
        yield Segment(segment_id=f"{number}", output="It opened in 1935.", inputs={"A": source})


def write_shards(folder: Path, rows: int) -> None:
    """Distribute result rows over the files of the shards, one row to each in turn."""
    head, tail = json.dumps(result_row(RESULT)).split("NUMBER")
    for shard in range(SHARDS):
        path = folder / f"results.shard-{shard + 1}-of-{SHARDS}.jsonl"
        with path.open("w") as file:
            file.writelines(f"{head}{number}{tail}\n" for number in range(shard, rows, SHARDS))


def measure(stage: str, folder: Path, rows: int) -> None:
    """Print rows per second, rows per CPU second, and the peak resident memory."""
    whole = folder / "results.jsonl"
    begun, begun_cpu = time.perf_counter(), time.process_time()
    if stage == "by source":
        count = sum(1 for _ in by_source(segments(rows)))
    elif stage == "merge":
        count = merge_parts(find_parts([folder]), whole)
    else:
        count = Export(results=whole).to_file(folder / "table.csv")
    took, took_cpu = time.perf_counter() - begun, time.process_time() - begun_cpu
    assert count == rows
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{stage:<10}{rows:>9}{rows / took:>12.0f}{rows / took_cpu:>14.0f}{memory:>9.0f}")


def main(all_rows: list[int]) -> None:
    """Print the table."""
    print(f"{'':<10}{'rows':>9}{'a second':>12}{'a CPU second':>14}{'MiB':>9}", flush=True)
    for rows in all_rows:
        with tempfile.TemporaryDirectory() as folder:
            write_shards(Path(folder), rows)
            for stage in ("by source", "merge", "export"):
                command = [sys.executable, __file__, stage, folder, str(rows)]
                subprocess.run(command, check=True)  # noqa: S603


if __name__ == "__main__":
    if sys.argv[1:] and not sys.argv[1].isdigit():
        measure(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
    else:
        main([int(rows) for rows in sys.argv[1:]] or list(ROWS))
