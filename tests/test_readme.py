"""Examples of README work."""

import re
import textwrap
from pathlib import Path

import anyio
import pytest

from spanjury.orchestration.wiring.config import read_panel_file

README = Path(__file__).parents[1] / "README.md"


def block(language: str) -> str:
    (text,) = re.findall(rf"```{language}\n(.*?)```", README.read_text(), re.DOTALL)
    return str(text)


def test_the_python_example_runs_and_finds_the_error(capsys: pytest.CaptureFixture[str]) -> None:
    code = "async def example():\n" + textwrap.indent(block("python"), "    ")
    names: dict[str, object] = {}
    exec(code, names)
    anyio.run(names["example"])  # type: ignore[arg-type]  # exec hides what it defines
    assert "1935" in capsys.readouterr().out


def test_the_panel_example_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "panel.toml"
    path.write_text(block("toml"))
    assert [seat.name or seat.judge for seat in read_panel_file(path).seats_or_default] == [
        "gemma",
        "qwen",
        "grounding",
    ]
