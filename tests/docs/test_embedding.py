"""The blocks of the page on Python programs run as printed, one after the other."""

import ast
import inspect
import re
import shutil
from pathlib import Path

import anyio
import pytest

ROOT = Path(__file__).parents[2]
BLOCKS = re.findall(
    r"```python\n(.*?)```", (ROOT / "docs" / "embedding.md").read_text("utf-8"), re.DOTALL
)


def test_the_blocks_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "examples", "examples")
    names: dict[str, object] = {}

    async def run(block: str) -> None:
        code = compile(block, "embedding.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        if inspect.iscoroutine(waiting := eval(code, names)):
            await waiting

    for block in BLOCKS:
        anyio.run(run, block)
    shown = capsys.readouterr().out
    assert "1935 21 25 4" in shown
    assert "Article 0 26 The bridge opened in 1932." in shown
    assert "<TextReports: 2 texts; 1 ok, 1 faulty>" in shown
    assert re.search(r"<TextReport '[a-z-]+/system-b': faulty, \d errors", shown)
