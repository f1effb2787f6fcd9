"""Perturbed pairs: which texts are damaged, under which names, and where the damage is marked."""

import pytest
from fakes.judges import located
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import Generator

from spanjury.judges.core import ErrorSpan, PerturbationError, Segment
from spanjury.perturbations.edits import Edit
from spanjury.perturbations.pairs import Condition, PerturbedPair, Skipped, perturbed_pairs
from spanjury.perturbations.perturbation import (
    Case,
    NothingToDamageError,
    Perturbation,
    case_perturbation,
    text_perturbation,
)

SEED = 3


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
