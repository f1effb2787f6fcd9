"""The command line: a command parses, calls one function, prints, and exits with a code."""

import gc

from spanjury.judges.core.lazy import lazily

with lazily():  # worker processes import this package, but run no command
    from spanjury.orchestration.cli import app

_ALLOCATIONS = 100_000
"""Allocations between garbage collections: imports allocate many objects, and free none."""
_READER_LEFT = 128 + 13
"""Exit code of a program that ends because no one reads its output: 128 and SIGPIPE's number."""


def main() -> None:
    """Run the command line; `exits` maps errors to exit codes."""
    gc.set_threshold(_ALLOCATIONS)
    try:
        app.app()
    except SystemExit as end:
        # click and rich end a command with 1 while they handle this error.
        if isinstance(end.__context__, BrokenPipeError):
            raise SystemExit(_READER_LEFT) from end.__context__
        raise
    except BrokenPipeError as error:  # as while click shows an error in the flags
        raise SystemExit(_READER_LEFT) from error
