"""The catalogue's contents, and look-ups in it."""

import gzip
import json
from pathlib import Path
from typing import TypedDict

import pytest

from spanjury.judges.core import Aspect, ConfigError
from spanjury.judges.tasks import Catalogue, describe

CRITERION = "criterion: Every price is in euros"
# Appendices A and E of OpeNLGauge, Table 1 of DHP, and the columns of public data sets.
WANTED = {
    "summarization": (
        "consistency accuracy relevance coverage coherence fluency informativeness "
        "factual-consistency"
    ),
    "data-to-text": (
        "faithfulness correctness coverage informativeness fluency grammaticality naturalness "
        "quality"
    ),
    "dialogue": (
        "coherence relevance appropriateness empathy interestingness engagingness fluency "
        "understandability groundedness naturalness overall"
    ),
    "story": ("relevance coherence engagement empathy surprise complexity consistency fluency"),
    "question-answering": (
        "correctness informativeness completeness conciseness relevance factuality faithfulness "
        "fluency naturalness grammaticality answer-quality"
    ),
    "simplification": (
        "fluency meaning-preservation simplicity adequacy_da fluency_da simplicity_da "
        "adequacy_likert fluency_likert simplicity_likert overall_simpeval"
    ),
    "translation": "accuracy fluency adequacy mqm",
    "agent": "groundedness calls arguments honesty completeness constraints",
    "tool-use": "tool-choice arguments necessity order",
    "agent-conversation": "consistency constraints groundedness handover completeness",
}
ALIASES = {
    "summarization": ("Summarisation",),
    "data-to-text": ("data2text", "d2t", "table-to-text", "Data to text", "DATA_TO_TEXT"),
    "dialogue": ("dialog", "dialogue response generation"),
    "story": ("story_completion", "story-completion", "story generation"),
    "question-answering": ("qa", "QA", "Question Answering"),
    "simplification": ("text-simplification",),
    "translation": ("mt", "machine translation"),
    "agent": ("trajectory",),
    "tool-use": ("function calling",),
}
SAME = [
    ("summarization", "factual consistency", "consistency"),
    ("summarization", "Factual_Consistency", "consistency"),
    ("summarization", "informativeness", "coverage"),
    ("simplification", "adequacy", "meaning-preservation"),
    ("translation", "adequacy", "accuracy"),
    ("dialogue", "overall", "quality"),
    ("qa", "overall quality", "answer-quality"),
]
FORM = {"fluency", "grammaticality", "naturalness"}
SELF_CONTAINED = {"summarization/coherence"}
EXAMPLES = Path(__file__).parents[3] / "examples"
FILES = {
    "summaries.jsonl": "summarization",
    "data_to_text.jsonl": "data-to-text",
    "questions.jsonl": "question-answering",
}


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return Catalogue.load()


def every_aspect() -> list[Aspect]:
    catalogue = Catalogue.load()
    return [aspect for task in catalogue.tasks() for aspect in catalogue.aspects(task.name)]


def named(aspect: Aspect) -> str:
    return f"{aspect.task.name}/{aspect.name}"


def test_there_is_a_task_for_each_kind_of_generation(catalogue: Catalogue) -> None:
    assert [task.name for task in catalogue.tasks()] == sorted(WANTED)


@pytest.mark.parametrize("task", WANTED)
def test_every_aspect_of_the_literature_can_be_asked_for(catalogue: Catalogue, task: str) -> None:
    for name in WANTED[task].split():
        assert catalogue.aspect(task, name).task == catalogue.task(task)


@pytest.mark.parametrize("task", ALIASES)
def test_a_task_is_found_by_any_of_its_names(catalogue: Catalogue, task: str) -> None:
    assert {catalogue.task(alias).name for alias in ALIASES[task]} == {task}


@pytest.mark.parametrize(("task", "alias", "name"), SAME)
def test_an_aspect_is_found_by_any_of_its_names(task: str, alias: str, name: str) -> None:
    assert Catalogue.load().aspect(task, alias).name == name


def test_the_same_word_is_another_aspect_in_another_task(catalogue: Catalogue) -> None:
    assert catalogue.aspect("dialogue", "coherence") != catalogue.aspect("story", "coherence")


def test_an_aspect_says_everything_a_judge_must_know() -> None:
    for aspect in every_aspect():
        for sentence in (aspect.definition, aspect.worst, aspect.best):
            assert len(sentence.split()) >= 4, sentence
            assert sentence.endswith((".", "!")), sentence
        assert aspect.definition.count(". ") <= 2, aspect
        assert len(aspect.confusable) >= 2, aspect
        assert aspect.inputs is None or set(aspect.inputs) <= set(aspect.task.input_headers), aspect


def test_an_aspect_is_never_mixed_up_with_itself() -> None:
    for aspect in every_aspect():
        others = [phrase.partition(":") for phrase in aspect.confusable]
        assert all(why for _, _, why in others), aspect
        assert aspect.name.replace("-", " ") not in [other for other, _, _ in others], aspect


def test_an_aspect_of_form_sees_no_input_and_one_of_grounding_sees_some() -> None:
    for aspect in every_aspect():
        assert (aspect.inputs == ()) == (
            aspect.kind == "form" or named(aspect) in SELF_CONTAINED
        ), aspect
        assert (aspect.kind == "form") == (aspect.name in FORM), aspect


def test_no_two_aspects_are_defined_alike() -> None:
    definitions = [aspect.definition.casefold() for aspect in every_aspect()]
    assert len(set(definitions)) == len(definitions)


@pytest.mark.parametrize("task", WANTED)
def test_a_task_has_one_to_three_default_aspects_by_name(catalogue: Catalogue, task: str) -> None:
    defaults = catalogue.task(task).default_aspects
    assert 1 <= len(defaults) <= 3
    assert set(defaults) <= {aspect.name for aspect in catalogue.aspects(task)}


@pytest.mark.parametrize(
    ("task", "header", "canonical"),
    [
        ("summarization", "source", "Article"),
        ("data-to-text", "dialogue_act", "Data"),
        ("data-to-text", "box_score", "Data"),
        ("dialogue", "knowledge", "Facts"),
        ("qa", "question", "Question"),
        ("qa", "Passage", "Context"),
        ("story", "story", "Beginning"),
        ("simplification", "sentence", "Original"),
        ("translation", "source", "Source"),
    ],
)
def test_the_headers_of_public_data_sets_are_known(task: str, header: str, canonical: str) -> None:
    assert Catalogue.load().task(task).canonical_header(header) == canonical


def test_a_nameless_input_is_the_first_that_a_task_knows(catalogue: Catalogue) -> None:
    for task in catalogue.tasks():
        assert task.canonical_header("Input") == next(iter(task.input_headers))


@pytest.mark.parametrize(
    ("source", "output", "task"),
    [
        ("The mill is closed on Mondays.", "The mill is open on Mondays.", "summarization"),
        ("Adults pay 12 euros.", "Adults pay 15 euros.", "summarization"),
        ("The mill is closed on Mondays.", "Die Mühle ist am Montag geschlossen.", "translation"),
        ("Мельница закрыта.", "The mill is closed.", "translation"),
        ("Hello.", "Hallo.", "translation"),
    ],
)
def test_a_text_in_the_language_of_its_source_is_no_translation(
    catalogue: Catalogue, source: str, output: str, task: str
) -> None:
    assert catalogue.likely_task(inputs={"Source": source}, output=output) == task
    assert catalogue.likely_task(inputs={"source": source}, output=output) == task


def test_a_translation_need_not_name_its_task(catalogue: Catalogue) -> None:
    rows = map(json.loads, Path("perturbations/demo/translation.jsonl").read_text().splitlines())
    tasks = {catalogue.likely_task(inputs=row["inputs"], output=row["output"]) for row in rows}
    assert tasks == {"translation"}


def test_an_unknown_task_is_an_error_that_lists_the_tasks(catalogue: Catalogue) -> None:
    with pytest.raises(ConfigError, match=r"unknown task 'poetry'; choose from .*story, summ"):
        catalogue.task("poetry")


def test_an_unknown_aspect_is_an_error_that_lists_those_of_the_task(catalogue: Catalogue) -> None:
    message = r"unknown aspect of translation 'surprise'; choose from accuracy, fluency, quality$"
    with pytest.raises(ConfigError, match=message):
        catalogue.aspect("mt", "surprise")


def test_the_aspects_of_an_unknown_task_are_an_error(catalogue: Catalogue) -> None:
    with pytest.raises(ConfigError, match="unknown task"):
        catalogue.aspects("poetry")


@pytest.mark.shared_data
@pytest.mark.parametrize(
    "file",
    [
        "evouna_qa_scores",
        "newsroom_scores",
        "sfres_scores",
        "simpeval2022_scores",
        "summeval_scores",
        "topicalchat_usr_scores",
    ],
)
def test_collected_scores_have_aspects(catalogue: Catalogue, shared_data: Path, file: str) -> None:
    with gzip.open(shared_data / "scores" / f"{file}.jsonl.gz", "rt", encoding="utf-8") as lines:
        row = json.loads(next(lines))
    task = catalogue.task(row["task"])
    assert all(catalogue.aspect(task.name, name) for name in row["scores"])
    assert all(task.canonical_header(header) for header in row.get("source", {}))


def test_a_criterion_is_an_aspect_of_any_task() -> None:
    catalogue = Catalogue.load()
    aspect = catalogue.aspect("story", "Criterion:  Every price\nis in euros. ")
    assert (aspect.name, aspect) == (CRITERION, catalogue.aspect("story", aspect.name))
    assert (aspect.spoken, aspect.scale.high) == ('"Every price is in euros"', 3)
    assert describe(aspect).startswith('"Every price is in euros": The generated story')
    assert catalogue.has("summarization", "fluency", CRITERION)


@pytest.mark.parametrize("demand", ["", " . ", "a" * 501, "Every \x1b[31mprice"])
def test_a_criterion_that_no_line_can_show_is_refused(demand: str) -> None:
    with pytest.raises(ConfigError, match="a criterion is a sentence of 1 to 500 printable"):
        Catalogue.load().aspect("story", f"criterion: {demand}")


class ExampleRow(TypedDict):
    """A row in the native format, all of its keys used."""

    id: str
    task: str
    inputs: dict[str, str]
    output: str
    system: str
    references: list[str]
    human: dict[str, float]


def rows(file: str) -> list[ExampleRow]:
    return [json.loads(line) for line in (EXAMPLES / file).read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("file", FILES)
def test_an_example_file_has_twelve_rows_or_more_with_ids_of_their_own(file: str) -> None:
    examples = rows(file)
    assert len(examples) >= 12
    assert len({row["id"] for row in examples}) == len(examples)


@pytest.mark.parametrize("file", FILES)
def test_every_example_row_is_complete(file: str) -> None:
    for row in rows(file):
        assert row.keys() == ExampleRow.__annotations__.keys()
        assert row["id"].endswith(f"/{row['system']}")
        assert row["output"].strip()
        assert row["references"]


@pytest.mark.parametrize("file", FILES)
def test_every_example_row_uses_the_words_of_the_catalogue(file: str) -> None:
    catalogue = Catalogue.load()
    task = catalogue.task(FILES[file])
    for row in rows(file):
        assert row["task"] == task.name
        assert row["inputs"].keys() <= task.input_headers.keys()
        assert row["human"].keys() <= {aspect.name for aspect in catalogue.aspects(task.name)}
        assert set(task.default_aspects) <= row["human"].keys()
        assert all(1 <= score <= 5 for score in row["human"].values())


@pytest.mark.parametrize("file", FILES)
def test_each_example_input_has_a_sound_output_and_a_flawed_one(file: str) -> None:
    defaults = Catalogue.load().task(FILES[file]).default_aspects
    worst: dict[str, list[float]] = {}
    for row in rows(file):
        item = row["id"].partition("/")[0]
        worst.setdefault(item, []).append(min(row["human"][name] for name in defaults))
    assert all(min(scores) < 3 < max(scores) for scores in worst.values())


def test_example_articles_have_the_length_of_news() -> None:
    lengths = {len(row["inputs"]["Article"].split()) for row in rows("summaries.jsonl")}
    assert 120 <= min(lengths) <= max(lengths) <= 220


def test_a_question_is_read_and_is_no_evidence() -> None:
    inputs = {"query": "Who?", "Context [1]": "Ann.", "Context [2]": "Bob."}
    aspect = Catalogue.load().aspect("question-answering", "faithfulness")
    assert aspect.view(inputs) == inputs
    assert [*aspect.evidence(inputs)] == ["Context [1]", "Context [2]"]
    summary = Catalogue.load().aspect("summarization", "consistency")
    assert summary.evidence(inputs) == summary.view(inputs)


def test_a_task_file_names_its_questions(tmp_path: Path) -> None:
    path = tmp_path / "quiz.toml"
    table = """
[tasks.quiz]
description = "A riddle was to be solved."
questions = ["{}"]
[tasks.quiz.input_headers]
Riddle = []
Facts = []
[tasks.quiz.aspects.truth]
kind = "grounding"
definition = "Whether the facts bear it out."
"""
    path.write_text(table.format("Riddle"))
    aspect = Catalogue.load(path).aspect("quiz", "truth")
    assert aspect.evidence({"Riddle": "Who?", "Facts": "Ann."}) == {"Facts": "Ann."}
    path.write_text(table.format("Answer"))
    with pytest.raises(ConfigError, match="questions"):
        Catalogue.load(path)
