"""Sentences: where they begin and end, also in a text that grows."""

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanjury.judges.text.sentences import GrowingText, Sentence, sentence_intervals, sentences

WRAPPED = "The minister said that nobody in the whole department knew the new head of"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He said no. She left!", ["He said no.", "She left!"]),
        ("It cost 3.5 m... Then it broke.", ["It cost 3.5 m...", "Then it broke."]),
        ("Mr. J. K. Bow of the U.S. Bureau came.", ["Mr. J. K. Bow of the U.S. Bureau came."]),
        ('"Stop." (He did.) So.', ['"Stop."', "(He did.)", "So."]),
        ("so am I. Then", ["so am I.", "Then"]),
        ("Cities (e.g. Bonn), i. e. Towns. So", ["Cities (e.g. Bonn), i. e. Towns.", "So"]),
        ("Take e. g. Salt, 5 g. Stir it.", ["Take e. g. Salt, 5 g.", "Stir it."]),
        ("tokenised text . and more .", ["tokenised text .", "and more ."]),
        ("A title\n\nA text", ["A title", "A text"]),
        ("one\nline", ["one\nline"]),
        ("He left\nScore: 5", ["He left", "Score: 5"]),
        ("Name: Ann\nRole: head of the institute\nAge: 30", None),
        (f"{WRAPPED}\nBerlin", [f"{WRAPPED}\nBerlin"]),
        (f"{WRAPPED}{WRAPPED}\nBerlin", None),
        ("Buy:\n- milk\n- bread", ["Buy:", "- milk", "- bread"]),
        ("他来了。我走了。", ["他来了。", "我走了。"]),
        ("  ", []),
    ],
)
def test_sentences_end_at_stops_and_ended_lines(text: str, expected: list[str] | None) -> None:
    lines = text.splitlines() if expected is None else expected
    assert [sentence.text for sentence in sentences(text)] == lines


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It fell with drug A. Nausea was rare.", ["It fell with drug A.", "Nausea was rare."]),
        ("He chose Option B. She left", ["He chose Option B.", "She left"]),
        ("It was in groups A and B. Then", ["It was in groups A and B.", "Then"]),
        ("It is group A. baumannii. So", ["It is group A. baumannii.", "So"]),
        ("In the model R. A. Fisher proposed", None),
        ("The writer A. Smith of the subgroup A. Smith led", None),
    ],
)
def test_a_letter_after_a_noun_that_takes_labels_is_not_an_initial(
    text: str, expected: list[str] | None
) -> None:
    cut = [text] if expected is None else expected
    assert [sentence.text for sentence in sentences(text)] == cut
    assert texts(*text) == cut


@given(st.text(alphabet=st.sampled_from("aB .!?\n'\")-1。")))
def test_sentences_hold_everything_but_blanks_in_order(text: str) -> None:
    cut = sentences(text)
    assert "".join("".join(s.text for s in cut).split()) == "".join(text.split())
    assert [(s.start, s.end) for s in cut] == list(sentence_intervals(text))
    assert all(text[s.start : s.end] == s.text == s.text.strip() for s in cut)


def grown(pieces: Iterable[str]) -> list[Sentence]:
    text = GrowingText()
    return [*(sentence for piece in pieces for sentence in text.add(piece)), *text.end()]


def texts(*pieces: str) -> list[str]:
    return [sentence.text for sentence in grown(pieces)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Dr. Ann paid $1.5 m. He left! So", ["Dr. Ann paid $1.5 m.", "He left!", "So"]),
        ("1. Apples are red. 2. Pears\n3. Plums", ["1. Apples are red.", "2. Pears", "3. Plums"]),
        ("To buy:\n- milk\n- bread", ["To buy:", "- milk", "- bread"]),
        ("See:\n```py\nx = 1.\ny. z\n```\nDone.", ["See:", "```py\nx = 1.\ny. z\n```", "Done."]),
        ("~~~\na. b\n```\n~~~\nSo.", ["~~~\na. b\n```\n~~~", "So."]),
        ("```\nnever closed. ", ["```\nnever closed."]),
        ("Use `a. b` or ```a. b``` here.", ["Use `a.", "b` or ```a.", "b``` here."]),
        ("A title\n\n---\n\nA text.", ["A title", "---\n\nA text."]),
        ("他来了。我走了。", ["他来了。", "我走了。"]),
        ("42.", ["42."]),
        ("---\n", []),
    ],
)
def test_sentences_do_not_depend_on_the_pieces(text: str, expected: list[str]) -> None:
    for size in (1, 2, 3, len(text)):
        assert texts(*(text[at : at + size] for at in range(0, len(text), size))) == expected


@given(st.lists(st.text(alphabet="ab .!?\n1-”`。", max_size=12)))
def test_whatever_the_pieces_every_word_is_in_one_sentence_at_its_place(pieces: list[str]) -> None:
    text = "".join(pieces)
    given_sentences = grown(pieces)
    assert given_sentences == grown(list(text))
    offsets = [at for each in given_sentences for at in range(each.start, each.end)]
    assert offsets == sorted(set(offsets))
    assert {at for at, char in enumerate(text) if char.isalnum()} <= set(offsets)
    assert all(text[each.start : each.end] == each.text for each in given_sentences)


@given(st.lists(st.sampled_from(["no", "Mr", "3", ".", "!", "? ", " "])).map("".join))
def test_a_line_of_prose_is_cut_as_the_whole_text_is(text: str) -> None:
    cut = [each.text for each in sentences(text) if any(map(str.isalpha, each.text))]
    # Numbers and marks without a word belong to the sentence behind them.
    ends = [each.text.lstrip(" .!?3") for each in grown(text) if any(map(str.isalpha, each.text))]
    assert ends == [each.lstrip(" .!?3") for each in cut]


def test_a_sentence_is_given_when_its_end_is_certain_and_not_before() -> None:
    text = GrowingText()
    ended = [
        [each.text for each in text.add(piece)] for piece in ("It is 3", ".", "5 m", ".", " I")
    ]
    assert ended == [[], [], [], [], ["It is 3.5 m."]]


def test_a_new_line_ends_a_sentence_once_the_next_word_is_known() -> None:
    text = GrowingText()
    ended = [[each.text for each in text.add(piece)] for piece in ("He left", "\n", "Sc", "ore: ")]
    assert ended == [[], [], [], ["He left"]]


def test_a_pause_ends_a_sentence_that_has_its_stop_and_no_other() -> None:
    text = GrowingText()
    text.add("It is open. It cost 3.")
    assert [each.text for each in text.pause()] == ["It cost 3."]
    text.add(" And then Dr.")
    assert text.pause() == []
    text.add(" Ann")
    assert text.pause() == []
    assert [each.text for each in text.end()] == ["And then Dr. Ann"]


def test_what_never_ends_is_cut_so_that_the_work_is_bounded() -> None:
    longest = max(len(text) for text in texts("word " * 2_000))
    assert 2_000 <= longest < 2_010
    code = grown(["```\n", *(["x = 1\n"] * 1_000)])
    assert all(each.is_code and len(each.text) < 2_010 for each in code)
