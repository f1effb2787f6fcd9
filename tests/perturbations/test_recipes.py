"""Recipes: the built-in ones against the paper, and what a file may hold."""

import re
from collections import Counter
from collections.abc import Callable
from difflib import SequenceMatcher
from functools import cache
from importlib.resources import files
from itertools import combinations, pairwise
from pathlib import Path

import pytest

from spanjury.adapters.files.reading.sources import read_jsonl
from spanjury.judges.core import ConfigError, DataError, Segment
from spanjury.judges.tasks import Catalogue
from spanjury.judges.text import folded_words, sentences
from spanjury.perturbations.generated import generated_perturbation
from spanjury.perturbations.recipe import Recipe, RecipeItem, find_recipe, recipe_names

ITEM = """
[[items]]
name = "slips"
perturbation = "typos"
level = "character"
"""
DEMO = Path(str(files("spanjury.perturbations").joinpath("demo")))
TASKS = {
    "summarization": "summarization",
    "story-completion": "story",
    "question-answering": "question-answering",
    "translation": "translation",
}
ROWS = 100
MOST_SHARED = 0.35
NUMERAL = re.compile(r"\d+(?:[.,:]\d+)*")
CAPITAL_AMID_WORDS = re.compile(r"(?<=[a-z,] )[^\W\d_a-z]\w*")
TWIN_KINDS = {"negation", "wrong-number", "wrong-entity", "role-swap", "time-order", "cause"}
every_file = pytest.mark.parametrize("name", TASKS)


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
            assert generated_perturbation(item.written).twin.level == item.level
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


@cache
def segments(name: str) -> list[Segment]:
    rows = []
    for row in read_jsonl(DEMO / f"{name}.jsonl"):
        assert not isinstance(row, DataError), row
        rows.append(row)
    return rows


def outside(name: str, measure: Callable[[Segment], int], low: int, high: int) -> list[str]:
    """Name the rows whose measure is not in the range, with the measure."""
    measured = ((segment.segment_id, measure(segment)) for segment in segments(name))
    return [f"{identity}: {value}" for identity, value in measured if not low <= value <= high]


def trigrams(segment: Segment) -> set[tuple[str, str, str]]:
    texts = folded_words(" ".join((*segment.inputs.values(), segment.output)))
    return {(a, b, c) for (a, b), (_, c) in pairwise(pairwise(texts))}


@every_file
def test_each_file_has_its_rows_of_one_task_by_one_system(name: str) -> None:
    rows = segments(name)
    assert (len(rows), len({row.segment_id for row in rows})) == (ROWS, ROWS)
    assert {row.task for row in rows} == {TASKS[name]}
    assert {row.system for row in rows} == {"reference"}


@every_file
def test_inputs_have_the_headers_of_their_task_and_no_text_is_empty(name: str) -> None:
    headers = set(Catalogue.load().task(TASKS[name]).input_headers)
    for row in segments(name):
        assert set(row.inputs) <= headers
        assert all(text.strip() == text != "" for text in (*row.inputs.values(), row.output))


@every_file
def test_no_two_rows_share_much_of_their_wording(name: str) -> None:
    for left, other in combinations([trigrams(row) for row in segments(name)], 2):
        assert len(left & other) <= MOST_SHARED * min(len(left), len(other))


@every_file
def test_no_text_stands_there_twice(name: str) -> None:
    rows = segments(name)
    assert len({row.output for row in rows}) == ROWS
    assert len({tuple(row.inputs.values()) for row in rows}) == ROWS


def test_texts_are_as_long_as_the_damage_needs() -> None:
    for name, measure, low, high in [
        ("summarization", lambda row: len(row.inputs["Article"].split()), 120, 180),
        ("summarization", lambda row: len(row.output.split()), 50, 65),
        ("summarization", lambda row: len(row.output), 300, 380),
        ("summarization", lambda row: len(sentences(row.output)), 4, 4),
        ("story-completion", lambda row: len(sentences(row.inputs["Beginning"])), 4, 4),
        ("story-completion", lambda row: len(sentences(row.output)), 1, 1),
        ("story-completion", lambda row: len(row.output), 35, 90),
        ("story-completion", lambda row: len(str(row.meta["wrong"])), 35, 90),
        ("question-answering", lambda row: len(row.inputs["Context"].split()), 60, 100),
        ("question-answering", lambda row: row.inputs["Question"].count("?"), 1, 1),
        ("question-answering", lambda row: len(row.output), 150, 250),
        ("translation", lambda row: len(row.output), 300, 420),
        ("translation", lambda row: len(sentences(row.output)), 3, 4),
    ]:
        assert outside(name, measure, low, high) == [], (name, measure, low, high)


@pytest.mark.parametrize("name", ["summarization", "question-answering"])
def test_every_number_of_an_output_stands_in_its_input(name: str) -> None:
    for row in segments(name):
        given = set(NUMERAL.findall(" ".join(row.inputs.values())))
        assert set(NUMERAL.findall(row.output)) <= given, row.segment_id


def test_every_name_of_a_summary_stands_in_its_article() -> None:
    for row in segments("summarization"):
        for name in CAPITAL_AMID_WORDS.findall(row.output):
            assert name in row.inputs["Article"], row.segment_id


def test_a_summary_has_two_names_and_two_numbers_to_be_damaged() -> None:
    for row in segments("summarization"):
        assert len(CAPITAL_AMID_WORDS.findall(row.output)) >= 2, row.segment_id
        assert len(set(NUMERAL.findall(row.output))) >= 2, row.segment_id


def test_the_wrong_ending_is_one_sentence_unlike_the_right_one() -> None:
    for row in segments("story-completion"):
        wrong = row.meta["wrong"]
        assert isinstance(wrong, str)
        assert len(sentences(wrong)) == 1
        assert wrong != row.output


def test_twins_are_right_and_wrong_sentences_of_six_kinds_on_passages_of_their_own() -> None:
    rows = segments("twins")
    assert len(rows) == len({row.segment_id for row in rows}) == 180
    assert len({row.inputs["Article"] for row in rows}) == 60
    kinds = [str(row.meta["wrong_kind"]) for row in rows]
    assert {kind: kinds.count(kind) for kind in TWIN_KINDS} == dict.fromkeys(TWIN_KINDS, 30)
    other = [trigrams(left) for left in segments("summarization")]
    copied = []
    for row in rows:
        wrong = str(row.meta["wrong"])
        assert wrong != row.output
        words = row.output.split(), wrong.split()
        changes = SequenceMatcher(None, *words, autojunk=False).get_opcodes()
        assert sum(end - at for tag, _, _, at, end in changes if tag != "equal") <= 8
        folded = folded_words(row.output)
        runs = {*zip(folded, folded[1:], folded[2:], strict=False)}
        given = folded_words(row.inputs["Article"])
        copied.append(len(runs & {*zip(given, given[1:], given[2:], strict=False)}) / len(runs))
    # They reword: few runs of three words stand in the passage. Summaries of the rules copy most.
    assert sum(copied) / len(copied) <= 0.15
    assert max(copied) <= 0.5
    for mine in {frozenset(trigrams(row)) for row in rows}:
        assert all(len(mine & left) <= MOST_SHARED * min(len(mine), len(left)) for left in other)


def test_translations_are_from_three_languages() -> None:
    assert {row.meta["language"] for row in segments("translation")} == {"de", "es", "fr"}
