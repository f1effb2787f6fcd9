"""The plugin of pytest: tests of tests, which a pytest of their own runs."""

import tomllib
from collections.abc import Awaitable, Callable
from pathlib import Path
from unittest import SkipTest
from xml.etree import ElementTree as ET

import anyio
import pytest
from fakes.installed import skip_without
from fakes.pytest_runs import PLUGIN, cases, outcomes, run_pytest

from spanjury.frameworks import aassert_no_errors, assert_no_errors
from spanjury.judges.core import ConfigError

SOURCE = "The bridge opened in 1932. It carries a road."
WRONG = "The bridge opened in 1935. It carries a road."
TESTS = """
import pytest

SOURCE = "The bridge opened in 1932. It carries a road."
WRONG = "The bridge opened in 1935. It carries a road."
JUDGED = {"judges": ["grounding"], "aspects": "consistency"}

def test_uses_nothing(): pass

def test_sound(assert_no_errors):
    assert assert_no_errors(SOURCE, SOURCE, **JUDGED).scores["consistency"] > 4.0

def test_wrong(assert_no_errors):
    assert_no_errors(WRONG, SOURCE, **JUDGED)

@pytest.mark.spanjury(severity=5, **JUDGED)
def test_marked(assert_no_errors):
    assert_no_errors(WRONG, SOURCE)

@pytest.mark.spanjury(severity=5, **JUDGED)
def test_the_call_before_the_mark(assert_no_errors):
    assert_no_errors(WRONG, SOURCE, severity=4)

@pytest.mark.spanjury(on_unscored="skip", **JUDGED)
def test_skipped(assert_no_errors):
    assert_no_errors(WRONG)

def test_unscored(assert_no_errors):
    assert_no_errors(WRONG, **JUDGED)

@pytest.mark.anyio
async def test_async(aassert_no_errors):
    await aassert_no_errors(WRONG, SOURCE, **JUDGED)

@pytest.fixture
def anyio_backend(): return "asyncio"
"""
OUTCOMES = {
    "test_uses_nothing": "passed",
    "test_sound": "passed",
    "test_wrong": "failure",
    "test_marked": "passed",
    "test_the_call_before_the_mark": "failure",
    "test_skipped": "skipped",
    "test_unscored": "failure",
    "test_async": "failure",
}


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tested")
    (folder / "test_bridges.py").write_text(TESTS)
    done = run_pytest(folder, "--junitxml=report.xml")
    assert done.returncode == 1, done.stdout + done.stderr
    return folder / "report.xml"


def properties(case: ET.Element) -> dict[str, str]:
    return {one.attrib["name"]: one.attrib["value"] for one in case.iter("property")}


def test_tests_pass_fail_and_are_skipped_by_what_the_panel_says(reported: Path) -> None:
    assert outcomes(reported) == OUTCOMES


def test_the_report_has_the_panels_results_as_properties(reported: Path) -> None:
    by_name = cases(reported)
    assert properties(by_name["test_uses_nothing"]) == {}
    sound = properties(by_name["test_sound"])
    assert float(sound.pop("spanjury.score.consistency")) > 4.0
    assert sound == {"spanjury.decision": "ok", "spanjury.spans": "0"}
    assert properties(by_name["test_wrong"])["spanjury.decision"] == "faulty"
    assert properties(by_name["test_unscored"]) == {
        "spanjury.decision": "none",
        "spanjury.spans": "0",
        "spanjury.unscored.consistency": "abstained",
    }


ONE_TEST = """
import pytest
{mark}
def test_one(assert_no_errors):
    assert_no_errors("It opened in 1932.", "It opened in 1932.", judges="grounding"{options})
"""


def test_a_report_of_xml_causes_no_warning(tmp_path: Path) -> None:
    (tmp_path / "test_one.py").write_text(
        ONE_TEST.format(mark="", options=", aspects='consistency'")
    )
    done = run_pytest(tmp_path, "--junitxml=report.xml", "-W", "error")
    assert done.returncode == 0, done.stdout
    assert "spanjury.decision" in properties(cases(tmp_path / "report.xml")["test_one"])


@pytest.mark.parametrize(
    ("mark", "options", "problem"),
    [
        ("", ", severty=4", "assert_no_errors has no option 'severty'; did you mean 'severity'?"),
        (
            "@pytest.mark.spanjury(judge='form')",
            "",
            "the mark spanjury has no option 'judge'; did you mean 'judges'?",
        ),
        ("", ", aspects='truthiness'", "no task has the aspect 'truthiness'"),
    ],
)
def test_a_wrong_option_is_shown_without_the_frames_of_the_assertion(
    tmp_path: Path, mark: str, options: str, problem: str
) -> None:
    (tmp_path / "test_one.py").write_text(ONE_TEST.format(mark=mark, options=options))
    done = run_pytest(tmp_path, "--tb=short")
    assert done.returncode == 1
    assert f"ConfigError: {problem}" in done.stdout
    frames = ("assertions.py:", "check.py:", "_backends")
    assert not [frame for frame in frames if frame in done.stdout], done.stdout


def test_an_asynchronous_assertion_refuses_an_unknown_option() -> None:
    check: Callable[..., Awaitable[object]] = aassert_no_errors

    async def judged() -> object:
        return await check(SOURCE, SOURCE, severty=4)

    with pytest.raises(ConfigError, match="aassert_no_errors has no option 'severty'"):
        anyio.run(judged)


def test_the_workers_of_xdist_report_the_same(tmp_path: Path) -> None:
    skip_without("xdist", reason="pytest-xdist is not installed")
    (tmp_path / "test_bridges.py").write_text(TESTS)
    run_pytest(tmp_path, "-p", "xdist", "-n", "2", "--junitxml=report.xml")
    assert outcomes(tmp_path / "report.xml") == OUTCOMES
    assert "spanjury.decision" in properties(cases(tmp_path / "report.xml")["test_wrong"])


def test_the_message_marks_the_error_and_quotes_the_evidence() -> None:
    with pytest.raises(AssertionError) as failed:
        assert_no_errors(WRONG, SOURCE, judges=["grounding"], aspects="consistency")
    assert str(failed.value).splitlines() == [
        "1 error of severity 4 or more in the text",
        "The bridge opened in [1: 1935]. It carries a road.",
        "1. \"1935\" (severity 4): The source says '1932'.",
        '   Article: "The bridge opened in 1932."',
    ]


def test_an_unused_plugin_prints_nothing_and_loads_nothing(tmp_path: Path) -> None:
    (tmp_path / "test_modules.py").write_text(
        "import sys\n"
        "def test_nothing_runs_yet():\n"
        "    ours = {name for name in sys.modules if name.partition('.')[0] == 'spanjury'}\n"
        "    assert ours == {\n"
        "        'spanjury',\n"
        "        'spanjury.orchestration',\n"
        "        'spanjury.orchestration.frameworks',\n"
        "        'spanjury.orchestration.frameworks.pytest_plugin',\n"
        "    }\n"
    )
    done = run_pytest(tmp_path, "-p", "no:anyio")
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout
    assert "spanjury" not in done.stdout.replace(str(tmp_path), "").lower()


def test_the_mark_is_listed(tmp_path: Path) -> None:
    assert "@pytest.mark.spanjury(**options)" in run_pytest(tmp_path, "--markers").stdout


def test_a_wrong_choice_is_refused() -> None:
    with pytest.raises(Exception, match="'fail' or 'skip', got 'pass'"):
        assert_no_errors(SOURCE, SOURCE, judges=["grounding"], on_unscored="pass")  # type: ignore[arg-type]  # the point is that it is wrong


@pytest.mark.parametrize("severity", [0, 6, 3.5, float("nan"), "4", True])
def test_a_severity_that_no_error_has_is_refused(severity: object) -> None:
    check: Callable[..., object] = assert_no_errors
    with pytest.raises(
        Exception, match=f"severity is a whole number from 1 to 5, got {severity!r}"
    ):
        check(WRONG, SOURCE, judges=["grounding"], severity=severity)


@pytest.mark.parametrize(("on_unscored", "error"), [("fail", AssertionError), ("skip", SkipTest)])
def test_an_error_comes_before_a_missing_verdict(on_unscored: str, error: type[Exception]) -> None:
    check: Callable[..., object] = assert_no_errors
    options = {
        "aspects": ["consistency", "fluency"],
        "judges": ["grounding"],
        "on_unscored": on_unscored,
    }
    with pytest.raises(AssertionError, match="1935"):
        check(WRONG, SOURCE, **options)
    with pytest.raises(error, match="no verdict: fluency has no score: abstained"):
        check(SOURCE, SOURCE, **options)


def test_the_asynchronous_assertion_returns_the_report() -> None:
    async def judged() -> str:
        report = await aassert_no_errors(
            SOURCE, SOURCE, judges=["grounding"], aspects="consistency"
        )
        return report.text

    assert anyio.run(judged) == SOURCE


def test_pytest_knows_the_plugin_by_its_entry_point() -> None:
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text("utf-8"))
    assert project["project"]["entry-points"]["pytest11"] == {"spanjury": PLUGIN}
