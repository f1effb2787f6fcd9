"""The road of distilled judges: built, trained, stopped, continued, judging, at the gate."""

import json
import signal
from collections import Counter
from importlib.resources import files
from pathlib import Path

import pytest
import torch
from fakes.command import spanjury
from fakes.tiny_chat import save_judge_base
from fakes.tiny_encoder import save_encoder
from safetensors.torch import load_file

from spanjury.judges.core import Label
from spanjury.orchestration.cli import distil_train
from spanjury.orchestration.studies.distillation.tokens.example import (
    TokenExample,
    read_token_split,
)
from spanjury.orchestration.studies.distillation.training_set import read_split

pytestmark = pytest.mark.usefixtures("empty_folder", "offline_hub", "one_thread")

DEMO = Path(str(files("spanjury.perturbations"))) / "demo" / "summarization.jsonl"
SMALL = ("--twins", 12, "--records", 6, "--limit", 12)
STEPS = ("--max-steps", 6, "--batch-tokens", 2000, "--checkpoint-every", 2, "--no-progress")
DATA = Path(__file__).parents[3] / "examples" / "data_to_text.jsonl"
FLUENCY = ("--aspect", "fluency")
LEARNT = ("--rank", 32, "--alpha", 64, "--learning-rate", 5e-3, "--batch-size", 8)


def write_marked(path: str) -> str:
    rows = [
        {
            "id": "1",
            "inputs": {"Article": "The mill closed in May. It made paper."},
            "output": "The mill closed in June.",
            "supported": False,
            "spans": [{"start": 19, "end": 23, "text": "June", "kind": "intrinsic"}],
        },
        {
            "id": "2",
            "inputs": {"Article": "The port reopened."},
            "output": "The port works again.",
            "supported": True,
            "spans": [],
        },
        {
            "id": "3",
            "inputs": {"Article": "A dog barks."},
            "output": "A cat sleeps.",
            "label": "contradiction",
        },
        {"id": "4", "inputs": {"Article": "A cow."}, "output": "A cow moos.", "supported": None},
    ]
    Path(path).write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def built(split: str = "train") -> list[TokenExample]:
    return list(read_token_split(Path("set"), split))  # type: ignore[arg-type]  # a split's name


def test_labels_come_of_people_damage_and_records() -> None:
    marked = write_marked("marked.jsonl")
    none = ("--validation", 0, "--test", 0, "-o", "set")
    spanjury(
        *("distil", "build", DEMO, "--form", "tokens", "--from-damage", "--from-spans", marked),
        *(*SMALL, *none),
    )
    examples = built()
    origins = Counter(example.made_of for example in examples)
    assert origins == {"people": 3, "copy or clean text": 18, "damage": 18}
    people = {example.row: example for example in examples if example.made_of == "people"}
    assert people["1"].spans[0].label is Label.CONTRADICTED
    assert people["2"].label is Label.SUPPORTED
    assert (people["3"].label, people["3"].spans) == (Label.CONTRADICTED, ())
    for clean, damaged in zip(examples[3::2], examples[4::2], strict=True):
        assert (clean.group, clean.made_of) == (damaged.group, "copy or clean text")
        assert clean.output != damaged.output
        assert damaged.spans
    spanjury(*("distil", "build", DEMO, "--form", "tokens"), code=2)


def test_files_that_are_held_out_are_for_validation_alone() -> None:
    marked, held = write_marked("marked.jsonl"), Path("held.jsonl")
    held.write_text(Path(marked).read_text().replace('"id": "', '"id": "held '))
    Path("own.jsonl").write_text(Path(marked).read_text().replace("The port", "The harbour"))
    spanjury(
        *("distil", "build", DEMO, "--form", "tokens", "--from-spans", marked, "--from-spans"),
        *("own.jsonl=1", "--held-out", f"{held}=2", "--validation", 0, "--test", 0, "-o", "set"),
    )
    validated = {example.input_id for example in built("validation")}
    assert len(validated) == 2
    learnt = built()
    assert len(learnt) in {1, 2}
    assert not validated & {example.input_id for example in learnt}


def test_rows_that_share_text_with_what_is_measured_on_are_left_out() -> None:
    done = spanjury(
        *("distil", "build", DEMO, "--form", "tokens", "--from-damage", *SMALL, "-o", "set"),
        *("--evaluation", DEMO),
    )
    assert "left out of summarization: 12" in done.output
    assert {example.dataset for example in built()} == {"made-up records"}


def test_a_panel_labels_by_its_spans() -> None:
    spanjury(
        *("distil", "build", DEMO, "--form", "tokens", "--judge", "grounding", "--no-progress"),
        *("--aspect", "consistency", "--limit", 8, "--validation", 0, "--test", 0, "-o", "set"),
    )
    assert {example.made_of for example in built()} == {"panel"}


def test_an_encoder_is_trained_continued_run_and_examined(monkeypatch: pytest.MonkeyPatch) -> None:
    base = save_encoder(Path("base"))
    sets = ("--form", "tokens", "--from-damage", *SMALL, "-o", "set")
    spanjury("distil", "build", DEMO, *sets)
    training = ("distil", "train", "set", "--base", base, "-o", "model", *STEPS)

    usual = distil_train._Reporter.report

    def interrupt(self: object, progress: object, steps: int, line: str) -> None:
        usual(self, progress, steps, line)  # type: ignore[arg-type]  # it is one
        if getattr(progress, "step", 0) == 3:
            signal.raise_signal(signal.SIGINT)

    with monkeypatch.context() as patch:
        patch.setattr(distil_train._Reporter, "report", interrupt)
        done = spanjury(*training, code=130)
    assert "stopped after step 3 of 6" in done.output
    done = spanjury(*training)
    assert "going on after step 3" in done.output
    assert "constants were fitted to the model on" in done.output
    fitted = json.loads(Path("model/reader.json").read_text())["constants"]
    assert fitted.keys() == {"threshold", "sentence_threshold", "vouched", "slope", "intercept"}
    held = {path.name for path in Path("model").iterdir()}
    assert {"model.onnx", "tokenizer.json", "reader.json", "README.md", "training.json"} <= held
    assert not held & {"checkpoint.safetensors", "best.safetensors"}
    spanjury(*training, code=2)
    further = ("distil", "train", "set", "--base", "model", "-o", "further", *STEPS)
    spanjury(*further, "--learning-rate", 1e-9, "--head-learning-rate", 1e-9)
    before, after = (
        load_file(Path(folder) / "model.safetensors") for folder in ("model", "further")
    )
    assert all(torch.allclose(before[name], after[name], atol=1e-6) for name in before)
    Path("further/config.json").unlink()
    done = spanjury(*("distil", "train", "set", "--base", "further", "-o", "third", *STEPS), code=2)
    assert "cannot go on from 'further'" in done.output

    judged = ("--judge", "distilled:model", "--aspect", "consistency", "--limit", 2)
    spanjury("evaluate", DEMO, *judged, "-o", "results.jsonl", "--no-progress")
    rows = [json.loads(line) for line in Path("results.jsonl").read_text().splitlines()]
    assert {row["outcome"] for row in rows} == {"scored"}
    assert all(0 <= row["error_probability"] <= 1 for row in rows)

    asked = ("--from-damage", "--aspect", "consistency", "--limit", 12, "--test", 0.4, "-o", "held")
    spanjury("distil", "build", DEMO, *asked)
    gate = ("distil", "gate", "model", "--data", "held", "--limit", 6, "--no-progress")
    spanjury(*gate, "--require", "reports.parsed>=.9")
    assert set(json.loads(Path("gate/gate.json").read_text())["judges"]) == {"distilled"}
    done = spanjury(*gate, "--require-over-base", "spans.f1", code=2)
    assert "leave out --base and --require-over-base" in done.output


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
