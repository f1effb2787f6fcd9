"""Refusals of many cases in one test."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def refused(case: object, *, match: str) -> Iterator[None]:
    """Expect a `ValueError` that says `match`; a failure names the `case`."""
    try:
        with pytest.raises(ValueError, match=match):
            yield
    except BaseException as failure:
        failure.add_note(f"the case is {case!r}")
        raise
