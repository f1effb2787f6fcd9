"""Tasks, aspects and rubrics of the user's own, and what is said of files that are wrong."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanjury.judges.core import ConfigError
from spanjury.judges.tasks import Catalogue, Rubric
from spanjury.judges.tasks.table import Names, Table

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
EXAMPLES = Path(__file__).parents[3] / "examples"
ASPECT = '[tasks.poem.aspects.metre]\nkind = "form"\ndefinition = "Whether it scans."\n'
TASK = '[tasks.poem]\ndescription = "A system had to write a poem."\n'
BAD = {
    "an unknown key of the file": (
        "[task.poem]\n",
        "'task' is not known here; did you mean 'tasks'? Choose from tasks",
    ),
    "an empty file": ("", "'tasks' is missing or empty; expected [tasks.NAME] tables"),
    "tasks that are no table": ("tasks = 3", "'tasks' must be a table, got 3"),
    "a task that is no table": ("tasks.poem = 3", "[tasks]: 'poem' must be a table, got 3"),
    "an unknown key of a task": (
        TASK + 'colour = "red"\n' + ASPECT,
        "[tasks.poem]: 'colour' is not known here; choose from description",
    ),
    "a new task without description": (ASPECT, "[tasks.poem]: 'description' is missing"),
    "a new task without aspects": (TASK, "[tasks.poem]: 'aspects' is missing"),
    "a description of the wrong type": (
        "[tasks.poem]\ndescription = 5\n" + ASPECT,
        "[tasks.poem]: 'description' must be a text that is not empty, got 5",
    ),
    "an empty output header": (
        TASK + 'output_header = " "\n' + ASPECT,
        "[tasks.poem]: 'output_header' must be a text that is not empty, got ' '",
    ),
    "an unknown key of an aspect": (
        TASK + ASPECT + 'colour = "red"\n',
        "[tasks.poem.aspects.metre]: 'colour' is not known here; choose from definition",
    ),
    "an aspect without definition": (
        TASK + '[tasks.poem.aspects.metre]\nkind = "form"\n',
        "[tasks.poem.aspects.metre]: 'definition' is missing; expected a text",
    ),
    "an aspect without kind": (
        TASK + '[tasks.poem.aspects.metre]\ndefinition = "Yes."\n',
        "[tasks.poem.aspects.metre]: 'kind' is missing; expected a text",
    ),
    "an unknown kind": (
        TASK + ASPECT.replace('"form"', '"sound"'),
        "'kind' must be one of grounding, form, content, structure, appeal, action, got 'sound'",
    ),
    "an unknown input": (
        TASK + ASPECT + 'inputs = ["Rhymes"]\n',
        "'inputs' has 'Rhymes', which is not an input of poem; choose from Input",
    ),
    "a list that is a text": (
        TASK + ASPECT + 'inputs = "Input"\n',
        "[tasks.poem.aspects.metre]: 'inputs' must be a list of texts, none empty, got 'Input'",
    ),
    "a list with a number in it": (
        TASK + ASPECT + 'confusable = ["rhyme: no", 3]\n',
        "'confusable' must be a list of texts, none empty, got ['rhyme: no', 3]",
    ),
    "a list with an empty text in it": (
        TASK + ASPECT + 'aliases = [" "]\n',
        "'aliases' must be a list of texts, none empty, got [' ']",
    ),
    "a scale of one label": (
        TASK + ASPECT + 'scale = ["Good"]\n',
        "[tasks.poem.aspects.metre]: 'scale' cannot be one: a scale needs two or more",
    ),
    "an unknown default aspect": (
        TASK + 'default_aspects = ["rhyme"]\n' + ASPECT,
        "'default_aspects' has 'rhyme', which is not an aspect of poem; choose from metre",
    ),
    "an alias of two aspects": (
        TASK
        + ASPECT
        + 'aliases = ["beat"]\n'
        + ASPECT.replace("metre", "rhythm")
        + 'aliases = ["Beat"]\n',
        "[tasks.poem.aspects.rhythm]: 'aliases' has 'Beat', which already refers to 'metre'",
    ),
    "an alias that is the name of another aspect": (
        TASK + ASPECT + 'aliases = ["rhythm"]\n' + ASPECT.replace("metre", "rhythm"),
        "[tasks.poem.aspects.metre]: 'aliases' has 'rhythm', which already refers to 'rhythm'",
    ),
    "an alias of two tasks": (
        TASK + 'aliases = ["QA"]\n' + ASPECT,
        "[tasks.poem]: 'aliases' has 'QA', which already refers to 'question-answering'",
    ),
    "two names that differ in spelling only": (
        TASK + ASPECT + ASPECT.replace("metre", "Metre"),
        "[tasks.poem.aspects.metre]: 'metre' is the same name as 'Metre'",
    ),
    "a name without letters": (
        TASK + ASPECT.replace("metre", '"-"'),
        "[tasks.poem.aspects.-]: '-' is not a name",
    ),
    "a header with two meanings": (
        TASK + '[tasks.poem.input_headers]\nTitle = ["topic"]\nTheme = ["Topic"]\n' + ASPECT,
        "[tasks.poem]: 'input_headers' gives the name 'Topic' to 'Theme' and to 'Title'",
    ),
    "an input called like the output": (
        TASK + 'output_header = "Poem"\n[tasks.poem.input_headers]\nPoem = []\n' + ASPECT,
        "[tasks.poem]: 'input_headers' gives the name 'Poem' to 'Poem' and to 'the output'",
    ),
    "an empty header": (
        TASK + '[tasks.poem.input_headers]\n"_" = []\n' + ASPECT,
        "[tasks.poem]: 'input_headers' has an empty name",
    ),
    "other names of a header that are no list": (
        TASK + "[tasks.poem.input_headers]\nTitle = true\n" + ASPECT,
        "[tasks.poem.input_headers]: 'Title' must be a list of texts, none empty, got True",
    ),
    "no TOML": ("[tasks", "is not a TOML file: "),
}
SEPARATORS = st.sampled_from(["", " ", "-", "_", " - "])
CASES = st.sampled_from([str.upper, str.lower, str.title])


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
        ('{"criteria": [], "criteria": []}', 'the key "criteria" occurs twice'),
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


def written(folder: Path, text: str, name: str = "mine.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_new_task_needs_a_description_and_an_aspect_only(tmp_path: Path) -> None:
    catalogue = Catalogue.load(written(tmp_path, TASK + ASPECT))
    task = catalogue.task("Poem")
    assert (task.output_header, dict(task.input_headers)) == ("Output", {"Input": ()})
    assert task.default_aspects == ("metre",)
    metre = catalogue.aspect("poem", "metre")
    assert (metre.worst, metre.confusable, metre.inputs) == ("", (), None)
    assert metre.scale.labels[-1] == "Excellent"


def test_an_aspect_can_be_added_to_a_known_task_by_its_alias(tmp_path: Path) -> None:
    text = '[tasks.qa.aspects.wit]\nkind = "appeal"\ndefinition = "Whether it is witty."\n'
    catalogue = Catalogue.load(written(tmp_path, text))
    assert catalogue.aspects("qa")[-1].name == "wit"
    assert catalogue.aspect("question-answering", "wit").task == catalogue.task("qa")
    assert catalogue.aspects("qa")[:-1] == Catalogue.load().aspects("qa")


def test_an_aspect_of_the_same_name_replaces_the_other_and_keeps_aliases(tmp_path: Path) -> None:
    text = (
        '[tasks.summarization.aspects.Consistency]\nkind = "content"\n'
        'definition = "Mine."\ninputs = ["document"]\n'
    )
    catalogue = Catalogue.load(written(tmp_path, text))
    aspect = catalogue.aspect("summarization", "factual consistency")
    assert (aspect.name, aspect.definition, aspect.kind) == ("consistency", "Mine.", "content")
    assert (aspect.inputs, aspect.worst) == (("Article",), "")
    assert len(catalogue.aspects("summarization")) == len(Catalogue.load().aspects("summarization"))


def test_a_new_aspect_takes_a_name_that_was_an_alias(tmp_path: Path) -> None:
    text = '[tasks.summarization.aspects.informativeness]\nkind="content"\ndefinition="New."\n'
    catalogue = Catalogue.load(written(tmp_path, text))
    assert catalogue.aspect("summarization", "informativeness").definition == "New."
    assert catalogue.aspect("summarization", "coverage").definition != "New."


def test_a_known_task_keeps_what_a_file_does_not_mention(tmp_path: Path) -> None:
    text = (
        '[tasks.summarization]\ndefault_aspects = ["factual consistency"]\naliases = ["tldr"]\n'
        '[tasks.summarization.input_headers]\nArticle = ["court_ruling"]\nTitle = []\n'
    )
    before = Catalogue.load().task("summarization")
    catalogue = Catalogue.load(written(tmp_path, text))
    task = catalogue.task("TLDR")
    assert (task.description, task.default_aspects) == (before.description, ("consistency",))
    assert task.aliases == (*before.aliases, "tldr")
    assert task.canonical_header("court_ruling") == task.canonical_header("source") == "Article"
    assert task.canonical_header("title") == "Title"
    assert {aspect.task == task for aspect in catalogue.aspects("tldr")} == {True}


def test_later_files_come_on_top_of_earlier_ones(tmp_path: Path) -> None:
    first = written(tmp_path, TASK + ASPECT, "first.toml")
    second = written(tmp_path, ASPECT.replace("scans", "rhymes"), "second.toml")
    catalogue = Catalogue.load(first, second)
    assert catalogue.aspect("poem", "metre").definition == "Whether it rhymes."
    assert catalogue.task("poem").description == "A system had to write a poem."


def test_line_breaks_in_a_text_are_spaces(tmp_path: Path) -> None:
    text = TASK + ASPECT.replace('"Whether it scans."', '"""\nWhether it\n  scans.\n"""')
    metre = Catalogue.load(written(tmp_path, text)).aspect("poem", "metre")
    assert metre.definition == "Whether it scans."


def test_the_example_file_adds_a_task_and_an_aspect() -> None:
    catalogue = Catalogue.load(EXAMPLES / "aspects.toml")
    assert catalogue.aspect("summarisation", "impartiality").inputs == ("Article",)
    assert catalogue.task("changelog").default_aspects == ("faithfulness", "usefulness")
    assert catalogue.aspect("changelog", "usefulness").scale.high == 3


@pytest.mark.parametrize("case", BAD)
def test_the_error_names_the_file_the_table_and_the_key(tmp_path: Path, case: str) -> None:
    text, message = BAD[case]
    path = written(tmp_path, text)
    with pytest.raises(ConfigError, match=re.escape(message)) as caught:
        Catalogue.load(path)
    assert str(caught.value).startswith(str(path))


def test_a_missing_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    path = tmp_path / "none.toml"
    with pytest.raises(ConfigError, match=re.escape(f"cannot read tasks from {path}: No such")):
        Catalogue.load(path)


def test_a_file_that_is_not_utf_8_is_an_error_that_names_it(tmp_path: Path) -> None:
    path = tmp_path / "latin.toml"
    path.write_bytes("[tasks.poésie]\n".encode("latin-1"))
    with pytest.raises(ConfigError, match=r"latin\.toml is not a TOML file"):
        Catalogue.load(path)


@given(between=st.tuples(SEPARATORS, SEPARATORS, SEPARATORS), case=CASES)
def test_separators_and_case_never_matter_in_a_name(
    between: tuple[str, str, str], case: Callable[[str], str]
) -> None:
    names = Names().claimed({"fair play": Table(file="", path=("fair play",), values={})})
    before, inside, after = between
    assert names.get(case(f"{before}fair{inside}play{after}")) == "fair play"
