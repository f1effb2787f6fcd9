"""Fixtures for every test."""

import gc
import os
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from fakes.logs import forget_handlers
from hypothesis import HealthCheck, is_hypothesis_test, settings

# No test finds the models of whoever runs it: the cache of the hub is none, and no folder is named.
os.environ["HF_HUB_CACHE"] = os.devnull
os.environ.pop("SPANJURY_MODELS", None)

# What is imported and collected stays until the end, so the garbage collector need not look for it.
gc.set_threshold(100_000)

# How long an example takes says how busy the machine is; what needs many says so itself. Every run
# tries the same examples; `just fuzz` looks for new ones.
FUZZ_EXAMPLES = os.environ.get("SPANJURY_FUZZ_EXAMPLES")
settings.register_profile(
    "spanjury",
    deadline=None,
    max_examples=int(FUZZ_EXAMPLES or 25),
    derandomize=not FUZZ_EXAMPLES,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("spanjury")

QUICK_EXAMPLES = 10
SLOW_LIBRARIES = {"datasets", "litellm", "matplotlib", "peft", "ray", "torch", "transformers"}

# Under tests/, and why `just test` leaves it to `just test-all`: it does not import it even.
HEAVY = {
    "orchestration/report/drawings/test_pages_in_a_browser.py": "starts a browser",
    "orchestration/servers/view/test_marks_in_a_browser.py": "starts a browser",
    "orchestration/report/view/test_rows_in_a_browser.py": "starts a browser",
    "orchestration/report/view/test_texts_in_a_browser.py": "starts a browser",
    "orchestration/report/view/test_two_in_a_browser.py": "starts a browser",
    "orchestration/report/test_reports_in_a_browser.py": "starts a browser",
    "orchestration/cli/test_card.py": "runs several exams",
    "orchestration/studies/calibration/test_promises_on_data.py": "draws sets of marks",
    "orchestration/studies/panel_study/test_cascades.py": "fits many cascades",
    "orchestration/studies/test_panel_study.py": "studies panels in many samples",
    "orchestration/studies/test_ranking.py": "ranks systems in many samples",
    "adapters/checkers": "imports torch",
    "adapters/plots": "imports matplotlib",
    "adapters/reading": "imports torch",
    "adapters/test_answer_limits.py": "imports LiteLLM",
    "adapters/test_batch_files.py": "imports LiteLLM",
    "adapters/test_data_limits.py": "unpacks bombs in processes of its own",
    "adapters/test_embedded.py": "serves the embedded model",
    "adapters/test_litellm_model.py": "imports LiteLLM",
    "adapters/test_local_model.py": "imports torch",
    "adapters/test_plots.py": "imports matplotlib",
    "adapters/test_server_tokens.py": "imports LiteLLM",
    "adapters/test_texts.py": "imports datasets",
    "adapters/test_vllm_model.py": "imports torch",
    "adapters/training": "trains",
    "adapters/weights": "imports torch",
    "docs/test_deployment_page.py": "starts processes",
    "docs/test_guides.py": "installs packages",
    "docs/test_panels_page.py": "studies panels, and imports LiteLLM",
    "docs/test_service.py": "starts processes",
    "docs/test_walked_pages.py": "examines judges, and imports matplotlib",
    "orchestration/services/test_exams_from_python.py": "examines judges, reads by an encoder",
    "orchestration/studies/calibration/test_calibrated_cascades.py": "fits hundreds of cascades",
    "e2e": "serves the embedded model",
    "gallery": "starts a browser and makes every page",
    "judges/llm/test_parse_fuzz.py": "fuzzes",
    "judges/metrics/test_edit_kernels.py": "compares many random texts",
    "judges/metrics/test_ngram_metrics.py": "imports nltk",
    "judges/metrics/test_shared_words.py": "measures thirty metrics, each twice",
    "judges/text/test_locate_fuzz.py": "fuzzes",
    "orchestration/cli/test_batches.py": "imports LiteLLM, kills processes and waits for batches",
    "orchestration/cli/test_bench_spans.py": "measures judges by many draws",
    "orchestration/cli/test_broken_plugins.py": "starts processes",
    "orchestration/cli/test_cascade_crashes.py": "kills processes",
    "orchestration/cli/test_crashes.py": "kills processes and fills disks",
    "orchestration/cli/test_damage_model.py": "examines judges",
    "orchestration/cli/test_distil_checkers.py": "trains",
    "orchestration/cli/test_distil_gate.py": "puts trained judges through whole exams",
    "orchestration/cli/test_distil_tokens.py": "trains",
    "orchestration/cli/test_distil_train.py": "trains",
    "orchestration/cli/test_doctor.py": "loads every library",
    "orchestration/cli/test_exam.py": "examines judges in a dozen ways",
    "orchestration/cli/test_exam_compare.py": "examines judges",
    "orchestration/cli/test_exam_faithfulness.py": "examines judges",
    "orchestration/cli/test_failing_runs.py": "imports LiteLLM and waits for servers",
    "orchestration/cli/test_meta.py": "measures agreement by many draws",
    "orchestration/cli/test_metrics_cli.py": "measures every metric",
    "orchestration/cli/test_processes.py": "starts processes",
    "orchestration/cli/test_same_bytes.py": "examines judges with one, two and three processes",
    "orchestration/cli/test_seat_prices.py": "imports LiteLLM",
    "orchestration/cli/test_two_processes.py": "starts processes",
    "orchestration/cli/test_view.py": "starts processes",
    "orchestration/engine/test_changed_panel.py": "judges again after each change of a panel",
    "orchestration/engine/test_memory_crashes.py": "kills processes",
    "orchestration/frameworks/test_page.py": "starts processes",
    "orchestration/frameworks/test_pytest_plugin.py": "starts processes",
    "orchestration/servers/http/test_processes.py": "starts processes",
    "orchestration/servers/http/test_several_processes.py": "starts processes",
    "orchestration/servers/mcp": "imports mcp and starts processes",
    "orchestration/test_reply_forms.py": "imports LiteLLM",
    "orchestration/services/test_chaos.py": "breaks servers hundreds of times",
    "orchestration/services/test_faults.py": "waits for servers",
    "orchestration/services/test_ray.py": "starts a cluster",
    "orchestration/services/test_ray_command.py": "starts a cluster",
    "orchestration/studies/test_faithfulness_record.py": "replays the reports of a paper",
    "test_benchmarks.py": "starts processes",
    "test_browser.py": "starts a browser",
}

# The files that take longest come first, so that none of them is begun when all others are done.
LONGEST = (
    "orchestration/servers/http/test_processes.py",
    "orchestration/cli/test_batches.py",
    "gallery",
    "docs/test_guides.py",
    "orchestration/cli/test_doctor.py",
    "orchestration/cli/test_crashes.py",
    "orchestration/cli/test_exam_faithfulness.py",
    "orchestration/services/test_chaos.py",
    "orchestration/cli/test_view.py",
    "adapters/training",
    "orchestration/cli/test_distil_tokens.py",
    "orchestration/servers/mcp",
    "orchestration/servers/view/test_marks_in_a_browser.py",
)

# A file with none of these has nothing that `just test` leaves out, unless it is heavy as a whole.
MORE = ("pytest.mark.heavy", "pytest.mark.e2e", "pytest.mark.ray", "max_examples")

TESTS = Path(__file__).parent
SHARED_DATA = TESTS.parents[1] / "shared" / "data"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--tier",
        choices=("quick", "rest", "all"),
        help="quick: neither what is heavy nor more than 10 examples a property; rest: the"
        " heavy tests, and properties that ask for many examples; all: usual where"
        " files are named",
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.option.tier is None:  # the workers of pytest-xdist are given the controller's
        named = config.args_source is pytest.Config.ArgsSource.ARGS
        config.option.tier = "all" if named else "quick"
    if gone := [name for name in (*HEAVY, *LONGEST) if not (TESTS / name).exists()]:
        raise pytest.UsageError(f"HEAVY or LONGEST names what is not there: {', '.join(gone)}")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Ignore files of which the tier runs nothing, so that they are not even imported."""
    heavy = in_heavy_file(collection_path)
    if config.option.tier == "quick":
        return heavy or None
    if config.option.tier == "rest" and collection_path.suffix == ".py":
        return None if may_have_more(collection_path) else True
    return None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    keep = {"quick": is_quick, "rest": is_rest}.get(config.option.tier)
    if keep is None:
        return
    if lost := {str(item.path) for item in items if is_rest(item) and not may_have_more(item.path)}:
        raise pytest.UsageError(f"the rest would not see what {', '.join(lost)} has: see MORE")
    kept = [item for item in items if keep(item)]
    config.hook.pytest_deselected(items=[*{*items}.difference(kept)])
    items[:] = sorted(kept, key=rank)
    if config.option.tier == "quick":
        if slow := SLOW_LIBRARIES & sys.modules.keys():
            raise pytest.UsageError(f"collecting imported {', '.join(slow)}: see HEAVY")
        for item in items:
            shorten(item)


def pytest_collection_finish() -> None:
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    marked = metafunc.definition.get_closest_marker("asyncio_only")
    if marked and "anyio_backend" in metafunc.fixturenames:
        on_asyncio = pytest.mark.parametrize("anyio_backend", ["asyncio"], scope="module")
        metafunc.definition.add_marker(on_asyncio)


@cache
def under(names: Iterable[str], path: Path) -> str:
    """Return the first of `names` below this folder that is `path` or holds it; empty if none."""
    if not path.is_relative_to(TESTS):
        return ""
    inside = path.relative_to(TESTS)
    around = {part.as_posix() for part in (inside, *inside.parents)}
    return next((name for name in names if name in around), "")


def in_heavy_file(path: Path) -> bool:
    return bool(under(tuple(HEAVY), path))


@cache
def may_have_more(path: Path) -> bool:
    """Say whether a file may have tests of which `just test` does not run all."""
    return in_heavy_file(path) or any(word in path.read_text("utf-8") for word in MORE)


def rank(item: pytest.Item) -> int:
    """Return when `item` is run: with the files of `LONGEST` in their order, or after them."""
    name = under(LONGEST, item.path)
    return LONGEST.index(name) if name else len(LONGEST)


def is_quick(item: pytest.Item) -> bool:
    marks = ("heavy", "e2e", "ray")
    return not in_heavy_file(item.path) and not any(map(item.get_closest_marker, marks))


def is_rest(item: pytest.Item) -> bool:
    """Say whether `just test` leaves `item` out, or tries much fewer examples than it asks for."""
    return not is_quick(item) or asks_for_more(item)


def is_property(item: pytest.Item) -> bool:
    return is_hypothesis_test(getattr(item, "obj", None))


def asks_for_more(item: pytest.Item) -> bool:
    """Say whether a property itself asks for more examples than others try."""
    if not is_property(item):
        return False
    usual = item.obj._hypothesis_internal_use_settings  # type: ignore[attr-defined]
    return bool(usual.max_examples > settings.get_profile("spanjury").max_examples)


def shorten(item: pytest.Item) -> None:
    """Let a property try no more than `QUICK_EXAMPLES`, whatever it says itself."""
    if is_property(item):
        test = item.obj  # type: ignore[attr-defined]  # every property is a function
        usual = test._hypothesis_internal_use_settings
        test._hypothesis_internal_use_settings = settings(
            usual, max_examples=min(QUICK_EXAMPLES, usual.max_examples)
        )


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Return the folder of collected data sets, or skip: they are not part of the project."""
    if not SHARED_DATA.is_dir():
        pytest.skip("the collected data sets are not beside this checkout")
    return SHARED_DATA


@pytest.fixture(scope="session")
def chromium() -> Iterator[object]:
    """Start the browser once for all tests of the process that open a page."""
    # Not lazily: libraries that look into every module would load it where playwright is missing.
    browser = import_module("loopback.browser")
    if not browser.CHROMIUM.exists():
        pytest.skip(f"{browser.CHROMIUM} is not installed")
    yield from browser.started_chromium()


@pytest.fixture
def offline_hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Let nothing reach the hub of models, nor look into its usual cache."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    if find_spec("huggingface_hub") is not None:
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))


@pytest.fixture(scope="module")
def one_thread() -> Iterator[None]:
    """Let torch compute on one thread: models as small as ours lose time with more."""
    torch = import_module("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(autouse=True)
def _runs_kept_in_a_folder_of_the_test(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPANJURY_RUNS", str(tmp_path_factory.getbasetemp() / "runs"))
    # For commands that are run without our variables.
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path_factory.getbasetemp() / "data"))


@pytest.fixture(autouse=True)
def _log_as_configured_by_default() -> Iterator[None]:
    """Undo what a command of the command line sets for its process."""
    yield
    forget_handlers()


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Run every async test on both event loops, unless it is marked `asyncio_only`."""
    backend: str = request.param
    return backend
