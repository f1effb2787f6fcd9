"""A rule, whoever wrote it, damages a text or says why not."""

from collections.abc import Sequence

import pytest
from numpy.random import Generator

from spanjury.judges.core import PerturbationError, Segment
from spanjury.perturbations.edits import Edit
from spanjury.perturbations.others import OtherTexts, other_texts
from spanjury.perturbations.perturbation import (
    Case,
    NothingToDamageError,
    Perturbation,
    case_perturbation,
    generator_for,
    text_perturbation,
    trajectory_perturbation,
)

CASE = Case(text="One two three.", others=("Other.",))
TEXTS = ("One.", "Two.", "  ", "One.", "Five.")


@text_perturbation(family="words", level="word", harms={"fluency"}, spares={"consistency"})
def drop_words(text: str, rng: Generator, *, k: int = 1) -> Sequence[Edit]:
    """Drop words from the front."""
    return [Edit(start=4 * n, end=4 * n + 4, text="") for n in range(k)]


@case_perturbation(family="mismatch", level="sentence", harms={"*"})
def take_another(case: Case, rng: Generator) -> str:
    """Take another text."""
    return case.others[int(rng.integers(len(case.others)))]


def damaged(perturbation: Perturbation, case: Case = CASE, **options: object) -> str:
    return perturbation.damage(case, generator_for(1, "name", "id"), **options).text


def test_rules_return_edits_or_texts_and_take_options() -> None:
    assert damaged(drop_words) == "two three."
    assert damaged(drop_words, k=2) == "three."
    assert damaged(take_another) == "Other."


def test_the_expected_effect_is_known_for_named_aspects_or_for_all() -> None:
    result = [drop_words.effect_on(name) for name in ("fluency", "consistency", "relevance")]
    assert result == ["falls", "unchanged", None]
    assert take_another.effect_on("anything") == "falls"


def test_effects_are_in_the_same_order_in_every_process() -> None:
    names = {"relevance", "fluency", "coherence", "accuracy", "consistency"}
    declared = text_perturbation(family="own", level="word", harms=names, spares={"z", "b", "q"})
    effects = declared(lambda text, _: text).effects
    assert [*effects] == ["b", "q", "z", *sorted(names)]


@pytest.mark.parametrize(
    ("declared", "reason"),
    [
        ({"level": "letter"}, "level must be one of .*'character', .* got 'letter'"),
        ({"harms": "fluency"}, "harms must be a set of aspects, got the text 'fluency'"),
        ({"spares": "fluency"}, "spares must be a set of aspects"),
        ({"harms": {"a", "b"}, "spares": ("b", "c")}, "harms and spares both contain b"),
    ],
)
def test_a_wrong_declaration_is_refused_where_it_is_made(
    declared: dict[str, object], reason: str
) -> None:
    for decorator in (text_perturbation, case_perturbation, trajectory_perturbation):
        with pytest.raises((TypeError, ValueError), match=reason):
            decorator(**{"family": "x", "level": "word", **declared})(_raises)  # type: ignore[arg-type]  # wrong ones
    with pytest.raises(ValueError, match="the effect on 'fluency' must be one of .* got 'harmed'"):
        Perturbation(_raises, family="x", level="word", effects={"fluency": "harmed"})  # type: ignore[dict-item]  # wrong


def test_a_text_that_stays_as_it_was_is_nothing_to_damage() -> None:
    with pytest.raises(NothingToDamageError, match="is unchanged"):
        damaged(take_another, Case(text="Same.", others=("Same.",)))


def _raises(text: str, rng: Generator) -> str:
    raise LookupError(text)


def _overlaps(text: str, rng: Generator) -> Sequence[Edit]:
    return [Edit(start=0, end=3, text=""), Edit(start=1, end=4, text="")]


def _returns_plain_tuples(text: str, rng: Generator) -> Sequence[tuple[int, int, str]]:
    return [(0, 3, "")]


def _returns_a_number(text: str, rng: Generator) -> int:
    return 7


def _gives_a_reason(text: str, rng: Generator) -> str:
    raise NothingToDamageError("no letters")


@pytest.mark.parametrize("rule", [_raises, _overlaps, _returns_plain_tuples, _returns_a_number])
def test_whatever_a_rule_does_wrong_is_one_error(rule: object) -> None:
    made = text_perturbation(family="x", level="word")(rule)  # type: ignore[arg-type]  # wrong ones
    with pytest.raises(PerturbationError, match="the rule (failed|gave)") as caught:
        damaged(made)
    assert not isinstance(caught.value, NothingToDamageError)


def test_a_rule_may_say_why_there_is_nothing_to_damage() -> None:
    made = text_perturbation(family="x", level="word")(_gives_a_reason)
    with pytest.raises(NothingToDamageError, match="no letters"):
        damaged(made)


def test_the_random_numbers_depend_on_seed_name_and_segment_alone() -> None:
    def draw(seed: int, name: str, segment_id: str) -> int:
        return int(generator_for(seed, name, segment_id).integers(1 << 60))

    first = draw(1, "a", "x")
    assert first == draw(1, "a", "x")
    assert (
        len({first, draw(2, "a", "x"), draw(1, "b", "x"), draw(1, "a", "y"), draw(1, "ax", "")})
        == 5
    )
    assert draw(1, "a", "\ud800") != first


def others(*, inputs: Sequence[str], tasks: Sequence[str] | None = None) -> list[OtherTexts]:
    return [
        *other_texts(
            Segment(segment_id=str(number), task=task, output=output, inputs={"Source": source})
            for number, (output, source, task) in enumerate(
                zip(TEXTS, inputs, tasks or ["a"] * len(TEXTS), strict=True)
            )
        )
    ]


def test_texts_of_other_inputs_come_from_the_next_one_on_and_round() -> None:
    texts = others(inputs="abcad")
    assert ([*texts[0]], [*texts[1]]) == (["Two.", "  ", "Five."], ["  ", "One.", "Five.", "One."])
    assert [*texts[3]] == ["Five.", "Two.", "  "]
    assert [len(other) for other in texts] == [3, 4, 4, 3, 4]


def test_an_index_and_a_slice_give_what_iterating_gives() -> None:
    for other in others(inputs="abcad"):
        texts = [*other]
        assert [other[index] for index in range(-len(other), len(other))] == texts * 2
        assert [*other[1:3]] == texts[1:3]
        with pytest.raises(IndexError):
            other[len(other)]


def test_unlike_are_those_with_words_that_are_not_the_text() -> None:
    texts = others(inputs="abcde")
    assert [*texts[0].unlike("One.")] == ["Two.", "Five."]
    assert [*texts[3].unlike("One.")] == ["Five.", "Two."]
    assert [*texts[1].unlike("in no row")] == ["One.", "Five.", "One."]
    assert [texts[1].unlike("Five.")[index] for index in (0, 1, -1)] == ["One.", "One.", "One."]


def test_texts_of_other_tasks_are_not_among_the_others() -> None:
    texts = others(inputs="abcde", tasks="xyxyx")
    assert ([*texts[0]], [*texts[3]]) == (["  ", "Five."], ["Two."])


def test_texts_that_all_have_one_input_have_no_others() -> None:
    assert [len(other) for other in others(inputs="aaaaa")] == [0] * 5
    assert not others(inputs="aaaaa")[0].unlike("One.")
