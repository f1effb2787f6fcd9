import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from spanjury.judges.core import Reply, Scale, TokenLogprob
from spanjury.judges.llm.expected_score import LEAST_SHARE, Expected, expected_score

SHARES = st.lists(st.floats(0.001, 1), min_size=5, max_size=5)


def token(text: str, **top: float) -> TokenLogprob:
    """Return a token; `top` gives probabilities, of numbers as ``n1``."""
    result = {name.removeprefix("n"): math.log(share) for name, share in top.items()}
    return TokenLogprob(token=text, logprob=result.get(text, -20.0), top=result)


def sure(text: str) -> TokenLogprob:
    return TokenLogprob(token=text, logprob=0.0, top={text: 0.0})


def expected(*tokens: TokenLogprob, text: str = "", written: int = 4) -> Expected:
    said = text or "".join(token.token for token in tokens)
    return expected_score(Reply(text=said, logprobs=tokens), scale=Scale(), written=written)


def spread(shares: list[float]) -> Expected:
    total = sum(shares)
    names = {f"n{place}": share / total for place, share in enumerate(shares, start=1)}
    return expected(token("4", **names))


def test_the_score_is_the_mean_of_the_numbers_by_their_probabilities() -> None:
    found = expected(token("4", n3=0.2, n4=0.6, n5=0.2))
    assert found.value == pytest.approx(4.0)
    assert found.share == pytest.approx(1.0)


def test_other_words_than_numbers_of_the_scale_do_not_count_and_the_rest_sums_to_one() -> None:
    found = expected(token("4", n4=0.5, n2=0.25, The=0.15, n9=0.1))
    assert found.value == pytest.approx((4 * 0.5 + 2 * 0.25) / 0.75)
    assert found.share == pytest.approx(0.75)


def test_spellings_of_one_number_are_added_up() -> None:
    top = {"4": math.log(0.3), " 4": math.log(0.3), "▁2": math.log(0.4)}
    found = expected(TokenLogprob(token="4", logprob=math.log(0.3), top=top))
    assert found.value == pytest.approx(4 * 0.6 + 2 * 0.4)


def test_a_written_token_that_is_not_among_the_likeliest_counts_too() -> None:
    top = {"5": math.log(0.6)}
    found = expected(TokenLogprob(token="4", logprob=math.log(0.2), top=top))
    assert found.value == pytest.approx((5 * 0.6 + 4 * 0.2) / 0.8)


def test_words_around_the_number_are_passed_over() -> None:
    around = (sure("Score"), sure(":"), token(" 4", n4=0.5, n5=0.5), sure("/"), sure("5"))
    assert expected(*around).value == pytest.approx(4.5)


def test_a_number_on_its_own_line_is_the_score_whatever_surrounds_it() -> None:
    tokens = (token("4", n4=0.5, n3=0.5), sure("\n\n"), sure("It is a "), sure("4"), sure("."))
    assert expected(*tokens).value == pytest.approx(3.5)


def test_numbers_in_the_reasoning_are_not_the_score() -> None:
    tokens = (sure("<think>"), sure("4"), sure("?</think>"), token("4", n4=0.5, n5=0.5))
    assert expected(*tokens, text="4").value == pytest.approx(4.5)
    assert expected(*tokens).value == pytest.approx(4.5)


@pytest.mark.parametrize(
    ("tokens", "problem"),
    [
        ((), "no log-probabilities"),
        ((TokenLogprob(token="4", logprob=-0.1),), "no log-probabilities"),
        ((token("4", n4=0.3, The=0.7),), "only 30% of the probability"),
        ((sure("4"), sure(" of "), sure("4")), "2 tokens"),
        ((sure("Good"),), "0 tokens"),
    ],
)
def test_without_clear_probabilities_there_is_no_expected_score(
    tokens: tuple[TokenLogprob, ...], problem: str
) -> None:
    found = expected(*tokens)
    assert found.value is None
    assert problem in found.problem


def test_a_scale_on_which_one_number_begins_another_has_no_expected_score() -> None:
    scale = Scale(labels=tuple(f"label {'x' * place}" for place in range(10)))
    found = expected_score(Reply(text="1", logprobs=(sure("1"),)), scale=scale, written=1)
    assert "begins another" in found.problem


@given(SHARES)
def test_an_expected_score_is_on_the_scale(shares: list[float]) -> None:
    found = spread(shares)
    assert found.value is not None
    assert found.value in Scale()


@given(SHARES, st.integers(0, 3), st.floats(0.001, 1))
def test_probability_moved_to_a_better_number_never_lowers_the_score(
    shares: list[float], place: int, part: float
) -> None:
    moved = list(shares)
    moved[place] -= part * shares[place] * 0.99
    moved[place + 1] += part * shares[place] * 0.99
    before, after = spread(shares).value, spread(moved).value
    assert before is not None
    assert after is not None
    assert after >= before - 1e-12


@given(st.dictionaries(st.text(max_size=3), st.floats(allow_nan=False), max_size=6))
def test_no_log_probability_makes_it_raise(top: dict[str, float]) -> None:
    assume(top)
    found = expected(TokenLogprob(token="4", logprob=-1.0, top=top))
    assert (found.value is None) == bool(found.problem)
    assert found.value is None or (found.value in Scale() and LEAST_SHARE <= found.share <= 1)
