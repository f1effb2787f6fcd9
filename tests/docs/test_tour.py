"""The tour: the commands about marked texts run one after the other, as they stand."""

import json
import shlex
from pathlib import Path

import pytest
from fakes.command import call

from spanjury.orchestration.services.judging.exam_texts import TWINS

TOUR = Path(__file__).parents[2] / "docs" / "tour.md"
QUICK = {"calibrate": ("--draws", "100"), "panel study": ("--draws", "20")}


def commands(first: str, last: str) -> list[list[str]]:
    """Return the commands of the tour from one that begins so to one that ends the block."""
    lines = TOUR.read_text("utf-8").splitlines()
    begun = next(number for number, line in enumerate(lines) if line.startswith(first))
    ended = next(number for number, line in enumerate(lines) if line.startswith(last))
    block = [line.partition("  ")[0] for line in lines[begun : ended + 1]]
    return [shlex.split(line)[1:] for line in block if line.startswith("spanjury")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write 60 texts of two systems as the tour wants them."""
    rows: list[dict[str, object]] = []
    for line in TWINS.read_text("utf-8").splitlines()[:30]:
        twin = json.loads(line)
        for system, output, score in (("a", twin["output"], 5), ("b", twin["wrong"], 2)):
            scores = {"consistency": score, "fluency": 4 + len(rows) % 2}
            row = {"id": f"{twin['id']}-{system}", "task": "summarization", "system": system}
            made = {"inputs": twin["inputs"], "output": output, "references": [twin["output"]]}
            rows.append({**row, **made, "human": scores})
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "texts.jsonl").write_text(text, "utf-8")
    return tmp_path


@pytest.mark.heavy
def test_the_steps_on_marked_texts_run_in_their_order(folder: Path) -> None:
    steps = commands("spanjury evaluate texts.jsonl --run-dir run", "spanjury compare run run-2")
    assert len(steps) == 9
    for step in steps:
        if step[0] != "meta":  # it takes scores of a metric, which the line before makes
            quick = next((QUICK[name] for name in QUICK if " ".join(step).startswith(name)), ())
            call(folder, *step, *quick)
    assert (folder / "cascade.toml").exists()
