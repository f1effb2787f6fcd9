"""Paid replies and scores across releases: calls that are repeated, and results that are outdated.

Each release is a copy of the package with changed source, run as a command on the folder of a run
that this release started. Harm is a call for a reply that was already paid for, a lost score, or a
row that still has its old score or prompt although the release has other rules.
"""

import json
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.trials.counting_server import CountingServer
from benchmarks.trials.release_tree import Change, Release
from benchmarks.trials.trial import Harm, Trial

__all__ = ["trials"]

_ROWS = 40
_REPLY = (
    'Error 1\nLocation: "was was"\nExplanation: It is said twice.\nSeverity: 3\n\nOverall score: 4'
)
_SEATS = {
    "all": ("annotator", "annotator", "geval:repeats=2,temperature=1", "distilled", "form"),
    "annotator": ("annotator",),
    "geval": ("geval:repeats=2,temperature=1",),
    "distilled": ("distilled",),
    "offline": ("form", "grounding", "precision"),
}
LATER = (
    Change(
        file="judges/core/chat.py",
        before="    logprobs: int = 0\n",
        after="    logprobs: int = 0\n    top_p: float | None = None\n",
    ),
    Change(
        file="judges/core/chat.py",
        before='    call_id: str = ""\n',
        after='    call_id: str = ""\n    name: str = ""\n',
    ),
    Change(
        file="judges/core/chat.py",
        before="    tools: tuple[ToolSpec, ...] = ()\n",
        after="    tools: tuple[ToolSpec, ...] = ()\n    user: str = ''\n",
    ),
    Change(
        file="judges/core/aspect.py",
        before="    scale: Scale = Scale()\n",
        after="    scale: Scale = Scale()\n    weight: float = 1.0\n",
    ),
)
_HARMLESS = {
    "a version": ((), "0.1.1"),
    "a version for testing": ((), "1.0.0rc1"),
    "fields with defaults": (LATER, "0.2.0"),
    "words of the reader's code": (
        (Change(file="judges/llm/parse.py", before='"""', after='"""Newer. '),),
        "0.2.1",
    ),
    "words of the client's code": (
        (Change(file="adapters/models/litellm_model.py", before='"""', after='"""Newer. '),),
        "0.2.2",
    ),
}
RULES = {
    "form's costs": ("form", "judges/rules/form.py", "0.1, 0.25, 0.5", "5.0, 12.5, 25.0"),
    "grounding's weights": (
        "grounding",
        "judges/rules/grounding.py",
        "_CONSTANT = 0.32",
        "_CONSTANT = 0.12",
    ),
    "a metric's rules": (
        "precision",
        "judges/metrics/overlap/token_overlap.py",
        "return _share(shared, of=output, other=reference)",
        "return 0.125",
    ),
}
PROMPTS = {
    "layout of the fence": ("annotator", "judges/text/prompts.py", ": begin", ": begins"),
    "describe()": (
        "annotator",
        "judges/tasks/catalogue.py",
        'return "\\n".join(',
        'return "\\n\\n".join(',
    ),
    "description of the task": (
        "annotator",
        "judges/tasks/summarization.toml",
        'description = """\n',
        'description = """\nNewer. ',
    ),
    "words of the annotator": ("annotator", "judges/llm/templates/annotate.txt", " ", "  "),
    "words of geval": ("geval", "judges/llm/templates/geval.txt", " ", "  "),
    "words of distilled": ("distilled", "judges/llm/templates/short.txt", " ", "  "),
}


READER = Change(
    file="judges/llm/annotator.py",
    before="rationale=parsed.rationale,",
    after='rationale="read by the newer release",',
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """A parsed result row."""

    score: float | None
    seats: dict[str, float | None]
    rationales: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """A run by this release, to be continued by others."""

    folder: Path
    server: CountingServer
    paid: int
    rows: list[_Row]


@dataclass(slots=True)
class _Bench:
    """Runs and releases in a temporary folder."""

    scratch: Path
    runs: dict[str, _Run] = field(default_factory=dict)

    def begin(self, name: str, server: CountingServer, *, lane: str) -> None:
        """Judge the rows with the seats `name`, using this release."""
        folder = self.scratch / name
        folder.mkdir()
        texts = (
            {
                "id": str(number),
                "task": "summarization",
                "output": f"It was was text {number} .",
                "inputs": {"Article": f"It was the text {number}. No more."},
                "references": [f"It was text {number}."],
            }
            for number in range(_ROWS)
        )
        (folder / "rows.jsonl").write_text("\n".join(map(json.dumps, texts)))
        judges = [part for judge in _SEATS[name] for part in ("--judge", judge)]
        aspects = ["--aspect", "consistency", "--aspect", "fluency"]
        model = ["--model", f"{lane}/judge", "--model-base-url", server.base_url]
        command = ["evaluate", "rows.jsonl", *aspects, *judges, *model, "--run-dir", "run"]
        before = server.asked
        Release.cut(self.scratch / f"{name}-first").run(*command, where=folder)
        rows = _read(folder / "run/results.jsonl")
        self.runs[name] = _Run(folder=folder, server=server, paid=server.asked - before, rows=rows)

    def go_on(self, name: str, release: Release, *command: str) -> tuple[int, list[_Row]]:
        """Run `command` on a copy of the run; return its number of calls, and the results."""
        run = self.runs[name]
        with tempfile.TemporaryDirectory(dir=self.scratch) as path:
            folder = Path(path) / "copy"
            shutil.copytree(run.folder, folder)
            before = run.server.asked
            release.run(*command, "-o", "new.jsonl", where=folder)
            return run.server.asked - before, _read(folder / "new.jsonl")


def trials() -> list[Trial]:
    """Return the costs of releases that change nothing, and the changes that releases miss."""
    with tempfile.TemporaryDirectory() as scratch, CountingServer(_REPLY) as server:
        bench = _Bench(Path(scratch))
        for name in _SEATS:
            bench.begin(name, server, lane="openai" if name == "geval" else "openai-compatible")
        return [*_paid_twice(bench), _read_again(bench), *_stale(bench), *_asked_again(bench)]


def _paid_twice(bench: _Bench) -> Iterator[Trial]:
    """Resume and rescore with releases whose judges and prompts are unchanged."""
    for number, (change, (changes, version)) in enumerate(_HARMLESS.items()):
        release = Release.cut(bench.scratch / f"harmless-{number}", changes, version=version)
        tries = harmed = 0
        for name in ("all", "geval"):  # the second is behind LiteLLM
            run = bench.runs[name]
            calls, rows = bench.go_on(name, release, "resume", "run")
            more, medians = bench.go_on(name, release, "rescore", "run", "--aggregate", "median")
            gone = sum(
                new.seats != old.seats or median.seats != old.seats or median.score is None
                for new, median, old in zip(rows, medians, run.rows, strict=True)
            )
            tries += run.paid + len(run.rows)
            harmed += calls + more + gone
        yield Trial(
            harm=Harm.LOST,
            name=f"resumed and rescored after {change} changed",
            tries=tries,
            harmed=harmed,
            note=f"calls and rows; {version}",
        )


def _read_again(bench: _Bench) -> Trial:
    """Resume with a release that parses replies differently: it must, without any call."""
    release = Release.cut(bench.scratch / "reader", [READER])
    calls, rows = bench.go_on("annotator", release, "resume", "run")
    stale = sum(not all("newer" in rationale for rationale in row.rationales) for row in rows)
    return Trial(
        harm=Harm.LOST,
        name="replies read again after their reader changed",
        tries=bench.runs["annotator"].paid + len(rows),
        harmed=calls + stale,
        note="calls and rows",
    )


def _stale(bench: _Bench) -> Iterator[Trial]:
    """Resume with releases that have other rules: each score must change."""
    run = bench.runs["offline"]
    for number, (change, (seat, file, before, after)) in enumerate(RULES.items()):
        changed = Change(file=file, before=before, after=after)
        release = Release.cut(bench.scratch / f"rules-{number}", [changed])
        _, rows = bench.go_on("offline", release, "resume", "run")
        pairs = [
            (old.seats[seat], new.seats[seat]) for old, new in zip(run.rows, rows, strict=True)
        ]
        scored = [(old, new) for old, new in pairs if old is not None]
        stale = sum(old == new for old, new in scored)
        name = f"old scores after {change} changed"
        yield Trial(harm=Harm.LOST, name=name, tries=len(scored), harmed=stale)


def _asked_again(bench: _Bench) -> Iterator[Trial]:
    """Resume with releases that have other prompts: all replies must be requested again."""
    for number, (change, (name, file, before, after)) in enumerate(PROMPTS.items()):
        changed = Change(file=file, before=before, after=after)
        release = Release.cut(bench.scratch / f"prompts-{number}", [changed])
        calls, _ = bench.go_on(name, release, "resume", "run")
        paid = bench.runs[name].paid
        yield Trial(
            harm=Harm.LOST,
            name=f"replies to the old prompt after the {change} changed",
            tries=paid,
            harmed=max(0, paid - calls),
        )


def _read(path: Path) -> list[_Row]:
    rows = map(json.loads, path.read_text().splitlines())
    return [
        _Row(
            score=row["score"],
            seats={seat["judge"]: seat["score"] for seat in row["seats"]},
            rationales=tuple(seat["rationale"] for seat in row["seats"]),
        )
        for row in rows
    ]
