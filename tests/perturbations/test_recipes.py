"""Recipes: the built-in ones against the paper, and what a file may hold."""

from collections import Counter
from pathlib import Path

import pytest

from spanjury.judges.core import ConfigError
from spanjury.judges.tasks import Catalogue
from spanjury.perturbations.generated import generated_perturbation
from spanjury.perturbations.recipe import Recipe, RecipeItem, find_recipe, recipe_names

ITEM = """
[[items]]
name = "slips"
perturbation = "typos"
level = "character"
"""


def doses(recipe: Recipe, perturbation: str) -> list[object]:
    return [i.options.get("k") for i in recipe.items if i.perturbation == perturbation]


@pytest.mark.parametrize(
    ("name", "items", "characters", "words", "sentences"),
    [
        ("dhp/summarization", 12, 4, 4, 4),
        ("dhp/summarization-long", 12, 4, 4, 4),
        ("dhp/story-completion", 6, 2, 2, 2),
        ("dhp/question-answering", 9, 4, 4, 1),
        ("dhp/translation", 10, 4, 6, 0),
    ],
)
def test_a_recipe_has_as_many_damages_of_each_level_as_the_paper(
    name: str, items: int, characters: int, words: int, sentences: int
) -> None:
    recipe = find_recipe(name)
    levels = Counter(item.level for item in recipe.items)
    assert len(recipe.items) == items
    assert (levels["character"], levels["word"], levels["sentence"]) == (
        characters,
        words,
        sentences,
    )


@pytest.mark.parametrize(
    ("name", "perturbation", "expected"),
    [  # DHP, table 2
        ("dhp/summarization", "delete-characters", [10, 50]),
        ("dhp/summarization", "typos", [10, 50]),
        ("dhp/summarization-long", "delete-characters", [20, 100]),
        ("dhp/summarization-long", "typos", [20, 100]),
        ("dhp/summarization", "reorder-sentences", [2, "all"]),
        ("dhp/story-completion", "delete-characters", [5]),
        ("dhp/story-completion", "typos", [5]),
        ("dhp/question-answering", "delete-characters", [5, 25]),
        ("dhp/question-answering", "typos", [5, 25]),
        ("dhp/translation", "delete-characters", [10, 50]),
        ("dhp/translation", "typos", [10, 50]),
        ("dhp/translation", "delete-word-run", [5, 25]),
    ],
)
def test_the_doses_are_of_the_paper(name: str, perturbation: str, expected: list[object]) -> None:
    assert doses(find_recipe(name), perturbation) == expected


@pytest.mark.parametrize("name", [name for name in recipe_names() if name.startswith("dhp/")])
def test_the_aspects_and_weights_of_a_recipe_are_those_of_its_task(name: str) -> None:
    recipe = find_recipe(name)
    aspects = {aspect.name for aspect in Catalogue.load().aspects(recipe.task)}
    assert set(recipe.aspects) <= aspects
    for item in recipe.items:
        assert sum(item.weights.values()) == pytest.approx(1)


@pytest.mark.parametrize("name", recipe_names())
def test_every_written_perturbation_has_a_rule_that_stands_in(name: str) -> None:
    for item in find_recipe(name).items:
        if item.written:
            assert generated_perturbation(item.written).level == item.level
            assert item.perturbation
            assert item.options["k"]


# In recipes for training the degree says how grave one error is, not how many there are.
@pytest.mark.parametrize(
    "name", [name for name in recipe_names() if name not in {"distil", "reader"}]
)
def test_minor_and_major_come_in_pairs(name: str) -> None:
    recipe = find_recipe(name)
    pairs = Counter((i.perturbation, i.degree) for i in recipe.items if i.degree)
    assert {p for p, degree in pairs if degree == "minor"} == {
        p for p, degree in pairs if degree == "major"
    }


def test_harmless_changes_are_part_of_the_full_recipe() -> None:
    full = [item.perturbation for item in find_recipe("full").items]
    assert len(set(full)) == len(full) >= 45
    for part in ("invariance", "bias"):
        assert {item.perturbation for item in find_recipe(part).items} <= set(full)
    for name in {*recipe_names()} - {"agents"}:  # its rules damage trajectories, and no text
        by_rule = {item.perturbation for item in find_recipe(name).items} - {"written-twin"}
        assert by_rule <= set(full)


def test_an_unknown_name_is_answered_with_the_choices() -> None:
    with pytest.raises(ConfigError, match=r"unknown recipe 'dhp/sum'; choose from .*dhp/summar"):
        find_recipe("dhp/sum")


def test_the_file_of_the_weights_is_not_a_recipe() -> None:
    with pytest.raises(ConfigError, match="unknown recipe 'weights'"):
        find_recipe("weights")


def test_a_recipe_of_ones_own_is_read_from_its_path(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    own = 'options = { k = 3 }\nweights = { fluency = 0.75, style = 0.25 }\ndegree = "major"\n'
    path.write_text(f'task = "letters"\naspects = ["fluency", "style"]\n{ITEM}{own}')
    recipe = find_recipe(str(path))
    assert (recipe.name, recipe.task) == (str(path), "letters")
    assert recipe.items == (
        RecipeItem(
            name="slips",
            perturbation="typos",
            options={"k": 3},
            level="character",
            degree="major",
            weights={"fluency": 0.75, "style": 0.25},
        ),
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a = ", "is not a TOML file"),
        ("", "at least one item"),
        ("items = 3", r"'items' must be \[\[items\]\] tables, got 3"),
        ("aspects = 'fluency'" + ITEM, "'aspects' must be a list of texts"),
        (
            "tasks = 'x'" + ITEM,
            "'tasks' is not known here; did you mean 'task'. Choose from aspects, items, task",
        ),
        (ITEM + "k = 3", "'k' is not known here; choose from degree, level, name, options"),
        ("[[items]]\nname = 'x'\nlevel = 'word'", "'perturbation' must be a text, got None"),
        (ITEM.replace("character", "letter"), "'level' must be one of character, word, sentence"),
        (ITEM + "degree = 'huge'", "'degree' must be one of minor, major, got 'huge'"),
        (ITEM + "options = 3", "'options' must be a table, got 3"),
        (ITEM + "weights = 3", "'weights' must be a name or a table, got 3"),
        (ITEM + "weights = 'order'", "no weights of '' are called 'order'; there are none"),
        ("task = 'story'" + ITEM + "weights = 'order'", "choose from characters, entities"),
        (ITEM + "weights = { fluency = 'much' }", "weight of 'fluency' must be a number"),
        (ITEM + "weights = { fluency = true }", "weight of 'fluency' must be a number"),
        (ITEM + "weights = { fluency = 0.5 }", "weights must be 0 or more and sum to 1"),
        (ITEM + "weights = { a = 1.5, b = -0.5 }", "weights must be 0 or more and sum to 1"),
        (ITEM + ITEM, "two items are called 'slips'"),
        (
            "aspects = ['fluency']" + ITEM + "weights = { tone = 1 }",
            "'slips' weighs 'tone', which is not one of fluency",
        ),
    ],
)
def test_a_file_with_another_form_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=problem) as caught:
        find_recipe(str(path))
    assert str(path) in str(caught.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot read recipe .*none\.toml: No such file"):
        find_recipe(str(tmp_path / "none.toml"))
