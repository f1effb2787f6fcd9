"""Rubric files: what they may hold, and what a complaint about one names."""

import json
from pathlib import Path

import pytest

from spanjury.judges.core import ConfigError
from spanjury.judges.tasks import Catalogue, Rubric

FILE = """
[[criteria]]
text = "Every price is in euros."
weight = 2
must = true

[[criteria]]
text = "The tone is friendly."
scale = ["Cold", "Neutral", "Friendly"]

[[criteria]]
text = "The text is short."
kind = "graded"
"""


def test_a_toml_file_and_a_json_file_state_the_same_rubric(tmp_path: Path) -> None:
    (tmp_path / "shop.toml").write_text(FILE)
    criteria = [
        {"text": "Every price is in euros.", "weight": 2.0, "must": True},
        {"text": "The tone is friendly.", "scale": ["Cold", "Neutral", "Friendly"]},
        {"text": "The text is short.", "kind": "graded"},
    ]
    (tmp_path / "shop.json").write_text(json.dumps({"criteria": criteria}))
    rubric = Rubric.read(tmp_path / "shop.toml")
    assert rubric == Rubric.read(tmp_path / "shop.json")
    assert rubric == Rubric.of({"name": "shop", "criteria": criteria})
    assert rubric.aspects[0] == "criterion: Every price is in euros"
    assert rubric.aspects[-1] == "rubric: shop"


def test_a_catalogue_knows_the_criteria_with_their_scales_in_every_task(tmp_path: Path) -> None:
    (tmp_path / "shop.toml").write_text(FILE)
    rubric = Rubric.read(tmp_path / "shop.toml")
    catalogue = Catalogue.load().with_rubric(rubric)
    euros, tone, short, whole = (catalogue.aspect("story", name) for name in rubric.aspects)
    assert euros.scale.labels == ("Not met", "Met")
    assert tone.scale.labels == ("Cold", "Neutral", "Friendly")
    assert short.scale.labels[-1] == "Excellent"
    assert tone.definition.startswith("How well the generated story meets")
    assert [(part.aspect, part.weight, part.must) for part in whole.criteria] == [
        (euros, 2.0, True),
        (tone, 1.0, False),
        (short, 1.0, False),
    ]
    assert catalogue.has("story", *rubric.aspects)
    assert not Catalogue.load().has("story", rubric.aspect)
    others = catalogue.aspect("story", "criterion: Nobody dies")
    assert others.scale.labels == ("Not met", "Partly met", "Met")


@pytest.mark.parametrize(
    ("field", "complaint"),
    [
        ("weight = 0", "[criterion 1]: 'weight' must be a number above 0, got 0"),
        ("weight = true", "[criterion 1]: 'weight' must be a number above 0, got True"),
        ('must = "yes"', "[criterion 1]: 'must' must be true or false, got 'yes'"),
        ('kind = "maybe"', "[criterion 1]: 'kind' must be one of yes/no, graded, got 'maybe'"),
        ('kind = "yes/no"\nscale = ["A", "B", "C"]', "'scale' goes with the kind 'graded' alone"),
        ('scale = ["Bad", "Good"]', "'scale' needs three or more labels, worst first"),
        ('scale = ["A", "B", "a"]', "[criterion 1]: 'scale' cannot be one: a scale needs two"),
        (
            "wieght = 2",
            "'wieght' is not known here; did you mean 'weight'? Choose from text, weight",
        ),
    ],
)
def test_a_complaint_names_file_criterion_and_field(
    tmp_path: Path, field: str, complaint: str
) -> None:
    file = tmp_path / "rubric.toml"
    file.write_text(f'[[criteria]]\ntext = "It is short."\n{field}\n')
    with pytest.raises(ConfigError) as raised:
        Rubric.read(file)
    assert str(raised.value).startswith(f"{file}: ")
    assert complaint in str(raised.value)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "'criteria' must list 1 to 100 criteria, got 0"),
        ("criteria = 3", "'criteria' must be a list of tables, got 3"),
        ("criteria = [3]", "'criteria' must hold tables; criterion 1 is 3"),
        ("[[criteria]]\nweight = 2", "[criterion 1]: 'text' is missing; expected a text"),
        ('[[criteria]]\ntext = "."', "[criterion 1]: 'text' cannot be a criterion"),
        (
            '[[criteria]]\ntext = "It is short."\n[[criteria]]\ntext = "it is short"',
            "[criterion 2]: 'text' is that of criterion 1, too",
        ),
        ("rubric = 1", "'rubric' is not known here; choose from name, criteria"),
        ("criteria = [", "is not a TOML file"),
        (f'name = "{"x" * 81}"\n[[criteria]]\ntext = "A."', "'name' must have at most 80"),
    ],
)
def test_a_file_that_is_no_rubric_is_refused(tmp_path: Path, text: str, complaint: str) -> None:
    file = tmp_path / "rubric.toml"
    file.write_text(text)
    with pytest.raises(ConfigError) as raised:
        Rubric.read(file)
    assert str(file) in str(raised.value)
    assert complaint in str(raised.value)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[1]", "must hold a JSON object, got a list"),
        ("{", "is not a JSON file"),
        ('{"criteria": [], "criteria": []}', 'the key "criteria" stands twice'),
    ],
)
def test_json_that_is_no_rubric_is_refused(tmp_path: Path, text: str, complaint: str) -> None:
    file = tmp_path / "rubric.json"
    file.write_text(text)
    with pytest.raises(ConfigError, match=complaint):
        Rubric.of(str(file))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot read a rubric from .*none\.toml"):
        Rubric.read(tmp_path / "none.toml")
