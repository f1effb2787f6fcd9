"""The command line: a command parses, calls one function, prints, and exits with a code."""

from spanjury.orchestration.cli.app import main

__all__ = ["main"]
