"""Windows: which passages stand beside a sentence, and how each word relates to them."""

import os
import sys

import pytest
from fakes.processes import completed
from hypothesis import given
from hypothesis import strategies as st

from spanjury.judges.core import ROOM
from spanjury.judges.reader.windows import (
    Kind,
    SentenceWindow,
    copies_of,
    sentence_windows,
    source_of,
    windows_but_copies,
)
from spanjury.judges.text.tokens import tokens

SOURCE = (
    "The harbour bridge will not open before May. Its deck weighs 40 tonnes. Ida Lund drew the"
    " plans. The cranes came from Oslo by ship."
)
TEXT = st.text(st.characters(codec="utf-8"), max_size=300)
SOURCES = {
    "Article": "Ann Lee won 1,200 votes. If the council agrees, the bridge opens in May.",
    "Notes": "The tower is old.",
}


def only_window(output: str, source: str = SOURCE) -> SentenceWindow:
    (window,) = sentence_windows(output, {"Article": source})
    return window


def kind_of(word: str, output: str, source: str = SOURCE) -> Kind:
    window = only_window(output, source).window
    return Kind(window.kinds[window.words.index(word)])


@pytest.mark.parametrize(
    ("word", "output", "kind"),
    [
        ("not", "The harbour bridge will not open.", Kind.GRAMMAR_RUN),
        ("bridge", "The harbour bridge will open.", Kind.CONTENT_RUN),
        ("harbour", "A harbour is near.", Kind.CONTENT_NEAR),
        ("tunnel", "The tunnel will open.", Kind.CONTENT_NEW),
        ("Lund", "The plans are by Lund.", Kind.NAME_NEAR),
        ("Berg", "The plans are by Berg.", Kind.NAME_NEW),
        ("40", "It weighs 40 tonnes.", Kind.NUMBER_NEAR),
        ("45", "It weighs 45 tonnes.", Kind.NUMBER_NEW),
        (".", "It weighs 45 tonnes.", Kind.MARK),
    ],
)
def test_a_word_is_copied_or_near_or_new(word: str, output: str, kind: Kind) -> None:
    assert kind_of(word, output) == kind


def test_words_in_a_passage_that_does_not_fit_are_far() -> None:
    filler = " ".join(
        f"Clause {number} speaks of deck {number} and bridge {number} here." for number in range(60)
    )
    source = f"{filler} Ida Lund drew it. {filler}"
    output = " ".join(f"deck {number} bridge {number}" for number in range(15)) + " Lund."
    window = only_window(output, source).window
    assert len(window.words) + len(window.source) <= ROOM + 48
    assert Kind(window.kinds[window.words.index("Lund")]) in {Kind.NAME_FAR, Kind.NAME_NEAR}


def test_the_passage_that_shares_the_rarest_words_stands_beside_the_sentence() -> None:
    padding = "The bridge is old. " * 200
    window = only_window(
        "Ida Lund drew the bridge.", f"{padding}Ida Lund drew the plans. {padding}"
    )
    assert "plans" in window.window.source


def test_passages_stand_in_the_order_of_the_source() -> None:
    window = only_window("Cranes from Oslo came for the harbour bridge that Ida Lund drew.")
    starts = [passage.start for passage in window.passages]
    assert starts == sorted(starts)


def test_passages_of_several_inputs_keep_their_names_and_offsets() -> None:
    inputs = {"Question": "Who drew it?", "Context": SOURCE}
    (window,) = sentence_windows("Ida Lund drew it.", inputs)
    assert {passage.input for passage in window.passages} == {"Question", "Context"}
    for passage in window.passages:
        for token in passage.tokens:
            assert inputs[passage.input][token.start : token.end] == token.text


def test_a_sentence_without_words_makes_no_window() -> None:
    assert not list(sentence_windows("… --- !", {"Article": SOURCE}))


def test_a_text_without_source_makes_windows_of_new_words() -> None:
    window = only_window("Ida drew it.", "").window
    assert not window.source
    assert Kind(window.kinds[1]) == Kind.CONTENT_NEW


def test_a_long_sentence_is_read_in_parts() -> None:
    output = " ".join(f"word{number}" for number in range(150))
    windows = list(sentence_windows(output, {"Article": SOURCE}))
    assert [len(window.tokens) for window in windows] == [64, 64, 22]


def test_a_possessive_is_no_part_of_a_name() -> None:
    assert [token.text for token in tokens("Ann's dog doesn't bark.")] == [
        "Ann",
        "'s",
        "dog",
        "doesn't",
        "bark",
        ".",
    ]


@pytest.mark.parametrize(
    ("source", "passages"),
    [
        ("name | age\nAna | 31\nBen | 32", ["name | age", "Ana | 31", "Ben | 32"]),
        ("Ann: are you in?\nBen: not yet\nAnn: fine", None),
        (
            '[{"name": "Ana"}, {"name": "Ben"}]',
            ['[ { " name " : " Ana " }', ', { " name " : " Ben " }', "]"],
        ),
        (
            "The bridge, which is old,\nwill close in May.",
            ["The bridge , which is old , will close in May ."],
        ),
    ],
)
def test_records_and_turns_are_passages(source: str, passages: list[str] | None) -> None:
    cut = [
        " ".join(token.text for token in passage.tokens)
        for passage in source_of({"Data": source}).passages
    ]
    assert cut == (passages or ["Ann : are you in ?", "Ben : not yet", "Ann : fine"])


@given(output=TEXT, source=TEXT)
def test_every_token_stands_where_it_says(output: str, source: str) -> None:
    for window in sentence_windows(output, {"Article": source}):
        assert len(window.window.words) == len(window.window.kinds) == len(window.tokens)
        assert len(window.window.source) == len(window.window.source_kinds)
        for token in window.tokens:
            assert output[token.start : token.end] == token.text


@given(source=TEXT)
def test_passages_hold_every_token_of_the_source_once(source: str) -> None:
    held = [token for passage in source_of({"A": source}).passages for token in passage.tokens]
    assert held == tokens(source)


@pytest.mark.heavy
def test_windows_are_the_same_in_every_process() -> None:
    script = (
        "from spanjury.judges.reader.windows import sentence_windows as cut;"
        "source = ' '.join(f'Unit {n} sold part {n % 7} to plant {n % 5}.' for n in range(90));"
        "print(*cut('Plant 3 bought parts 2, 4 and 6 of units 11, 12 and 13.', {'A': source}))"
    )
    readings = {
        completed(
            [sys.executable, "-c", script], env={**os.environ, "PYTHONHASHSEED": str(seed)}
        ).stdout
        for seed in range(4)
    }
    assert len(readings) == 1


@pytest.mark.heavy
def test_a_megabyte_is_cut_in_time_in_proportion() -> None:
    source = "\n".join(
        f"Line {number} of the log says value {number * 7}." for number in range(25_000)
    )
    (window,) = sentence_windows("Line 24000 says value 168000.", {"Log": source})
    assert "168000" in window.window.source


@pytest.mark.parametrize(
    ("sentence", "copied"),
    [
        ("ANN LEE WON 1200 VOTES", True),
        ("Lee won", True),
        ("won 1,200 votes. If the council", True),
        ("Ann Lee won 1,300 votes.", False),
        ("Lee Ann won", False),
        ("The bridge opens in May.", False),
        ("If the council agrees, the bridge opens in May.", True),
        ("in May. The tower", False),
        ("The tower is old.", True),
        ("tower is oldest", False),
        ("…", True),
    ],
)
def test_a_copy_stands_in_one_input_word_for_word_and_means_the_same(
    sentence: str, *, copied: bool
) -> None:
    assert copies_of(SOURCES).holds(sentence) is copied


def test_a_passage_that_is_first_denied_is_a_copy_of_no_later_one() -> None:
    twice = {"Article": "They deny that the bridge is open. Later the bridge is open."}
    assert not copies_of(twice).holds("The bridge is open.")


def are_copies(output: str, source: str) -> list[bool]:
    windows = windows_but_copies(output, {"Article": source}, room=ROOM)
    return [window is None for window in windows]


@pytest.mark.parametrize(
    ("output", "source"),
    [
        ("The pump failed on server two.", "08:31 INFO pump failed on server two at noon"),
        ("The gate was shut by the guard.", "The guard shut the gate at noon."),
        ("The guard shut the gate.", "The gate was shut by the guard."),
        ("A fee is due if it rains.", "If it rains, a fee is due."),
        ("Ann likes the old mill.", "Ann: I like the old mill.\nTom: So do I."),
    ],
)
def test_a_sentence_in_another_word_order_is_not_read(output: str, source: str) -> None:
    assert are_copies(output, source) == [True]


@pytest.mark.parametrize(
    ("output", "source"),
    [
        ("The guard was shut by the gate.", "The guard shut the gate at noon."),
        ("Tom likes the old mill.", "Ann: I like the old mill.\nTom: So do I."),
    ],
)
def test_a_sentence_with_other_roles_is_read(output: str, source: str) -> None:
    assert are_copies(output, source) == [False]


def test_a_denial_in_one_passage_does_not_turn_the_next() -> None:
    source = "- The old lift never works\n- a fast lift runs all night"
    assert are_copies("The fast lift runs all night.", source) == [True]


def test_an_empty_source_holds_no_word() -> None:
    assert not copies_of({"Article": " "}).holds("Anything at all.")
    assert not copies_of({"Article": " "}).holds("No")
