"""The blocks of the page on frameworks run as printed, each section by itself."""

import ast
import inspect
import re
from pathlib import Path
from types import CodeType

import anyio
import pytest
from fakes.installed import skip_without
from fakes.pytest_runs import outcomes, run_pytest

PAGE = (Path(__file__).parents[3] / "docs" / "frameworks.md").read_text("utf-8")
SECTIONS = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE))


def blocks(section: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", SECTIONS[section], re.DOTALL)


@pytest.mark.parametrize(
    ("section", "framework", "shown"),
    [
        (
            "pydantic-evals",
            "pydantic_evals",
            ["False faulty", "['consistency', 'consistency_ok'] []"],
        ),
        ("inspect-ai", "inspect_ai", ["consistency", "fluency 5.0 0"]),
        ("deepeval", "deepeval", ["False", "Context [2]"]),
        ("LangChain and LangSmith", "langsmith", ["consistency", "faulty"]),
    ],
)
def test_the_blocks_run(
    section: str, framework: str, shown: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    skip_without(framework, reason=f"{framework} is not installed: just frameworks")
    names: dict[str, object] = {}

    async def run(code: CodeType) -> None:
        await eval(code, names)

    for block in blocks(section, "python"):
        code = compile(block, "frameworks.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        if code.co_flags & inspect.CO_COROUTINE:
            anyio.run(run, code)
        else:
            exec(code, names)
    said = capsys.readouterr().out
    assert [part for part in shown if part not in said] == []


def test_the_tests_of_the_page_fail_and_skip_as_it_says(tmp_path: Path) -> None:
    (tests,), (message,) = blocks("pytest", "python"), blocks("pytest", "text")
    (tmp_path / "test_summaries.py").write_text(tests)
    assert message in run_pytest(tmp_path, "--junitxml=report.xml").stdout
    assert list(outcomes(tmp_path / "report.xml").values()) == ["failure", "skipped"]
