"""Passages of a list: kept apart where the header names a collection, and found by their header."""

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanjury.judges.core import Segment, Task
from spanjury.judges.core.keys import canonical
from spanjury.judges.core.passages import (
    listed,
    passages_apart,
    passages_in,
    passages_together,
    unnumbered,
)
from spanjury.judges.tasks import Catalogue

QA = Catalogue.load().task("qa")
DIALOGUE = Catalogue.load().task("dialogue")


@pytest.mark.parametrize(
    ("given_inputs", "apart"),
    [
        ({"Context": ["a", "b"]}, {"Context [1]": "a", "Context [2]": "b"}),
        ({"retrieved_contexts": ["a", "b"]}, dict(zip(
            ["retrieved_contexts [1]", "retrieved_contexts [2]"], "ab", strict=True))),
        ({"Search-Results": ["a", "b"]}, {"Search-Results [1]": "a", "Search-Results [2]": "b"}),
        ({"Context": ["a", "", "c"]}, {"Context [1]": "a", "Context [2]": "", "Context [3]": "c"}),
        ({"Context": ["a"]}, {"Context": "a"}),
        ({"Context": []}, {"Context": ""}),
        ({"Context": "a"}, {"Context": "a"}),
        ({"History": ["A: Hi.", "B: Hello."]}, {"History": "A: Hi.\nB: Hello."}),
        ({"Article": ["one", "two"]}, {"Article": "one\ntwo"}),
    ],
)  # fmt: skip
def test_a_list_is_kept_apart_where_its_header_names_passages(
    given_inputs: Mapping[str, str | Sequence[str]], apart: dict[str, str]
) -> None:
    assert passages_apart(given_inputs) == apart


def test_the_inputs_stay_in_order() -> None:
    inputs = {"Context": ["a", "b"], "Question": "q", "Documents": ["c", "d"]}
    assert [*passages_apart(inputs)] == [
        *("Context [1]", "Context [2]", "Question", "Documents [1]", "Documents [2]")
    ]


def test_a_header_that_is_taken_loses_no_text() -> None:
    inputs = {"Context": ["a", "b"], "Context [2]": "c"}
    assert passages_apart(inputs) == {"Context": "a\nb", "Context [2]": "c"}


@given(st.lists(st.text(), min_size=2, max_size=5))
def test_putting_passages_together_gives_the_lines_that_other_lists_are(texts: list[str]) -> None:
    apart = passages_apart({"Question": "q", "Context": texts})
    together = passages_together(apart, whole=lambda header: header == "Context")
    assert together == {"Question": "q", "Context": "\n".join(texts)}


def test_only_a_number_in_brackets_behind_a_header_is_one_of_a_passage() -> None:
    headers = ["Context [2]", "Context", "[2]", "Context[2]", "Context [0]", "Context [x]"]
    assert [unnumbered(header) for header in headers] == ["Context", *headers[1:]]
    assert [*passages_in(dict.fromkeys(headers, ""))] == ["Context [2]"]


def test_passages_in_a_row_have_one_name_in_a_sentence() -> None:
    assert listed(["Context [1]", "Context [2]", "Answer"]) == ("Context [1] to [2]", "Answer")
    assert listed(["Context [1]", "Facts [1]", "Facts [2]"]) == ("Context [1]", "Facts [1] to [2]")
    assert listed(["Context", "Context [1]"]) == ("Context", "Context [1]")
    assert listed(()) == ()


def test_a_passage_is_the_input_that_its_list_is() -> None:
    assert QA.canonical_header("Context [2]") == "Context"
    assert QA.canonical_header("documents [12]") == "Context"
    assert QA.canonical_header("Weather [2]") is None


def test_an_aspect_sees_and_misses_passages_as_it_does_their_list() -> None:
    catalogue = Catalogue.load()
    inputs = passages_apart({"Question": "q", "Context": ["a", "b"]})
    assert catalogue.aspect("qa", "relevance").view(inputs) == {"Question": "q"}
    assert catalogue.aspect("qa", "faithfulness").view(inputs) == inputs
    assert catalogue.aspect("qa", "faithfulness").lacking(inputs) == ()
    blank = passages_apart({"Question": "q", "Context": ["", ""]})
    assert catalogue.aspect("qa", "faithfulness").lacking(blank) == ("Context",)


def test_a_task_takes_its_whole_inputs_together_again() -> None:
    apart = Segment(segment_id="1", output="Hi.", inputs={"context [1]": "A", "context [2]": "B"})
    assert DIALOGUE.fit(apart).inputs == {"context": "A\nB"}
    assert QA.fit(apart) is apart
    facts = Segment(
        segment_id="2", output="Hi.", inputs={"Documents [1]": "A", "Documents [2]": "B"}
    )
    assert DIALOGUE.fit(facts) is facts


def test_no_key_depends_on_which_inputs_are_whole() -> None:
    assert b"whole" not in canonical(Catalogue.load().aspect("dialogue", "fluency"))
    assert Task(name="x", description="", whole=("Input",)).whole == ("Input",)
