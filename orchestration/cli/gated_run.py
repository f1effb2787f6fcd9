"""A run that is held to something: the rows that fail by it are named, and what is missed."""

import shlex
from collections.abc import Sequence
from dataclasses import replace

from spanjury.orchestration.cli.exits import say
from spanjury.orchestration.cli.flags.gates import GateFlags
from spanjury.orchestration.services.judging.failing_rows import lines_of_rows, write_sarif
from spanjury.orchestration.services.judging.job import Job
from spanjury.orchestration.studies.failing.gate import Gate
from spanjury.orchestration.studies.failing.lines import (
    annotations,
    failing_line,
    workflow_command,
)

NAMED = 20
"""The most failing rows that are named; the others are counted."""


class GatedRun:
    """The gate of one run, and the lines that say what came of it."""

    def __init__(self, flags: GateFlags, job: Job) -> None:
        self.gate = Gate(terms=flags.terms(), most=None if flags.sarif else NAMED)
        self._flags = flags
        self._job = job

    def close(self, *, is_complete: bool) -> bool:
        """Name what fails, once the run has come to its end; return whether it passes.

        Raise `StoreError` if the file in SARIF cannot be written.
        """
        missed = list(self.gate.missed())
        self._name(missed)
        flags, gate = self._flags, self.gate
        if flags.sarif is not None:
            positions = lines_of_rows(self._job, gate.failures)
            write_sarif(flags.sarif, gate.failures, positions, is_complete=is_complete)
            say(f"{gate.failing} failing rows are in {flags.sarif}")
        if not missed:
            counts = f"{gate.total} results, {gate.unscored} of them without a score"
            answer = "met" if is_complete else "not decided, since answers are missing"
            say(f"{answer}: {self._terms} ({counts})")
        return not missed

    def close_early(self) -> None:
        """Name what fails so far, and say that nothing is decided."""
        self._name()
        failing = f"{self.gate.failing} rows fail so far; " if self.gate.failing else ""
        say(f"{failing}not decided, since the run has not ended: {self._terms}")

    @property
    def hides_texts(self) -> bool:
        """True if no text may be printed: a workflow obeys lines of it that look like commands."""
        return self._flags.annotations == "github"

    @property
    def arguments(self) -> list[str]:
        """The flags of the gate, as they are given to the command that goes on."""
        return self._flags.arguments

    @property
    def _terms(self) -> str:
        return shlex.join(replace(self._flags, annotations="none", sarif=None).arguments)

    def _name(self, missed: Sequence[str] = ()) -> None:
        """Name the first rows that fail, and what is missed, as people or workflows read it."""
        first = self.gate.failures[:NAMED]
        rest = self.gate.failing - len(first)
        more = [f"and {rest} more rows fail"] if rest else []
        misses = [f"not met: {line}" for line in missed]
        if self._flags.annotations == "github":
            positions = lines_of_rows(self._job, first)
            rows = [line for failure in first for line in annotations(failure, positions)]
            # GitHub shows the first ten of a step, so what is missed comes before the rows.
            misses = [workflow_command(line, title="spanjury") for line in misses]
            lines = [*misses, *rows, *more]
        else:
            lines = [*map(failing_line, first), *more, *misses]
        for line in lines:
            say(line)
