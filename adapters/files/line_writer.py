"""Writers of lines: files that get their names when they are complete, and a log that grows."""

import hashlib
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Self

from spanjury.adapters.file_lock import lock_file
from spanjury.judges.core import DataError, StoreError
from spanjury.judges.core.errors import reason_of

PART = ".part"
"""Suffix of a file that is not complete yet."""

NEXT = ".next"
"""Suffix of a file that becomes the part file once it has as many lines."""

REFUSED = ".refused"
"""Suffix of a complete file that must not replace the existing one."""

_BLOCK = 1 << 20


def part_of(path: Path) -> Path:
    """Return the path of the part file, which is written until `path` is complete."""
    return path.with_name(f"{path.name}{PART}")


def count_lines(path: Path) -> int:
    """Return the number of complete lines in a file; raise `OSError` if it cannot be read."""
    with path.open("rb") as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(_BLOCK), b""))


class LineWriter:
    """Writes lines to a file, each in full before the next.

    Lines go to ``PATH.part``, which replaces ``PATH`` when the context ends normally. If it ends
    by an exception, Ctrl-C included, ``PATH`` is unchanged. A ``PATH.part`` left by an earlier
    writer is overwritten by the first line, unless that writer is still running.

    After an exception, ``PATH.part`` is deleted; with `keep_part` it stays, cut to whole lines. If
    the writer also `resumes` the work of the earlier one, ``PATH.part`` never gets shorter: lines
    go to ``PATH.part.next`` until there are as many as before, and are deleted after an exception.
    `objection` is called at the end with the file about to be replaced, and returns the reason
    why it must stay, or an empty text. If there is a reason, the lines go to ``PATH.refused``.

    Raises `StoreError` on entry if the file cannot be written or another process is writing it;
    from `append_line` and on exit if writing fails later (a full disk); on exit if there is an
    objection.
    """

    def __init__(
        self,
        path: Path,
        *,
        keep_part: bool = False,
        resumes: bool = False,
        objection: Callable[[Path], str] = lambda _: "",
    ) -> None:
        self.path = path
        """The file of the lines: ``PATH.part``, or ``PATH.part.next`` while that is longer.

        After a normal end it is ``PATH`` or ``PATH.refused``.
        """
        self.lines = 0
        """The number of lines written."""
        self._target = path
        self._keep_part = keep_part
        self._resumes = resumes
        self._objection = objection
        self._file: FileIO | None = None
        self._begun = False
        self._former: FileIO | None = None  # the longer part file of an earlier writer
        self._former_lines = 0
        self._whole = 0  # offset after the last complete line

    def __enter__(self) -> Self:
        try:
            if self._target.is_symlink():  # replace the target, not the link
                self._target = Path(os.path.realpath(self._target))
            replaceable = self._target.is_file() or not self._target.exists()
            if replaceable:
                self.path = part_of(self._target)
                self._file = _open_alone(self.path)
        except (OSError, ValueError) as error:
            raise _unwritable(self.path, error) from error
        if not replaceable:
            raise StoreError(f"{self._target}: results go to a file, and this is none")
        return self

    def append_line(self, line: bytes) -> None:
        """Write `line`, its line end included; the operating system has it when this returns.

        Raises `StoreError` if that fails; the lines before it stay complete.
        """
        assert self._file is not None, "append outside the context"
        try:
            file = self._file if self._begun else self._begin(self._file)
            _write_all(file, line)
        except OSError as error:
            self._settle(self._file)
            raise _unwritable(self.path, error) from error
        self.lines += 1
        self._whole += len(line)
        if self.lines == self._former_lines and sys.platform != "win32":  # as below
            self._replace_former()

    def _begin(self, file: FileIO) -> FileIO:
        """Empty the part file, or leave it to an earlier writer; return the file to write."""
        if self._resumes and (lines := count_lines(self.path)):
            path = self.path.with_name(f"{self.path.name}{NEXT}")
            following = _open_alone(path)
            self._former, self._former_lines = file, lines
            self._file, self.path = following, path
            file = following
        file.truncate(0)
        self._begun = True
        return file

    def _replace_former(self) -> None:
        """Let the file, which is as long by now, take the place of the earlier part file."""
        assert self._former is not None
        part = part_of(self._target)
        try:
            if sys.platform == "win32":
                self._former.close()
            self.path.replace(part)
        except OSError as error:
            raise _unwritable(part, error) from error
        self._former.close()
        self._former, self.path = None, part

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        assert self._file is not None
        try:
            with self._file as file:
                if kind is None:
                    if not self._begun:
                        file.truncate(0)
                    os.fsync(file.fileno())
                    self._take_the_name(file)
                elif self._begun:
                    self._settle(file)
            if self._former is not None:
                self._end_former(self._former, is_complete=kind is None)
            if kind is not None and not self._keep_part:
                self.path.unlink(missing_ok=True)
        except OSError as problem:
            raise _unwritable(self.path, problem) from problem

    def _end_former(self, former: FileIO, *, is_complete: bool) -> None:
        """Remove the part file of an earlier writer, or the new one if that has fewer lines."""
        part = part_of(self._target)
        if is_complete:
            former.close()
            part.unlink(missing_ok=True)
        elif self.lines >= self._former_lines:
            self._replace_former()
        else:
            part.with_name(f"{part.name}{NEXT}").unlink(missing_ok=True)
            former.close()
            self.path = part

    def _take_the_name(self, file: FileIO) -> None:
        """Give the part file its final name, or ``.refused`` if there is an objection."""
        objection = self._objection(self._target) if self._target.exists() else ""
        named = self._target
        if objection:
            named = self._target.with_name(f"{self._target.name}{REFUSED}")
        # Renamed while locked: once it is unlocked, another writer could truncate it.
        if sys.platform == "win32":  # an open file cannot be renamed there
            file.close()
        self.path.replace(named)
        self.path = named
        if objection:
            raise StoreError(refusal(self._target, objection, named))

    def _settle(self, file: FileIO) -> None:
        """Cut off an incomplete line; count a complete one that Ctrl-C kept from being counted."""
        with suppress(OSError):
            file.seek(self._whole)
            if file.read().endswith(b"\n"):
                self.lines += 1
                self._whole = file.tell()
            file.truncate(self._whole)
            file.seek(self._whole)


def _write_all(file: FileIO, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[file.write(rest) :]


def _unwritable(path: Path, error: OSError | ValueError) -> StoreError:
    if isinstance(error, BlockingIOError):
        return StoreError(f"{path}: another process is writing it")
    return StoreError(f"{path}: cannot be written: {reason_of(error)}")


def json_line(row: Mapping[str, object], *, name: str) -> bytes:
    """Return a JSON row as a line.

    Raises `DataError` if the row called `name` has a value that JSON or UTF-8 cannot represent.
    """
    try:
        return (json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n").encode()
    except (TypeError, ValueError) as error:
        raise DataError(f"row {name!r} cannot be written to a file: {error}") from error


def refusal(target: Path | str, objection: str, named: Path | str) -> str:
    """Return the message that `target` was kept because of an `objection`, with advice."""
    return (
        f"{target}: {objection}; it is as it was, and the new rows are in {named}: ask again for"
        " what was not answered (spanjury resume), or name another file (-o)"
    )


def _open_alone(path: Path) -> FileIO:
    """Open a file to write under an exclusive lock; raise `BlockingIOError` if it is locked."""
    while True:
        file = FileIO(os.open(path, os.O_RDWR | os.O_CREAT, 0o666), "r+")
        try:
            lock_file(file.fileno())
            # Its last writer may have renamed it before we got the lock: then start over.
            if path.exists() and os.path.samestat(path.stat(), os.fstat(file.fileno())):
                return file
        except BaseException:  # e.g. Ctrl-C: do not leak the descriptor
            file.close()
            raise
        file.close()


class SealedFiles:
    """Writes line files that belong together, and a seal that says that they are complete.

    The folder is created. Its files are unchanged until the context ends normally, and stay so if
    it ends by an exception. The seal, a JSON file, is removed before the first file gets its name
    and written after the last: if there is a seal, the files that it lists are complete.

    Raises `StoreError` if anything cannot be written.
    """

    def __init__(self, folder: Path, *, names: Sequence[str], seal: str) -> None:
        self._folder = folder
        self._seal = folder / seal
        self._writers = {name: LineWriter(folder / name) for name in names}
        self._digests = {name: hashlib.sha256() for name in names}
        self._fields: Mapping[str, object] | None = None
        self._open = ExitStack()

    def __enter__(self) -> Self:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _unwritable(self._folder, error) from error
        with ExitStack() as opening:
            for writer in self._writers.values():
                opening.enter_context(writer)
            self._open = opening.pop_all()
        return self

    def append(self, name: str, line: bytes) -> None:
        """Append `line`, its line end included, to the file `name`."""
        self._writers[name].append_line(line)
        self._digests[name].update(line)

    def close_with(self, fields: Mapping[str, object]) -> None:
        """Set the fields of the seal, which also lists the line count and digest of each file."""
        self._fields = fields

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            self._open.__exit__(kind, error, trace)
            return
        assert self._fields is not None, "nothing was given that the seal could say"
        files = {
            name: {"lines": writer.lines, "sha256": self._digests[name].hexdigest()}
            for name, writer in self._writers.items()
        }
        seal = json.dumps({"files": files, **self._fields}, ensure_ascii=False, indent=1)
        try:
            self._seal.unlink(missing_ok=True)
        except OSError as problem:
            self._open.__exit__(type(problem), problem, problem.__traceback__)
            raise _unwritable(self._folder, problem) from problem
        self._open.close()
        with LineWriter(self._seal) as writer:
            writer.append_line(f"{seal}\n".encode())


class ResultLog:
    """Appends lines to a file, in a ``with`` block; other programs may append to it, too.

    The caller stores elsewhere, once lines are on disk, the `size` of the file and which lines it
    has. A crash before that leaves lines behind `size` that are stored nowhere. On entry, the first
    of the `pending` lines that are there are counted in `written`, and the beginning of the next
    one is cut off. All else in the file stays. If the file is moved or deleted meanwhile, it is
    created again.

    Raises `StoreError` if the file cannot be written, or another process writes it.

    The `size` is None if the file has no lines that were stored. Afterwards it is that of the file
    on entry.
    """

    def __init__(self, path: Path, *, size: int | None, pending: Sequence[bytes] = ()) -> None:
        self.size = size
        self.written = 0
        self._path = path
        self._pending = pending
        self._file: FileIO | None = None

    def __enter__(self) -> Self:
        try:
            file = self._opened()
            if self.size is not None:
                self._count_written(file, self.size)
            self.size = file.seek(0, os.SEEK_END)
        except OSError as error:
            self._close()
            raise _unwritable(self._path, error) from error
        return self

    def append(self, lines: bytes) -> int:
        """Append lines; return the size of the file once they are on disk."""
        assert self._file is not None, "append outside the context"
        try:
            file = self._opened() if self._is_moved(self._file) else self._file
            end = file.seek(0, os.SEEK_END)
            if end:
                file.seek(-1, os.SEEK_END)
                lines = lines if file.read(1) == b"\n" else b"\n" + lines
            _write_all(file, lines)
            os.fsync(file.fileno())
        except OSError as error:
            raise _unwritable(self._path, error) from error
        return end + len(lines)

    def __exit__(self, *_: object) -> None:
        self._close()

    def _opened(self) -> FileIO:
        """Open the file, in place of one that is open."""
        self._close()
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._file = FileIO(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o666), "r+")
        lock_file(self._file.fileno())
        return self._file

    def _is_moved(self, file: FileIO) -> bool:
        try:
            return not os.path.samestat(self._path.stat(), os.fstat(file.fileno()))
        except FileNotFoundError:
            return True

    def _count_written(self, file: FileIO, size: int) -> None:
        """Count the pending lines behind `size`; cut off the beginning of one at the end."""
        end = file.seek(0, os.SEEK_END)
        pending = iter(self._pending)
        following, last = next(pending, b""), b""
        with self._path.open("rb") as lines:
            lines.seek(size if size <= end else 0)  # a shorter file took the place of another
            for last in lines:
                if last == following:
                    self.written += 1
                    following = next(pending, b"")
        if last and not last.endswith(b"\n") and following.startswith(last):
            file.truncate(end - len(last))

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
