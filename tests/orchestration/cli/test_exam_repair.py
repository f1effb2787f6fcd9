"""An exam of repair from the command line: texts in, planted errors counted before and after."""

import json
from functools import partial
from itertools import islice
from pathlib import Path

import pytest
from fakes.command import spanjury
from loopback.rewriting import RewritingServer, by_evidence

from spanjury import exams, read_segments
from spanjury.orchestration.services.judging.exam_texts import clean_trajectories
from spanjury.orchestration.wiring.config import ModelConfig
from spanjury.orchestration.wiring.sources import trajectory_row

repair = partial(spanjury, "exam", "repair")

RECIPE = """
task = "summarization"
aspects = ["consistency"]

[[items]]
name = "change-number"
perturbation = "change-number"
level = "word"

[[items]]
name = "contractions"
perturbation = "contractions"
level = "word"
"""

CALLS = """
task = "agent"
aspects = ["calls"]

[[items]]
name = "change-argument"
perturbation = "change-argument"
level = "word"
"""


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("numbers.toml").write_text(RECIPE)
    Path("calls.toml").write_text(CALLS)
    Path("rules.toml").write_text('[[seats]]\njudge = "form"\n')
    Path("guide.toml").write_text('[[seats]]\njudge = "grounding"\n')


def asking(server: RewritingServer, *flags: object) -> tuple[object, ...]:
    model = ("--repair-model", "openai-compatible/writer", "--repair-base-url", server.base_url)
    usual = ("--demo", "--limit", 3, "--recipe", "numbers.toml", "--judge", "grounding")
    return (*usual, *model, "--no-progress", *flags)


def measures() -> dict[str, float | None]:
    card = json.loads(Path("repair/findings.json").read_text())["card"]
    return {measure["name"]: measure["value"] for measure in card["measures"]}


def test_wrong_numbers_are_corrected_by_a_model_with_the_evidence() -> None:
    with RewritingServer(by_evidence) as server:
        flags = asking(server, "--examiner", "rules.toml", "--require", "repair.removed>=1")
        done = repair(*flags)
        asked = len(server.requests)
        left = Path("repair/attempts.jsonl").read_bytes()
        repair(*flags)
        assert len(server.requests) == asked  # all is remembered
        assert sum("Reported errors" in str(one.body) for one in server.requests) == 3
    assert Path("repair/attempts.jsonl").read_bytes() == left
    assert measures()["repair.restored"] == 1
    assert measures()["repair.changed"] == 0
    assert measures()["repair.clean_altered"] == 0
    assert "delete every span" in done.output
    rows = [json.loads(line) for line in left.splitlines()]
    assert {row["condition"] for row in rows} == {"", "change-number"}  # contractions do no harm
    assert len(rows) == (3 + 3) * 3
    for name in ("report.md", "report.html"):
        assert "Texts that were not changed" in Path("repair", name).read_text()
    spanjury("exam", "card", "repair", "-o", "card")
    assert "repair.net_gain" in Path("card/card.md").read_text()


def test_a_model_that_makes_it_worse_is_seen_and_given_up() -> None:
    with RewritingServer(lambda _: "907") as server:
        flags = asking(server, "--examiner", "rules.toml", "--require", "repair.removed>=.5")
        repair(*flags, code=5)
    assert measures()["repair.removed"] == 0
    ends = json.loads(Path("repair/findings.json").read_text())["stopped"]
    assert ends["no_better"] == {"damaged": 3, "clean": 0}


def test_an_exam_asks_for_its_required_values() -> None:
    for flags, said in (
        (("--demo", "--examiner", "rules.toml"), "name it with --repair-model"),
        (("--demo", "--repair-model", "embedded"), "name it with --examiner"),
        (
            (
                *("--demo", "--repair-model", "embedded", "--examiner", "rules.toml"),
                *("--require", "repair.beauty>=1"),
            ),
            "no such measure",
        ),
    ):
        assert said in repair(*flags, code=2).output


AGENT = """
import re


async def mend(messages):
    *_, written, errors = messages
    wrong, right = re.search(r'"(.+?)" at .*\\n.*says \\'(.+?)\\'', errors["content"]).groups()
    return [*messages, {"role": "assistant", "content": written["content"].replace(wrong, right)}]


async def shrug(messages):
    raise RuntimeError("no idea")
"""


def test_an_agent_of_ones_own_is_sent_back_with_the_errors_of_a_text() -> None:
    Path("desk.py").write_text(AGENT)
    usual = ("--demo", "--limit", 3, "--recipe", "numbers.toml", "--judge", "grounding")
    flags = (*usual, "--examiner", "rules.toml", "--no-progress", "--agent")
    repair(*flags, "desk:mend")
    assert (measures()["repair.restored"] or 0) > 0.5  # it understands one kind of evidence
    assert measures()["repair.clean_altered"] == 0
    assert "desk:mend" in Path("repair/report.md").read_text()
    done = repair(*flags, "desk:shrug")
    assert "3 of 3 damaged texts got no usable answer from the writer" in " ".join(
        done.output.split()
    )
    for named, said in (("desk:missing", "is not to be had"), ("desk", "module:function")):
        assert said in repair(*flags, named, code=2).output


def test_an_agent_is_sent_back_with_the_wrong_argument_of_a_call() -> None:
    sent: list[list[object]] = []

    async def right(messages: list[object]) -> list[object]:
        """Do what the user asked, once the errors are named."""
        sent.append(messages)
        (clean,) = [each for each in texts if each.inputs["User [2]"] in str(messages[1])]
        assert clean.trajectory is not None
        row = trajectory_row(clean.trajectory)["messages"]
        assert isinstance(row, list)
        return [*messages, *row[2 : len(messages) - 1]]

    texts = [
        each
        for each in clean_trajectories().segments
        if "User [2]" in each.inputs and "\n" not in each.inputs["User [2]"]
    ][:6]
    report = exams.repair(
        texts, agent=right, judges="calls", examiner="rules.toml", recipe="calls.toml"
    )
    assert 0 < len(sent) <= len(texts)  # the guide does not see every error
    assert report.measures["repair.removed"].value == pytest.approx(len(sent) / len(texts))
    assert report.measures["repair.restored"].value == pytest.approx(len(sent) / len(texts))
    assert report.measures["repair.changed"].value == 0
    assert all("turn " in str(messages[-1]) for messages in sent)


def test_the_guide_is_refused_as_its_own_examiner() -> None:
    with RewritingServer(by_evidence) as server:
        done = repair(*asking(server, "--examiner", "guide.toml"), code=2)
        assert not server.requests
    assert "name other judges with --examiner" in done.output


def test_the_same_exam_runs_from_python() -> None:
    with RewritingServer(by_evidence) as server:
        repair(*asking(server, "--examiner", "rules.toml"))
        report = exams.repair(
            list(islice(read_segments(exams.DEMO), 3)),
            repair_model=ModelConfig(name="openai-compatible/writer", base_url=(server.base_url,)),
            examiner="rules.toml",
            judges="grounding",
            recipe="numbers.toml",
        )
    saved = {path.name: path.read_bytes() for path in report.save("python")}
    assert saved["attempts.jsonl"] == Path("repair/attempts.jsonl").read_bytes()
    assert report.measures["repair.restored"].value == 1
    assert "Texts that were not changed" in report.to_markdown()
    assert "Damaged texts" in " ".join(report.tables)
