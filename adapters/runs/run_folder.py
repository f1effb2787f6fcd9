"""The folder of a run: what was asked for, what was said, what came of it."""

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from spanjury.judges.core import StoreError

__all__ = ["RunFolder"]

_MANIFEST = "run.json"
_DONE = "done"


@dataclass(frozen=True, slots=True)
class RunFolder:
    """A folder with ``run.json`` (the manifest), a memory and the results.

    Parameters
    ----------
    path
        The folder; `create` makes it.
    """

    path: Path

    @property
    def memory(self) -> Path:
        """Where everything that judges and models said is kept."""
        return self.path / "memory.sqlite3"

    @property
    def results(self) -> Path:
        """Where the result rows go."""
        return self.path / "results.jsonl"

    @property
    def exists(self) -> bool:
        """Whether there is a run in the folder."""
        return (self.path / _MANIFEST).is_file()

    @property
    def is_done(self) -> bool:
        """Whether the run came to its end since it was last begun."""
        return (self.path / _DONE).is_file()

    def mark(self, *, done: bool) -> None:
        """Note that the run is begun, or has come to its end.

        Raises
        ------
        StoreError
            If the folder cannot be written.
        """
        mark = self.path / _DONE
        try:
            mark.touch() if done else mark.unlink(missing_ok=True)
        except OSError as error:
            raise StoreError(f"{mark}: cannot be written: {error.strerror}") from error

    def create(self, manifest: Mapping[str, object]) -> None:
        """Make the folder and write its manifest, whole or not at all.

        Raises
        ------
        StoreError
            If there is a run in it already, or it cannot be written.
        """
        if self.exists:
            raise StoreError(
                f"{self.path} holds a run already; go on with it by: spanjury resume {self.path}"
            )
        self._write(manifest)

    def change(self, manifest: Mapping[str, object]) -> None:
        """Write another manifest; the last one stays, under the first free number.

        Raises
        ------
        StoreError
            If it cannot be written.
        """
        told = (self.path / f"run-{number}.json" for number in count(1))
        free = next(path for path in told if not path.exists())
        try:
            shutil.copyfile(self.path / _MANIFEST, free)
        except OSError as error:
            raise StoreError(f"{free}: cannot be written: {error.strerror}") from error
        self._write(manifest)

    def _write(self, manifest: Mapping[str, object]) -> None:
        text = json.dumps(manifest, ensure_ascii=False, indent=1)
        path = self.path / _MANIFEST
        new = path.with_name(f"{_MANIFEST}.new")
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            with new.open("w", encoding="utf-8") as file:
                file.write(text + "\n")
                file.flush()
                os.fsync(file.fileno())
            new.replace(path)
        except OSError as error:
            raise StoreError(f"{self.path}: cannot be written: {error.strerror}") from error

    def manifest(self) -> Mapping[str, object]:
        """Read the manifest.

        Raises
        ------
        StoreError
            If there is no run in the folder, or its manifest cannot be read.
        """
        path = self.path / _MANIFEST
        try:
            told = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError as error:
            raise StoreError(f"{self.path} holds no run: there is no {_MANIFEST} in it") from error
        except (OSError, ValueError) as error:
            raise StoreError(f"{path} cannot be read: {error}") from error
        if not isinstance(told, dict):
            raise StoreError(f"{path} is no manifest: it holds {type(told).__name__}")
        return told

    @staticmethod
    def among(folder: Path) -> Iterator["RunFolder"]:
        """Yield the runs whose folders lie in `folder`, by name."""
        for path in sorted(folder.iterdir()) if folder.is_dir() else ():
            run = RunFolder(path)
            if run.exists:
                yield run
