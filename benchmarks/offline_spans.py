"""Spans and decisions of the offline judges on human-marked texts: the table in the docs.

    python benchmarks/offline_spans.py [DATA [FLAG…]]

DATA is the folder of collected data sets. FLAGs, such as ``--judge reader``, are passed to
`spanjury bench spans`; without any, the default panel and each of its judges are measured. Prints
the overview in Markdown, first of consistency, then of fluency; the whole pages are in
``span-bench/`` and ``span-bench-form/``.
"""

import gzip
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

DATA = Path(__file__).parents[2] / "shared" / "data"
MARKED = {
    "support": ("dev_cliff", "dev_summedits_scitldr", "dev_wice_tokens"),
    "marked": (
        "dev_begin",
        "dev_breaking_nli",
        "dev_covidfact",
        "dev_defacto",
        "dev_expertqa",
        "dev_healthver",
        "dev_tabfact_pairs",
    ),
}
"""Folder -> files of texts that are only for measuring; each is always reported."""
OVERVIEW = "\n## Overview\n"


def qags_halves(data: Path, folder: Path) -> list[Path]:
    """Write QAGS as two files, one for each source, without the models' results."""
    with gzip.open(data / "judgements" / "qags_four_judges.jsonl.gz", "rt") as lines:
        rows = [json.loads(line) for line in lines]
    halves = []
    for name in ("cnndm", "xsum"):
        kept = [
            {key: row[key] for key in ("id", "input", "output", "human", "aspect")}
            for row in rows
            if row["id"].startswith(name)
        ]
        halves.append(folder / f"qags-{name}.jsonl")
        halves[-1].write_text("".join(f"{json.dumps(row)}\n" for row in kept))
    return halves


def overview(files: Sequence[Path], flags: Sequence[str]) -> str:
    """Run the bench, and return the table of all judges on all sets."""
    command = [sys.executable, "-m", "spanjury", "bench", "spans", *map(str, files), *flags]
    command.append("--markdown")
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)  # noqa: S603
    return done.stdout.partition(OVERVIEW)[2].partition("\n## ")[0].strip()


def main(data: Path, flags: Sequence[str]) -> None:
    """Print both tables."""
    marked = [data / folder / f"{name}.jsonl.gz" for folder in MARKED for name in MARKED[folder]]
    with TemporaryDirectory() as folder:
        print(overview([*marked, *qags_halves(data, Path(folder))], flags))
    summeval = data / "scores" / "summeval_scores.jsonl.gz"
    fluency = ("--aspect", "fluency", "--judge", "form", "-o", "span-bench-form")
    print(f"\n{overview([summeval], fluency)}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else DATA, sys.argv[2:])
