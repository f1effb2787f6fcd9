"""The blocks of the page on exams run as printed, one after the other."""

import ast
import inspect
import json
import re
from pathlib import Path

import anyio
import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "python-exams.md").read_text("utf-8")


def test_the_blocks_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}

    async def run(block: str) -> None:
        code = compile(block, "python-exams.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        if inspect.iscoroutine(waiting := eval(code, names)):
            await waiting

    for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        anyio.run(run, block)
    shown = capsys.readouterr().out
    assert re.search(
        r"<StudyReport 'Discernment exam': discernment.average [\d.]+, .*tables>", shown
    )
    assert re.search(r"^negate 0\.\d+ discerned$", shown, re.MULTILINE)
    assert "# Two judges compared" in shown
    assert re.search(r"<PerturbedTexts: \d+ texts, \d+ skipped> \S+: ", shown)
    assert re.search(r"judged \d+ of \d+ \(\d+ %\)", shown)
    assert "\n0.1 seconds are over\n" in shown
    assert re.search(r"<StudyReport 'Calibration.*<StudyReport '.*<StudyReport 'Systems", shown)
    assert (tmp_path / "calibration.toml").is_file()
    findings = json.loads((tmp_path / "exam" / "findings.json").read_text("utf-8"))
    assert findings["card"]["exam"] == "discernment"
