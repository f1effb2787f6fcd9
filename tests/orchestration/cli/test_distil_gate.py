"""`distil gate` on a model that can say nothing, beside a teacher that can."""

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from fakes.command import spanjury
from fakes.sealed_set import write_set
from fakes.tiny_chat import save_judge_base

from spanjury.orchestration.services.training.train import training_data
from spanjury.orchestration.studies.distillation.training_set import Example, read_split

TEXTS = Path(__file__).parents[3] / "examples" / "data_to_text.jsonl"
FORM = ("--judge", "form")
ALONE = (*FORM, "--no-base", "--no-progress")

run = partial(spanjury, "distil", env={"COLUMNS": "120"})
gate = partial(run, "gate", "model", "--data", "set")


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a set of one aspect, with the model that was made from it beside it."""
    folder = tmp_path_factory.mktemp("gate")
    flags = ("--from-damage", "--aspect", "fluency", "--test", 0.3, "-o", folder / "set")
    run("build", TEXTS, *flags)
    # Its tokenizer knows no word, so that no prompt fits into its context.
    save_judge_base(folder / "model", ["-"])
    write_record(folder / "model", folder / "set")
    return folder


def write_record(model: Path, data: Path, **changed: Mapping[str, int]) -> None:
    trained = training_data(data)
    record = {
        "base": "no-such-base",
        "base_identity": "no-such-base@0",
        "data": {
            "source": data.name,
            "digest": trained.digest,
            "counts": {**trained.counts, **changed},
        },
    }
    (model / "training.json").write_text(json.dumps(record))


@pytest.fixture(autouse=True)
def _in_a_folder_with_a_copy_of_both(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    shutil.copytree(built, tmp_path, dirs_exist_ok=True)


def held_out(folder: str) -> tuple[Example, ...]:
    return tuple(read_split(Path(folder), "test"))


def trained_on() -> tuple[Example, ...]:
    return tuple(read_split(Path("set"), "train"))


def values(role: str) -> dict[str, float | None]:
    record = json.loads(Path("gate/gate.json").read_text())
    return {one["name"]: one["value"] for one in record["judges"][role]}


def test_judges_stand_side_by_side_and_missed_demands_are_named() -> None:
    assert "not met: reports.parsed >= 0.95 (it is 0)" in gate(*ALONE, code=5).output
    assert values("distilled")["reports.parsed"] == 0
    assert values("distilled")["spans.f1"] is None
    assert values("teacher")["reports.parsed"] == 1
    assert "| measure | distilled | teacher | of |  |" in Path("gate/gate.md").read_text()
    for name in ("gate.md", "gate.html", "gate.json", "card.md", "card.html", "card.json"):
        assert Path("model", "gate", name).is_file()
    rows = Path("gate/teacher/held-out/results.jsonl").read_text().splitlines()
    assert len(rows) == len(held_out("set"))
    cards = [f"gate/{role}/held-out" for role in ("distilled", "teacher")]
    for folder in cards:
        spanjury("exam", "card", folder)


def test_damage_seen_in_training_is_measured_apart() -> None:
    damages = [{*one.provenance.damages} for one in held_out("set")]
    seen = next(filter(None, damages))
    write_record(Path("model"), Path("set"), damage=dict.fromkeys(seen, 1))
    gate(*ALONE, "--require", "reports.parsed.unseen-damages<=0")
    record = json.loads(Path("gate/teacher/held-out/findings.json").read_text())["card"]["measures"]
    counts = {one["name"]: one["count"] for one in record}
    known = [one <= seen for one in damages if one]
    assert counts["reports.parsed.seen-damages"] == known.count(True)
    assert counts["reports.parsed.unseen-damages"] == known.count(False)
    assert "reports.parsed.unseen-aspects" not in counts


def test_a_model_whose_record_does_not_say_is_looked_up_in_its_set() -> None:
    record = json.loads(Path("model/training.json").read_text())
    for heading in ("aspect of a task", "reading"):
        del record["data"]["counts"][heading]
    Path("model/training.json").write_text(json.dumps(record))
    gate(*ALONE, "--limit", 2, "--require", "reports.parsed.seen-aspects<=0")
    record["data"]["digest"] = "another"
    Path("model/training.json").write_text(json.dumps(record))
    done = gate(*ALONE, "--limit", 2, "--require", "reports.parsed<=0")
    assert "whether it knows these texts cannot be checked" in done.output
    assert "neither its record nor a set says" in done.output


def test_another_set_may_train_on_what_the_model_did_not() -> None:
    train, test = trained_on(), held_out("set")
    write_set(Path("other"), train=[replace(one, split="train") for one in test], test=test)
    low = ("--limit", 1, "--require", "reports.parsed<=0")
    gate(*ALONE, *low, "--data", "other")
    write_set(Path("other"), train=train[:1], test=[replace(one, split="test") for one in train])
    done = gate(*ALONE, *low, "--data", "other", code=1)
    assert "other: 1 test examples have an input that is trained on" in done.output


def test_a_limit_draws_the_same_examples_again() -> None:
    drawn = []
    for limit in (3, 3, 5):
        gate(*ALONE, "--limit", limit, "--require", "reports.parsed<=0")
        rows = Path("gate/teacher/held-out/results.jsonl").read_text().splitlines()
        drawn.append({json.loads(row)["id"] for row in rows})
    assert drawn[0] == drawn[1] < drawn[2]
    assert len(drawn[2]) == 5


def test_scores_are_read_as_the_model_was_trained_to_write_them() -> None:
    share = [replace(one, reading="share") for one in held_out("set")]
    write_set(Path("set"), train=trained_on(), test=share)
    write_record(Path("model"), Path("set"), reading={"share": 1})
    gate(*ALONE, "--limit", 1, "--require", "reports.parsed<=0")
    card = json.loads(Path("model/gate/card.json").read_text())
    assert "|reading:share|" in card["exams"][0]["seats"]["distilled"]


def test_other_exams_run_for_every_judge() -> None:
    flags = ["--discernment", TEXTS, "--recipe", "invariance", "--faithfulness", TEXTS]
    people = ["--human", TEXTS, "--aspect", "fluency", "--limit", 3]
    done = gate(
        *ALONE, *flags, "--robustness", TEXTS, *people, "--require", "people.fluency>=-.5", code=5
    )
    assert "not met: people.fluency >= -0.5 (it is -)" in done.output  # it has judged nothing
    found = values("teacher")
    exams = ("invariance.steady", "faithfulness.toward", "robustness.attack_success")
    for name in ("spans.f1", *exams, "people.fluency"):
        assert name in found
    page = Path("model/gate/card.md").read_text()
    exams = ("Discernment", "Faithfulness", "Robustness")
    for heading in ("Held-out examples", *exams, "Agreement with people"):
        assert f"## {heading}" in page
    assert Path("gate/teacher/people/meta.md").is_file()


def test_a_limit_of_time_ends_it_and_the_same_command_goes_on() -> None:
    low = (*ALONE, "--require", "reports.parsed<=0")
    assert "run the same command to continue" in gate(*low, "--max-seconds", 0.1, code=4).output
    assert not Path("model/gate").exists()
    gate(*low)


@pytest.mark.parametrize(
    ("flags", "code", "complaint"),
    [
        (
            ("--require", "spans.f2>=1"),
            2,
            "no exam here has 'spans.f2'; did you mean 'spans.f1'? Choose from reports.pars",
        ),
        (("--require-over-base", "spans.f2"), 2, "no exam here has 'spans.f2'"),
        (("--require", "people.fluency>=0"), 2, "no exam here has 'people.fluency'"),
        (("--require", "spans.f1"), 2, "a requirement is MEASURE>=NUMBER"),
        (("--require", "score.error<=100"), 2, "the range of score.error is 0 to 100"),
        (("--no-base", "--require-over-base", "spans.f1"), 2, "--no-base excludes"),
        (("--no-base", "--base", "embedded"), 2, "--no-base excludes"),
        (("--human", TEXTS), 2, "--human needs --aspect"),
        (("--data", "nowhere"), 1, "nowhere: no complete training set"),
        ((), 2, "'no-such-base' is neither a folder"),
    ],
)
def test_invalid_input_is_refused(flags: tuple[object, ...], code: int, complaint: str) -> None:
    assert complaint in gate(*flags, "--no-progress", code=code).output
    assert not Path("gate/gate.json").exists()


def no_model() -> None:
    shutil.rmtree("model")


def unfinished() -> None:
    Path("model/config.json").unlink()
    Path("model/checkpoint.safetensors").touch()


def not_trained_here() -> None:
    Path("model/training.json").unlink()


def broken_record() -> None:
    Path("model/training.json").write_text("{}")


def half_a_set() -> None:
    Path("set/test.jsonl").write_bytes(Path("set/test.jsonl").read_bytes()[:100])


def no_tests() -> None:
    write_set(Path("set"), train=trained_on())


def meant_for_something_else() -> None:
    train = trained_on()
    write_set(Path("set"), train=train, test=train[:1])


def asked_what_is_learnt() -> None:
    train = trained_on()
    write_set(Path("set"), train=train, test=[replace(train[0], split="test"), *held_out("set")])


def other_reading() -> None:
    share = [replace(one, reading="share") for one in held_out("set")]
    write_set(Path("set"), train=trained_on(), test=share)


def other_words() -> None:
    changed = [replace(one, definition="Is it read with ease?") for one in held_out("set")]
    write_set(Path("set"), train=trained_on(), test=changed)


def unknown_aspect() -> None:
    changed = [replace(one, aspect="charm") for one in held_out("set")]
    write_set(Path("set"), train=trained_on(), test=changed)


@pytest.mark.parametrize(
    ("harm", "code", "complaint"),
    [
        (no_model, 2, "model holds no model: name a folder that `distil train` has written"),
        (unfinished, 2, "model: training has not ended"),
        (not_trained_here, 1, "training.json: cannot be read: No such file"),
        (broken_record, 1, "training.json: not the record of a training"),
        (half_a_set, 1, "test.jsonl: does not match tables.json"),
        (no_tests, 1, "test.jsonl holds no example: build the data with --test"),
        (meant_for_something_else, 1, "test.jsonl, line 1: an example for 'train'"),
        (asked_what_is_learnt, 1, "set: 1 test examples have an input that is trained on"),
        (other_reading, 2, "written as 'share' there, and by the model as 'stretched'"),
        (other_words, 1, "asked about in other words than it was built with"),
        (unknown_aspect, 2, "name the file that declares it: --aspects-file"),
    ],
    ids=lambda one: one.__name__ if callable(one) else "",
)
def test_missing_or_incomplete_files_are_refused_before_any_judge_is_asked(
    harm: Callable[[], None], code: int, complaint: str
) -> None:
    harm()
    assert complaint in gate(*ALONE, code=code).output
    assert not Path("gate").exists()
