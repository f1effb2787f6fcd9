"""Benchmarks print no figure of a run that did not do its work."""

import importlib
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from fakes.installed import skip_without

from spanjury.orchestration.services.people.marked_texts import MarkedSource
from spanjury.orchestration.services.people.panel_study import study_panel
from spanjury.orchestration.studies.panel_study.seats import Settings

ROWS = 12
ROOT = Path(__file__).parents[1]


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(ROOT)
    return importlib.import_module("benchmarks.batch_runs")


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(ROOT)
    return importlib.import_module("benchmarks.batch_process")


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.syspath_prepend(ROOT)
    with importlib.import_module("benchmarks.batch_server").served(delay=0.0) as address:
        yield address


def test_command_and_client_do_all_rows(runs: ModuleType, address: str, tmp_path: Path) -> None:
    course = runs.Course(address=address, folder=tmp_path, connections=4)
    bare, ours, again = (run(course, ROWS) for run in (runs.bare, runs.evaluate, runs.resume))
    assert 0 < bare.cpu < ours.cpu
    assert again.cpu > 0


@pytest.mark.parametrize("run", ["bare", "evaluate"])
def test_a_server_that_refuses_ends_the_benchmark(
    runs: ModuleType, address: str, tmp_path: Path, run: str
) -> None:
    course = runs.Course(address=f"{address}/refused", folder=tmp_path, connections=4)
    with pytest.raises(RuntimeError, match="exited with 1"):
        getattr(runs, run)(course, ROWS)


def test_the_plan_in_the_documents_is_the_one_that_is_printed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    skip_without("ray")  # the engine's own limits are in it
    monkeypatch.syspath_prepend(ROOT)
    plan = importlib.import_module("benchmarks.plan")
    scale = (ROOT / "docs" / "scale.md").read_text("utf-8")
    cluster = (ROOT / "docs" / "cluster.md").read_text("utf-8")
    assert "\n".join(plan.table(10**9)) in scale
    for name, judging in plan.JUDGES.items():
        alone, eight = (plan.pays_from(judging, cores=32, here=here) for here in (1, 8))
        assert f"| {name} | {alone:,.0f} | {eight:,.0f} |" in cluster
    assert math.isinf(plan.pays_from(0.01, cores=8, here=8))  # not on one machine


def test_no_trace_that_was_taken_on_is_lost_or_doubled_by_a_kill(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(ROOT)
    watch = importlib.import_module("benchmarks.watch")
    (row,) = watch.kills(times=1, rate=60.0)
    kills, taken, lost, doubled = map(int, row.strip("| ").split(" | "))
    assert taken > 0
    assert (kills, lost, doubled) == (1, 0, 0)


def test_the_code_holds_what_the_trials_change(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT)
    trials = importlib.import_module("benchmarks.trials.lost_replies")
    rules = [*trials.RULES.values(), *trials.PROMPTS.values()]
    changes = [(change.file, change.before) for change in (*trials.LATER, trials.READER)]
    changes += [(file, before) for _, file, before, _ in rules]
    lacking = [
        (file, before) for file, before in changes if before not in (ROOT / file).read_text()
    ]
    assert lacking == []


def test_unreadable_replies_fail_the_run(runs: ModuleType, address: str, tmp_path: Path) -> None:
    course = runs.Course(address=f"{address}/json", folder=tmp_path, connections=4)
    with pytest.raises(RuntimeError, match="exited with 3"):
        runs.evaluate(course, ROWS)


def test_results_with_other_errors_than_the_replies_end_the_benchmark(
    runs: ModuleType, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    course = runs.Course(address=address, folder=tmp_path, connections=4)
    monkeypatch.setattr(runs, "ERRORS", runs.ERRORS + 1)
    with pytest.raises(RuntimeError, match=f"of {ROWS} rows 0 have a score"):
        runs.evaluate(course, ROWS)


def test_calls_not_made_end_the_benchmark(runs: ModuleType, address: str, tmp_path: Path) -> None:
    course = runs.Course(address=address, folder=tmp_path, connections=4)
    with (
        pytest.raises(RuntimeError, match="expected 12 calls, and 0 were made"),
        runs.expected_calls(course, ROWS),
    ):
        pass


def test_rows_that_cost_nothing_beyond_start_up_have_no_figure(processes: ModuleType) -> None:
    def run(rows: int) -> object:
        return processes.Cost(cpu=1.0 - rows / 1_000, wall=1.0, peak_mb=1.0)

    with pytest.raises(RuntimeError, match="take more rows"):
        processes.row_cost(run, rows=100, few=10)


def test_rows_that_take_no_time_beyond_start_up_have_no_rate(processes: ModuleType) -> None:
    def run(rows: int) -> object:
        return processes.Cost(cpu=1.0 + rows, wall=1.0, peak_mb=1.0)

    cost = processes.row_cost(run, rows=100, few=10)
    with pytest.raises(RuntimeError, match="take more rows"):
        _ = cost.rate


def test_a_row_costs_what_many_take_beyond_few(processes: ModuleType) -> None:
    def run(rows: int) -> object:
        return processes.Cost(cpu=1.0 + rows / 100, wall=2.0 + rows / 50, peak_mb=1.0)

    cost = processes.row_cost(run, rows=110, few=10)
    assert cost.cpu_ms == pytest.approx(10.0)
    assert cost.rate == pytest.approx(50.0)
    assert cost.start_up == pytest.approx(1.1)


def test_a_command_counts_the_work_of_its_children(processes: ModuleType) -> None:
    work = "sum(range(8_000_000))"
    child = f"import subprocess, sys; subprocess.run([sys.executable, '-c', '{work}'])"
    idle = processes.cost_of([sys.executable, "-c", ""])
    busy = processes.cost_of([sys.executable, "-c", child])
    assert busy.cpu > idle.cpu * 2


def test_the_service_is_measured_beside_a_bare_application(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(ROOT)
    few = ["serve", "--requests", "20", "--clients", "4", "--endurance", "20"]
    monkeypatch.setattr(sys, "argv", few)
    importlib.import_module("benchmarks.serve").main()
    lines = capsys.readouterr().out.splitlines()
    rates = [float(line.split("|")[2].replace(",", "")) for line in lines[2:7]]
    own, _, bare, several, model = rates
    assert bare > own > 0
    assert several > 0
    assert 0 < model < 4 / 0.05  # four clients, and 50 ms an answer


def test_a_service_that_refuses_ends_the_benchmark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT)
    serve = importlib.import_module("benchmarks.serve")
    load = importlib.import_module("benchmarks.serve_load")
    with serve.service("--judge", "form") as (port, _), pytest.raises(ExceptionGroup) as raised:
        load.ask(port, [b"{}"], clients=1, requests=1)
    assert "body-invalid" in str(raised.value.exceptions[0])


def test_a_view_is_measured_from_start_to_last_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT)
    line = importlib.import_module("benchmarks.view").measure(ROWS)
    cells = [cell.strip() for cell in line.strip("| ").split("|")]
    first, whole = float(cells[1]), float(cells[3])
    assert (cells[0], len(cells)) == (str(ROWS), 10)
    assert 0 < first <= whole


@pytest.mark.shared_data
def test_one_to_four_judges_agree_with_people_as_known(
    shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(ROOT)
    recorded = importlib.import_module("benchmarks.recorded_judges")
    recorded.write_recorded(tmp_path, data=shared_data, offline=False)
    source = MarkedSource(results=(tmp_path / "results.jsonl",), human=tmp_path / "texts.jsonl")
    (study,) = study_panel(source, within="corpus", settings=Settings(draws=0)).aspects
    assert study.seats == ("gemma", "nemotron", "qwen", "mistral")
    assert [*study.families.values()] == ["google", "llama", "qwen", "mistral"]
    assert study.groups == ("CNN/DM", "XSum")
    means = [part.mean for part in study.subsets.sizes]
    assert means == pytest.approx([0.622, 0.659, 0.670, 0.676], abs=5e-4)
    assert sum(part.shapley for part in study.subsets.shares) == pytest.approx(means[-1])
