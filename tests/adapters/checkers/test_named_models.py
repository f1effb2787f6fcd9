"""A checker by folder or name takes a seat, is fetched on demand, and joins the best panel."""

import json
from pathlib import Path

import pytest
from fakes.command import call
from fakes.model_folders import in_cache
from fakes.rows import summary
from fakes.tiny_checkers import NLI, TEXTS, save_checker
from loopback.hub import hub_of

from spanjury.adapters.checkers.local_models import fetch_model, local_model
from spanjury.judges.core import ConfigError

OUTPUT = "The library will not close in May. It was built by Peter Evans in 1923."
ROBERTA = "lytang/MiniCheck-RoBERTa-Large"
COMMIT = "ab" * 20
ROW = {
    "id": "1",
    "task": "summarization",
    "output": "The library will not close in May. It was built by Peter Evans in 1923.",
    "inputs": {"Article": " ".join(TEXTS)},
}
FLAGS = ("--aspect", "consistency", "--output", "results.jsonl", "--no-progress")


@pytest.mark.parametrize(
    ("kind", "options", "unit"),
    [
        ("roberta", "form=joined,supported=1", "sentence"),
        ("deberta", "template=question.txt,supported=1", "sentence"),
        ("modernbert", "any_language=true", "word"),
        ("bert", "passages=1", "sentence"),
        (
            "bert",
            "pool=mean,passages=0,passage_sentences=1,subtract_contradiction=true",
            "sentence",
        ),
        ("t5", "passages=2", "sentence"),
        ("hhem", "passages=2", "sentence"),
        ("alignscore", "pool=mean,passages=2", "sentence"),
    ],
)
def test_a_folder_judges_texts_with_spans_evidence_and_a_probability(
    kind: str, options: str, unit: str, tmp_path: Path
) -> None:
    labels = NLI if kind == "bert" else None
    save_checker(kind, tmp_path / "model", labels=labels, positions=400)
    (tmp_path / "question.txt").write_text("{passage} So {claim}?", encoding="utf-8")
    row = {"id": "1", "task": "summarization", "output": OUTPUT, "inputs": {"A": " ".join(TEXTS)}}
    (tmp_path / "rows.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    judge = f"checker:model:{options},threshold=0.01"  # random weights are sure of nothing
    flags = ("--aspect", "consistency", "--judge", judge, "--output", "results.jsonl")
    call(tmp_path, "evaluate", "rows.jsonl", *flags, "--no-progress")
    (line,) = (tmp_path / "results.jsonl").read_text("utf-8").splitlines()
    result = json.loads(line)
    spans = result["spans"]
    assert 0 < result["error_probability"] <= 1
    assert spans
    assert any(span["evidence"] for span in spans)
    lengths = [len(span["text"]) for span in spans]
    assert [OUTPUT[span["start"] : span["end"]] for span in spans] == [s["text"] for s in spans]
    if unit == "sentence":
        assert len(spans) == 2
        assert sum(lengths) == len(OUTPUT) - 1


def test_a_folder_that_is_no_checker_costs_nothing_and_says_why(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "rows.jsonl").write_text('{"output": "It rains.", "task": "story"}\n', "utf-8")
    done = call(tmp_path, "evaluate", "rows.jsonl", "--judge", "checker:model", code=2)
    assert "config.json is missing" in " ".join(done.output.split())


@pytest.fixture
def _row(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text(json.dumps(ROW) + "\n", encoding="utf-8")


def checker_signature(folder: Path) -> str:
    """Return the signature of the last seat in the first result."""
    (line,) = (folder / "results.jsonl").read_text("utf-8").splitlines()
    signature: str = json.loads(line)["seats"][-1]["signature"]
    return signature


@pytest.mark.usefixtures("_row")
def test_the_best_panel_judges_with_a_model_of_the_cache_and_pins_its_commit(
    tmp_path: Path,
) -> None:
    save_checker("roberta", in_cache(tmp_path / "hub", ROBERTA, COMMIT), positions=400)
    command = ("evaluate", "rows.jsonl", *FLAGS, "--run-dir", "run")
    cache = str(tmp_path / "hub")
    done = call(tmp_path, *command, "--panel", "best", HF_HUB_CACHE=cache)
    assert "--panel best: grounding, reader, form and minicheck-roberta (73.5" in done.output
    signature = checker_signature(tmp_path)
    assert f"|model:{ROBERTA}@{COMMIT[:12]}@" in signature
    assert "|form:joined|supported:1|" in signature
    manifest = json.loads((tmp_path / "run" / "run.json").read_text("utf-8"))
    *_, seat = manifest["job"]["panel"]["seats"]
    assert seat["options"] == {"model": "minicheck-roberta", "revision": COMMIT}


@pytest.mark.usefixtures("_row", "_cache")
def test_a_model_is_fetched_once_and_only_if_that_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = save_checker("bert", tmp_path / "made", labels={0: "no", 1: "supported"}, positions=400)
    strange = {"pytorch_model.bin": b"pickle", "modeling.py": b"boom", "onnx/model.onnx": b"graph"}
    name = "someone/checker"
    with hub_of(name, made, commit=COMMIT, others=strange) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.base_url.removesuffix("/v1"))
        command = ("evaluate", "rows.jsonl", *FLAGS, "--judge")
        done = call(tmp_path, *command, f"checker:hf:{name}", code=2)
        assert "fetch it with --judge checker:hf:someone/checker:download=true" in done.output
        assert not hub.asked_pages
        call(tmp_path, *command, f"checker:hf:{name}:download=true")
        fetched = {page.path.rpartition("/")[2] for page in hub.asked_pages}
        assert {"config.json", "model.safetensors", "tokenizer.json"} <= fetched
        assert not {*strange, "model.onnx"} & fetched
        asked = len(hub.asked_pages)
        call(tmp_path, *command, f"checker:hf:{name}:download=true,passages=1")
        assert len(hub.asked_pages) == asked
    assert f"|model:{name}@{COMMIT[:12]}@" in checker_signature(tmp_path)


@pytest.fixture
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)


@pytest.mark.usefixtures("_cache")
def test_a_model_that_came_in_part_is_completed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = save_checker("bert", tmp_path / "made", labels={0: "no", 1: "supported"})
    with hub_of("a/b", made, commit=COMMIT, others={}) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.base_url.removesuffix("/v1"))
        whole = fetch_model("a/b")
        (whole.folder / "model.safetensors").unlink()
        part = local_model(repository="a/b")
        assert part is not None
        assert not part.has_weights
        assert fetch_model("a/b") == whole
    assert whole.has_weights


@pytest.mark.usefixtures("_cache")
@pytest.mark.parametrize(
    ("name", "revision", "message"),
    [
        ("a/b", "", "its weights are a pickle, pytorch_model.bin, which is never fetched"),
        ("a/c", "", "the hub has no such model, or shows it only"),
        ("a/b", "v9", "it has no revision 'v9'"),
    ],
)
def test_a_model_that_cannot_be_fetched_is_refused_in_one_line(
    name: str, revision: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "made").mkdir()
    errors = {"a/c": "RepoNotFound", "a/b/revision/v9": "RevisionNotFound"}
    pickle = {"pytorch_model.bin": b""}
    server = hub_of("a/b", tmp_path / "made", commit=COMMIT, others=pickle, errors=errors)
    with server as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.base_url.removesuffix("/v1"))
        with pytest.raises(ConfigError, match=message):
            fetch_model(name, revision=revision)


def test_a_panel_of_rules_and_two_checkers_is_calibrated_and_cascaded(tmp_path: Path) -> None:
    save_checker("bert", tmp_path / "nli", labels=NLI, positions=400)
    save_checker("modernbert", tmp_path / "words", positions=400)
    years = range(1901, 1925)
    rows = [
        summary(
            f"text-{year}",
            f"The mill burnt down in {year + 30 * (year % 2)}.",
            article=f"The mill burnt down in {year}. No one was hurt.",
        )
        | {"human": {"consistency": {"anna": 2 if year % 2 else 5}}}
        for year in years
    ]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    seats = ("grounding", "checker:nli", "checker:words:any_language=true")
    panel = [word for seat in seats for word in ("--judge", seat)]
    judging = ("--aspect", "consistency", *panel, "--show", "none", "--no-progress")
    call(tmp_path, "evaluate", "rows.jsonl", *judging, "--run-dir", "run")

    human = ("--human", "rows.jsonl", "--json")
    calibrating = call(tmp_path, "calibrate", "run", "--draws", "100", *human)
    (aspect,) = json.loads(calibrating.stdout)["aspects"]
    assert (aspect["texts"], aspect["clean"]) == (len(years), len(years) // 2)
    fitted = ("--calibration", "calibration.toml", "--output", "calibrated.jsonl")
    call(tmp_path, "evaluate", "rows.jsonl", *judging, *fitted)
    calibrated = (tmp_path / "calibrated.jsonl").read_text("utf-8").splitlines()
    assert [len(json.loads(line)["seats"]) for line in calibrated] == [3] * len(years)
    assert all("calibration:" in line for line in calibrated)

    cost = ("--cost", "seconds")
    cascading = call(tmp_path, "panel", "cascade", "run", *cost, *human)
    first, *others = json.loads(cascading.stdout)["cascade"]["stages"]
    assert first == ["grounding"]
    assert sorted(others) == [["checker:nli"], ["checker:words"]]
