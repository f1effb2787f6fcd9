"""The command line: a command parses, calls one function, prints, and exits with a code."""

import gc

from spanjury.judges.core.lazy import lazily

with lazily():  # worker processes import this package, but run no command
    from spanjury.orchestration.cli import app

_ALLOCATIONS = 100_000
"""Allocations between garbage collections: imports allocate many objects, and free none."""


def main() -> None:
    """Run the command line; `exits` maps errors to exit codes."""
    gc.set_threshold(_ALLOCATIONS)
    app.app()
