"""What every rule about sentences promises, of whatever text it is given."""

import inspect
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanjury.judges.core import PerturbationError
from spanjury.perturbations.edits import Damage
from spanjury.perturbations.perturbation import (
    Case,
    NothingToDamageError,
    Perturbation,
    generator_for,
)
from spanjury.perturbations.text import (
    bias,
    content,
    discourse,
    harmless,
    mismatch,
    mixtures,
)

MODULES = (bias, content, discourse, harmless, mismatch, mixtures)
RULES = {
    name: rule
    for module in MODULES
    for name in module.__all__
    if isinstance(rule := getattr(module, name), Perturbation)
}
COUNTED = [
    name
    for name, rule in RULES.items()
    if "k" in inspect.signature(inspect.unwrap(rule.rule)).parameters
]
ONE_EDIT = {"continue_text"}
UNMOVED = [name for name, rule in RULES.items() if rule.effects.get("*") == "unchanged"]

PROSE = (
    "The rain did not stop because the clouds were heavy.",
    "However, the three people in the house were happy.",
    'She said "we are late", and nobody was surprised.',
    "When the sun came out, the children went to the lake.",
    "For example, they are going to swim in order to cool down.",
    "It was a long day... but a good one.",
)
OTHERS = (
    "A ship sank. Its crew was saved.",
    "Bread is cheap! It always was.",
    "这是另一篇文章。很短。",
)
SENTENCES = st.lists(st.sampled_from(PROSE), min_size=1, max_size=6).map(" ".join)
UNICODE = st.text(
    st.one_of(
        st.sampled_from("abe AIT.!?。！\n'\"“”’…—- 129"),
        st.sampled_from("e\u0301\u0308\u200d\ufe0f\u094dकष한👩🔬🏽ßﬁ"),
        st.characters(),
    ),
    max_size=80,
)


def case_of(text: str) -> Case:
    wrong = "Nobody came. The lake was dry."
    return Case(text=text, inputs={"Article": "Rain fell. " * 9}, others=OTHERS, wrong=wrong)


def damaged(name: str, text: str, *, seed: int = 1, **options: object) -> Damage | None:
    rule: Perturbation = RULES[name]
    try:
        return rule.damage(case_of(text), generator_for(seed, name, "a"), **options)
    except NothingToDamageError:
        return None


def cuts_a_letter(text: str, index: int) -> bool:
    if not 0 < index < len(text):
        return False
    follows = text[index] == "\u200d" or unicodedata.category(text[index])[0] == "M"
    return follows and not text[index - 1] < " "


@pytest.mark.parametrize("name", RULES)
@settings(max_examples=15)
@given(text=SENTENCES, seed=st.integers(0, 9))
def test_the_same_seed_does_the_same_damage(name: str, text: str, seed: int) -> None:
    first, second = (damaged(name, text, seed=seed) for _ in range(2))
    assert first == second
    assert first is None or first.text != text


@pytest.mark.parametrize("name", COUNTED)
@settings(max_examples=25)
@given(text=SENTENCES, k=st.integers(2, 5))
def test_k_means_k(name: str, text: str, k: int) -> None:
    damage = damaged(name, text, k=k)
    if damage is not None:
        assert len(damage.edits) == (1 if name in ONE_EDIT else k)


@pytest.mark.parametrize("name", COUNTED)
def test_less_than_one_is_refused(name: str) -> None:
    with pytest.raises(PerturbationError, match="k must be|are needed"):
        RULES[name].damage(case_of(" ".join(PROSE)), generator_for(1, name, "a"), k=0)


@pytest.mark.parametrize("name", RULES)
def test_ordinary_prose_can_be_damaged(name: str) -> None:
    assert damaged(name, " ".join(PROSE)) is not None


@pytest.mark.parametrize("name", RULES)
@settings(max_examples=40)
@given(text=UNICODE)
def test_no_letter_is_cut_in_two_whatever_the_text(name: str, text: str) -> None:
    damage = damaged(name, text)
    for edit in damage.edits if damage else ():
        assert not cuts_a_letter(text, edit.start)
        assert not cuts_a_letter(text, edit.end)


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("text", ["", " \n ", "👍🏽", "x", "."])
def test_a_text_with_next_to_nothing_in_it_does_no_harm(name: str, text: str) -> None:
    damage = damaged(name, text)
    assert damage is None or damage.text != text


@pytest.mark.parametrize("name", [name for name, rule in RULES.items() if rule.language])
@pytest.mark.parametrize(
    "text",
    [
        "Der Hund ist nicht mehr da. Er lief mit den Kindern in das Haus.",
        "这只狗不见了。它和孩子们跑进了屋子。",
    ],
)
def test_a_rule_for_english_says_that_a_text_is_not(name: str, text: str) -> None:
    with pytest.raises(NothingToDamageError, match="not English"):
        RULES[name].damage(case_of(text), generator_for(1, name, "a"))


@pytest.mark.parametrize("name", UNMOVED)
def test_a_change_that_spares_everything_says_so_of_any_aspect(name: str) -> None:
    rule = RULES[name]
    assert rule.family in {"invariance", "bias"}
    assert rule.effect_on("fluency") == rule.effect_on("one of the user's") == "unchanged"
