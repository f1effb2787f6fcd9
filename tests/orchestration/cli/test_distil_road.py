"""The whole road of a distilled judge: built of damage, trained, judging, and at the gate."""

import json
from pathlib import Path

import pytest
from fakes.command import spanjury
from fakes.tiny_chat import save_judge_base

from spanjury.orchestration.studies.distillation.training_set import read_split

pytestmark = pytest.mark.usefixtures("empty_folder", "offline_hub", "one_thread")

DATA = Path(__file__).parents[3] / "examples" / "data_to_text.jsonl"
FLUENCY = ("--aspect", "fluency")
LEARNT = ("--rank", 32, "--alpha", 64, "--learning-rate", 5e-3, "--batch-size", 8)


def test_a_judge_is_built_trained_run_and_examined() -> None:
    sets = ("--from-damage", *FLUENCY, "--test", 0.3, "--damages-per-text", 6, "-o", "set")
    spanjury("distil", "build", DATA, *sets)
    examples = list(read_split(Path("set"), "train"))
    base = save_judge_base(Path("base"), [one.messages[0].content + one.target for one in examples])
    steps = ("--epochs", 20, "--micro-batch-size", 8, "--validate-every", 1000, "--no-progress")
    spanjury("distil", "train", "set", "--base", base, "-o", "model", *LEARNT, *steps)

    judged = ("--judge", "distilled:model", *FLUENCY, "--limit", 3, "-o", "results.jsonl")
    spanjury("evaluate", DATA, *judged, "--no-memory", "--no-progress")
    rows = [json.loads(line) for line in Path("results.jsonl").read_text().splitlines()]
    assert "scored" in {row["outcome"] for row in rows}
    assert "|weights:model@" in rows[0]["seats"][0]["signature"]

    options = ("--option", "tries=1", "--option", "max_tokens=128")
    gate = ("distil", "gate", "model", "--data", "set", *options, "--limit", 12, "--no-progress")
    low = ("--require", "reports.parsed>=.5", "--require-over-base", "reports.parsed")
    done = spanjury(*gate, *low, "--judge", "form")
    decision = json.loads(Path("gate/gate.json").read_text())
    assert [one["met"] for one in decision["demands"]] == [True, True]
    values = {
        role: {one["name"]: one["value"] for one in measures}
        for role, measures in decision["judges"].items()
    }
    # It has learnt to answer in the form that is asked for; before, it never did.
    assert values["base"]["reports.parsed"] == 0
    assert values["base"]["score.error"] is None
    assert values["distilled"]["score.error"] is not None
    assert values["teacher"]["reports.parsed"] == 1
    assert "base" in done.output
    assert "distilled" in done.output
    assert "teacher" in done.output
    card = json.loads(Path("model/gate/card.json").read_text())
    assert card["gates"] == [{"gate": "reports.parsed >= 0.5", "passed": True}]

    sizes = [path.stat().st_size for path in sorted(Path("gate").glob("*/memory.sqlite3"))]
    high = ("--require", "spans.f1>=.99", "--require", "score.error<=1")
    done = spanjury(*gate, *high, code=5)
    missed = [line for line in done.output.splitlines() if line.startswith("not met: ")]
    assert [line.partition(" (it is ")[0] for line in missed] == [
        "not met: spans.f1 >= 0.99",
        "not met: score.error <= 1",
    ]
    again = [path.stat().st_size for path in sorted(Path("gate").glob("*/memory.sqlite3"))]
    assert again == sizes  # the card in the folder of the model makes no other model of it
    assert "**not met**" in Path("model/gate/gate.md").read_text()
