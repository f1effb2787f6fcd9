"""Effects of the rules on one list that can be read."""

from collections.abc import Sequence

import pytest
from fakes.judges import mark

from spanjury.judges.core import ErrorSpan, Located, PerturbationError
from spanjury.perturbations.explanation.errors import add_errors, critical_error, remove_errors
from spanjury.perturbations.explanation.levels import (
    openings,
    reworded,
    soften_both,
    soften_explanation,
    soften_severity,
    worsen_both,
    worsen_explanation,
    worsen_severity,
)
from spanjury.perturbations.explanation.paper import paper_perturbations
from spanjury.perturbations.explanation.perturbation import (
    ErrorList,
    ExplanationPerturbation,
    NothingToChangeError,
    Unchanged,
)
from spanjury.perturbations.perturbation import generator_for

OUTPUT = "Anna Berg opened a school in Oslo. It has 40 pupils."
MOVING = (
    soften_severity,
    worsen_severity,
    soften_explanation,
    worsen_explanation,
    soften_both,
    worsen_both,
)


def error(severity: int | None, quote: str = "", explanation: str = "No.") -> ErrorSpan:
    return mark(OUTPUT, quote, explanation, severity)


def changed(
    rule: ExplanationPerturbation,
    spans: Sequence[ErrorSpan],
    *,
    output: str = OUTPUT,
    seed: int = 1,
    **options: object,
) -> tuple[ErrorSpan, ...]:
    errors = ErrorList(output=output, spans=tuple(spans))
    return rule.changed(errors, generator_for(seed, "rule", "id"), **options)


def severities(spans: Sequence[ErrorSpan]) -> list[int | None]:
    return [span.severity for span in spans]


MIXED = [error(1), error(None), error(4, "Oslo"), error(5, "40")]


def test_severities_are_moved_and_clipped() -> None:
    assert severities(changed(soften_severity, MIXED)) == [1, None, 3, 4]
    assert severities(changed(soften_severity, MIXED, by=2)) == [1, None, 2, 3]
    assert severities(changed(worsen_severity, MIXED)) == [2, None, 5, 5]
    assert severities(changed(worsen_severity, MIXED, by=4)) == [5, None, 5, 5]


def test_one_error_is_one_that_has_room_to_move() -> None:
    result = {
        tuple(severities(changed(worsen_severity, MIXED, seed=s, only="one"))) for s in range(9)
    }
    assert result == {(2, None, 4, 5), (1, None, 5, 5)}


def test_explanations_sound_as_the_new_severity_and_keep_their_reason() -> None:
    (result,) = changed(worsen_explanation, [error(2, "Oslo", "The source says Bergen.")], by=2)
    opening, _, reason = result.explanation.partition(" The source")
    assert opening in openings(4)
    assert (reason, result.severity) == (" says Bergen.", 2)


def test_both_move_together() -> None:
    result = changed(soften_both, MIXED, by=2)
    assert severities(result) == [1, None, 2, 3]
    assert [span.explanation == "No." for span in result] == [True, True, False, False]
    assert result[3].explanation.removesuffix(" No.") in openings(3)


@pytest.mark.parametrize("rule", MOVING)
def test_a_list_with_nothing_to_change_has_a_reason(rule: ExplanationPerturbation) -> None:
    end = 1 if rule.push == "rises" else 5
    cases = {
        Unchanged.NO_ERRORS: [],
        Unchanged.NO_SEVERITIES: [error(None), error(None, "Oslo")],
        Unchanged.NO_ROOM: [error(end), error(None)],
    }
    for reason, spans in cases.items():
        with pytest.raises(NothingToChangeError) as caught:
            changed(rule, spans)
        assert caught.value.reason is reason


@pytest.mark.parametrize("rule", MOVING)
@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"by": 0}, "by must be 1 to 4 levels, got 0"),
        ({"by": -1}, "by must be 1 to 4 levels, got -1"),
        ({"by": 5}, "by must be 1 to 4 levels, got 5"),
        ({"by": 1.0}, "by must be 1 to 4 levels, got 1.0"),
        ({"by": True}, "by must be 1 to 4 levels, got True"),
        ({"only": "two"}, "only must be one of all, one, got 'two'"),
    ],
)
def test_a_move_that_there_is_not_is_refused(
    rule: ExplanationPerturbation, options: dict[str, object], reason: str
) -> None:
    errors = ErrorList(output=OUTPUT, spans=tuple(MIXED))
    with pytest.raises(PerturbationError, match=reason):
        rule.changed(errors, generator_for(1, "rule", "id"), **options)


@pytest.mark.parametrize(
    ("which", "left"), [("first", [4, 5]), ("last", [1, None]), ("gravest", [1, None])]
)
def test_errors_are_removed_from_where_it_says(which: str, left: list[int | None]) -> None:
    assert severities(changed(remove_errors, MIXED, k=2, which=which)) == left


def test_the_first_of_equally_grave_errors_goes_and_an_ungraded_one_goes_last() -> None:
    spans = [error(None), error(3, "Oslo"), error(3, "40")]
    assert changed(remove_errors, spans, which="gravest") == (spans[0], spans[2])
    assert changed(remove_errors, spans, k=2, which="gravest") == (spans[0],)


def test_errors_removed_at_random_are_not_always_the_same() -> None:
    result = {changed(remove_errors, MIXED, seed=seed, which="random") for seed in range(30)}
    assert len(result) == len(MIXED)


def test_all_errors_may_go_and_no_more() -> None:
    assert changed(remove_errors, MIXED, k=4) == ()
    with pytest.raises(NothingToChangeError, match=r"too few errors \(4 of 5 needed\)") as caught:
        changed(remove_errors, MIXED, k=5)
    assert caught.value.reason is Unchanged.TOO_FEW_ERRORS


def test_errors_are_removed_from_nowhere_else() -> None:
    with pytest.raises(PerturbationError, match="one of first, last, random, gravest, got 'top'"):
        changed(remove_errors, MIXED, which="top")


@pytest.mark.parametrize("rule", [remove_errors, add_errors])
def test_no_fewer_than_one_error_is_added_or_removed(rule: ExplanationPerturbation) -> None:
    with pytest.raises(PerturbationError, match="k must be 1 or more, got 0"):
        changed(rule, MIXED, k=0)


def test_false_errors_are_of_every_severity_and_of_many_lengths() -> None:
    result = [changed(add_errors, [], seed=seed)[0] for seed in range(200)]
    assert {span.severity for span in result} == {1, 2, 3, 4, 5}
    assert {len(span.text.split()) for span in result} == set(range(1, 12))
    assert len({span.explanation for span in result}) == 15


def test_false_errors_share_a_place_where_there_is_only_one() -> None:
    assert [span.text for span in changed(add_errors, [], output="Yes!", k=3)] == ["Yes"] * 3


def test_signs_are_places_where_there_are_no_words() -> None:
    (result,) = changed(add_errors, [], output=" … ")
    assert (result.text, result.interval) == ("…", (1, 2))


@pytest.mark.parametrize("output", ["", " \n"])
def test_a_text_without_a_word_has_no_place_for_an_error(output: str) -> None:
    with pytest.raises(NothingToChangeError, match="no word") as caught:
        changed(add_errors, [], output=output)
    assert caught.value.reason is Unchanged.NO_TEXT


def test_the_critical_error_of_an_empty_text_has_no_place() -> None:
    (result,) = changed(critical_error, [], output="")
    assert (result.located, result.severity) == (Located.UNLOCATED, 5)


@pytest.mark.parametrize(
    ("explanation", "result"),
    [
        ("This is a minor error.", "This is a fatal error."),
        ("An egregious factual mistake.", "A fatal factual mistake."),
        ("It slightly misrepresents the year.", "It disastrously misrepresents the year."),
        ("MINOR issue", "FATAL issue"),
        ("Nobody was in the serious crash.", "Nobody was in the serious crash."),
        ("Das Jahr ist falsch.", "Das Jahr ist falsch."),
        ("", ""),
    ],
)
def test_the_weight_of_an_error_is_replaced_and_nothing_else(explanation: str, result: str) -> None:
    reworded_text = reworded(explanation, generator_for(1, "rule", "id"), level=5)
    opening = next(opening for opening in openings(5) if reworded_text.startswith(opening))
    assert reworded_text == f"{opening} {result}".rstrip()


@pytest.mark.parametrize("level", [1, 2, 3, 4, 5])
def test_a_wording_takes_the_place_of_an_earlier_one(level: int) -> None:
    rng = generator_for(1, "rule", "id")
    once = reworded("It has a noticeable flaw that seriously confuses.", rng, level=level)
    again = reworded(once, rng, level=3)
    assert again in {
        f"{opening} It has a noticeable flaw that noticeably confuses." for opening in openings(3)
    }


def test_the_paper_has_seventeen_columns() -> None:
    result = {each.name: each for each in paper_perturbations()}
    assert list(result) == [
        f"{family}{dose}"
        for family in ("severity", "explanation", "both", "errors")
        for dose in ("-1", "+1", "-2", "+2")
    ] + ["critical-error"]
    assert all(
        (each.perturbation.push == "rises") == ("-" in name and name != "critical-error")
        for name, each in result.items()
    )
    assert dict(result["both-2"].options) == {"by": 2}
    assert dict(result["errors+1"].options) == {"k": 1}
