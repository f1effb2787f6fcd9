"""What was written, told."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from spanjury.orchestration.cli.exits import say

__all__ = ["tell_pictures", "tell_written"]

_PICTURES = frozenset({".png", ".svg"})


def tell_written(written: Sequence[Path]) -> None:
    """Say where each file is, and why there is no picture among them if so."""
    for path in written:
        say(f"written: {path}")
    if not any(path.suffix in _PICTURES for path in written):
        _tell_why_none()


def tell_pictures(written: Sequence[Path]) -> None:
    """Say the same of many pictures, which are only counted."""
    pictures = [path for path in written if path.suffix in _PICTURES]
    files = ", ".join(str(path) for path in written if path not in pictures)
    say(f"written: {files}" + (f" and {len(pictures)} pictures beside them" if pictures else ""))
    if not pictures:
        _tell_why_none()


def _tell_why_none() -> None:
    drawn = find_spec("matplotlib") is not None
    say("no pictures: nothing to draw" if drawn else "no pictures: pip install 'spanjury[plots]'")
