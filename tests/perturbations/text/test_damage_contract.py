"""Promises of every rule that damages texts, whatever the text and the seed.

A law is one test that goes through all rules, so that a failure names the rule.
"""

import inspect
import re
import unicodedata
from collections.abc import Iterator
from types import ModuleType

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
    bias,
    characters,
    content,
    discourse,
    entities,
    grammar,
    harmless,
    meaning,
    mismatch,
    mixtures,
    numbers,
    roles,
    words,
)


def rules_of(*modules: ModuleType) -> dict[str, Perturbation]:
    return {
        name: rule
        for module in modules
        for name, rule in vars(module).items()
        if isinstance(rule, Perturbation)
    }


OF_WORDS = rules_of(characters, entities, grammar, meaning, numbers, roles, words)
OF_SENTENCES = rules_of(bias, content, discourse, harmless, mismatch, mixtures)
RULES = OF_WORDS | OF_SENTENCES
COUNTED = [
    name
    for name, rule in RULES.items()
    if "k" in inspect.signature(inspect.unwrap(rule.rule)).parameters
]
ANY_LANGUAGE = [name for name, rule in OF_WORDS.items() if not rule.language]
ENGLISH = [name for name, rule in RULES.items() if rule.language]
ONE_EDIT = {"continue_text", "delete_word_run", "shuffle_words"}
TWO_EDITS_EACH = {"swap_entities", "swap_roles"}

FACTS = (
    "Nora Blake met Omar Reed in Paris on 12 May 2015 because they wanted to buy a big red car.",
    "The dog chased a cat, and it was not happy about the 20 miles that it had to walk.",
    "He says that the company sold 1,200 houses in London, which is a good price for its owners.",
    "Last year the teacher left her school in Berlin; she wrote two books after that.",
    "Their doctor doesn't know whether you are right, but the old man has never lost a game.",
)
STORY = (
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
FOREIGN = (
    "Der Mann hat am 12. Mai 2015 in Berlin zwei Bücher mit dem Hund gelesen, in der Tat.",
    "Der Hund ist nicht mehr da. Er lief mit den Kindern in das Haus.",
    "这只狗不见了。它和孩子们跑进了屋子。",
)
EMPTY = ("", " \n\t ", " \n ", "👩‍🔬🎉", "👍🏽", "x", "—", "\u0301", "。", ".")
UNICODE = st.text(
    st.one_of(
        st.sampled_from("abeinorst AEIMT.,!?。！'’\"“”…—- 1290\n"),
        st.sampled_from("e\u0301\u0308\u200d\u200c\ufe0f\u094dकष한\u1112\u1161\u11abกำй👩🔬🏽ßǆﬁ"),
        st.characters(),
    ),
    max_size=80,
)
SEEDS = st.integers(min_value=0, max_value=2**32)


def sentences(texts: tuple[str, ...]) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(texts), min_size=1, max_size=6).map(" ".join)


def prose(name: str) -> str:
    return " ".join(FACTS if name in OF_WORDS else STORY)


def damaged(name: str, text: str, *, seed: int = 1, k: int | None = None) -> Damage:
    options = {} if k is None else {"k": k}
    wrong = "Nobody came. The lake was dry."
    case = Case(text=text, inputs={"Article": "Rain fell. " * 9}, others=OTHERS, wrong=wrong)
    return RULES[name].damage(case, generator_for(seed, name, "id"), **options)


def refusal(name: str, text: str, *, k: int | None = None) -> PerturbationError | None:
    try:
        damaged(name, text, k=k)
    except PerturbationError as error:
        return error
    return None


def edits_for(name: str, k: int) -> int:
    return 1 if name in ONE_EDIT else 2 * k if name in TWO_EDITS_EACH else k


def untouched(text: str, intervals: tuple[tuple[int, int], ...]) -> Iterator[str]:
    reached = 0
    for start, end in (*intervals, (len(text), len(text))):
        yield text[reached:start]
        reached = end


def check(name: str, text: str, *, seed: int = 1, k: int = 1) -> tuple[Edit, ...]:
    """Assert what holds of every damage, and return its edits; none where it is refused."""
    count = k if name in COUNTED else None
    try:
        damage = damaged(name, text, seed=seed, k=count)
    except PerturbationError as error:
        # a refusal is as good, if it has a reason
        if not isinstance(error, NothingToDamageError) and "k must be 2" not in str(error):
            raise
        return ()
    assert damaged(name, text, seed=seed, k=count) == damage, name
    assert damage.text != text, name
    if name in COUNTED:
        assert len(damage.edits) == edits_for(name, k), name
    struck = tuple((edit.start, edit.end) for edit in damage.edits)
    assert list(untouched(text, struck)) == list(untouched(damage.text, damage.places)), name
    written = [damage.text[start:end] for start, end in damage.places]
    assert written == [edit.text for edit in damage.edits], name
    return damage.edits


def cuts_a_letter(text: str, index: int) -> bool:
    if not 0 < index < len(text):
        return False
    follows = text[index] == "\u200d" or unicodedata.category(text[index])[0] == "M"
    return follows and not text[index - 1] < " "


@settings(max_examples=50)
@given(facts=sentences(FACTS), story=sentences(STORY), seed=SEEDS, k=st.integers(1, 6))
def test_k_of_a_rule_is_k_in_english_prose(facts: str, story: str, seed: int, k: int) -> None:
    for name in RULES:
        check(name, facts if name in OF_WORDS else story, seed=seed, k=k)


@settings(max_examples=50)
@given(text=UNICODE, seed=SEEDS, k=st.integers(1, 6))
def test_no_rule_cuts_a_letter_in_two(text: str, seed: int, k: int) -> None:
    for name in ANY_LANGUAGE:
        for edit in check(name, text, seed=seed, k=k):
            for bound in {edit.start, edit.end} - {0, len(text)}:
                assert not unicodedata.category(text[bound]).startswith("M"), name
                assert text[bound - 1] != "\u200d", name
    for name in OF_SENTENCES:
        for edit in check(name, text, seed=seed):
            assert not cuts_a_letter(text, edit.start), name
            assert not cuts_a_letter(text, edit.end), name


@settings(max_examples=50)
@given(text=UNICODE | UNICODE.map(lambda text: f"{FACTS[1]} {text} {FACTS[2]}"), seed=SEEDS)
def test_no_text_breaks_a_rule(text: str, seed: int) -> None:
    for name in OF_WORDS:
        check(name, text, seed=seed)


def test_a_text_with_nothing_in_it_is_nothing_to_damage() -> None:
    for name in OF_WORDS:
        for text in EMPTY:
            error = refusal(name, text, k=3)
            assert isinstance(error, NothingToDamageError), name
            assert re.search("needed|English|no word", str(error)), name


def test_a_text_with_next_to_nothing_in_it_does_no_harm() -> None:
    for name in OF_SENTENCES:
        for text in EMPTY:
            check(name, text)


def test_english_prose_is_damaged_at_all() -> None:
    for name in RULES:
        assert damaged(name, prose(name)).text != prose(name), name


def test_a_count_below_one_is_refused() -> None:
    for name in COUNTED:
        assert re.match("k must be . or more.*, got 0", str(refusal(name, prose(name), k=0))), name


def test_an_english_rule_says_that_a_text_is_not_english() -> None:
    for name in ENGLISH:
        for text in FOREIGN:
            error = refusal(name, text)
            assert isinstance(error, NothingToDamageError), name
            assert "not English" in str(error), name


def test_no_aspect_is_both_harmed_and_spared() -> None:
    for name, rule in OF_WORDS.items():
        families = {"character", "word-and-grammar", "entities-and-numbers", "meaning"}
        assert rule.family in families, name
        assert rule.effects, name
        assert rule.level == ("character" if rule.family == "character" else "word"), name


def test_a_change_that_spares_everything_says_so_of_any_aspect() -> None:
    unmoved = [rule for rule in OF_SENTENCES.values() if rule.effects.get("*") == "unchanged"]
    assert len(unmoved) >= 12
    for rule in unmoved:
        assert rule.family in {"invariance", "bias"}
        assert rule.effect_on("fluency") == rule.effect_on("one of the user's") == "unchanged"


def test_seeds_damage_differently() -> None:
    texts = {damaged("delete_characters", " ".join(FACTS), seed=seed).text for seed in range(20)}
    assert len(texts) == 20


def test_every_letter_and_digit_that_a_scanner_misreads_becomes_another() -> None:
    for text in "abceofghilnqrstuvyzBDEGIOSZ0125689dmw":
        (edit,) = check("ocr_errors", text)
        assert edit.text != text
