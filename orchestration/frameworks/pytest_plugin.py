"""The pytest fixtures `assert_no_errors` and `aassert_no_errors`, and the mark ``spanjury``.

pytest loads this module at every start if spanjury is installed: it imports nothing until a test
requests a fixture, and it neither collects nor prints anything.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from importlib import import_module

import pytest

_MARK = (
    "spanjury(**options): default options of `assert_no_errors` in this test, such as panel, "
    "judges, models, aspects, task, severity, on_unscored"
)


def pytest_configure(config: pytest.Config) -> None:
    """Declare the mark."""
    config.addinivalue_line("markers", _MARK)


@pytest.fixture
def assert_no_errors(request: pytest.FixtureRequest) -> Callable[..., object]:
    """Assert that a text has no grave error: ``assert_no_errors(output, source, severity=4)``.

    Decision, scores and number of errors become properties of the test in JUnit's XML.
    """
    return _bound("assert_no_errors", request)


@pytest.fixture
def aassert_no_errors(request: pytest.FixtureRequest) -> Callable[..., Awaitable[object]]:
    """Assert the same in an asynchronous test: ``await aassert_no_errors(output, source)``."""
    return _bound("aassert_no_errors", request)


def _bound(name: str, request: pytest.FixtureRequest) -> "partial[Awaitable[object]]":
    __tracebackhide__ = True
    assertions = import_module("spanjury.orchestration.frameworks.assertions")
    mark = request.node.get_closest_marker("spanjury")
    options = mark.kwargs if mark else {}
    assertions.check_options("the mark spanjury", options)

    def record(key: str, value: object) -> None:
        # pytest's `record_property` does the same, but warns about its default format of JUnit.
        request.node.user_properties.append((key, value))

    return partial(getattr(assertions, name), record=record, **options)
