"""Examples of README and of the tour of the features work."""

import ast
import inspect
import re
from pathlib import Path
from types import CodeType

import anyio
import pytest

from spanjury.orchestration.wiring.panel_files import read_panel_file

README = Path(__file__).parents[1] / "README.md"
TOUR = README.parent / "docs" / "tour.md"


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page.read_text("utf-8"), re.DOTALL)


@pytest.mark.parametrize("page", [README, TOUR], ids=lambda page: page.name)
def test_the_python_examples_run_and_find_the_error(
    page: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for text in blocks(page, "python"):
        code = compile(text, page.name, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        names: dict[str, object] = {}

        async def example(code: CodeType = code, names: dict[str, object] = names) -> None:
            if inspect.iscoroutine(waiting := eval(code, names)):
                await waiting

        anyio.run(example)
    shown = capsys.readouterr().out
    printed = re.search(r"print\(report\)  # (.*)", blocks(page, "python")[0])
    assert printed is not None
    assert printed[1] in shown
    assert "21 25 1935 4" in shown
    assert "['The bridge opened in 1932.']" in shown


def test_the_panel_example_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "panel.toml"
    (text,) = blocks(TOUR, "toml")
    path.write_text(text)
    assert [seat.name or seat.judge for seat in read_panel_file(path).seats_or_default] == [
        "gemma",
        "qwen",
        "grounding",
    ]
