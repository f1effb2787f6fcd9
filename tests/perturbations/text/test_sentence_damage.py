"""Effects of the rules about sentences on a text that one can read."""

import pytest

from spanjury.judges.core import PerturbationError
from spanjury.perturbations.edits import Damage
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
from spanjury.perturbations.text.content import (
    continue_text,
    empty_text,
    fabricate_detail,
    omit_sentence,
    truncate,
)
from spanjury.perturbations.text.discourse import (
    reorder_sentences,
    repeat_sentence,
    rewrite_and_insert,
    wrong_connective,
)
from spanjury.perturbations.text.entities import invent_term
from spanjury.perturbations.text.harmless import (
    contractions,
    harmless_paraphrase,
    number_words,
    punctuation_style,
    whitespace,
)
from spanjury.perturbations.text.mismatch import (
    copied_source,
    other_document_sentence,
    random_ending,
    random_text,
    wrong_ending,
)
from spanjury.perturbations.text.mixtures import fictional_details, grammar_errors
from spanjury.perturbations.text.passages import passages

TEXT = "The dam broke at noon. Nobody was hurt. The mayor thanked the crew."
TOKENISED = "The dam broke at noon . Nobody was hurt ."
SENTENCES = [passage.text for passage in passages(TEXT)]
SEEDS = range(12)
CASE = Case(
    text=TEXT,
    inputs={"Title": "Dam", "Article": "A dam broke. " * 20},
    others=(TEXT, " ", "Stamps are dear. Few collect them."),
    wrong="The dam broke at noon. Everyone drowned.",
)
STORY = "The dam broke at noon. The mayor thanked the crew."


def test_the_number_of_an_item_belongs_to_its_sentence() -> None:
    text = "Do this:\n1. Open it.\n2. Wait for 5. Then close it.\n\n| a | b |\n|---|---|\n| c | d |"
    assert [passage.text for passage in passages(text)] == [
        "Do this:",
        "1. Open it.",
        "2. Wait for 5.",
        "Then close it.",
        "| a | b |",
        "|---|---|\n| c | d |",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "She sings as well as he does, and he went so far as to say it.",
        "It rained again and again, whether or not he was in the house.",
        "The currently used one was carried out of the house immediately after it.",
    ],
)
def test_phrases_with_two_senses_are_not_paraphrased(text: str) -> None:
    with pytest.raises(NothingToDamageError, match="too few phrases"):
        harmless_paraphrase.damage(Case(text=text), generator_for(1, "rule", "id"))


def test_words_of_certainty_begin_no_question() -> None:
    case = Case(text="Who has won? The mayor said that he was the one.")
    for seed in SEEDS:
        damaged = confident_tone.damage(case, generator_for(seed, "rule", "id")).text
        assert damaged.startswith("Who has won? ")


def done(rule: Perturbation, text: str, seed: int = 1, **options: object) -> Damage:
    return rule.damage(Case(text=text), generator_for(seed, "rule", "a"), **options)


def texts_of(rule: Perturbation, text: str, **options: object) -> set[str]:
    return {done(rule, text, seed, **options).text for seed in SEEDS}


def test_an_omitted_sentence_leaves_no_gap() -> None:
    assert texts_of(omit_sentence, TEXT) == {
        "Nobody was hurt. The mayor thanked the crew.",
        "The dam broke at noon. The mayor thanked the crew.",
        "The dam broke at noon. Nobody was hurt.",
    }
    assert texts_of(omit_sentence, TEXT, k=2) == set(SENTENCES)


def test_the_last_sentence_left_is_never_omitted() -> None:
    with pytest.raises(NothingToDamageError, match=r"too few sentences \(3 of 4 needed\)"):
        done(omit_sentence, TEXT, k=3)


def test_a_made_up_detail_stands_before_a_full_stop() -> None:
    damage = done(fabricate_detail, TEXT, k=3)
    for sentence, longer in zip(SENTENCES, passages(damage.text), strict=True):
        assert longer.text.startswith(f"{sentence[:-1]}, ")
        assert longer.text.endswith(".")


def test_additions_to_a_tokenised_text_are_tokenised() -> None:
    result = done(fabricate_detail, TOKENISED).text
    assert " , " in result
    assert not result.replace(" ,", "").replace(" .", "").endswith((",", "."))
    assert done(continue_text, TOKENISED, k=1).text.endswith(" .")


def test_a_continued_text_keeps_all_that_it_had() -> None:
    continued = done(continue_text, f"{TEXT}\n", k=2).text
    assert continued.startswith(TEXT)
    assert len(passages(continued)) == 5


def test_a_truncated_text_stops_between_two_words_of_a_sentence() -> None:
    for text in texts_of(truncate, TEXT):
        assert TEXT.startswith(text)
        assert text.split() == TEXT.split()[: len(text.split())]
        assert not text.endswith(".")


@pytest.mark.parametrize("share", [0.0, 1.0, -2.0])
def test_a_share_is_more_than_nothing_and_less_than_all(share: float) -> None:
    with pytest.raises(PerturbationError, match="share must lie between 0 and 1"):
        done(truncate, TEXT, share=share)


def test_the_nearest_break_is_taken_if_none_is_near_the_share() -> None:
    assert done(truncate, "Oh no! Unquestionably!", share=0.9).text == "Oh"


def test_an_emptied_text_is_empty() -> None:
    assert done(empty_text, TEXT).text == ""


def test_two_sentences_change_places() -> None:
    first, second, third = SENTENCES
    assert texts_of(reorder_sentences, TEXT) == {
        f"{second} {first} {third}",
        f"{third} {second} {first}",
        f"{first} {third} {second}",
    }


def test_all_sentences_change_places() -> None:
    for text in texts_of(reorder_sentences, TEXT, k="all"):
        moved = [passage.text for passage in passages(text)]
        assert sorted(moved) == sorted(SENTENCES)
        assert not any(a == b for a, b in zip(moved, SENTENCES, strict=True))


def test_sentences_that_are_the_same_cannot_change_places() -> None:
    with pytest.raises(NothingToDamageError, match=r"different sentences \(1 of 2 needed\)"):
        done(reorder_sentences, "Go on. Go on. Go on.")


def test_one_sentence_cannot_change_places_with_itself() -> None:
    with pytest.raises(PerturbationError, match="k must be 2 or more, or 'all', got 1"):
        done(reorder_sentences, TEXT, k=1)


def test_a_repeated_sentence_follows_itself() -> None:
    first, second, third = SENTENCES
    assert texts_of(repeat_sentence, TEXT) == {
        f"{first} {first} {second} {third}",
        f"{first} {second} {second} {third}",
        f"{first} {second} {third} {third}",
    }


def test_a_repeated_item_of_a_list_gets_a_line_of_its_own() -> None:
    assert done(repeat_sentence, "- one\n- two", k=2).text == "- one\n- one\n- two\n- two"


def test_no_blank_is_put_where_a_script_has_none() -> None:
    assert done(repeat_sentence, "下雨了。").text == "下雨了。下雨了。"


def test_a_connective_gives_way_to_one_of_another_sort() -> None:
    text = "It rained. However, we went out because the dog had to."
    for seed in SEEDS:
        damage = done(wrong_connective, text, seed, k=2)
        opening, joining = (edit.text for edit in damage.edits)
        assert opening not in {"However", "By contrast", "Nevertheless", "Nonetheless"}
        assert opening[0].isupper()
        assert joining != "because"
        assert joining.islower()


def test_a_sentence_without_a_connective_opens_with_a_wrong_one() -> None:
    result = done(wrong_connective, "It rained. The dog slept.")
    assert result.text.startswith("It rained. ")
    assert result.text.endswith(", the dog slept.")


def test_a_sentence_is_said_again_in_other_words() -> None:
    text = "When it rains, the children stay at home."
    result = [passage.text for passage in passages(done(rewrite_and_insert, text).text)]
    assert result[0] == text
    assert result[1].endswith(", the children stay at home when it rains.")


def test_a_phrase_that_is_said_again_is_replaced() -> None:
    text = "Ann Lee left in order to sleep. Ann Lee was tired."
    assert ", Ann Lee left so as to sleep. Ann Lee was" in done(rewrite_and_insert, text).text


def test_errors_of_grammar_are_of_several_kinds_and_do_not_meet() -> None:
    text = "She walks to the school in the morning and they were happy with the teacher."
    damage = done(grammar_errors, text, k=4)
    assert len(damage.edits) == 4
    assert all(a.end < b.start for a, b in zip(damage.edits, damage.edits[1:], strict=False))


def test_a_text_without_grammar_has_no_place_for_errors() -> None:
    with pytest.raises(NothingToDamageError, match=r"places for an error \(\d of 9 needed\)"):
        done(grammar_errors, "The dog was here.", k=9)


def test_a_name_or_a_number_is_invented_rather_than_a_noun() -> None:
    text = "Ann Lee gave the teacher 40 of the apples."
    for seed in SEEDS:
        damage = done(fictional_details, text, seed, k=2)
        assert "the teacher" in damage.text
        assert "the apples" in damage.text
        assert "40" not in damage.text


def test_a_noun_is_invented_if_there_is_no_name() -> None:
    result = done(fictional_details, "He bought a packet of yeast and started over.").text
    assert result.startswith("He bought a ")
    assert result.endswith(" and started over.")
    assert result != "He bought a packet of yeast and started over."


def test_an_invented_noun_is_a_plural_where_the_other_was_and_suits_its_article() -> None:
    for seed in SEEDS:
        result = done(invent_term, "She fed the horses and left a basket.", seed, k=2).text.split()
        assert result[3].endswith("s")
        assert result[6] == ("an" if result[7][0] in "aeiou" else "a")


def test_words_that_only_look_like_nouns_are_left_alone() -> None:
    with pytest.raises(NothingToDamageError, match="too few nouns"):
        done(invent_term, "Most of them were the same, of course.")


def struck(rule: Perturbation, case: Case, **options: object) -> str:
    return rule.damage(case, generator_for(1, "rule", "a"), **options).text


def test_a_text_written_for_another_input_takes_the_place() -> None:
    assert struck(random_text, CASE) == "Stamps are dear. Few collect them."


def test_the_ending_of_another_text_takes_the_place_of_the_last_sentence() -> None:
    result = struck(random_ending, CASE)
    assert result == "The dam broke at noon. Nobody was hurt. Few collect them."


def test_a_wrong_ending_is_damage_only_from_where_it_differs() -> None:
    damage = wrong_ending.damage(CASE, generator_for(1, "rule", "a"))
    assert damage.text == CASE.wrong
    (edit,) = damage.edits
    assert edit.text == " Everyone drowned."


def test_a_foreign_sentence_stands_among_the_others() -> None:
    result = [passage.text for passage in passages(struck(other_document_sentence, CASE))]
    (foreign,) = set(result) - set(SENTENCES)
    assert foreign in {"Stamps are dear.", "Few collect them."}
    assert [sentence for sentence in result if sentence != foreign] == SENTENCES


def test_the_source_is_copied_for_about_as_long_as_the_text_is() -> None:
    result = struck(copied_source, CASE)
    assert CASE.inputs["Article"].startswith(result)
    assert len(TEXT) <= len(result) < len(TEXT) + len("A dam broke. ")


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        (random_text, "no other text to take from"),
        (random_ending, "no other text to take from"),
        (other_document_sentence, "no other text to take from"),
        (wrong_ending, "no text is known to be wrong"),
        (copied_source, "no input to copy"),
    ],
)
def test_a_mismatch_needs_something_to_take_from(rule: Perturbation, reason: str) -> None:
    with pytest.raises(NothingToDamageError, match=reason):
        done(rule, TEXT)


def test_texts_that_end_in_the_same_way_give_no_other_ending() -> None:
    case = Case(text="It rained. Good night.", others=("We slept. Good night.",))
    with pytest.raises(NothingToDamageError, match="end in the same way"):
        struck(random_ending, case)


def test_no_more_foreign_sentences_than_texts_to_take_them_from() -> None:
    with pytest.raises(NothingToDamageError, match=r"too few texts to take from \(1 of 2 needed\)"):
        struck(other_document_sentence, CASE, k=2)


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
        ("It's `print('a')`\n```\nx = 'b'", "It’s `print('a')`\n```\nx = 'b'"),
    ],
)
def test_punctuation_is_drawn_the_other_way(text: str, other: str) -> None:
    assert changed(punctuation_style, text) == other


@pytest.mark.parametrize("rule", [punctuation_style, whitespace])
def test_json_is_not_restyled(rule: Perturbation) -> None:
    with pytest.raises(NothingToDamageError):
        changed(rule, '{"motto": "it\'s a late start"}')
    assert changed(rule, "{it's not a JSON object, so it's prose}")


@pytest.mark.parametrize("rule", [bandwagon_claim, authority_claim, prompt_injection])
def test_a_claim_stands_at_the_end_and_the_text_is_as_it_was(rule: Perturbation) -> None:
    result = changed(rule, STORY)
    assert result.startswith(f"{STORY} ")
    assert len(result) > len(STORY) + 20


def test_an_author_is_named_in_a_line_of_its_own() -> None:
    label, _, rest = changed(author_label, STORY).partition("\n\n")
    assert label
    assert rest == STORY


def test_fillers_stand_behind_sentences_and_differ() -> None:
    result = changed(pad_with_filler, STORY, k=2)
    first, second = result.removeprefix("The dam broke at noon. ").split(
        " The mayor thanked the crew. "
    )
    assert first != second


def test_a_sentence_begins_with_certainty() -> None:
    result = changed(confident_tone, STORY, k=2)
    assert " the dam broke at noon. " in result
    assert result.endswith(" the mayor thanked the crew.")


def test_a_name_keeps_its_capital_after_words_of_certainty() -> None:
    assert changed(confident_tone, "Ann Lee was there.").endswith(" Ann Lee was there.")


def test_sentences_become_a_list_with_the_first_in_bold() -> None:
    assert changed(markdown_decoration, STORY) == (
        "- **The dam broke at noon.**\n- The mayor thanked the crew."
    )
    assert changed(markdown_decoration, "下雨了。晴了。") == "- **下雨了。**\n- 晴了。"
