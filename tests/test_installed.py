"""A package that is absent skips a test; one that cannot be imported fails it."""

import shutil
from pathlib import Path

import pytest
from fakes.installed import imported, skip_without
from fakes.processes import completed

ROOT = Path(__file__).parents[1]


def test_an_absent_package_skips_with_the_reason() -> None:
    with pytest.raises(pytest.skip.Exception, match="no_such_package is not installed"):
        skip_without("no_such_package")
    with pytest.raises(pytest.skip.Exception, match="ask for it"):
        imported("no_such_package.part", reason="ask for it")


@pytest.mark.parametrize("line", ["import no_such_package", "raise ImportError('too old')"])
def test_a_broken_package_fails(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = f"broken_{len(line)}"
    (tmp_path / f"{name}.py").write_text(line)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ImportError, match="no_such_package|too old"):
        imported(name)


def test_a_part_that_an_installed_package_lacks_is_an_error() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"json\.no_such_part"):
        imported("json.no_such_part")


def test_an_installed_module_is_returned() -> None:
    assert imported("json").loads("[1]") == [1]


@pytest.mark.skipif(not (ROOT / "uv.lock").exists(), reason="`uv run` has made no uv.lock here")
def test_uv_run_keeps_the_versions_that_the_recipes_install() -> None:
    """`uv run` and requirements.lock resolve as of one date: neither swaps a package."""
    uv = shutil.which("uv")
    if uv is None:
        pytest.skip("uv is not on the path")
    synced = completed([uv, "sync", "--inexact", "--frozen", "--offline", "--dry-run"], cwd=ROOT)
    changes = [line for line in synced.stderr.splitlines() if line.startswith((" + ", " - "))]
    assert [line for line in changes if line[3:].split()[0].split("==")[0] != "spanjury"] == []


def test_the_least_requirements_have_the_versions_of_all_requirements() -> None:
    pinned = {line.rstrip("\\ ") for line in (ROOT / "requirements.lock").read_text().splitlines()}
    least = (ROOT / "requirements-core.txt").read_text().splitlines()
    assert [line for line in least if line[0] != "#" and line not in pinned] == []
