"""The place of runs and their names."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

from spanjury.adapters.runs.run_folder import HOME_VARIABLE, RunFolder, find_run, new_run, runs_home
from spanjury.judges.core import StoreError

NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "home"))
    return tmp_path / "home"


def test_without_a_variable_it_is_among_the_users_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(HOME_VARIABLE)
    assert runs_home().parts[-2:] == ("spanjury", "runs")
    assert runs_home().is_absolute()


def test_runs_that_begin_in_one_second_have_folders_of_their_own(home: Path) -> None:
    def begin(_: int) -> RunFolder:
        return new_run("rows", now=NOW)

    with ThreadPoolExecutor(4) as pool:
        runs = list(pool.map(begin, range(20)))
    names = {run.path.name for run in runs}
    assert len(names) == 20
    assert "2026-03-04-050607-rows" in names
    assert all(run.path.parent == home for run in runs)


@pytest.mark.usefixtures("home")
def test_a_run_is_found_by_its_name_and_by_its_folder() -> None:
    run = new_run("rows", now=NOW)
    with pytest.raises(StoreError, match="there is no run"):
        find_run(Path(run.path.name))
    run.create({})
    assert find_run(Path(run.path.name)) == find_run(run.path) == run


def test_a_home_that_cannot_be_made_is_reported(home: Path) -> None:
    home.write_text("no folder")
    with pytest.raises(StoreError, match="cannot be made"):
        new_run("rows", now=NOW)
