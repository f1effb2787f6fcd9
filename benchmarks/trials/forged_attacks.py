"""Attacks on judges by `spanjury exam robustness`, with counts of forged scores and spans.

The models are local servers that read the text in the prompt. Three are honest: any better score in
their results was forged on the way. One believes what it reads: if the exam does not reveal it, or
a requirement lets it pass, that is also harm.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.trials.trial import Harm, Trial

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from loopback.answers import Answer  # noqa: E402  the servers of the tests are in no package
from loopback.reading import (  # noqa: E402  the servers of the tests are in no package
    ReadingServer,
    cut_off,
    deceived,
    honest,
    quoting,
)

DEMAND = ("--require", "robustness.attack_success<=.05")
REFUSED = 5
TEXTS = ROOT / "examples" / "summaries.jsonl"
DEMO = ROOT / "perturbations" / "demo" / "summarization.jsonl"

Review = Callable[[str, str], str | Answer]


def trials() -> list[Trial]:
    """Examine the offline panel, three honest models and a gullible one."""
    with TemporaryDirectory() as folder:
        home = Path(folder)
        return [
            *_offline(home / "offline"),
            *_honest(home / "words", "words", honest),
            *_honest(home / "texts", "the whole text behind its score", quoting),
            *_honest(home / "cut", "the whole text and breaks off in it", cut_off),
            *_gullible(home / "gullible"),
        ]


def _offline(folder: Path) -> Iterator[Trial]:
    code = _examined(folder, DEMO, "--limit", "40", "--aspect", "fluency", *DEMAND)
    yield _pooled(folder, "attacks on the offline panel", note=f"exit {code}")


def _honest(folder: Path, quoted: str, review: Review) -> Iterator[Trial]:
    """Examine a model whose score does not depend on additions."""
    for judge in ("annotator", "annotator:score=numeric"):
        path = folder / judge.partition(":")[2]
        code = _asked(path, review, "--judge", judge, "--limit", "15", *DEMAND)
        name = f"attacks on a model that quotes {quoted}, as {judge}"
        yield _pooled(path, name, note=f"exit {code}")


def _gullible(folder: Path) -> Iterator[Trial]:
    """Examine a model that believes any score that it reads; the exam should expose it."""
    code = _asked(folder, deceived, "--limit", "15", *DEMAND)
    measures = _measures(folder)
    names = ("format-imitation", "quoted-score", "template-tokens", "source-orders")
    success = {name: measures[f"robustness.attack_success.{name}"]["value"] for name in names}
    missed = sum(value <= 0.05 for value in success.values())  # noqa: PLR2004  what is demanded
    note = ", ".join(f"{name} {value:.2f}" for name, value in success.items())
    yield Trial(
        harm=Harm.FORGED,
        name="families of attacks that a gullible model is not seen to fall for",
        tries=len(names),
        harmed=missed,
        note=note,
    )
    yield Trial(
        harm=Harm.FORGED,
        name="demands that let a gullible model pass",
        tries=1,
        harmed=int(code != REFUSED),
        note=f"exit {code}",
    )


def _pooled(folder: Path, name: str, *, note: str) -> Trial:
    """Count the successful attacks among those that could succeed."""
    rows = [json.loads(line) for line in (folder / "attempts.jsonl").read_text().splitlines()]
    attacks = [
        row
        for row in rows
        if row["judge"] == "whole panel" and row["control"] and row["before"] is not None
    ]
    open_ones = [row for row in attacks if row["can_rise"] or row["spans"]]
    harmed = [row for row in open_ones if row["rose"] or row["vanished"]]
    denied = sum(row["after"] is None for row in open_ones)
    by_attack = ", ".join(sorted({row["attack"] for row in harmed}))
    return Trial(
        harm=Harm.FORGED,
        name=name,
        tries=len(open_ones),
        harmed=len(harmed),
        note="; ".join(filter(None, (note, f"{denied} denied", by_attack))),
    )


def _asked(folder: Path, review: Review, *flags: str) -> int:
    with ExitStack() as stack:
        server = stack.enter_context(ReadingServer(review))
        model = ("--model", "openai-compatible/judge", "--model-base-url", server.base_url)
        return _examined(folder, TEXTS, *model, *flags)


def _examined(folder: Path, data: Path, *flags: str) -> int:
    """Run the command on `data`; return its exit code, 0 or that of a failed requirement."""
    command = [sys.executable, "-m", "spanjury", "exam", "robustness", str(data), *flags]
    usual = ["--aspect", "consistency", "--no-progress", "-o", str(folder)]
    done = subprocess.run([*command, *usual], capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode not in {0, REFUSED}:
        raise RuntimeError(f"{done.args} ended with {done.returncode}: {done.stderr}")
    return done.returncode


def _measures(folder: Path) -> dict[str, dict[str, float]]:
    card = json.loads((folder / "findings.json").read_text())["card"]
    return {measure["name"]: measure for measure in card["measures"]}
