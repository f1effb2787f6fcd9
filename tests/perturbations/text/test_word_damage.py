"""Damage to letters, words, grammar, names, numbers and meaning is what its name says."""

import random  # noqa: TID251  whose state is to be kept
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec

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
from spanjury.perturbations.text.characters import (
    change_case,
    delete_characters,
    double_letters,
    homoglyphs,
    neighbour_keys,
    ocr_errors,
    swap_letters,
    typos,
)
from spanjury.perturbations.text.clusters import masked
from spanjury.perturbations.text.entities import fictional_entity, swap_entities
from spanjury.perturbations.text.grammar import (
    break_agreement,
    change_tense,
    drop_articles,
    wrong_prepositions,
)
from spanjury.perturbations.text.language import require_english
from spanjury.perturbations.text.meaning import antonym, hypernym, negate, wrong_pronoun
from spanjury.perturbations.text.names import names
from spanjury.perturbations.text.numbers import change_date, change_number, change_unit
from spanjury.perturbations.text.paper_typos import dhp_typos
from spanjury.perturbations.text.roles import swap_roles
from spanjury.perturbations.text.verbs import verbs
from spanjury.perturbations.text.words import (
    confuse_words,
    delete_word_run,
    repeat_word,
    shuffle_words,
)

TEXT = "The cat sat on the mat in 2015, and Nora Blake will tell all of it to her book club."
needs_package = pytest.mark.skipif(
    find_spec("typo") is None, reason="the extra 'dhp' is not installed"
)


def outcomes(rule: Perturbation, text: str, **options: object) -> set[str]:
    """Return all that comes out over many seeds."""
    case = Case(text=text)
    return {rule.damage(case, generator_for(s, "rule", "id"), **options).text for s in range(40)}


@pytest.mark.parametrize(
    ("rule", "text", "expected"),
    [
        (repeat_word, "No, never.", {"No No, never.", "No, never never."}),
        (repeat_word, "Well well that", {"Well well well that"}),
        (confuse_words, "They lost their dog.", {"They lost there dog.", "They lost they're dog."}),
        (confuse_words, "It’s what they want.", {"Its what they want."}),
        (confuse_words, "She could have won.", {"She could of won.", "She could have one."}),
        (break_agreement, "He was there.", {"He were there."}),
        (break_agreement, "She said that he wants to go.", {"She said that he want to go."}),
        (break_agreement, "They want it.", {"They wants it."}),
        (break_agreement, "These dogs would have won.", {"This dogs would have won."}),
        (change_tense, "He left early.", {"He leaves early."}),
        (change_tense, "They sold it.", {"They sell it."}),
        (change_tense, "The man was shot.", {"The man is shot."}),
        (change_tense, "It costs more, he says.", {"It costs more, he said."}),
        (drop_articles, "The dog saw a cat.", {"Dog saw a cat.", "The dog saw cat."}),
        (
            drop_articles,
            "I took an apple (the red).",
            {"I took apple (the red).", "I took an apple (red)."},
        ),
        (wrong_prepositions, "He is from Rome.", {"He is of Rome.", "He is until Rome."}),
        (change_unit, "It is 40 km to go.", {"It is 40 mi to go."}),
        (
            change_unit,
            "He waited for an hour.",
            {"He waited for a minute.", "He waited for a day."},
        ),
        (change_unit, "It cost $5.", {"It cost £5.", "It cost €5."}),
        (change_unit, "A second man was there.", None),
        (change_number, "He was there on 12 May 2015.", None),
        (change_number, "The Boeing 747-400 and the F16.", None),
        (negate, "He is not ill.", {"He is ill."}),
        (negate, "He won't go.", {"He will go."}),
        (negate, "She never smiled at him.", {"She smiled at him."}),
        (negate, "The dog bit the man.", {"The dog did not bite the man."}),
        (negate, "They can swim.", {"They cannot swim."}),
        (negate, "She has a car.", None),
        (negate, "She has gone home.", {"She has not gone home."}),
        (negate, "Is he at home?", None),
        (antonym, "It was an old house.", {"It was a new house.", "It was a young house."}),
        (hypernym, "He saw a dog.", {"He saw an animal."}),
        (wrong_pronoun, "She asked her to go.", {"He asked her to go.", "She asked him to go."}),
        (wrong_pronoun, "It is her car.", {"It is his car."}),
        (swap_roles, "The police arrested Anna.", {"Anna arrested the police."}),
        (swap_roles, "He was praised by the mayor.", {"The mayor was praised by him."}),
        (swap_roles, "He said that she left him.", {"He said that he left her."}),
        (swap_roles, "Anna left the house of her aunt.", None),
        (swap_roles, "France and Spain signed the treaty.", None),
        (swap_roles, "Later Anna left the house.", {"Later the house left Anna."}),
        (swap_roles, "He carried the man home.", {"The man carried him home."}),
    ],
)
def test_one_strike_has_these_outcomes(
    rule: Perturbation, text: str, expected: set[str] | None
) -> None:
    if expected is None:
        with pytest.raises(NothingToDamageError, match="too few"):
            outcomes(rule, text)
    else:
        assert outcomes(rule, text, k=1) == expected


def test_words_of_a_run_go_with_what_is_between_them() -> None:
    expected = {"three, four.", "One four.", "One two."}
    assert outcomes(delete_word_run, "One two three, four.", k=2) == expected
    with pytest.raises(NothingToDamageError, match="too few runs of 4 words"):
        outcomes(delete_word_run, "One two three, four.", k=4)


def test_words_are_shuffled_within_a_sentence_and_the_gaps_stay() -> None:
    expected = {"Yes, b a. C.", "B, Yes a. C."} | {"a, b Yes. C.", "b, Yes a. C."}
    result = outcomes(shuffle_words, "Yes, a b. C.", k=3)
    assert result <= {"Yes, b a. C.", *expected, "a, Yes b. C.", "b, a Yes. C."}
    assert len(result) == 5


def test_names_are_kept_apart() -> None:
    text = (
        "On Monday Mr Reed met Ann Lee of Ostrel University in Paris. The French BBC saw Lee, "
        "not Zorb. Nobody asked I. Zorb from Leeds United."
    )
    assert [(name.text, name.sort) for name in names(text)] == [
        ("Reed", "person"),
        ("Ann Lee of Ostrel University", "organisation"),
        ("Paris", "place"),
        ("BBC", "acronym"),
        ("Lee", "person"),
        ("Zorb", "other"),
        ("Zorb", "other"),
        ("Leeds United", "organisation"),
    ]


def test_an_invented_name_is_of_the_same_sort() -> None:
    result = outcomes(fictional_entity, "He said that Ann Lee was in the UK.", k=2)
    assert all(new.startswith("He said that ") and " was in the " in new for new in result)
    assert not any("Ann" in new or "UK" in new for new in result)


def test_names_of_one_sort_change_places() -> None:
    text = "In Paris, Ann Lee met Bob Ray, not Bob."
    expected = {
        "In Paris, Bob Ray met Ann Lee, not Bob.",
        "In Paris, Bob met Bob Ray, not Ann Lee.",
    }
    assert outcomes(swap_entities, text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Paul, Rita and Tom agreed on the plan.",
        "France and Germany signed it.",
        "Neither Intel nor Zelora has said that it would.",
        "He named the guests:\n- Ann Lee\n- Bob Ray",
    ],
)
def test_names_of_an_enumeration_do_not_change_places(text: str) -> None:
    with pytest.raises(NothingToDamageError, match="too few pairs"):
        outcomes(swap_entities, text)


def test_a_name_leaves_an_enumeration_for_a_place_of_its_own() -> None:
    expected = {"Ann and Carla met Bob in the hall.", "Carla and Bob met Ann in the hall."}
    assert outcomes(swap_entities, "Ann and Bob met Carla in the hall.") == expected


def test_names_of_a_book_are_paired_at_once() -> None:
    text = "In the end Ann saw the house of Bob. " * 20_000
    damage = swap_entities.damage(Case(text=text), generator_for(1, "rule", "id"), k=2)
    assert len(damage.edits) == 4


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('He said: "Everything is fine." "Nobody left," Ann said.', ["Ann"]),
        ("Ann: Are you in?\nBob: No, I am in Zorbau.", ["Ann", "Bob", "Zorbau"]),
        ("- Open the lid\n1. Drive to Rome\n**Note** that Bob left.", ["Rome", "Bob"]),
        ("It was -5 °C in St. Louis.", ["St. Louis"]),
        ('In the film "Frozen" she met Ann.', ["Frozen", "Ann"]),
    ],
)
def test_a_capital_at_a_beginning_is_no_name(text: str, expected: list[str]) -> None:
    assert [name.text for name in names(text)] == expected


def test_a_changed_number_is_written_alike() -> None:
    result = outcomes(change_number, "It cost 1,250.75 in all.")
    assert result == {f"It cost {digit},250.75 in all." for digit in range(2, 10)}
    assert outcomes(change_number, "It weighs 0.05 kg.") >= {"It weighs 0.02 kg."}
    assert "He has eleven cats." in outcomes(change_number, "He has ten cats.")
    items = "This is the list:\n1. He has cats.\n  2) It rained."
    with pytest.raises(NothingToDamageError, match="too few numbers"):
        outcomes(change_number, items)


def test_a_changed_date_is_a_date() -> None:
    assert "On Friday it rained." in outcomes(change_date, "On Monday it rained.")
    assert "He may go in June." in outcomes(change_date, "He may go in May.")
    days = outcomes(change_date, "That was on 3 March.")
    assert days <= {
        *(f"That was on {day} March." for day in range(1, 29)),
        *(new for new in days if new.startswith("That was on 3 ")),
    }
    years = outcomes(change_date, "It began in 1990.")
    assert years <= {f"It began in {year}." for year in range(1975, 2006)}
    with pytest.raises(NothingToDamageError):
        outcomes(change_date, "There were 1990 of them in the hall.")


@pytest.mark.parametrize(
    ("base", "past", "third"),
    [
        ("go", "went", "goes"),
        ("carry", "carried", "carries"),
        ("play", "played", "plays"),
        ("use", "used", "uses"),
        ("watch", "watched", "watches"),
        ("stop", "stopped", "stops"),
    ],
)
def test_verbs_are_inflected(base: str, past: str, third: str) -> None:
    verb = verbs("base")[base]
    assert (verb.past, verb.third) == (past, third)


@pytest.mark.parametrize(
    "text", ["Denver Broncos", "In Rome.", "He was there with the dog of his aunt, la Señora Ruiz."]
)
def test_english_is_let_through(text: str) -> None:
    require_english(text)


@pytest.mark.parametrize(
    "text",
    [
        "Москва слезам не верит.",
        "東京は日本の首都です。",
        "Le chat est dans la maison avec les enfants.",
        "El perro no come por la noche.",
        "Quousque tandem abutere Catilina patientia nostra furor iste tuus.",
        "42!",
    ],
)
def test_other_languages_are_not(text: str) -> None:
    with pytest.raises(NothingToDamageError, match=r"not English\D*$|no word"):
        require_english(text)


def letter_outcomes(rule: Perturbation, text: str, *, k: int = 1) -> set[str]:
    """Return all that comes out over many seeds."""
    case = Case(text=text)
    return {rule.damage(case, generator_for(seed, "rule", "id"), k=k).text for seed in range(60)}


def test_one_strike_at_a_letter_has_these_outcomes() -> None:
    for rule, text, expected in [
        (delete_characters, "ab-1", {"b-1", "a-1", "ab-"}),
        (delete_characters, "ne\u0301e!", {"e\u0301e!", "ne!", "ne\u0301!"}),
        (change_case, "aB 1é", {"AB 1é", "ab 1é", "aB 1É"}),
        (homoglyphs, "woZz", {"wоZz", "woΖz"}),
        (homoglyphs, "e\u0301", {"е\u0301"}),
        (ocr_errors, "kern", {"kcrn", "kem", "keru"}),
        (ocr_errors, "5th", {"Sth", "5fh", "5tb"}),
        (double_letters, "ab 1", {"aab 1", "abb 1"}),
        (double_letters, "한e\u0308", {"한한e\u0308", "한e\u0308e\u0308"}),
        (neighbour_keys, "Q!", {"W!", "A!"}),
        (neighbour_keys, "1я", {"2я", "qя"}),
        (swap_letters, "abb c", {"bab c"}),
        (swap_letters, "e\u0301n", {"ne\u0301"}),
        (typos, "Q ", {" ", "QQ ", "W ", "A "}),
        (typos, "яю", {"ю", "юя", "яяю", "я", "яюю"}),
    ]:
        assert letter_outcomes(rule, text) == expected, (rule, text, expected)


def test_the_requested_number_of_letters_is_deleted() -> None:
    text = "Delete 10 of these 29 letters or digits."
    assert {len(text) - len(new) for new in letter_outcomes(delete_characters, text, k=10)} == {10}
    assert letter_outcomes(delete_characters, "a.b.c", k=3) == {".."}


def test_two_slips_never_meet() -> None:
    assert letter_outcomes(swap_letters, "abcdef", k=3) == {"badcfe"}


def test_too_short_a_text_is_refused_with_what_is_missing() -> None:
    with pytest.raises(NothingToDamageError, match=r"too few letters or digits \(4 of 10 needed\)"):
        letter_outcomes(delete_characters, "a b c 4!", k=10)
    with pytest.raises(NothingToDamageError, match=r"too few letters or digits \(3 of 5 needed\)"):
        letter_outcomes(typos, "abc", k=3)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (delete_characters, "Th at sat on the mat n 215."),
        (typos, "Thee cay sat on the mat un 2105."),
    ],
)
def test_a_seed_means_the_same_damage_in_all_versions(rule: Perturbation, expected: str) -> None:
    case = Case(text="The cat sat on the mat in 2015.")
    assert rule.damage(case, generator_for(1, "rule", "id"), k=4).text == expected


def test_every_letter_is_struck_about_as_often() -> None:
    text = "abcdefghij"
    hits = dict.fromkeys(text, 0)
    for seed in range(3000):
        damage = delete_characters.damage(Case(text=text), generator_for(seed, "a", "b"), k=3)
        for edit in damage.edits:
            hits[text[edit.start]] += 1
    # 900 expected each; 5 standard deviations of a binomial of 3000 and .3 are 125
    assert all(775 < count < 1025 for count in hits.values())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("curly ’", "curly ’"),
        ("e\u0301", "eʰ"),
        (" \u0301x", "\ufffc\ufffcx"),
        ("\n\u0301x", "\n\u0301x"),
        ("क्ष", "कʰʰ"),
        ("\u1112\u1161\u11ab\u1100\u1173\u11af", "\u1112ʰʰ\u1100ʰʰ"),
        ("👩\u200d🔬", "👩\ufffc\ufffc"),
        ("1\ufe0f\u20e3", "1ʰʰ"),
        ("\u06001", "\u0600\ufffc"),
        ("กำ", "กʰ"),
    ],
)
def test_combining_marks_of_a_letter_are_masked(text: str, expected: str) -> None:
    assert masked(text) == expected


def damaged(text: str, *, k: int, seed: int = 1) -> Damage:
    return dhp_typos.damage(Case(text=text), generator_for(seed, "dhp-typos", "a"), k=k)


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
