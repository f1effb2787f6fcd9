"""The first problem of values that pydantic refuses, in one line."""

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError

from spanjury.judges.core import first_problem


class Rows(BaseModel):
    """Rows with numbers."""

    numbers: list[int]


def test_the_field_comes_before_the_problem_and_no_value_is_shown() -> None:
    with pytest.raises(ValidationError) as refused:
        Rows.model_validate({"numbers": [1, "secret", "another"]})
    problem = first_problem(refused.value)
    assert problem.startswith("numbers.1: Input should be a valid integer")
    assert "secret" not in problem


def test_a_problem_of_the_whole_value_names_no_field() -> None:
    with pytest.raises(ValidationError) as refused:
        TypeAdapter(int).validate_python("three")
    assert first_problem(refused.value).startswith("Input should be a valid integer")
