"""The face of the frameworks loads none that is not named, and says which extra is missing."""

import sys
from importlib.util import find_spec

import pytest
from fakes.installed import skip_without
from fakes.processes import completed

import spanjury.frameworks
from spanjury.judges.core import ConfigError

FRAMEWORKS = ("deepeval", "inspect_ai", "langsmith", "pydantic_evals")
ADAPTERS = [
    ("SpanjuryEvaluator", "pydantic_evals", "pydantic-evals"),
    ("SpanjuryMetric", "deepeval", "deepeval"),
    ("SpanjuryRunEvaluator", "langsmith", "langchain"),
    ("spanjury_scorer", "inspect_ai", "inspect"),
]


def test_the_face_holds_what_it_lists() -> None:
    assert list(spanjury.frameworks.__all__) == [
        *sorted(name for name in spanjury.frameworks.__all__ if name[0].isupper()),
        *sorted(name for name in spanjury.frameworks.__all__ if name[0].islower()),
    ]
    assert set(spanjury.frameworks.__all__) == {
        "aassert_no_errors",
        "assert_no_errors",
        *(name for name, _, _ in ADAPTERS),
    }


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = spanjury.frameworks.nonsense  # type: ignore[attr-defined]  # it is absent


@pytest.mark.parametrize(("name", "framework", "extra"), ADAPTERS)
def test_a_missing_framework_is_named_with_its_extra(name: str, framework: str, extra: str) -> None:
    if find_spec(framework) is not None:
        pytest.skip(f"{framework} is installed")
    with pytest.raises(ConfigError, match=rf"pip install 'spanjury\[{extra}\]'"):
        getattr(spanjury.frameworks, name)


@pytest.mark.parametrize(("name", "framework", "_extra"), ADAPTERS)
def test_naming_an_adapter_loads_its_framework_only(name: str, framework: str, _extra: str) -> None:
    skip_without(framework, reason=f"{framework} is not installed: just frameworks")
    script = (
        f"import sys; from spanjury.frameworks import {name};"
        f"print(*sorted({set(FRAMEWORKS)!r} & sys.modules.keys()))"
    )
    done = completed([sys.executable, "-c", script])
    assert done.stdout.split() == [framework]
