"""A package that is absent skips a test; one that cannot be imported fails it."""

from pathlib import Path

import pytest
from fakes.installed import imported, skip_without


def test_an_absent_package_skips_with_the_reason() -> None:
    with pytest.raises(pytest.skip.Exception, match="no_such_package is not installed"):
        skip_without("no_such_package")
    with pytest.raises(pytest.skip.Exception, match="ask for it"):
        imported("no_such_package.part", reason="ask for it")


@pytest.mark.parametrize("line", ["import no_such_package", "raise ImportError('too old')"])
def test_a_broken_package_is_an_error(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"broken_{len(line)}"
    (tmp_path / f"{name}.py").write_text(line)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ImportError, match="no_such_package|too old"):
        imported(name)


def test_a_part_that_an_installed_package_lacks_is_an_error() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"json\.no_such_part"):
        imported("json.no_such_part")


def test_what_is_there_is_returned() -> None:
    assert imported("json").loads("[1]") == [1]
