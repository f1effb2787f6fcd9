"""The reader of a growing file: no line is lost or read twice when the file is rotated."""

import gzip
import os
import shutil
import zlib
from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import NamedTemporaryFile

import pytest

from spanjury.adapters.files.limits import DataLimits
from spanjury.adapters.files.line_tail import LineTail, TailedLine
from spanjury.judges.core import DataError

LONG = "x" * 300


def texts(tail: LineTail) -> list[str]:
    return [line.text for line in tail.added()]


def append(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


def rename(log: Path) -> None:
    log.rename(f"{log}.1")


def copy(log: Path) -> None:
    shutil.copyfile(log, f"{log}.1")
    os.truncate(log, 0)


def pack(path: Path) -> None:
    path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()


@pytest.mark.parametrize("rotate", [rename, copy])
@pytest.mark.parametrize("is_open", [True, False])
@pytest.mark.parametrize("new", ["new\n", f"{LONG}\nthe new file is longer\n"])
def test_lines_before_a_rotation_are_read_before_the_new_file(
    tmp_path: Path, rotate: Callable[[Path], None], new: str, *, is_open: bool
) -> None:
    log = tmp_path / "log"
    append(log, f"{LONG}\nread\n")
    with LineTail(log, position=None, is_whole=False) as tail:
        *_, last = tail.added()
        append(log, "rest\nlast")
        if is_open:
            rotate(log)
            append(log, new)
            assert texts(tail) == ["rest", "last", *new.splitlines()]
            append(log, "more\n")
            assert texts(tail) == ["more"]
    if not is_open:
        rotate(log)
        append(log, new)
        with LineTail(log, position=last.position.encoded(), is_whole=True) as tail:
            assert texts(tail) == ["rest", "last", *new.splitlines()]


@pytest.mark.parametrize("rotate", [rename, copy])
@pytest.mark.parametrize("is_open", [True, False])
def test_files_rotated_between_two_reads_are_read_in_their_order(
    tmp_path: Path, rotate: Callable[[Path], None], *, is_open: bool
) -> None:
    log = tmp_path / "log"
    append(tmp_path / "log.1", "read before the watch began\n")
    append(log, "first\n")
    with LineTail(log, position=None, is_whole=False) as tail:
        (line,) = tail.added()
        position = line.position.encoded()
        append(log, "rest\n")
        for lines in ("second\nthird", "fourth\n", "fifth\n"):
            for number in (3, 2, 1):
                if (tmp_path / f"log.{number}").exists():
                    (tmp_path / f"log.{number}").rename(tmp_path / f"log.{number + 1}")
            rotate(log)
            append(log, lines)
        unread = ["rest", "second", "third", "fourth", "fifth"]
        if is_open:
            assert texts(tail) == unread
            assert texts(tail) == []
    with LineTail(log, position=position, is_whole=False) as tail:
        assert texts(tail) == unread


def test_files_rotated_by_date_are_read_in_their_order_and_others_never(tmp_path: Path) -> None:
    log = tmp_path / "log"
    append(log, "first\n")
    with LineTail(log, position=None, is_whole=False) as tail:
        assert texts(tail) == ["first"]
        append(log, "rest\n")
        for date, lines in (("20261129", "second\n"), ("20261130", "third\n")):
            log.rename(f"{log}-{date}")
            append(log, lines)
        for unread in ("log-20261128", "log.1", "log.results", "log.bak1"):
            append(tmp_path / unread, "no line of the log\n")
        assert texts(tail) == ["rest", "second", "third"]


@pytest.mark.parametrize("rotate", [rename, copy])
@pytest.mark.parametrize("packed", [(1, 2, 3), (2, 3), (3,)])
@pytest.mark.parametrize("is_open", [True, False])
def test_gzipped_rotations_are_read_like_others(
    tmp_path: Path, rotate: Callable[[Path], None], packed: Sequence[int], *, is_open: bool
) -> None:
    log = tmp_path / "log"
    append(log, f"{LONG}\nread\n")
    with LineTail(log, position=None, is_whole=False) as tail:
        *_, line = tail.added()
        append(log, "rest\n")
        for lines in ("second\nthird", "", "fourth\n"):
            for number in (2, 1):
                if (tmp_path / f"log.{number}").exists():
                    (tmp_path / f"log.{number}").rename(tmp_path / f"log.{number + 1}")
            rotate(log)
            append(log, lines)
        for number in packed:
            pack(tmp_path / f"log.{number}")
        if is_open:
            assert texts(tail) == ["rest", "second", "third", "fourth"]
            append(log, "fifth\n")
            assert texts(tail) == ["fifth"]
    with LineTail(log, position=line.position.encoded(), is_whole=False) as tail:
        *_, half = islice(tail.added(), 2)
        assert half.text == "second"
    with LineTail(log, position=half.position.encoded(), is_whole=False) as tail:
        assert texts(tail) == ["third", "fourth", *["fifth"] * is_open]


@pytest.mark.parametrize("rotate", [rename, copy])
def test_of_gzipped_files_that_hold_other_lines_only_the_beginning_is_unpacked(
    tmp_path: Path, rotate: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    log, unpacked = tmp_path / "log", tmp_path / "unpacked"
    unpacked.mkdir()
    for number in (2, 3, 4):
        append(tmp_path / f"log.{number}", f"other {number}\n" * 100_000)
        pack(tmp_path / f"log.{number}")
    append(log, "read\n")
    with LineTail(log, position=None, is_whole=False) as tail:
        (line,) = tail.added()
    append(log, "rest\n" * 100_000)
    rotate(log)
    pack(tmp_path / "log.1")
    os.utime(tmp_path / "log.1.gz", (0, 0))  # so that it is looked at last
    append(log, "new\n")
    temporary = partial(NamedTemporaryFile, dir=unpacked, delete=False)
    monkeypatch.setattr("tempfile.TemporaryFile", temporary)
    with LineTail(log, position=line.position.encoded(), is_whole=False) as tail:
        assert texts(tail) == [*["rest"] * 100_000, "new"]
    whole = [path for path in unpacked.iterdir() if path.stat().st_size > 2**16]
    assert {path.read_text()[:4] for path in whole} == {"read"}


@pytest.mark.parametrize("rotate", [rename, copy])
@pytest.mark.parametrize("is_open", [True, False])
def test_a_new_file_that_differs_only_in_its_first_line_is_read_from_its_beginning(
    tmp_path: Path, rotate: Callable[[Path], None], *, is_open: bool
) -> None:
    log = tmp_path / "log"
    append(log, f"begun on Monday\n{LONG}\n")
    with LineTail(log, position=None, is_whole=False) as tail:
        *_, last = tail.added()
        append(log, "rest\n")
        rotate(log)
        append(log, f"begun on Friday\n{LONG}\nnew\n")
        unread = ["rest", "begun on Friday", LONG, "new"]
        if is_open:
            assert texts(tail) == unread
    with LineTail(log, position=last.position.encoded(), is_whole=False) as tail:
        assert texts(tail) == unread


@pytest.mark.parametrize("position", ["[{inode},6,1]", "[{inode},6,1,{ending}]"])
def test_positions_of_earlier_versions_are_continued(tmp_path: Path, position: str) -> None:
    log = tmp_path / "log"
    append(log, "first\nsecond\n")
    written = position.format(inode=log.stat().st_ino, ending=zlib.crc32(b"first\n"))
    with LineTail(log, position=written.encode(), is_whole=False) as tail:
        assert texts(tail) == ["second"]


def test_a_first_line_that_is_too_long_is_skipped_once_across_restarts(tmp_path: Path) -> None:
    log = tmp_path / "log"
    append(log, f"{'x' * 3_000}\nsecond\nthird\n")
    limits = DataLimits(row=1_000)
    with LineTail(log, position=None, is_whole=False, limits=limits) as tail:
        long, second, _ = tail.added()
    assert ("too long" in long.fault, second.text) == (True, "second")
    with LineTail(log, position=second.position.encoded(), is_whole=False, limits=limits) as tail:
        assert texts(tail) == ["third"]


def test_the_readable_part_of_a_damaged_rotation_is_read_and_the_damage_named(
    tmp_path: Path,
) -> None:
    log = tmp_path / "log"
    append(log, "first\n")
    with LineTail(log, position=None, is_whole=False) as tail:
        assert texts(tail) == ["first"]
        rename(log)
        packed = gzip.compress(b"".join(b"line %d\n" % number for number in range(50_000)))
        (tmp_path / "log.1").rename(tmp_path / "log-20261129")
        (tmp_path / "log-20261130.gz").write_bytes(packed[: len(packed) // 2])
        append(log, "last\n")
        first, *_, damaged, last = tail.added()
    assert (first.text, last.text) == ("line 0", "last")
    assert "log-20261130.gz cannot be unpacked: Compressed file ended before" in damaged.fault


def test_a_renamed_file_is_read_until_the_new_one_has_lines(tmp_path: Path) -> None:
    log = tmp_path / "log"
    append(log, "first\n")
    with LineTail(log, position=None, is_whole=False) as tail:
        assert texts(tail) == ["first"]
        rename(log)
        append(tmp_path / "log.1", "second\n")
        assert texts(tail) == ["second"]
        assert tail.is_missing
        append(log, "")
        append(tmp_path / "log.1", "third\n")
        assert texts(tail) == ["third"]
        append(log, "fourth\n")
        assert texts(tail) == ["fourth"]


def test_a_file_in_place_of_another_is_read_from_its_beginning(tmp_path: Path) -> None:
    log = tmp_path / "log"
    append(log, "first\nsecond\n")
    with LineTail(log, position=None, is_whole=False) as tail:
        assert texts(tail) == ["first", "second"]
        os.truncate(log, 0)
        append(log, "third\nfourth\n")
        assert texts(tail) == ["third", "fourth"]
    with LineTail(log, position=b"[1,6,1]", is_whole=False) as tail:
        assert texts(tail) == ["third", "fourth"]


@pytest.mark.parametrize(
    ("last", "is_whole", "is_read"),
    [('{"a": 1}', True, True), ('{"a": 1}', False, False), ('{"a"', True, False)],
)
def test_a_last_line_without_a_line_end_is_read_if_nothing_else_is_lacking(
    tmp_path: Path, last: str, *, is_whole: bool, is_read: bool
) -> None:
    log = tmp_path / "log"
    append(log, f"first\n{last}")
    with LineTail(log, position=None, is_whole=is_whole) as tail:
        lines: list[TailedLine] = [*tail.added()]
        assert [line.text for line in lines] == ["first", *[last] * is_read]
        assert tail.unfinished == (0 if is_read else 2)
        append(log, "\nnext\n")
        *_, following = tail.added()
    assert (following.text, following.number) == ("next", 3)


@pytest.mark.parametrize("make", [os.mkdir, getattr(os, "mkfifo", os.mkdir)])
def test_a_pipe_and_a_folder_are_refused_and_never_opened(
    tmp_path: Path, make: Callable[[Path], None]
) -> None:
    log = tmp_path / "log"
    make(log)
    with (
        LineTail(log, position=None, is_whole=False) as tail,
        pytest.raises(DataError, match="is not a regular file"),
    ):
        texts(tail)
