"""Packages of strangers that are broken, beside ours: they cost themselves and no command."""

import importlib
import json
import re
from pathlib import Path

import pytest
from fakes.command import spanjury
from fakes.rows import summary

from spanjury import exams
from spanjury.judges.core import ConfigError, PluginError
from spanjury.orchestration.wiring import plugins

CODE = '''
from spanjury.perturbations import text_perturbation


@text_perturbation(family="words", level="word", harms={"flunecy"}, spares={"*"})
def misspelt(text, rng):
    return text[1:]


class Sync:
    """Assess without async."""

    signature = "sync"

    def assess(self, segment, aspect):
        return None


def no_test(drops):
    return 0.03


class NoCard:
    signature = "no card"

    def score_segments(self, samples):
        return [1.0 for _ in samples]
'''
STRANGE = {
    "spanjury.judges": [
        "exits = exiting:judge",
        "grounding = strange:Sync",
        "sync = strange:Sync",
        "twice = strange:Sync",
    ],
    "spanjury.metrics": [
        *("no-card = strange:NoCard", "described = strange:NoCard", "upward = strange:NoCard"),
    ],
    "spanjury.metric_cards": ["gone = no_such_package", "strange = strange_cards"],
    "spanjury.exams": [
        "late = exams_of_a_stranger:Late",
        "folders = exams_of_a_stranger:Folder",
        "outputs = exams_of_a_stranger:Output",
        "card = exams_of_a_stranger:Late",
        "very-late = exams_of_a_stranger:Late",
        "no-plan = exams_of_a_stranger:NoPlan",
        "async-plan = exams_of_a_stranger:AsyncPlan",
        "failing-plan = exams_of_a_stranger:FailingPlan",
        "no-report = exams_of_a_stranger:NoReport",
        "plain-run = exams_of_a_stranger:PlainRun",
        "failing-run = exams_of_a_stranger:FailingRun",
        "other-measure = exams_of_a_stranger:OtherMeasure",
    ],
    "spanjury.perturbations": ["misspelt = strange:misspelt"],
    "spanjury.statistics": ["no-test = strange:no_test"],
    "spanjury.aggregations": ["mean = strange:no_test"],
    "spanjury.sources": ["jsonl = strange:no_test"],
}
EXAMS = '''
from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from spanjury.exams import Measure, PanelStudy, Parameter, Plan, Report, exam_report
from spanjury.judges.core import ConfigError, PluginError


@dataclass(frozen=True, slots=True, kw_only=True)
class Late(PanelStudy[float]):
    """Annotations that are evaluated later."""

    depth: Annotated[int, Parameter("How deep.")] = 1

    def plan(self) -> Plan[float]:
        raise ConfigError(f"depth {self.depth!r}")


def wrong(plan):
    """Return an exam with another plan."""

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Wrong(PanelStudy[None]):
        """Do something else than it should."""

    Wrong.plan = plan
    return Wrong


def running(run):
    return wrong(lambda self: Plan(run=run, total=0, measures=("m.x",)))


async def measuring(live):
    measure = Measure(name="wrong.name", value=0.5, says="A share.", count=1)
    return exam_report(
        "measuring",
        None,
        examinee=None,
        data="",
        document=lambda _: Report(title="T", answer="A", sections=()),
        values={},
        measures=(measure,),
    )


async def nothing(_):
    return None


async def failing(live):
    raise KeyError("run")


NoPlan, AsyncPlan, FailingPlan = wrong(lambda self: None), wrong(nothing), wrong(lambda self: {}[1])
NoReport, PlainRun, FailingRun = running(nothing), running(lambda live: None), running(failing)
OtherMeasure = running(measuring)


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder(Late):
    folder: Annotated[str, Parameter("What every exam has.")] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Output(Late):
    output: Annotated[str, Parameter("What every command has.")] = ""
'''
CARD = """
title = "Words"
category = "statistics"
summary = "The share of words."
formula = "words / letters"
low = 0.0
high = 1.0
direction = "higher"
levels = ["segment"]
references = "none"
paper = "none"
library = "strange"
licence = "Apache-2.0"
limits = "Letters are not words."
empty = "0"
runs = "python"
"""
ROW = summary("a", "It is is 503 m long.", article=".")


def install(folder: Path, package: str, groups: dict[str, list[str]]) -> None:
    info = folder / f"{package}-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.2\n")
    sections = ["\n".join([f"[{group}]", *points]) for group, points in groups.items()]
    (info / "entry_points.txt").write_text("\n".join(sections) + "\n")


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "strange.py").write_text(CODE)
    (tmp_path / "exams_of_a_stranger.py").write_text(EXAMS)
    (tmp_path / "exiting.py").write_text("raise SystemExit(7)\n")
    cards = tmp_path / "strange_cards"
    cards.mkdir()
    (cards / "__init__.py").touch()
    (cards / "described.toml").write_text(CARD)
    (cards / "upward.toml").write_text(CARD.replace("higher", "upward"))
    (tmp_path / "rows.jsonl").write_text(json.dumps(ROW))
    install(tmp_path, "strange", STRANGE)
    install(tmp_path, "stranger", {"spanjury.judges": ["twice = strange:Sync"]})
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    importlib.invalidate_caches()


def test_the_default_panel_is_ours_whatever_plugins_a_stranger_has() -> None:
    done = spanjury("evaluate", "rows.jsonl", "--json", "--no-memory")
    row = json.loads(done.stdout.splitlines()[0])
    assert row["seats"][0]["signature"].startswith("grounding|")


def test_an_exam_takes_no_name_of_a_command_or_function_of_ours() -> None:
    functions = {name for name in exams.__all__ if f"a{name}" in exams.__all__}
    ours = {name.replace("_", "-") for name in functions} - {*plugins.EXAMS.names()}
    assert ours | {"card"} == plugins.EXAMS.reserved
    done = spanjury("doctor")
    reason = "the name 'card' belongs to a command of spanjury, which is used"
    assert reason in " ".join(done.output.split())


def test_the_function_of_an_exam_has_underscores_for_hyphens() -> None:
    very_late = exams.__getattr__("very_late")
    assert callable(very_late)
    with pytest.raises(ConfigError, match="depth 3"):
        very_late(exams.DEMO, depth=3)


LOUD = """
from spanjury import Report

print("imported")


class Loud:
    signature = "loud|version:1"

    async def assess(self, segment, aspect):
        print("assessed", segment.segment_id)
        return Report(score=3.0)
"""


def test_what_a_plugin_prints_does_not_reach_standard_output(tmp_path: Path) -> None:
    (tmp_path / "loud.py").write_text(LOUD)
    install(tmp_path, "loud", {"spanjury.judges": ["loud = loud:Loud"]})
    importlib.invalidate_caches()
    flags = ("--judge", "loud", "--aspect", "fluency", "--json")
    rows = spanjury("evaluate", "rows.jsonl", "--no-memory", *flags)
    assert [json.loads(line)["id"] for line in rows.stdout.splitlines()] == ["a"]
    assert "imported\nassessed a\n" in rows.stderr
    checked = spanjury("check", "-", *flags, piped="It is here.")
    assert json.loads(checked.stdout)["results"][0]["score"] == 3.0
    assert "assessed standard input\n" in checked.stderr


def test_judges_lists_what_is_broken_with_its_package_and_the_reason() -> None:
    done = spanjury("judges")
    text = " ".join(done.output.replace("│", " ").split())
    for part in (
        "grounding Mark the numbers",
        "exits broken (strange 1.2): ",
        "cannot be loaded: SystemExit(7)",
        "grounding broken (strange 1.2): the name 'grounding' belongs to spanjury",
        "twice broken (stranger 1.2): ",
        "'twice' is claimed by strange and stranger: uninstall all but one",
    ):
        assert part in text, part


def test_judges_lists_what_a_judge_cannot_see_and_its_measured_precision(tmp_path: Path) -> None:
    package = tmp_path / "open_package"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "judge.py").write_text(
        "class Open:\n    'Mark what is open.'\n    blind_spots = 'what is closed.'\n"
    )
    figures = [("gate", 0.854, 120, "A"), ("door", 0.5, 8, "A"), ("lid", 1.0, 3, "B")]
    (package / "precision.toml").write_text(
        "".join(
            f'[[open]]\ncategory = "{name}"\nprecision = {share}\n'
            f'spans = {spans}\ndata = "{data}"\n'
            for name, share, spans, data in figures
        )
    )
    install(tmp_path, "opened", {"spanjury.judges": ["open = open_package.judge:Open"]})
    importlib.invalidate_caches()
    text = " ".join(spanjury("judges").output.replace("│", " ").split())
    assert "open Mark what is open. Cannot see: what is closed. " in text
    assert "Precision on A: gate 0.85 (of 120), door 0.50 (of 8). " in text
    assert "Precision on B: lid 1.00 (of 3). " in text
    for judge in ("grounding", "form"):
        assert re.search(rf"{judge} Mark [^│]*?\. Cannot see: ", text)
    assert "annotator Ask a model for error spans and a score. calls" in text
    (package / "precision.toml").write_text("[[open")
    assert "precision.toml of open_package cannot be read" in spanjury("judges").output


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (
            ("evaluate", "rows.jsonl", "--judge", "exits"),
            "of the package strange) cannot be loaded",
        ),
        (("evaluate", "rows.jsonl", "--judge", "twice"), "claimed by strange and stranger"),
        (("evaluate", "rows.jsonl", "--judge", "sync"), "judge 'sync': assess must be async"),
        (("exam", "discernment", "--demo", "--test", "no-test"), "must return a PairedTest"),
        (("exam", "folders", "--demo"), "exam 'folders' must rename folder: every exam has"),
        (("exam", "outputs", "--demo"), "--output: every command of an exam has a flag"),
        (("metrics", "card", "no-card"), "metric 'no-card' of strange has no card: it needs"),
        (
            ("metrics", "card", "upward"),
            "metric 'upward' of strange has no usable card: upward.toml: direction: Input should",
        ),
    ],
)
def test_naming_a_broken_plugin_is_a_one_line_usage_error(
    words: tuple[str, ...], reason: str
) -> None:
    done = spanjury(*words, code=2)
    assert reason in done.stderr
    assert "Traceback" not in done.output
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("exam", "reason"),
    [
        ("no-plan", "its plan must be a Plan, and is None"),
        ("async-plan", "plan must not be async: write `def`"),
        ("failing-plan", "its plan failed: KeyError(1)"),
        ("no-report", "its run must return a StudyReport, and returned None"),
        ("plain-run", "its run must be async: write `async def`"),
        ("failing-run", "its run failed: KeyError('run')"),
        ("other-measure", "its plan names measures that its report lacks: m.x"),
    ],
)
def test_an_exam_that_does_something_else_is_one_line(exam: str, reason: str) -> None:
    done = spanjury("exam", exam, "--demo", "--no-progress", code=2)
    assert done.stderr == f"spanjury: exam '{exam}': {reason}\n"
    with pytest.raises(PluginError, match=re.escape(reason)):
        exams.__getattr__(exam.replace("-", "_"))()


def test_a_perturbation_of_an_aspect_that_no_task_has_ends_an_exam_before_it_begins(
    tmp_path: Path,
) -> None:
    item = '[[items]]\nname = "first"\nlevel = "word"\nperturbation = "misspelt"\n'
    (tmp_path / "recipe.toml").write_text(item)
    words = ("exam", "discernment", "rows.jsonl", "--recipe", "recipe.toml")
    done = spanjury(*words, code=2)
    assert (
        "the perturbation of first harms or spares 'flunecy', and no task has this aspect; did you"
        " mean 'fluency'?"
    ) in done.stderr
    own = "[tasks.summarization.aspects.flunecy]\ndefinition = 'A word.'\nkind = 'form'\n"
    (tmp_path / "own.toml").write_text(own)
    spanjury(*words, "--aspects-file", "own.toml", "--judge", "form")


def test_metrics_are_listed_beside_those_that_are_broken() -> None:
    done = spanjury("metrics", "list", "--category", "readability")
    assert "flesch-reading-ease" in done.stdout
    assert "broken: metric 'no-card' of strange has no card" in done.stderr
    assert "broken: spanjury.metric_cards plugin 'gone'" in done.stderr
    assert "broken: metric 'upward' of strange has no usable card" in done.stderr
    assert "The share of words." in spanjury("metrics", "card", "described").stdout


def test_the_help_of_exams_lists_those_of_strangers_that_are_broken() -> None:
    listed = spanjury("exam", "--help").stdout
    for part in ("late ", "folders  ", "broken: exam 'folders'", "outputs ", "discernment"):
        assert part in listed, part


def test_an_exam_whose_annotations_are_texts_keeps_its_flags() -> None:
    assert "depth 3" in spanjury("exam", "late", "--demo", "--depth", "3", code=2).stderr
