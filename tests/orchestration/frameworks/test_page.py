"""The blocks of the page on frameworks run as printed, each section by itself."""

from pathlib import Path

import pytest
from fakes.installed import skip_without
from fakes.pages import blocks, read_page, run_code, section
from fakes.pytest_runs import outcomes, run_pytest

PAGE = read_page("frameworks")


@pytest.mark.parametrize(
    ("heading", "framework", "shown"),
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
    heading: str, framework: str, shown: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    skip_without(framework, reason=f"{framework} is not installed: just frameworks")
    names: dict[str, object] = {}
    for block in blocks(section(PAGE, f"## {heading}"), "python"):
        run_code(block, names)
    said = capsys.readouterr().out
    assert [part for part in shown if part not in said] == []


def test_the_tests_of_the_page_fail_and_skip_as_it_says(tmp_path: Path) -> None:
    on_pytest = section(PAGE, "## pytest")
    (tests,), (message,) = blocks(on_pytest, "python"), blocks(on_pytest, "text")
    (tmp_path / "test_summaries.py").write_text(tests)
    assert message in run_pytest(tmp_path, "--junitxml=report.xml").stdout
    assert list(outcomes(tmp_path / "report.xml").values()) == ["failure", "skipped"]
