"""The command line: a command parses, calls one function, prints, and exits with a code."""

import gc

from spanjury.judges.core.lazy import lazily

with lazily():  # a process that works for judges imports this package, and runs no command
    from spanjury.orchestration.cli import app

_ALLOCATIONS = 100_000
"""Objects made between two searches for cycles: modules make many, none of which is ever free."""


def main() -> None:
    """Run the command line; `exits` has its exit codes."""
    gc.set_threshold(_ALLOCATIONS)
    app.app()
