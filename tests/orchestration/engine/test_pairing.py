from dataclasses import replace

import pytest
from fakes.judges import segment

from spanjury.judges.core import ConfigError
from spanjury.judges.tasks import Catalogue
from spanjury.orchestration.engine.batch import pair

CATALOGUE = Catalogue.load()
SUMMARY = replace(segment(), task="summarization")
ANSWER = replace(segment("t"), task="qa")


def paired(*args: object, **options: object) -> list[tuple[str, str, str]]:
    pairs = pair(list(args), CATALOGUE, **options)  # type: ignore[arg-type]  # given by each test
    return [(s.segment_id, aspect.task.name, aspect.name) for s, aspect in pairs]


def test_a_row_is_judged_on_the_defaults_of_its_own_task() -> None:
    assert paired(SUMMARY, ANSWER) == [
        ("s", "summarization", "consistency"),
        ("s", "summarization", "fluency"),
        ("t", "question-answering", "faithfulness"),
        ("t", "question-answering", "fluency"),
    ]


def test_the_task_asked_for_goes_before_the_rows_own() -> None:
    assert {task for _, task, _ in paired(ANSWER, task="summarization")} == {"summarization"}


def test_aspects_are_taken_once_whatever_they_are_called() -> None:
    asked = ("factual consistency", "consistency", "Coherence")
    assert [name for *_, name in paired(SUMMARY, aspects=asked)] == ["consistency", "coherence"]


def test_all_stands_for_every_aspect_of_the_task() -> None:
    names = [name for *_, name in paired(SUMMARY, aspects=("all",))]
    assert set(names) >= {
        "accuracy",
        "coherence",
        "consistency",
        "coverage",
        "fluency",
        "relevance",
    }


def test_a_row_without_a_task_is_of_the_task_that_knows_its_inputs() -> None:
    inputs = {"question": "When?", "Context [1]": "It rains.", "Context [2]": "It opened in 1932."}
    asked = replace(segment(), inputs=inputs)
    for row, task in ((segment(), "summarization"), (asked, "question-answering")):
        assert {aspect.task.name for _, aspect in pair([row], Catalogue.load())} == {task}


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"task": "sumarization"}, "sumarization.*summarization"),
        ({"aspects": ("fluancy",)}, "fluancy.*fluency"),
    ],
)
def test_an_unknown_name_lists_the_choices(options: dict[str, object], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        paired(SUMMARY, **options)


def test_turns_under_a_header_of_passages_are_one_text_in_a_task_that_knows_them_as_one() -> None:
    inputs = {"context [1]": "A: Hi.", "context [2]": "B: Hello."}
    row = replace(segment(), inputs=inputs)
    ((talk, _),) = pair([row], CATALOGUE, task="dialogue", aspects=("fluency",))
    ((answer, _),) = pair([row], CATALOGUE, task="qa", aspects=("fluency",))
    assert (talk.inputs, answer.inputs) == ({"context": "A: Hi.\nB: Hello."}, inputs)
