"""Edits make a damaged text of a clean one, and say where."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanjury.perturbations.edits import Damage, Edit, edits_between

TEXT = st.text(max_size=40)
ALIKE = st.text("ab. ,", max_size=15)


@st.composite
def damages(draw: st.DrawFn) -> Damage:
    clean = draw(TEXT)
    bounds = sorted(draw(st.lists(st.integers(0, len(clean)), max_size=8)))
    pairs = zip(bounds[::2], bounds[1::2], strict=False)
    edits = [Edit(start=start, end=end, text=draw(st.text(max_size=5))) for start, end in pairs]
    return Damage.of(clean, edits)


@given(damages())
def test_each_place_holds_what_its_edit_put_there(damage: Damage) -> None:
    text = damage.text
    assert [text[start:end] for start, end in damage.places] == [e.text for e in damage.edits]


@given(damages())
def test_undoing_every_edit_gives_the_clean_text(damage: Damage) -> None:
    text = damage.text
    for (start, end), edit in reversed([*zip(damage.places, damage.edits, strict=True)]):
        text = text[:start] + damage.clean[edit.start : edit.end] + text[end:]
    assert text == damage.clean


@given(TEXT | ALIKE, TEXT | ALIKE)
def test_edits_between_two_texts_make_one_of_the_other(clean: str, damaged: str) -> None:
    assert Damage.of(clean, edits_between(clean, damaged)).text == damaged


def test_edits_between_texts_are_words_and_not_letters() -> None:
    (edit,) = edits_between("The cat sat down.", "The dog sat down.")
    assert edit == Edit(start=4, end=7, text="dog")


@pytest.mark.parametrize(
    ("damaged", "expected"),
    [
        ("He came. She left. They stayed.", Edit(start=18, end=18, text=" They stayed.")),
        ("He came. They stayed. She left.", Edit(start=9, end=9, text="They stayed. ")),
        ("She left.", Edit(start=0, end=9, text="")),
        ("He came. ", Edit(start=9, end=18, text="")),
        ("He came! She left.", Edit(start=7, end=8, text="!")),
        ("He came.\n\nShe left.", Edit(start=8, end=9, text="\n\n")),
    ],
)
def test_signs_and_blanks_that_stay_are_no_part_of_an_edit(damaged: str, expected: Edit) -> None:
    assert edits_between("He came. She left.", damaged) == (expected,)


@given(damages(), st.data())
def test_untouched_text_is_found_again(damage: Damage, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(damage.clean)))
    end = data.draw(st.integers(start, len(damage.clean)))
    carried = damage.carried(start, end)
    assert 0 <= carried[0] <= carried[1] <= len(damage.text)
    if start < end and all(edit.end < start or edit.start > end for edit in damage.edits):
        assert damage.text[slice(*carried)] == damage.clean[start:end]


def test_an_interval_takes_along_what_was_replaced_within_it() -> None:
    damage = Damage.of("The old cat sat.", [Edit(start=8, end=11, text="tiger")])
    assert damage.text[slice(*damage.carried(4, 15))] == "old tiger sat"
    assert damage.text[slice(*damage.carried(9, 15))] == "tiger sat"
    assert damage.carried(12, 15) == (14, 17)


def test_edits_may_come_in_any_order_and_idle_ones_are_dropped() -> None:
    edits = [Edit(start=4, end=7, text="dog"), Edit(start=0, end=3, text="The")]
    assert Damage.of("The cat", [*edits, Edit(start=3, end=3, text=" big")]).text == "The big dog"
    assert len(Damage.of("The cat", edits).edits) == 1


def test_offsets_that_numpy_drew_are_plain_numbers_afterwards() -> None:
    drawn = np.arange(5)
    (edit,) = Damage.of("text", [Edit(start=drawn[1], end=drawn[2], text="")]).edits
    assert (type(edit.start), type(edit.end)) == (int, int)


@pytest.mark.parametrize(
    "edits",
    [
        (Edit(start=0, end=9, text=""),),
        (Edit(start=-1, end=0, text="x"),),
        (Edit(start=2, end=1, text="x"),),
        (Edit(start=0, end=2, text=""), Edit(start=1, end=3, text="")),
    ],
)
def test_edits_that_do_not_fit_are_refused(edits: tuple[Edit, ...]) -> None:
    with pytest.raises(ValueError, match="does not lie in"):
        Damage(clean="text", edits=edits)
