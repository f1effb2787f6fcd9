"""The files by which spanjury is distributed call it as it can be called."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import yaml
from fakes.command import call, complaint

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "summaries.jsonl"
PAGE = (ROOT / "docs" / "deployment.md").read_text("utf-8")
ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))


def act(folder: Path, **inputs: str) -> "subprocess.CompletedProcess[str]":
    """Run the step of the action that judges, as GitHub's runner does."""
    (step,) = (step for step in ACTION["runs"]["steps"] if step.get("name") == "Judge the texts")
    values = {name: given.get("default", "") for name, given in ACTION["inputs"].items()}
    values |= {name.replace("_", "-"): value for name, value in inputs.items()}
    names = {
        key: re.sub(r".*inputs\.([\w-]+).*", r"\1", value) for key, value in step["env"].items()
    }
    environment = {key: values[name] for key, name in names.items()}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment |= {"PATH": path, "RUNNER_TEMP": str(folder), "HOME": str(folder)}
    (folder / "step.sh").write_text(step["run"])
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "step.sh"]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_the_action_fails_with_annotations_and_writes_what_it_uploads(tmp_path: Path) -> None:
    done = act(
        tmp_path,
        data=str(EXAMPLE),
        fail_on="severity>=4 and probability>=.8\nspans>=3\n",
        min_coverage="0",
        flags="--judge grounding\n--aspect consistency",
    )
    assert done.returncode == 5, done.stderr
    assert "::error " in done.stderr
    assert "not met: no report with spans>=3" in done.stderr
    (run,) = json.loads((tmp_path / "spanjury.sarif").read_text("utf-8"))["runs"]
    assert run["results"]


def test_the_action_passes_each_criterion_as_it_is_written(tmp_path: Path) -> None:
    act(
        tmp_path,
        data=str(EXAMPLE),
        fail_on="score<2",
        criterion='Every price is in euros.\nIt says "hello".\n',
        flags="--judge grounding --limit 1",
    )
    lines = (tmp_path / "spanjury" / "results.jsonl").read_text("utf-8").splitlines()
    aspects = [json.loads(line)["aspect"] for line in lines]
    assert aspects == ["criterion: Every price is in euros", 'criterion: It says "hello"']


def test_the_action_judges_without_a_condition(tmp_path: Path) -> None:
    flags = "--judge grounding --aspect consistency --limit 2"
    done = act(tmp_path, data=str(EXAMPLE), min_coverage="0", flags=flags)
    assert done.returncode == 0, done.stderr
    assert len((tmp_path / "spanjury" / "results.jsonl").read_text("utf-8").splitlines()) == 2


def test_the_page_names_the_inputs_of_the_action() -> None:
    table = PAGE.partition("| input |")[2].partition("## pre-commit")[0]
    rows = "".join(re.findall(r"^\| (`.*?) \|", table, re.MULTILINE))
    assert set(re.findall(r"`([\w-]+)`", rows)) == set(ACTION["inputs"])


def test_the_hook_fails_on_a_faulty_text(tmp_path: Path) -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    (shown,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    (used,) = yaml.safe_load(shown)["repos"][0]["hooks"]
    assert used["id"] == hook["id"]
    (tmp_path / "texts.jsonl").write_bytes(EXAMPLE.read_bytes())
    entry = hook["entry"].split()[1:]
    done = call(tmp_path, *entry, *used["args"], "--judge", "grounding", code=5)
    assert "decision=faulty" in done.stderr


def test_the_container_starts_the_service_only_with_a_token(tmp_path: Path) -> None:
    text = (ROOT / "Dockerfile").read_text("utf-8")
    (entry,) = re.findall(r"^ENTRYPOINT (\[.*\])$", text, re.MULTILINE)
    program, *words = json.loads(entry)
    assert program == "spanjury"
    state = [str(tmp_path / "state") if word.startswith("/var") else word for word in words]
    done = call(tmp_path, *state, code=2)
    assert "SPANJURY_SERVE_TOKEN" in complaint(done.stderr)


def test_the_conda_package_needs_what_the_wheel_needs() -> None:
    recipe = yaml.safe_load((ROOT / "conda" / "recipe.yaml").read_text("utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    _, *needed = recipe["requirements"]["run"]
    assert sorted(line.replace(" ", "") for line in needed) == sorted(project["dependencies"])
