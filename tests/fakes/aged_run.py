"""A run that looks as old as a test wants it."""

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path


def aged(run: Path, days: int) -> None:
    """Make a run look as if it was begun, and written to last, so long ago."""
    then = datetime.now(UTC) - timedelta(days=days)
    manifest = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps({**manifest, "begun": then.isoformat()}))
    for path in [*run.rglob("*"), run]:
        os.utime(path, (then.timestamp(), then.timestamp()), follow_symlinks=False)


def as_of_an_earlier_release(run: Path) -> None:
    """Make a run look as if its results had only gone where ``-o`` said."""
    manifest = json.loads((run / "run.json").read_text())
    output = manifest["job"].pop("copy")
    manifest["job"]["output"] = output
    (run / "run.json").write_text(json.dumps(manifest))
    (run / "results.jsonl").unlink()
