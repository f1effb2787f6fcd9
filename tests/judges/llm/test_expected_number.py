"""Expected numbers, worked by hand."""

import math
from collections.abc import Mapping

import pytest

from spanjury.judges.core import Reply, TokenLogprob
from spanjury.judges.llm.expected_score import expected_number

CUE = ["No", " Error", "\n\n", "Overall", " score", ":"]


def token(text: str, tops: Mapping[str, float]) -> TokenLogprob:
    logs = {alternative: math.log(p) for alternative, p in tops.items()}
    return TokenLogprob(token=text, logprob=logs[text], top=logs)


def reply(*tokens: TokenLogprob, cue: bool = True) -> Reply:
    before = [token(text, {text: 1.0}) for text in CUE] if cue else []
    written = (*before, *tokens)
    return Reply(text="".join(one.token for one in written), logprobs=written)


@pytest.mark.parametrize("cue", [True, False])
def test_numbers_that_are_whole_tokens_are_weighed_by_their_values(cue: bool) -> None:
    number = token(" 60", {" 60": 0.6, " 65": 0.2, " 100": 0.1, " so": 0.1})
    found = expected_number(reply(number, token("\n", {"\n": 1.0}), cue=cue), written=60)
    assert found.value == pytest.approx((60 * 0.6 + 65 * 0.2 + 100 * 0.1) / 0.9)
    assert found.share == pytest.approx(0.9)


def test_digit_by_digit_an_alternative_is_worth_what_it_may_begin() -> None:
    first = token("6", {"6": 0.75, "7": 0.25})  # 70 or 75
    second = token("0", {"0": 0.5, "5": 0.5})
    found = expected_number(reply(token(" ", {" ": 1.0}), first, second), written=60)
    assert found.value == pytest.approx(0.75 * 62.5 + 0.25 * 72.5)


def test_a_hundred_is_known_from_ten_by_its_third_digit() -> None:
    one, nought = token("1", {"1": 1.0}), token("0", {"0": 1.0})
    third = token("0", {"0": 0.75, "\n": 0.25})
    found = expected_number(reply(one, nought, third), written=100)
    assert found.value == pytest.approx(0.75 * 100 + 0.25 * 10)


def test_a_number_of_an_explanation_is_not_taken_for_the_score() -> None:
    year = token("60", {"60": 1.0})
    number = token(" 60", {" 60": 0.5, " 40": 0.5})
    result = reply(number)
    said = Reply(text="60" + result.text, logprobs=(year, *result.logprobs))
    assert expected_number(said, written=60).value == pytest.approx(50)


def test_without_probabilities_there_is_no_expectation() -> None:
    assert expected_number(Reply(text="60"), written=60).problem


def test_other_tokens_may_not_have_most_of_the_probability() -> None:
    number = token("60", {"60": 0.3, "so": 0.7})
    assert "30%" in expected_number(reply(number), written=60).problem


def test_a_number_inside_another_token_has_no_probability_of_its_own() -> None:
    found = expected_number(reply(token(" 60/100", {" 60/100": 1.0})), written=60)
    assert found.value is None
    assert "whole tokens" in found.problem
