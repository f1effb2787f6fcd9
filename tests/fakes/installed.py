"""Packages that a test can do without: absent skips it, and broken is an error.

`pytest.importorskip` skips, too, where a package is there and what it imports in turn is not; a
release that broke would then look like one that is not installed. At the top of a module::

    if is_absent("deepeval"):
        pytest.skip("deepeval is not installed", allow_module_level=True)

    from deepeval import evaluate
"""

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

import pytest


def is_absent(package: str) -> bool:
    """Say whether `package` is not installed, without an import of it."""
    return find_spec(package) is None


def skip_without(package: str, *, reason: str = "") -> None:
    """Skip the test where `package` is absent."""
    if is_absent(package):
        pytest.skip(reason or f"{package} is not installed", allow_module_level=True)


def imported(module: str, *, reason: str = "") -> ModuleType:
    """Import `module`; skip where its package is absent, and raise whatever else goes wrong."""
    skip_without(module.partition(".")[0], reason=reason)
    return import_module(module)
