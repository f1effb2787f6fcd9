"""Training sets from the command line, of the examples that come with the project."""

import json
from collections import defaultdict
from functools import partial
from pathlib import Path

import pytest
from fakes.command import spanjury

from spanjury.judges.core import DataError
from spanjury.judges.llm.distilled_form import read_verdict
from spanjury.judges.llm.parse import located_errors
from spanjury.orchestration.studies.distillation.training_set import (
    SPLITS,
    read_split,
    require_whole,
)

EXAMPLES = Path(__file__).parents[3] / "examples"
DATA = tuple(EXAMPLES / f"{name}.jsonl" for name in ("summaries", "data_to_text", "questions"))
OFFLINE = ("--judge", "grounding", "--judge", "form", "--no-progress")

pytestmark = pytest.mark.usefixtures("empty_folder")
build = partial(spanjury, "distil", "build")


def files(folder: str) -> dict[str, bytes]:
    return {
        path.name: path.read_bytes()
        for path in Path(folder).iterdir()
        if not path.name.startswith("memory")
    }


def test_damage_makes_a_whole_training_set_of_the_examples() -> None:
    done = build(*DATA, "--from-damage", "-o", "set", "--licence", "CC0-1.0", "--require-licence")
    require_whole(Path("set"))
    inputs = defaultdict(set)
    found = {split: tuple(read_split(Path("set"), split)) for split in SPLITS}
    for split, examples in found.items():
        assert examples
        for example in examples:
            inputs[example.input_id].add(split)
            assert example.split == split
            assert (example.licences.source, example.licences.teachers) == ("CC0-1.0", {})
            parsed = read_verdict(example.target)
            spans = located_errors(parsed.errors, output=example.output)
            assert [one.interval for one in spans] == [s.interval for s in example.report.spans]
    assert all(len(splits) == 1 for splits in inputs.values())
    tables = json.loads(Path("set/tables.json").read_text())
    assert (tables["tasks"]["summarization"]["systems"], tables["cautions"]) == (3, [])
    assert sum(map(len, found.values())) == sum(t["examples"] for t in tables["tasks"].values())
    assert "summarization" in done.output


def test_the_same_seed_writes_the_same_bytes_and_another_seed_others() -> None:
    built = []
    for seed in (1, 1, 2):
        build(DATA[0], "--from-damage", "-o", "set", "--limit", 6, "--seed", seed)
        built.append(files("set"))
    assert built[0] == built[1] != built[2]


def test_a_panel_teaches_and_is_not_asked_twice() -> None:
    flags = (*DATA[:2], *OFFLINE, "-o", "set", "--systems-per-input", 2, "--aspects-per-output", 2)
    build(*flags)
    first, size = files("set"), Path("set/memory.sqlite3").stat().st_size
    build(*flags)
    assert files("set") == first
    assert Path("set/memory.sqlite3").stat().st_size == size
    tables = json.loads(first["tables.json"])
    assert set(tables["made_by"]["teachers"]) == {"grounding", "form"}
    assert {one["seat"] for one in tables["outliers"]} == {"grounding", "form"}
    assert tables["left_out"]["the panel gives no score: abstained"] > 0
    systems = defaultdict(set)
    for split in SPLITS:
        for example in read_split(Path("set"), split):
            systems[example.input_id].add(example.system)
            assert example.provenance.panel.startswith("panel|")
            assert set(example.licences.teachers.values()) == {"Apache-2.0"}
    assert max(map(len, systems.values())) == 2


def test_a_teacher_that_only_scores_teaches_nothing() -> None:
    flags = ("--judge", "rouge-1", "--no-progress", "--aspect", "relevance", "-o", "set")
    assert "nothing to learn from" in build(DATA[0], *flags, code=1).output
    assert not Path("set/train.jsonl").exists()


def test_inputs_that_are_evaluated_on_are_refused_and_nothing_is_written() -> None:
    done = build(*DATA, "--from-damage", "-o", "set", "--evaluation", DATA[1], code=1)
    assert "data_to_text.jsonl" in done.output
    assert not Path("set").exists()


@pytest.mark.parametrize(
    ("flags", "complaint"),
    [
        ((), "or use --from-damage"),
        (("--from-damage", "--judge", "form"), "--from-damage, not both"),
        (("--judge", "form", "--recipe", "full"), "needs --from-damage"),
        (("--from-damage", "--require-licence"), "no licence given"),
        (("--from-damage", "--validation", "0.5", "--test", "0.5"), "leave some"),
        (("--judge", "form", "--teacher-licence", "gpt=MIT"), "who is no teacher"),
        (("--judge", "form", "--teacher-licence", "MIT"), "expected TEACHER=LICENCE"),
        (("--from-damage", "--recipe", "none"), "unknown recipe"),
        (("--model", "m", "--require-licence", "--licence", "MIT"), "m (no licence given)"),
    ],
)
def test_conflicting_flags_write_nothing(flags: tuple[str, ...], complaint: str) -> None:
    assert complaint in build(DATA[0], *flags, "-o", "set", code=2).output
    assert not Path("set/train.jsonl").exists()


def test_a_training_set_that_was_changed_is_no_longer_whole() -> None:
    build(DATA[0], "--from-damage", "-o", "set", "--limit", 3)
    with Path("set/train.jsonl").open("a") as file:
        file.write("{}\n")
    with pytest.raises(DataError, match=r"train.jsonl: does not match"):
        require_whole(Path("set"))
    with pytest.raises(DataError, match=r"line \d+: not a training example: dataset"):
        list(read_split(Path("set"), "train"))
    Path("set/tables.json").unlink()
    with pytest.raises(DataError, match="no complete training set"):
        require_whole(Path("set"))
