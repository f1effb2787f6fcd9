"""The guides for plugins work as they stand: their files are installed, their commands run."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from fakes.processes import completed
from loopback.dialects import DIALECTS, DialectServer

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
NAMED = re.compile(r"# (\S+\.\w+)\n")
PROJECT = """
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
name = "{name}"
version = "0.1"

[tool.setuptools]
py-modules = {modules}
packages = {packages}

[tool.setuptools.package-data]
"*" = ["*.toml"]
"""

EXAMINED = """
import sys
from spanjury.orchestration.cli import main
for name in sys.argv[1:]:
    sys.argv[1:] = ["exam", name, "--demo"]
    try:
        main()
    except SystemExit as end:
        print("ends with", end.code)
"""
"""Begins the exams that are named, one after the other."""


def blocks(page: Path) -> list[tuple[str, str]]:
    return BLOCK.findall(page.read_text("utf-8"))


def files(page: Path) -> dict[str, str]:
    """Return the files that a guide shows, by name; parts of one file are joined."""
    shown: dict[str, str] = {}
    for _, text in blocks(page):
        if name := NAMED.match(text):
            shown[name[1]] = shown.get(name[1], "") + text[name.end() :]
    return shown


def installed(guide: Path, folder: Path) -> Path:
    """Install the code that a guide shows, put its data into `folder`, return where code is."""
    package, site = folder / "package", folder / "site"
    shown = files(guide)
    for name, text in shown.items():
        is_code = name.endswith(".py") or "/" in name or name == "pyproject.toml"
        target = (package if is_code else folder) / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    project = PROJECT.format(
        name=guide.stem,
        modules=[name[:-3] for name in shown if re.fullmatch(r"\w+\.py", name)],
        packages=[name.split("/")[0] for name in shown if name.endswith("/__init__.py")],
    )
    (package / "pyproject.toml").write_text(project + shown["pyproject.toml"])
    install = [os.environ.get("UV", "uv"), "pip", "install", "--quiet", "--python", sys.executable]
    offline = ["--offline", "--no-deps", "--no-build-isolation", "--target", str(site)]
    subprocess.run([*install, *offline, str(package)], check=True)
    return site


@pytest.mark.parametrize(
    "name",
    [
        *("aggregation", "checker", "exam", "judge", "metric", "model"),
        *("pair_judge", "perturbation", "source", "statistic"),
    ],
)
def test_a_plugin_is_installed_and_used_as_its_guide_says(name: str, tmp_path: Path) -> None:
    _follow(DOCS / "plugins" / f"{name}.md", tmp_path)


def test_a_judge_that_asks_a_model_does_so_as_its_guide_says(tmp_path: Path) -> None:
    filled = {"quote": "may rain", "why": "It leaves open whether it rains.", "strength": "strong"}
    with DialectServer(DIALECTS["SGLang"], text="", filled=filled) as server:
        _follow(DOCS / "plugins" / "asking.md", tmp_path, server=server.base_url)
        tested = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
        completed([sys.executable, "-c", "import test_hedging"], cwd=tmp_path, env=tested)
        (asked,) = [each for each in server.requests if "response_format" in each.body]
    assert "copied letter for letter" in str(asked.body["messages"])


def _follow(guide: Path, tmp_path: Path, *, server: str = "") -> None:
    """Do what a guide says, with a `server` in the place of its own."""
    site = installed(guide, tmp_path)
    environment = {**os.environ, "PYTHONPATH": str(site), "COLUMNS": "100"}
    printed = ""
    for kind, text in blocks(guide):
        for line in text.splitlines() if kind == "sh" else ():
            program, *words = shlex.split(line.replace("http://localhost:8000/v1", server))
            assert program == "spanjury"
            done = completed(
                [sys.executable, "-m", "spanjury", *words], cwd=tmp_path, env=environment
            )
            printed += done.stdout
        if kind == "text" and not NAMED.match(text):
            assert [line for line in text.splitlines() if line not in printed] == []
    assert printed


def test_a_plugins_exam_is_a_function_and_a_broken_one_costs_no_command(tmp_path: Path) -> None:
    site = installed(DOCS / "plugins" / "exam.md", tmp_path)
    (point,) = site.glob("exam-*.dist-info/entry_points.txt")
    broken = "none = lengths:NAME\ngone = lengths:Missing\nbare = lengths:PanelStudy\n"
    point.write_text(f"{point.read_text()}\n{broken}")
    environment = {**os.environ, "PYTHONPATH": str(site), "COLUMNS": "100"}

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return completed([sys.executable, *words], code=None, cwd=tmp_path, env=environment)

    used = run("-c", "import used")
    assert used.stdout == "12 texts\n", used.stderr
    listed = run("-m", "spanjury", "exam", "--help").stdout
    assert "lengths       Judge texts, and say how far" in listed
    assert listed.count("broken: ") == 3
    ends = run("-c", EXAMINED, "none", "gone", "bare")
    assert re.findall(r"^ends with (.*)$", ends.stdout, re.MULTILINE) == ["2", "2", "2"]
    reasons = ("must be a PanelStudy", "cannot be loaded", "has no method 'plan'")
    assert [reason for reason in reasons if reason not in ends.stderr] == []
    assert "Traceback" not in ends.stderr


def test_every_kind_of_plugin_has_a_guide() -> None:
    index = (DOCS / "plugins" / "README.md").read_text("utf-8")
    linked = set(re.findall(r"\((\w+)\.md\)", index))
    assert linked == {page.stem for page in (DOCS / "plugins").glob("[a-z]*.md")}


def test_the_guides_of_plugins_import_the_modules_that_their_list_names() -> None:
    index = (DOCS / "plugins" / "README.md").read_text("utf-8")
    public = set(re.findall(r"`(spanjury[\w.]*)`", index.partition("Import from")[2]))
    guides = [page.read_text("utf-8") for page in (DOCS / "plugins").glob("[a-z]*.md")]
    used = re.findall(r"^(?:from|import) (spanjury[\w.]*)", "\n".join(guides), re.MULTILINE)
    assert {*used, "spanjury.judges.checker.judge", "spanjury.judges.metrics.corpus"} == public


def test_the_statistics_of_the_page_are_those_of_the_face() -> None:
    page = DOCS / "statistics.md"
    names: dict[str, object] = {}
    for kind, text in blocks(page):
        if kind == "python":
            exec(text, names)
    from spanjury import stats  # noqa: PLC0415  after the page has imported it

    named = set(re.findall(r"`(\w+)`", page.read_text("utf-8")))
    types = {name for name in stats.__all__ if name[0].isupper()}
    assert set(stats.__all__) - types - named == {"paired"}
