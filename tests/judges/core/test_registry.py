"""The registry of plugins, and the tree of errors."""

import importlib
import sys
from asyncio import CancelledError  # noqa: TID251 - what others' code may let out
from pathlib import Path

import pytest
from anyio import CancelScope
from anyio.lowlevel import checkpoint
from fakes.judges import PanicError

from spanjury.judges.core import (
    JudgeError,
    ModelError,
    ModelRefusedError,
    ModelTimeoutError,
    Outcome,
    ParseError,
    PluginError,
    TransientModelError,
)
from spanjury.judges.core.errors import EvaluationError, failing_as
from spanjury.judges.core.registry import OUR_PACKAGE, Registry, plugins_outside
from spanjury.orchestration.wiring.plugins import GROUPS

GROUP = "spanjury.tests"


def test_an_error_knows_the_outcome_it_comes_to() -> None:
    assert ModelError("x").outcome is Outcome.BACKEND_FAILED
    assert TransientModelError("x").outcome is Outcome.BACKEND_FAILED
    assert ModelTimeoutError("x").outcome is Outcome.TIMED_OUT
    assert ModelRefusedError("x").outcome is Outcome.REFUSED
    assert JudgeError("x").outcome is Outcome.BACKEND_FAILED
    assert ParseError("x", reply="y").outcome is Outcome.UNPARSEABLE


def test_errors_keep_what_is_needed_to_go_on() -> None:
    assert ParseError("no score", reply="what it said").reply == "what it said"
    assert TransientModelError("busy", retry_after=2.5).retry_after == 2.5


@pytest.mark.parametrize(
    ("raised", "becomes"),
    [
        (KeyError("a"), PluginError),
        (SystemExit(3), PluginError),
        (PanicError("rust"), PluginError),
        (CancelledError(), PluginError),
        (BaseExceptionGroup("two", [PanicError()]), PluginError),
        (JudgeError("a"), JudgeError),
        (KeyboardInterrupt(), KeyboardInterrupt),
        (GeneratorExit(), GeneratorExit),
        (BaseExceptionGroup("two", [PanicError(), KeyboardInterrupt()]), BaseExceptionGroup),
    ],
)
def test_any_error_of_foreign_code_becomes_ours_and_an_interruption_none(
    raised: BaseException, becomes: type[BaseException]
) -> None:
    with pytest.raises(becomes), failing_as(lambda error: PluginError(repr(error))):
        raise raised


async def test_a_cancellation_of_our_own_is_no_failure() -> None:
    with CancelScope() as scope, failing_as(lambda error: PluginError(repr(error))):
        scope.cancel()
        await checkpoint()
    assert scope.cancelled_caught


@pytest.fixture
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder on the path where a test may lay down distributions."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "third_party", raising=False)
    (tmp_path / "third_party.py").write_text("def thing():\n    return 'made'\n")
    return tmp_path


def distribution(folder: Path, name: str, *points: str, group: str = GROUP) -> None:
    info = folder / f"{name}-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text("\n".join([f"[{group}]", *points]) + "\n")
    importlib.invalidate_caches()


def test_a_plugin_is_loaded_by_name(plugins: Path) -> None:
    distribution(plugins, "one", "thing = third_party:thing")
    registry: Registry[object] = Registry(GROUP)
    loaded = registry.get("thing")
    assert callable(loaded)
    assert loaded() == "made"


def test_plugins_are_described_without_being_loaded(plugins: Path) -> None:
    distribution(plugins, "one", "b = nowhere:x", "a = nowhere:y")
    result = Registry[object](GROUP).plugins()
    assert [(p.name, p.origin, p.version, p.group) for p in result] == [
        ("a", "one", "1.2", GROUP),
        ("b", "one", "1.2", GROUP),
    ]


def test_an_unknown_name_lists_the_choices(plugins: Path) -> None:
    distribution(plugins, "one", "b = third_party:thing", "a = third_party:thing")
    with pytest.raises(PluginError, match="'c'; choose from a, b"):
        Registry[object](GROUP).get("c")


def test_a_name_that_two_strangers_claim_is_refused_and_both_are_named(plugins: Path) -> None:
    distribution(plugins, "one", "thing = third_party:thing")
    distribution(plugins, "two", "thing = third_party:thing")
    with pytest.raises(PluginError, match="'thing' is claimed by one and two"):
        Registry[object](GROUP).get("thing")
    broken = Registry[object](GROUP).broken()
    assert [(problem.plugin.origin, problem.shadowed) for problem in broken] == [
        ("one", False),
        ("two", False),
    ]


def test_a_name_of_ours_stays_ours_whoever_claims_it(plugins: Path) -> None:
    (plugins / "strange.py").write_text("def thing():\n    return 'strange'\n")
    distribution(plugins, "a-stranger", "thing = strange:thing")
    distribution(plugins, OUR_PACKAGE, "thing = third_party:thing")
    registry = Registry[object](GROUP)
    loaded = registry.get("thing")
    assert callable(loaded)
    assert loaded() == "made"
    (problem,) = registry.broken()
    assert problem.shadowed
    assert str(problem) == (
        "broken (a-stranger 1.2): the name 'thing' belongs to spanjury, which is used"
    )


def test_a_name_of_ours_in_the_group_beside_stays_ours(plugins: Path) -> None:
    beside = f"{GROUP}.metrics"
    distribution(plugins, OUR_PACKAGE, "thing = third_party:thing", group=beside)
    distribution(plugins, "a-stranger", "thing = third_party:thing", "own = third_party:thing")
    registry: Registry[object] = Registry(GROUP, beside=beside)
    assert registry.names() == ("own",)
    with pytest.raises(PluginError, match="'thing'; choose from own"):
        registry.get("thing")
    (problem,) = registry.broken()
    assert problem.shadowed
    assert problem.reason == "the name 'thing' belongs to a metric of spanjury, which is used"


def test_a_name_of_a_command_is_no_plugins(plugins: Path) -> None:
    distribution(plugins, "a-stranger", "card = third_party:thing", "own = third_party:thing")
    registry: Registry[object] = Registry(GROUP, reserved=frozenset({"card"}))
    assert registry.names() == ("own",)
    (problem,) = registry.broken()
    assert problem.reason == "the name 'card' belongs to a command of spanjury, which is used"


def test_a_plugin_that_exits_when_it_is_imported_costs_itself(plugins: Path) -> None:
    (plugins / "exits.py").write_text("raise SystemExit('goodbye')\n")
    (plugins / "panics.py").write_text("raise type('Panic', (BaseException,), {})('rust')\n")
    points = ("ends = exits:thing", "panics = panics:thing", "thing = third_party:thing")
    distribution(plugins, "one", *points)
    registry = Registry[object](GROUP)
    with pytest.raises(PluginError, match=r"'ends' \(exits:thing, of the package one\) .*goodbye"):
        registry.get("ends")
    assert [problem.plugin.name for problem in registry.broken()] == ["ends", "panics"]
    assert callable(registry.get("thing"))


def test_a_plugin_whose_library_is_absent_says_which(
    plugins: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (plugins / "needing.py").write_text("import nowhere.at_all\n")
    monkeypatch.delitem(sys.modules, "needing", raising=False)
    distribution(plugins, "one", "thing = needing:x")
    (problem,) = Registry[object](GROUP).broken()
    assert problem.missing == "nowhere"


@pytest.mark.parametrize("target", ["nowhere:x", "third_party.absent:x"])
def test_a_plugin_whose_own_module_is_absent_lacks_no_library(plugins: Path, target: str) -> None:
    distribution(plugins, "one", f"thing = {target}")
    (problem,) = Registry[object](GROUP).broken()
    assert problem.missing == ""
    assert "ModuleNotFoundError" in str(problem)


@pytest.mark.parametrize(
    ("name", "are_functions", "reason"),
    [
        ("a:b", False, "must consist of letters, digits and . _ + -"),
        ("a b", False, "must consist of letters, digits and . _ + -"),
        ("-a", False, "must consist of letters, digits and . _ + -"),
        ("class", True, "cannot be that of a function in Python"),
        ("mqm.tsv", True, "cannot be that of a function in Python"),
    ],
)
def test_a_name_that_cannot_be_written_is_broken(
    plugins: Path, name: str, are_functions: bool, reason: str
) -> None:
    distribution(plugins, "one", f"{name} = third_party:thing", "good-1.x = third_party:thing")
    registry: Registry[object] = Registry(GROUP, are_functions=are_functions)
    assert name not in registry.names()
    assert name in [plugin.name for plugin in registry.plugins()]
    with pytest.raises(PluginError, match=f"there is no test {name!r}"):
        registry.get(name)
    assert f"broken (one 1.2): the name {name!r} {reason}" in " ".join(map(str, registry.broken()))
    assert ("good-1.x" in registry.names()) == (not are_functions)


def test_plugins_of_groups_that_do_not_exist_are_found(plugins: Path) -> None:
    distribution(plugins, "one", "thing = third_party:thing", group="spanjury.judge")
    distribution(plugins, "two", "thing = third_party:thing", group="pytest11")
    (stray,) = plugins_outside([registry.group for registry in GROUPS])
    assert (stray.group, stray.name, stray.origin) == ("spanjury.judge", "thing", "one")


@pytest.mark.parametrize("target", ["nowhere:x", "third_party:absent"])
def test_a_plugin_that_cannot_be_imported_says_which_and_why(plugins: Path, target: str) -> None:
    distribution(plugins, "one", f"thing = {target}")
    with pytest.raises(PluginError, match=rf"'thing' \({target}, .*\) cannot be loaded") as caught:
        Registry[object](GROUP).get("thing")
    assert isinstance(caught.value, EvaluationError)


def test_the_reason_that_a_plugin_is_broken_for_holds_no_key(
    plugins: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THEIR_API_KEY", "q7w8e9r0t1y2")
    monkeypatch.delitem(sys.modules, "leaking", raising=False)
    (plugins / "leaking.py").write_text("import os\nraise OSError(os.environ['THEIR_API_KEY'])\n")
    distribution(plugins, "one", "thing = leaking:thing")
    (problem,) = Registry[object](GROUP).broken()
    assert "q7w8e9r0t1y2" not in str(problem)
    assert "OSError" in str(problem)
