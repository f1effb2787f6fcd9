"""Typing errors of the package that the paper used are ours to repeat, count and locate."""

import random  # noqa: TID251  whose state is to be kept
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanjury.judges.core import PerturbationError
from spanjury.perturbations.edits import Damage
from spanjury.perturbations.perturbation import Case, NothingToDamageError, generator_for
from spanjury.perturbations.text.paper_typos import dhp_typos

TEXT = "The cat sat on the mat in 2015, and Nora Blake will tell all of it to her book club."


def damaged(text: str, *, k: int, seed: int = 1) -> Damage:
    return dhp_typos.damage(Case(text=text), generator_for(seed, "dhp-typos", "a"), k=k)


needs_package = pytest.mark.skipif(
    find_spec("typo") is None, reason="the extra 'dhp' is not installed"
)


@needs_package
@settings(max_examples=50)
@given(
    text=st.text("aébLl 90\u0665.", min_size=0, max_size=60) | st.just(TEXT),
    k=st.integers(1, 6),
    seed=st.integers(0, 2**32),
)
def test_k_errors_are_k_edits_that_do_not_meet(text: str, k: int, seed: int) -> None:
    try:
        damage = damaged(text, k=k, seed=seed)
    except NothingToDamageError:
        return
    assert damaged(text, k=k, seed=seed) == damage
    assert len(damage.edits) == k
    for before, after in zip(damage.edits, damage.edits[1:], strict=False):
        assert before.end < after.start
    assert all(edit.end - edit.start <= 2 and len(edit.text) <= 2 for edit in damage.edits)


@needs_package
def test_every_kind_of_error_comes_up() -> None:
    edits = {damaged(TEXT, k=1, seed=seed).edits[0] for seed in range(300)}
    sizes = {(edit.end - edit.start, len(edit.text)) for edit in edits}
    assert sizes == {(0, 1), (1, 0), (1, 1), (2, 2)}


@needs_package
def test_the_random_numbers_of_the_process_go_on_as_if_nothing_had_been_drawn() -> None:
    random.seed(7)
    expected = [random.random() for _ in range(2)]
    random.seed(7)
    drawn = [random.random()]
    damaged(TEXT, k=5)
    with pytest.raises(NothingToDamageError):
        damaged("...", k=5)
    assert [*drawn, random.random()] == expected


@needs_package
def test_threads_do_not_change_what_is_drawn() -> None:
    alone = [damaged(TEXT, k=5, seed=seed) for seed in range(20)]
    with ThreadPoolExecutor(8) as pool:
        together = [*pool.map(lambda seed: damaged(TEXT, k=5, seed=seed), range(20))]
    assert together == alone


@needs_package
def test_a_text_without_room_is_refused() -> None:
    with pytest.raises(NothingToDamageError, match=r"typing error \(\d of 9 needed\)"):
        damaged("a cat", k=9)
    with pytest.raises(PerturbationError, match="k must be 1 or more, got 0"):
        damaged(TEXT, k=0)


def test_a_missing_package_is_named_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "typo", None)
    with pytest.raises(PerturbationError, match=r"pip install 'spanjury\[dhp\]'"):
        damaged(TEXT, k=1)
