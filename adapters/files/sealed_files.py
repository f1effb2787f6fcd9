"""Several files of lines in one folder that come into being together."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from spanjury.adapters.files.line_writer import LineWriter
from spanjury.judges.core import StoreError


class SealedFiles:
    """Write lines to files that belong together, and a seal that says that they are whole.

    The folder is made. While the files are written, and when that ends by an exception, all of it
    is as it was. The seal, a file of JSON, is taken off before the first file takes its name and
    put on after the last, so that a reader who finds one finds the files that it lists.

    Raises `StoreError` whenever something cannot be written.
    """

    def __init__(self, folder: Path, *, names: Sequence[str], seal: str) -> None:
        self._folder = folder
        self._seal = folder / seal
        self._writers = {name: LineWriter(folder / name, keep_part=False) for name in names}
        self._digests = {name: hashlib.sha256() for name in names}
        self._fields: Mapping[str, object] | None = None
        self._open = ExitStack()

    def __enter__(self) -> Self:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._problem(error) from error
        with ExitStack() as opening:
            for writer in self._writers.values():
                opening.enter_context(writer)
            self._open = opening.pop_all()
        return self

    def append(self, name: str, line: bytes) -> None:
        """Add `line`, its end included, to the file `name`."""
        self._writers[name].append(line)
        self._digests[name].update(line)

    def close_with(self, fields: Mapping[str, object]) -> None:
        """Have the seal say `fields`, beside the lines and the digest of each file."""
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
            raise self._problem(problem) from problem
        self._open.close()
        with LineWriter(self._seal, keep_part=False) as writer:
            writer.append(f"{seal}\n".encode())

    def _problem(self, error: OSError) -> StoreError:
        return StoreError(f"{self._folder}: cannot be written: {error.strerror}")
