"""Perturbed pairs: which texts are damaged, under which names, and where the damage is marked."""

from dataclasses import replace

import numpy as np
import pytest
from fakes.judges import located
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import Generator

from spanjury.judges.core import ErrorSpan, PerturbationError, Segment
from spanjury.perturbations.edits import Damage, Edit, edits_between
from spanjury.perturbations.pairs import Condition, PerturbedPair, Skipped, perturbed_pairs
from spanjury.perturbations.perturbation import (
    Case,
    NothingToDamageError,
    Perturbation,
    case_perturbation,
    text_perturbation,
)

SEED = 3
TEXT = st.text(max_size=40)
ALIKE = st.text("ab. ,", max_size=15)


@text_perturbation(family="cuts", level="character", harms={"fluency"})
def cut(
    text: str, rng: Generator, *, start: int = 0, end: int = 1, instead: str = ""
) -> list[Edit]:
    """Take out what stands from `start` to `end`."""
    return [Edit(start=start, end=end, text=instead)]


@text_perturbation(family="additions", level="word", harms={"fluency"})
def number_it(text: str, rng: Generator) -> str:
    """Put a random number behind the text."""
    if not text:
        raise NothingToDamageError("the text is empty")
    return f"{text} {rng.integers(10**9)}"


@text_perturbation(family="bad", level="word")
def broken(text: str, rng: Generator) -> str:
    raise RuntimeError(f"cannot read {text!r}")


def text(
    name: str, output: str = "Ann sang.", *, article: str = "", task: str = "story"
) -> Segment:
    inputs = {"Article": article or f"Of {name}."}
    return Segment(segment_id=name, task=task, inputs=inputs, output=output)


def treated(perturbation: Perturbation, name: str = "done", **options: object) -> Condition:
    return Condition(
        name=name, perturbation=perturbation, level="word", options=options, severity=4
    )


def only(segment: Segment, condition: Condition) -> PerturbedPair:
    (shown,) = perturbed_pairs([segment], [condition], seed=SEED)
    assert isinstance(shown, PerturbedPair)
    return shown


def test_a_damaged_text_has_an_id_of_its_own_and_all_else_of_the_clean_one() -> None:
    clean = text("a")
    shown = only(clean, treated(number_it))
    assert (shown.clean, shown.damaged.segment_id) == (clean, "a#done")
    assert shown.damaged.output == shown.damage.text != clean.output
    assert (shown.damaged.inputs, shown.damaged.task) == (clean.inputs, clean.task)
    assert (shown.condition, shown.written_by) == ("done", "")


def test_no_score_or_mark_of_the_clean_text_is_kept_for_the_damaged_one() -> None:
    meta = {"supported": True, "spans": [], "annotators": ["ann"], "licence": "CC0"}
    clean = replace(text("a"), human={"fluency": {"ann": 5.0}}, meta=meta)
    damaged = only(clean, treated(cut)).damaged
    assert (damaged.human, damaged.meta) == ({}, {"licence": "CC0"})


def test_texts_come_condition_by_condition_in_the_order_of_the_segments() -> None:
    segments = [text("b"), text("a", ""), text("c")]
    result = [treated(number_it, "second"), treated(number_it, "first")]
    shown = perturbed_pairs(segments, result, seed=SEED)
    names = [(pair.condition, isinstance(pair, Skipped)) for pair in shown]
    each = (False, True, False)
    assert names == [(name, empty) for name in ("second", "first") for empty in each]


@given(st.permutations(["a", "b", "c", "d"]))
def test_damage_to_a_text_depends_on_no_other_text(order: list[str]) -> None:
    alone = {name: only(text(name), treated(number_it)).damage for name in order}
    together = perturbed_pairs([text(name) for name in order], [treated(number_it)], seed=SEED)
    assert {
        pair.clean.segment_id: pair.damage for pair in together if isinstance(pair, PerturbedPair)
    } == (alone)


def test_another_seed_and_another_name_make_another_damage() -> None:
    (other,) = perturbed_pairs([text("a")], [treated(number_it)], seed=SEED + 1)
    assert isinstance(other, PerturbedPair)
    damages = {
        only(text("a"), treated(number_it)).damage.text,
        only(text("a"), treated(number_it, "again")).damage.text,
        other.damage.text,
    }
    assert len(damages) == 3


def test_the_damage_is_marked_with_what_was_there() -> None:
    shown = only(text("a", "Ann sang."), treated(cut, start=4, end=8, instead="flew"))
    assert shown.damaged.output == "Ann flew."
    assert shown.damaged.gold == (
        located(
            "flew",
            4,
            explanation="done: 'sang' was replaced by 'flew'.",
            severity=4,
            category="cuts",
        ),
    )


@pytest.mark.parametrize(
    ("start", "end", "marked"),
    [
        (0, 2, (0, 1)),  # at the beginning: the character that follows
        (7, 9, (6, 7)),  # at the end: the one before
        (3, 5, (2, 4)),  # within: one on each side
    ],
)
def test_a_deletion_marks_characters_beside(start: int, end: int, marked: tuple[int, int]) -> None:
    shown = only(text("a", "Ann sang."), treated(cut, start=start, end=end))
    (span,) = shown.damaged.gold
    assert ((span.start, span.end), span.text) == (marked, shown.damaged.output[slice(*marked)])


def test_damage_that_leaves_nothing_has_no_position() -> None:
    shown = only(text("a", "Ann sang."), treated(cut, end=9))
    assert shown.damaged.output == ""
    (span,) = shown.damaged.gold
    assert span == ErrorSpan(
        text="", explanation="done: 'Ann sang.' was deleted.", severity=4, category="cuts"
    )


def test_a_rule_is_shown_texts_for_other_inputs_of_the_same_task_from_the_next_one_on() -> None:
    cases: list[Case] = []

    @case_perturbation(family="mismatch", level="sentence")
    def watch(case: Case, rng: Generator) -> str:
        cases.append(case)
        return case.text + "!"

    segments = [
        text("a", "A."),
        text("b", "B."),
        text("same", "S.", article="Of b."),
        text("c", "C."),
        text("elsewhere", "E.", task="translation"),
    ]
    list(perturbed_pairs(segments, [treated(watch)], seed=SEED))
    assert [tuple(case.others) for case in cases] == [
        ("B.", "S.", "C."),
        ("C.", "A."),
        ("C.", "A."),
        ("A.", "B.", "S."),
        (),
    ]
    assert cases[1].inputs == {"Article": "Of b."}


@pytest.mark.parametrize(("result", "wrong"), [("She flew.", "She flew."), (7, ""), (None, "")])
def test_a_rule_is_shown_the_text_that_is_known_to_be_wrong(result: object, wrong: str) -> None:
    cases: list[Case] = []

    @case_perturbation(family="mismatch", level="sentence")
    def watch(case: Case, rng: Generator) -> str:
        cases.append(case)
        return case.text + "!"

    segment = Segment(segment_id="a", output="A.", meta={} if result is None else {"wrong": result})
    only(segment, treated(watch))
    assert cases[0].wrong == wrong


def test_a_text_with_nothing_to_damage_is_skipped_with_the_reason() -> None:
    shown = list(perturbed_pairs([text("a", "")], [treated(number_it)], seed=SEED))
    assert shown == [Skipped(segment_id="a", condition="done", reason="the text is empty")]


def test_a_rule_that_fails_is_named_with_the_text() -> None:
    with pytest.raises(PerturbationError, match="done cannot damage 'a': the rule failed: Runtime"):
        list(perturbed_pairs([text("a")], [treated(broken)], seed=SEED))


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
