"""Damage to letters is what its name says, and of whole letters."""

import pytest

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


def outcomes(rule: Perturbation, text: str, *, k: int = 1) -> set[str]:
    """Return all that comes out over many seeds."""
    case = Case(text=text)
    return {rule.damage(case, generator_for(seed, "rule", "id"), k=k).text for seed in range(60)}


def test_one_strike_has_these_outcomes() -> None:
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
        assert outcomes(rule, text) == expected, (rule, text, expected)


def test_the_requested_number_of_letters_is_deleted() -> None:
    text = "Delete 10 of these 29 letters or digits."
    assert {len(text) - len(new) for new in outcomes(delete_characters, text, k=10)} == {10}
    assert outcomes(delete_characters, "a.b.c", k=3) == {".."}


def test_two_slips_never_meet() -> None:
    assert outcomes(swap_letters, "abcdef", k=3) == {"badcfe"}


def test_too_short_a_text_is_refused_with_what_is_missing() -> None:
    with pytest.raises(NothingToDamageError, match=r"too few letters or digits \(4 of 10 needed\)"):
        outcomes(delete_characters, "a b c 4!", k=10)
    with pytest.raises(NothingToDamageError, match=r"too few letters or digits \(3 of 5 needed\)"):
        outcomes(typos, "abc", k=3)


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
