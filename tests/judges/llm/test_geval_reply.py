from fakes.judges import ASPECT
from hypothesis import given
from hypothesis import strategies as st

from spanjury.judges.core import Aspect, Scale
from spanjury.judges.llm.geval_reply import read_score
from spanjury.judges.llm.grades import numbers, read_grade


def aspect(*labels: str, name: str = "consistency") -> Aspect:
    scale = Scale(labels=labels) if labels else Scale()
    return Aspect(name=name, task=ASPECT.task, definition="Good.", kind="form", scale=scale)


def test_a_number_is_read_whatever_is_written_around_it() -> None:
    for reply in [
        "4",
        " 4\n",
        "4.",
        "**4**",
        "4/5",
        "4 out of 5",
        "Good",
        "Score: 4",
        "**Score:** 4",
        "Score (1-5): 4",
        "Consistency: 4",
        "Evaluation Score - Consistency: 4/5",
        "Score for consistency of the Summary: **4**",
        "Score:\n4",
        "4\n\nThe year is wrong.",
        "4\n\nThe score is 4.",
        "<think>A 2? No.</think>\n4",
        "1. Read it.\n2. Found 3 errors.\n\nFinal score: 4",
        "Number of errors: 1\nScore: 4",
    ]:
        assert read_score(reply, aspect=aspect()).value == 4, reply


def test_an_unclear_score_is_none_and_says_why() -> None:
    for reply, problem in [
        ("", "no line with the score"),
        ("<think>4", "never closed"),
        ("6", "not on the scale"),
        ("3.5", "not on the scale"),
        ("3-4", "neither a label nor a number"),
        ("1, 2, 3, 4, 5", "more than one grade"),
        ("1\n2\n3\n4\n5", "more than one score"),
        ("Score: 4\nScore: 5", "more than one score"),
        ("Score: 9\nConsistency: 9", "not on the scale"),
        ("4. The dates agree.", "item in a list"),
        ("1. Dates agree.\n2. Names agree.", "no line with the score"),
        ("Number of errors: 4\nNone is grave.", "no line with the score"),
        ("I like it.", "neither a label nor a number"),
    ]:
        grade = read_score(reply, aspect=aspect())
        assert grade.value is None, (reply, problem)
        assert problem in grade.problem, (reply, problem)


def test_labels_that_are_numbers_are_asked_for_and_read_as_themselves() -> None:
    scale = aspect("0", "1", "2")
    assert numbers(scale.scale) == ("0", "1", "2")
    assert read_score("0", aspect=scale).value == 1
    assert read_score("3", aspect=scale).value is None


@given(st.integers(2, 12), st.booleans())
def test_every_number_that_may_be_asked_for_is_read_as_its_place(count: int, own: bool) -> None:
    labels = [str(5 * place) if own else f"label {'x' * place}" for place in range(count)]
    scale = Scale(labels=tuple(labels))
    read = [read_grade(number, scale=scale).value for number in numbers(scale)]
    assert read == list(range(1, count + 1))


@given(st.text() | st.from_regex(r"([1-9]|Score|[:.\n ]|Good){0,12}", fullmatch=True))
def test_no_reply_makes_the_reader_raise_and_a_score_is_on_the_scale(reply: str) -> None:
    grade = read_score(reply, aspect=aspect())
    assert (grade.value is None) == bool(grade.problem)
    assert grade.value is None or grade.value in Scale()
