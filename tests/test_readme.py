"""Examples of README work."""

import ast
import inspect
import re
from pathlib import Path
from types import CodeType

import anyio
import pytest

from spanjury.orchestration.wiring.panel_files import read_panel_file

README = Path(__file__).parents[1] / "README.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README.read_text("utf-8"), re.DOTALL)


def test_the_python_examples_run_and_find_the_error(capsys: pytest.CaptureFixture[str]) -> None:
    for text in blocks("python"):
        code = compile(text, "README.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        names: dict[str, object] = {}

        async def example(code: CodeType = code, names: dict[str, object] = names) -> None:
            if inspect.iscoroutine(waiting := eval(code, names)):
                await waiting

        anyio.run(example)
    shown = capsys.readouterr().out
    printed = re.search(r"print\(report\)  # (.*)", blocks("python")[0])
    assert printed is not None
    assert printed[1] in shown
    assert "21 25 1935 4" in shown
    assert "['The bridge opened in 1932.']" in shown


def test_the_panel_example_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "panel.toml"
    (text,) = blocks("toml")
    path.write_text(text)
    assert [seat.name or seat.judge for seat in read_panel_file(path).seats_or_default] == [
        "gemma",
        "qwen",
        "grounding",
    ]
