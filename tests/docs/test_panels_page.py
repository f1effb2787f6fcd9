"""The page on panels: its commands run in their order, and print and write what it says."""

import importlib
import json
import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

import anyio
import pytest
from fakes.command import call
from fakes.pages import ROOT, blocks, fenced, read_page
from fakes.scored_bridges import SEATS, TEXTS, read_lines, review, write_lines
from loopback.reading import ReadingServer

from spanjury.orchestration.engine.families import Families
from spanjury.orchestration.wiring.panel_files import read_panel_file
from spanjury.orchestration.wiring.panels import open_configured_panel

PAGE = read_page("panels")
_INDENTED = re.compile(r"(?<=\n\n)(?: {4}.*\n)+")
_SET = re.compile(r'^(\w+)="(.*)"$')
_NUMBER = re.compile(r"-?\d*\.?\d+")
MODELS = ("gemma", "nemotron", "qwen", "mistral")
"""Seats that are given calls and tokens, so that they cost something."""
QUICK = {
    "calibrate": ("--draws", "100"),
    "evaluate": ("--no-progress", "--show", "none"),
    "panel": ("--draws", "20"),
    "view": ("--html", "view.html"),
}
"""Flags that a command is given besides, so that it is quick, and ends."""
RUNS = {"texts.jsonl": "run", "sample.jsonl": "RUN"}
"""The runs whose texts people mark, by their file."""
PANEL = """
models = [{{ name = "openai-compatible/judge", base_url = "{url}" }}]
seats = [{{ judge = "grounding" }}, {{ judge = "annotator" }}]
"""


def commands(of: str) -> list[list[str]]:
    """Return the words of each command of a program, in the order of the page."""
    language, names = list[list[str]](), dict[str, str]()
    shells = [text for kind, text in fenced(PAGE) if kind in {"", "sh", "console"}]
    shown = "".join(sorted((*shells, *_INDENTED.findall(PAGE)), key=PAGE.index))
    for line in shown.replace("\\\n", " ").splitlines():
        words = line.strip().removeprefix("$ ")
        if is_set := _SET.match(words):
            names[is_set[1]] = is_set[2]
        for name, value in names.items():
            words = words.replace(f"${name}", value)
        if words.startswith(f"{of} "):
            language.append(shlex.split(words, comments=True)[1:])
    return language


def run(folder: Path, *words: str) -> str:
    return call(folder, *words).stdout


def evaluate(folder: Path, data: str, *flags: str) -> None:
    quietly = ("--aspect", "consistency", "--show", "none", "--no-progress")
    run(folder, "evaluate", data, *quietly, *flags)


def with_calls(path: Path) -> list[dict[str, object]]:
    """Return results in which the judges under models' names took a call each."""
    rows = read_lines(path)
    for row in rows:
        for seat in row["seats"]:  # type: ignore[attr-defined]  # JSON
            if seat["judge"] in MODELS:
                seat["usage"] |= {"calls": 1, "prompt": 600, "completion": 80}
    return rows


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return a folder with all that the page takes as given: texts, marks, runs, a panel."""
    folder = tmp_path_factory.mktemp("panels")
    (folder / "seats.toml").write_text(SEATS)
    unmarked = [{**text, "human": {}} for text in TEXTS]
    for name in ("texts", "marked", "sample"):
        write_lines(folder / f"{name}.jsonl", TEXTS)
    for name in ("more", "all"):
        write_lines(folder / f"{name}.jsonl", unmarked)
    for run_dir, system in (("run-of-a", "bart"), ("run-of-b", "t5")):
        write_lines(
            folder / f"{system}.jsonl", [row for row in unmarked if row["system"] == system]
        )
        evaluate(folder, f"{system}.jsonl", "--panel", "seats.toml", "--run-dir", run_dir)
    evaluate(folder, "more.jsonl", "--panel", "seats.toml", "--run-dir", "my-run")
    run(folder, "marks", "import", "my-run", "texts.jsonl", "--annotator", "anna")
    evaluate(folder, "more.jsonl", "--judge", "bleu", "-o", "other.jsonl")
    recorded = with_calls(folder / "my-run" / "results.jsonl")
    for name in ("qags", "summeval", "FOLDER"):
        write_lines(folder / name / "texts.jsonl", TEXTS)
        write_lines(folder / name / "results.jsonl", recorded)
    with ReadingServer(review) as server:
        (folder / "panel.toml").write_text(PANEL.format(url=server.base_url))
        yield folder


@pytest.fixture(scope="module")
def outputs(folder: Path) -> dict[str, str]:
    """Run all commands of the page; return what each said, by its words."""
    outputs = {}
    for words in commands("spanjury"):
        command = " ".join(words)
        asked = [*words, *QUICK.get(words[0], ())]
        if words[0] == "evaluate":
            asked += ["--aspect", "consistency"]
            asked += [] if "--panel" in words else ["--panel", "seats.toml"]
            if words[1] in RUNS and "--run-dir" not in words:
                asked += ["--run-dir", RUNS[words[1]]]
        outputs[command] = run(folder, *asked)
        if (made := RUNS.get(words[1])) and words[0] == "evaluate":
            run(folder, "marks", "import", made, words[1], "--annotator", "anna")
    return outputs


def test_every_command_runs_in_the_order_of_the_page(folder: Path, outputs: dict[str, str]) -> None:
    assert {command.split()[0] for command in outputs} == {
        *("calibrate", "evaluate", "panel", "rank", "rescore", "sample", "view")
    }
    for name in ("to-mark.jsonl", "calibration.toml", "on-peoples-terms.jsonl", "cascade.toml"):
        assert (folder / name).stat().st_size, name
    assert (folder / "study" / "panel-study.html").is_file()
    assert (folder / "ranking").is_dir()


def test_a_sampled_row_keeps_what_is_shown(folder: Path, outputs: dict[str, str]) -> None:
    assert outputs
    (shown,) = (json.loads(text)["meta"]["sampling"] for text in blocks(PAGE, "json"))
    rows = read_lines(folder / "to-mark.jsonl")
    assert len(rows) == shown["drawn"] == 50
    for row in rows:
        sampling = row["meta"]["sampling"]  # type: ignore[index]  # JSON
        assert sampling.keys() == shown.keys()
        assert re.fullmatch(r"score: part \d of \d", sampling["stratum"])
        assert 0 < sampling["inclusion"] <= 1


def form(line: str) -> str:
    """Return a line without its numbers."""
    return _NUMBER.sub("#", " ".join(line.split()))


def test_thirty_texts_are_reported_in_shown_lines(folder: Path, outputs: dict[str, str]) -> None:
    assert outputs
    (shown,) = blocks(PAGE, "text")
    report = folder / "thirty.html"
    few = [text for text in TEXTS if text["system"] != "pegasus"][:30]
    write_lines(folder / "thirty.jsonl", few)
    flags = ("--human", "thirty.jsonl", "--draws", "100", "-o", "thirty.toml")
    printed = run(folder, "calibrate", "my-run", *flags, "--html", str(report))
    whole = form(printed)
    assert [line for line in map(form, shown.splitlines()) if line not in whole] == []


def test_the_cascade_that_is_shown_names_the_seats_of_its_panel(tmp_path: Path) -> None:
    path = tmp_path / "panel.toml"
    (text,) = blocks(PAGE, "toml")
    path.write_text(text)
    panel = read_panel_file(path)
    assert panel.cascade is not None
    assert panel.cascade.unsure == (0.2, 0.9)
    asked = [seat for stage in panel.cascade.stages for seat in stage]  # type: ignore[union-attr]  # lists of names here
    assert asked == ["reader", "grounding", "annotator:ollama/gemma2:27b"]


def test_the_panel_of_the_cascade_that_is_shown_opens(tmp_path: Path) -> None:
    path = tmp_path / "panel.toml"
    (text,) = blocks(PAGE, "toml")
    path.write_text(text.replace('"reader"', '"form"'))  # which needs no encoder

    async def opened() -> list[str]:
        async with open_configured_panel(read_panel_file(path), silent=True) as panel:
            return [seat.name for seat in panel.seats]

    models = ("ollama/gemma2:27b", "ollama/qwen2.5:72b")
    names = ["form", "grounding", *(f"annotator:{model}" for model in models)]
    assert anyio.run(opened) == names


def test_the_families_that_are_shown_are_read(tmp_path: Path) -> None:
    (text,) = (block for block in _INDENTED.findall(PAGE) if "[families]" in block)
    path = tmp_path / "families.toml"
    path.write_text(text)
    families = Families.load(path)
    assert families.of("openai/our-model-7b") == "house"
    assert families.of("ollama/llama-house") == "house"
    assert families.of("ollama/llama3:8b") == "llama"


COMMANDS = {
    "Choose texts to mark": ("sample", "view", "rank"),
    "Calibrate": ("calibrate", "evaluate", "rescore"),
    "Which seats": ("panel study",),
    "Cascades": ("panel cascade", "evaluate", "rescore", "calibrate", "resume"),
    "Rank systems": ("rank",),
}
"""The commands of which each section is."""


@pytest.mark.parametrize("section", COMMANDS)
def test_every_flag_that_a_section_names_is_one_of_its_commands(section: str) -> None:
    (text,) = re.findall(rf"^## {section}\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE)
    ours = re.sub(r"python -m benchmarks\.\S+(?:[^\n`]|\\\n)*", "", text)
    flags = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", ours))
    helps = "".join(help_of(command) for command in COMMANDS[section])
    assert {flag for flag in flags if f"{flag} " not in helps} == set()


def help_of(command: str) -> str:
    words = command.split()
    done = call(ROOT, *words, "--help-all", code=None)
    return done.stdout if done.exit_code == 0 else call(ROOT, *words, "--help").stdout


def test_every_benchmark_of_the_page_has_the_flags_that_are_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(ROOT)
    shown = re.findall(r"python -m (benchmarks\.\w+)((?:[^\n`)]|\\\n)*)", PAGE)
    assert len(shown) >= 7
    for name, rest in shown:
        monkeypatch.setattr("sys.argv", [name, "--help"])
        with pytest.raises(SystemExit, match="0"):
            importlib.import_module(name).main()
        printed = capsys.readouterr().out
        for flag in re.findall(r"(?<![\w-])--?[a-z]+", rest):
            assert re.search(rf"{flag}\b", printed), f"{name} has no {flag}"


STUDIED: Sequence[str] = (
    "Seats",
    "Subsets",
    "Redundancy",
    "Own family",
    "Weights of seats",
    "Cost and agreement",
)


def test_the_parts_of_the_study_are_those_that_are_listed(outputs: dict[str, str]) -> None:
    (section,) = re.findall(r"^## Which seats\n(.*?)(?=^## )", PAGE, re.DOTALL | re.MULTILINE)
    table = section.partition("| part |")[2].partition("\n\n")[0]
    listed = re.findall(r"^\| ([A-Z][\w ]+) \|", table, re.MULTILINE)
    assert tuple(listed) == STUDIED
    printed = outputs["panel study run"]
    assert [part for part in listed if part != "Own family" and part not in printed] == []


def test_the_columns_explained_are_of_the_ranking(folder: Path, outputs: dict[str, str]) -> None:
    assert outputs
    (section,) = re.findall(r"^## Rank systems\n(.*?)(?=^### )", PAGE, re.DOTALL | re.MULTILINE)
    named = re.findall(r"\*\*([a-z ]+)\*\*", section)
    (written,) = (path.read_text("utf-8") for path in (folder / "ranking").glob("*.md"))
    assert {"panel", "coverage", "groups", "place", "worth"} < set(named)
    assert [name for name in named if f"| {name} " not in written] == []


def figures(row: str) -> list[float]:
    """Return the numbers of a table's row, without intervals."""
    return [float(cell) for cell in re.findall(r"\| (-?\d*\.\d+)", row)]


@pytest.mark.shared_data
def test_the_means_of_one_to_four_judges_are_those_that_are_shown(
    shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(ROOT)
    recorded = importlib.import_module("benchmarks.recorded_judges")
    recorded.write_recorded(tmp_path / "qags", data=shared_data, offline=False)
    within, whole = re.findall(r"^\| (?:`--within corpus`|all texts at once).*", PAGE, re.MULTILINE)
    shown = {True: figures(within), False: figures(whole)}
    four = [words for words in commands("spanjury") if "qags/results.jsonl" in words][:2]
    for words in four:
        done = run(tmp_path, *words, "--draws", "0", "--json")
        (language,) = json.loads(done)["aspects"]
        means = [size["mean"] for size in language["subsets"]["sizes"]]
        assert means == pytest.approx(shown["--within" in words], abs=6e-4)
