"""Files of a report: three at once, each in full or not at all."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pytest

from spanjury.judges.core import StoreError
from spanjury.orchestration.report import Report
from spanjury.orchestration.report.files import make_folder, write_report, write_whole
from spanjury.orchestration.report.json import plain, versions


class Pair(NamedTuple):
    low: float
    high: float


@dataclass(frozen=True)
class Found:
    value: float
    pair: Pair
    by: Mapping[int, list[float]]


def test_a_finding_becomes_plain_values() -> None:
    found = Found(value=1 / 3, pair=Pair(math.nan, math.inf), by={1: [2 / 3]})
    assert plain(found) == {
        "value": 0.333333,
        "pair": {"low": None, "high": None},
        "by": {"1": [0.666667]},
    }
    assert plain(1 / 3, digits=None) == 1 / 3
    assert set(versions()) == {"spanjury", "numpy", "scipy"}


def test_a_report_is_written_in_three_formats(tmp_path: Path) -> None:
    written = write_report(tmp_path / "a" / "b", Report(title="t"), data={"é": 1})
    assert [path.name for path in written] == ["report.md", "report.html", "findings.json"]
    assert written[0].read_text() == "# t\n"
    assert json.loads(written[2].read_text(encoding="utf-8")) == {"é": 1}
    assert len(list((tmp_path / "a" / "b").iterdir())) == 3


def test_a_failed_write_is_an_error_and_keeps_the_old_file(tmp_path: Path) -> None:
    file = tmp_path / "file"
    write_whole(file, b"old")
    with pytest.raises(StoreError, match="cannot be written"):
        make_folder(file / "under")
    (tmp_path / "file.new").mkdir()
    with pytest.raises(StoreError, match="cannot be written"):
        write_whole(file, b"new")
    assert file.read_bytes() == b"old"


def test_a_folder_is_not_written_over(tmp_path: Path) -> None:
    for folder in (tmp_path, Path(), Path("/")):
        with pytest.raises(StoreError, match="it is a folder"):
            write_whole(folder, b"new")
