"""What every rule promises, of whatever text it is given."""

import unicodedata
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanjury.judges.core import PerturbationError
from spanjury.perturbations.edits import Damage, Edit
from spanjury.perturbations.perturbation import (
    Case,
    NothingToDamageError,
    Perturbation,
    generator_for,
)
from spanjury.perturbations.text import (
    characters,
    entities,
    grammar,
    meaning,
    numbers,
    roles,
    typing_slips,
    words,
)

MODULES = (characters, entities, grammar, meaning, numbers, roles, typing_slips, words)
RULES: dict[str, Perturbation] = {
    name: getattr(module, name) for module in MODULES for name in module.__all__
}
ANY_LANGUAGE = [name for name, rule in RULES.items() if not rule.language]
ONE_EDIT = {"delete_word_run", "shuffle_words"}
TWO_EDITS_EACH = {"swap_entities", "swap_roles"}

PROSE = (
    "Nora Blake met Omar Reed in Paris on 12 May 2015 because they wanted to buy a big red car.",
    "The dog chased a cat, and it was not happy about the 20 miles that it had to walk.",
    "He says that the company sold 1,200 houses in London, which is a good price for its owners.",
    "Last year the teacher left her school in Berlin; she wrote two books after that.",
    "Their doctor doesn't know whether you are right, but the old man has never lost a game.",
)
UNICODE = st.text(
    st.one_of(
        st.sampled_from("abeinorst AEIM.,'’1290\n"),
        st.sampled_from("e\u0301\u0308\u200d\u200c\ufe0f\u094dकष한\u1112\u1161\u11abกำй👩🔬🏽ßǆﬁ"),
        st.characters(),
    ),
    max_size=60,
)
SENTENCES = st.lists(st.sampled_from(PROSE), min_size=1, max_size=6).map(" ".join)
COUNTS = st.integers(min_value=1, max_value=6)
SEEDS = st.integers(min_value=0, max_value=2**32)


def damaged(name: str, text: str, *, seed: int, k: int) -> Damage:
    return RULES[name].damage(Case(text=text), generator_for(seed, name, "id"), k=k)


def edits_for(name: str, k: int) -> int:
    return 1 if name in ONE_EDIT else 2 * k if name in TWO_EDITS_EACH else k


def untouched(text: str, places: tuple[tuple[int, int], ...]) -> Iterator[str]:
    reached = 0
    for start, end in (*places, (len(text), len(text))):
        yield text[reached:start]
        reached = end


def check(name: str, text: str, *, seed: int, k: int) -> tuple[Edit, ...]:
    """Assert what holds of every damage, and return its edits; none where it is refused."""
    try:
        damage = damaged(name, text, seed=seed, k=k)
    except PerturbationError as error:
        # a refusal is as good, if it has a reason
        if not isinstance(error, NothingToDamageError) and "k must be 2" not in str(error):
            raise
        return ()
    assert damaged(name, text, seed=seed, k=k) == damage
    assert len(damage.edits) == edits_for(name, k)
    struck = tuple((edit.start, edit.end) for edit in damage.edits)
    assert list(untouched(text, struck)) == list(untouched(damage.text, damage.places))
    told = [damage.text[start:end] for start, end in damage.places]
    assert told == [edit.text for edit in damage.edits]
    return damage.edits


@pytest.mark.parametrize("name", RULES)
@settings(max_examples=50)
@given(text=SENTENCES, seed=SEEDS, k=COUNTS)
def test_k_of_a_rule_is_k_in_english_prose(name: str, text: str, seed: int, k: int) -> None:
    check(name, text, seed=seed, k=k)


@pytest.mark.parametrize("name", ANY_LANGUAGE)
@settings(max_examples=50)
@given(text=UNICODE, seed=SEEDS, k=COUNTS)
def test_no_rule_cuts_a_letter_in_two(name: str, text: str, seed: int, k: int) -> None:
    for edit in check(name, text, seed=seed, k=k):
        for bound in {edit.start, edit.end} - {0, len(text)}:
            assert not unicodedata.category(text[bound]).startswith("M")
            assert text[bound - 1] != "\u200d"


@pytest.mark.parametrize("name", RULES)
@settings(max_examples=50)
@given(text=UNICODE | UNICODE.map(lambda text: f"{PROSE[1]} {text} {PROSE[2]}"), seed=SEEDS)
def test_no_text_breaks_a_rule(name: str, text: str, seed: int) -> None:
    check(name, text, seed=seed, k=1)


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("text", ["", " \n\t ", "👩‍🔬🎉", "x", "—", "\u0301", "。"])
def test_a_text_with_nothing_in_it_is_nothing_to_damage(name: str, text: str) -> None:
    with pytest.raises(NothingToDamageError, match=r"only|English|no word"):
        damaged(name, text, seed=1, k=3)


@pytest.mark.parametrize("name", RULES)
def test_english_prose_is_damaged_at_all(name: str) -> None:
    case = Case(text=" ".join(PROSE))
    assert RULES[name].damage(case, generator_for(1, name, "id")).text != case.text


@pytest.mark.parametrize("name", RULES)
def test_a_count_below_one_is_refused(name: str) -> None:
    with pytest.raises(PerturbationError, match="k must be . or more, got 0"):
        damaged(name, " ".join(PROSE), seed=1, k=0)


@pytest.mark.parametrize("name", [name for name, rule in RULES.items() if rule.language])
def test_an_english_rule_refuses_german(name: str) -> None:
    german = "Der Mann hat am 12. Mai 2015 in Berlin zwei Bücher mit dem Hund gelesen, in der Tat."
    with pytest.raises(NothingToDamageError, match="not English"):
        damaged(name, german, seed=1, k=1)


@pytest.mark.parametrize("name", RULES)
def test_no_aspect_is_both_harmed_and_spared(name: str) -> None:
    rule = RULES[name]
    assert rule.family in {"character", "word-and-grammar", "entities-and-numbers", "meaning"}
    assert rule.effects
    assert rule.level == ("character" if rule.family == "character" else "word")


def test_seeds_damage_differently() -> None:
    text = " ".join(PROSE)
    told = {damaged("delete_characters", text, seed=seed, k=5).text for seed in range(20)}
    assert len(told) == 20


def test_every_letter_and_digit_that_a_scanner_misreads_becomes_another() -> None:
    for text in "abceofghilnqrstuvyzBDEGIOSZ0125689dmw":
        (edit,) = check("ocr_errors", text, seed=1, k=1)
        assert edit.text != text
