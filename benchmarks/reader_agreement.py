"""Agreement of two versions of the reader on marked texts: decisions, spans and P(error).

    python benchmarks/reader_agreement.py write FILE
    python benchmarks/reader_agreement.py compare BEFORE AFTER

Run ``write`` in the tree of each version. It writes the results of the judge `reader` and of the
default panel on 1,252 texts: QAGS, and the test parts of CLIFF and SummEdits (SciTLDR).
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import anyio
import numpy as np

import spanjury

DATA = Path(__file__).parents[2] / "shared" / "data"
FILES = (
    DATA / "judgements" / "qags_four_judges.jsonl.gz",
    DATA / "support" / "dev_cliff.jsonl.gz",
    DATA / "support" / "dev_summedits_scitldr.jsonl.gz",
)
PANELS: dict[str, Sequence[str]] = {"reader": ("reader",), "default panel": ()}
ASPECT = spanjury.find_aspect("summarization", "consistency")


async def said_now() -> dict[str, dict[str, object]]:
    """Judge all texts, and return decision, P(error) and spans of each."""
    results: dict[str, dict[str, object]] = {}
    for name, judges in PANELS.items():
        results[name] = {}
        async with spanjury.open_panel(judges=judges) as panel:
            for file in FILES:
                for segment in spanjury.read_segments(file):
                    report = await panel.assess(segment, ASPECT)
                    results[name][f"{file.name} {segment.segment_id}"] = {
                        "decision": str(report.decision),
                        "probability": report.error_probability,
                        "spans": [[span.start, span.end] for span in report.spans],
                    }
    return results


def compare(before: Path, after: Path) -> None:
    """Print the shares of texts with equal results in both versions."""
    old, new = (json.loads(path.read_text(encoding="utf-8")) for path in (before, after))
    print(f"{'judge':<16}{'texts':>7}{'decision':>10}{'spans':>8}{'mean dP':>9}{'max dP':>8}")
    for name in PANELS:
        pairs = [(old[name][text], new[name][text]) for text in old[name]]
        same = [
            np.mean([left[key] == right[key] for left, right in pairs])
            for key in ("decision", "spans")
        ]
        apart = [abs((a["probability"] or 0) - (b["probability"] or 0)) for a, b in pairs]
        shares = f"{same[0]:>10.4f}{same[1]:>8.4f}"
        print(f"{name:<16}{len(pairs):>7}{shares}{np.mean(apart):>9.4f}{max(apart):>8.3f}")


if __name__ == "__main__":
    if sys.argv[1] == "write":
        Path(sys.argv[2]).write_text(json.dumps(anyio.run(said_now)), encoding="utf-8")
    else:
        compare(Path(sys.argv[2]), Path(sys.argv[3]))
