"""Effects of the changes that should leave a score as it is."""

import pytest

from spanjury.perturbations.perturbation import (
    Case,
    NothingToDamageError,
    Perturbation,
    generator_for,
)
from spanjury.perturbations.text.bias import (
    author_label,
    authority_claim,
    bandwagon_claim,
    confident_tone,
    markdown_decoration,
    pad_with_filler,
    prompt_injection,
)
from spanjury.perturbations.text.harmless import (
    contractions,
    harmless_paraphrase,
    number_words,
    punctuation_style,
    whitespace,
)

TEXT = "The dam broke at noon. The mayor thanked the crew."


def changed(rule: Perturbation, text: str, **options: object) -> str:
    return rule.damage(Case(text=text), generator_for(1, "rule", "a"), **options).text


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("They do not know.", "They don't know."),
        ("It isn't so.", "It is not so."),
        ("I am here, it’s said.", "I’m here, it’s said."),
        ("He CANNOT be the one.", "He CAN'T be the one."),
        ("We are late for it.", "We're late for it."),
        ("They won't be at the door.", "They will not be at the door."),
    ],
)
def test_a_verb_is_contracted_or_written_in_full(text: str, other: str) -> None:
    assert changed(contractions, text) == other


@pytest.mark.parametrize(
    "text", ["Is that how they are?", "Don't you see the dog?", "It did not only rain.", "The café"]
)
def test_a_verb_that_has_no_other_form_here_is_left_alone(text: str) -> None:
    with pytest.raises(NothingToDamageError, match="too few verbs"):
        changed(contractions, text)


@pytest.mark.parametrize(
    ("text", "other"),
    [("She had three dogs.", "She had 3 dogs."), ("They saw 11 ships.", "They saw eleven ships.")],
)
def test_a_small_number_is_written_in_the_other_way(text: str, other: str) -> None:
    assert changed(number_words, text) == other


@pytest.mark.parametrize(
    "text",
    [
        "On May 3 they left.",
        "It was at 3 pm when they left.",
        "They won by 3-1 and left.",
        "It was 3.5 metres in all.",
        "Between two and three of them left.",
        "The 70 of them left.",
    ],
)
def test_a_number_of_another_sort_is_left_alone(text: str) -> None:
    with pytest.raises(NothingToDamageError, match="too few plain numbers"):
        changed(number_words, text)


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("For example, the dog.", "For instance, the dog."),
        ("It was a huge house.", "It was an enormous house."),
        ("NOBODY was there.", "NO ONE was there."),
        ("An entire day it was.", "A whole day it was."),
    ],
)
def test_a_phrase_is_replaced_by_one_that_means_the_same(text: str, other: str) -> None:
    assert changed(harmless_paraphrase, text) == other


def test_a_part_of_a_longer_word_is_not_a_phrase() -> None:
    with pytest.raises(NothingToDamageError, match="too few phrases"):
        changed(harmless_paraphrase, "The filmstrip was nearly-new at the somebody's.")


def test_blanks_between_words_are_doubled() -> None:
    assert changed(whitespace, "a b c d", k=3) == "a  b  c  d"
    with pytest.raises(NothingToDamageError, match="too few single blanks"):
        changed(whitespace, "a  b\nc")


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ('"It\'s late," he said...', "“It’s late,” he said…"),
        ("“It’s late,” he said…", '"It\'s late," he said...'),
        ("an 'honour ' - it 's said", "an ‘honour ’ – it ’s said"),
        ("late—too late", "late – too late"),
        ("“6' 2 is tall”", '"6\' 2 is tall"'),
    ],
)
def test_punctuation_is_drawn_the_other_way(text: str, other: str) -> None:
    assert changed(punctuation_style, text) == other


@pytest.mark.parametrize("rule", [bandwagon_claim, authority_claim, prompt_injection])
def test_a_claim_stands_at_the_end_and_the_text_is_as_it_was(rule: Perturbation) -> None:
    result = changed(rule, TEXT)
    assert result.startswith(f"{TEXT} ")
    assert len(result) > len(TEXT) + 20


def test_an_author_is_named_in_a_line_of_its_own() -> None:
    label, _, rest = changed(author_label, TEXT).partition("\n\n")
    assert label
    assert rest == TEXT


def test_fillers_stand_behind_sentences_and_differ() -> None:
    result = changed(pad_with_filler, TEXT, k=2)
    first, second = result.removeprefix("The dam broke at noon. ").split(
        " The mayor thanked the crew. "
    )
    assert first != second


def test_a_sentence_begins_with_certainty() -> None:
    result = changed(confident_tone, TEXT, k=2)
    assert " the dam broke at noon. " in result
    assert result.endswith(" the mayor thanked the crew.")


def test_a_name_keeps_its_capital_after_words_of_certainty() -> None:
    assert changed(confident_tone, "Ann Lee was there.").endswith(" Ann Lee was there.")


def test_sentences_become_a_list_with_the_first_in_bold() -> None:
    assert changed(markdown_decoration, TEXT) == (
        "- **The dam broke at noon.**\n- The mayor thanked the crew."
    )
    assert changed(markdown_decoration, "下雨了。晴了。") == "- **下雨了。**\n- 晴了。"
