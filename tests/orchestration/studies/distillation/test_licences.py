"""Licences are known to permit training, or they are refused."""

import pytest

from spanjury.judges.core import ConfigError
from spanjury.orchestration.studies.distillation.rows import permits_training, require_licences


@pytest.mark.parametrize(
    "licence",
    [
        "CC0-1.0", "cc-by-4.0", "CC BY-SA 3.0", "MIT", "Apache-2.0", "apache 2.0", "ODC-By-1.0",
        "BSD-3-Clause", "Unlicense", "public domain", "CDLA-Permissive-2.0", "PDDL-1.0",
    ],
)  # fmt: skip
def test_open_licences_permit_training(licence: str) -> None:
    assert permits_training(licence)


@pytest.mark.parametrize(
    "licence", ["", "CC-BY-NC-4.0", "CC-BY-ND-4.0", "cc-by-nc-sa-4.0", "proprietary", "llama3.1"]
)
def test_an_unknown_licence_does_not_permit_training(licence: str) -> None:
    assert not permits_training(licence)
    assert permits_training(licence, accepted=[licence])


def test_a_refusal_names_each_only_once() -> None:
    owned = [("a.jsonl", ""), ("a.jsonl", ""), ("b.jsonl", "MIT"), ("gpt", "terms of use")]
    with pytest.raises(ConfigError) as refused:
        require_licences(owned)
    assert str(refused.value) == (
        "not known to permit training: a.jsonl (no licence given); gpt (terms of use)"
    )
    require_licences(owned, accepted=["", "Terms of Use"])


def test_the_first_of_many_refusals_are_named() -> None:
    with pytest.raises(ConfigError, match=r"\(and 15 more\)"):
        require_licences((str(number), "") for number in range(20))
