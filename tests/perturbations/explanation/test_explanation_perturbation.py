"""A rule that changes error lists, whoever wrote it, does so or says why not."""

from collections.abc import Sequence

import pytest
from fakes.judges import located
from numpy.random import Generator

from spanjury.judges.core import ErrorSpan, PerturbationError
from spanjury.perturbations.explanation.perturbation import (
    ErrorList,
    ExplanationPerturbation,
    NothingToChangeError,
    Unchanged,
    explanation_perturbation,
)
from spanjury.perturbations.perturbation import generator_for

OUTPUT = "Ann left."
NOTED = located("left", 4, explanation="She stayed.")
LIST = ErrorList(output=OUTPUT, spans=(NOTED,))
EMPTY = ErrorList(output=OUTPUT, spans=())


@explanation_perturbation(push="falls", family="addition")
def repeat(errors: ErrorList, rng: Generator, *, times: int = 2) -> Sequence[ErrorSpan]:
    """Say everything `times` times."""
    return errors.spans * times


def changed(
    perturbation: ExplanationPerturbation, errors: ErrorList = LIST, **options: object
) -> tuple[ErrorSpan, ...]:
    return perturbation.changed(errors, generator_for(1, "name", "id"), **options)


def gives(*result: object) -> ExplanationPerturbation:
    return ExplanationPerturbation(lambda *_: result, push="falls", family="severity")  # type: ignore[arg-type]  # what it gives is wrong


def test_a_rule_returns_errors_and_takes_options() -> None:
    assert changed(repeat) == (NOTED, NOTED)
    assert changed(repeat, times=3) == (NOTED, NOTED, NOTED)
    assert (repeat.push, repeat.family) == ("falls", "addition")


def test_a_list_that_stays_as_it_was_has_a_reason_of_its_own() -> None:
    with pytest.raises(NothingToChangeError, match="as it was") as caught:
        changed(repeat, times=1)
    assert caught.value.reason is Unchanged.NO_ROOM


@pytest.mark.parametrize("family", ["severity", "explanation", "both", "removal"])
def test_a_list_without_errors_is_refused_before_the_rule_is_asked(family: str) -> None:
    rule = ExplanationPerturbation(repeat.rule, push="falls", family=family)  # type: ignore[arg-type]  # one of the literals
    with pytest.raises(NothingToChangeError, match="empty") as caught:
        changed(rule, EMPTY, times="so many that the rule would fail")
    assert caught.value.reason is Unchanged.NO_ERRORS


def test_an_unknown_option_is_an_error() -> None:
    with pytest.raises(PerturbationError, match=r"the rule failed: TypeError.*volume"):
        changed(repeat, volume=11)


def test_a_rule_that_fails_is_an_error_with_the_reason() -> None:
    with pytest.raises(PerturbationError, match=r"the rule failed: TypeError.*multiply"):
        changed(repeat, times="2")


def test_a_rule_that_says_no_keeps_its_words() -> None:
    @explanation_perturbation(push="rises", family="removal")
    def never(*_: object) -> tuple[ErrorSpan, ...]:
        raise PerturbationError("not today")

    with pytest.raises(PerturbationError, match="^not today$"):
        changed(never)


def test_a_rule_that_gives_no_error_spans_is_an_error() -> None:
    with pytest.raises(PerturbationError, match="gave 'left' where an ErrorSpan was expected"):
        changed(gives(NOTED, "left"))


def test_a_rule_that_marks_what_is_not_there_is_an_error() -> None:
    elsewhere = located("gone", 4, explanation="", severity=1)
    with pytest.raises(PerturbationError, match="'gone' does not stand at"):
        changed(gives(elsewhere))


@pytest.mark.parametrize("text", ["", "Ann"])
def test_a_list_knows_where_its_errors_are(text: str) -> None:
    with pytest.raises(ValueError, match=r"'left' does not stand at \(4, 8\) in the text"):
        ErrorList(output=text, spans=(NOTED,))


def test_an_unlocated_error_may_quote_what_is_not_there() -> None:
    made_up = ErrorSpan(text="Bo came.", explanation="", severity=2)
    assert ErrorList(output=OUTPUT, spans=(made_up,)).spans == (made_up,)
