"""Promises of every change of an error list, whatever list it is given."""

from collections.abc import Mapping, Sequence

import pytest
from fakes.judges import located
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import Generator

from spanjury.judges.core import ErrorSpan, Located, PerturbationError
from spanjury.judges.text.words import Word, words
from spanjury.perturbations.explanation.errors import (
    Which,
    add_errors,
    critical_error,
    remove_errors,
)
from spanjury.perturbations.explanation.levels import (
    Only,
    soften_both,
    soften_severity,
    worsen_severity,
)
from spanjury.perturbations.explanation.paper import paper_perturbations
from spanjury.perturbations.explanation.perturbation import (
    ErrorList,
    ExplanationPerturbation,
    NothingToChangeError,
    Unchanged,
    explanation_perturbation,
)
from spanjury.perturbations.perturbation import generator_for

TEXTS = st.text(
    st.one_of(
        st.sampled_from("aeinorst AEIM.,'’1290\n"),
        st.sampled_from("e\u0301\u200d\u094dकष한漢字です。👩🔬🏽ß"),
        st.characters(),
    ),
    max_size=60,
) | st.sampled_from(["", " \n", "One", "Der Zug fuhr nicht ab.", "She left early. He did not."])
SEVERITIES = st.none() | st.integers(1, 5)
EXPLANATIONS = st.text(max_size=20) | st.sampled_from(["", "A minor error.", "Das ist falsch."])
SEEDS = st.integers(0, 2**32)
COUNTS = st.integers(1, 4)
PAPER = paper_perturbations()
OUTPUT = "Ann left."
NOTED = located("left", 4, explanation="She stayed.")
LIST = ErrorList(output=OUTPUT, spans=(NOTED,))
EMPTY = ErrorList(output=OUTPUT, spans=())


@st.composite
def spans_of(draw: st.DrawFn, output: str) -> ErrorSpan:
    explanation, severity = draw(EXPLANATIONS), draw(SEVERITIES)
    if not output or draw(st.booleans()):
        quote = draw(st.sampled_from(["", "not there"]))
        return ErrorSpan(text=quote, explanation=explanation, severity=severity)
    start = draw(st.integers(0, len(output) - 1))
    end = draw(st.integers(start + 1, len(output)))
    return ErrorSpan(
        text=output[start:end],
        start=start,
        end=end,
        located=draw(st.sampled_from([Located.EXACT, Located.FUZZY])),
        explanation=explanation,
        severity=severity,
    )


@st.composite
def error_lists(draw: st.DrawFn) -> ErrorList:
    output = draw(TEXTS)
    return ErrorList(output=output, spans=tuple(draw(st.lists(spans_of(output), max_size=5))))


def changed(
    rule: ExplanationPerturbation, errors: ErrorList, seed: int, options: Mapping[str, object]
) -> tuple[ErrorSpan, ...] | None:
    """Return the changed errors, or None where there is nothing to change."""
    try:
        return rule.changed(errors, generator_for(seed, "rule", "id"), **options)
    except NothingToChangeError:
        return None


def apart(item: ErrorSpan | Word, others: Sequence[ErrorSpan]) -> bool:
    assert item.start is not None
    assert item.end is not None
    return not any(
        item.start < other[1] and other[0] < item.end for span in others if (other := span.interval)
    )


@pytest.mark.parametrize(("name", "rule", "options"), PAPER, ids=[each.name for each in PAPER])
@settings(max_examples=25)
@given(errors=error_lists(), seed=SEEDS)
def test_a_list_is_changed_or_there_is_nothing_to_change(
    name: str,
    rule: ExplanationPerturbation,
    options: Mapping[str, object],
    errors: ErrorList,
    seed: int,
) -> None:
    before = ErrorList(output=errors.output, spans=tuple(errors.spans))
    result = changed(rule, errors, seed, options)
    assert result == changed(rule, errors, seed, options), f"{name} depends on more than its seed"
    assert errors == before
    if result is not None:
        assert result != errors.spans
        assert all(span.severity in {None, 1, 2, 3, 4, 5} for span in result)
        ErrorList(output=errors.output, spans=result)  # raises where an offset misses the text


@pytest.mark.parametrize(("name", "rule", "options"), PAPER, ids=[each.name for each in PAPER])
@settings(max_examples=25)
@given(errors=error_lists(), seed=SEEDS)
def test_only_what_the_family_names_is_changed(
    name: str,
    rule: ExplanationPerturbation,
    options: Mapping[str, object],
    errors: ErrorList,
    seed: int,
) -> None:
    result = changed(rule, errors, seed, options)
    if result is None or rule.family in {"addition", "critical", "removal"}:
        return
    pairs = list(zip(errors.spans, result, strict=True))
    assert all((a.interval, a.text) == (b.interval, b.text) for a, b in pairs)
    moved = [(a, b) for a, b in pairs if a != b]
    assert any(a.severity != b.severity for a, b in moved) == (rule.family != "explanation")
    assert any(a.explanation != b.explanation for a, b in moved) == (rule.family != "severity")
    assert all(a.severity is not None for a, _ in moved), f"{name} made up a severity"


@given(errors=error_lists(), seed=SEEDS, by=COUNTS, only=st.sampled_from(["all", "one"]))
def test_severities_move_one_way_by_no_more_than_was_asked_for(
    errors: ErrorList, seed: int, by: int, only: Only
) -> None:
    for rule, sign in ((soften_severity, -1), (worsen_severity, 1)):
        result = changed(rule, errors, seed, {"by": by, "only": only})
        if result is None:
            assert {span.severity for span in errors.spans} - {None} <= {1 if sign < 0 else 5}
            continue
        shifts = [
            sign * (b.severity - a.severity)
            for a, b in zip(errors.spans, result, strict=True)
            if a.severity is not None and b.severity is not None
        ]
        assert all(0 <= shift <= by for shift in shifts)
        assert sum(map(bool, shifts)) == 1 or only == "all"


@given(
    errors=error_lists(),
    seed=SEEDS,
    k=COUNTS,
    which=st.sampled_from(["first", "last", "random", "gravest"]),
)
def test_k_errors_are_removed_and_the_others_keep_their_order(
    errors: ErrorList, seed: int, k: int, which: Which
) -> None:
    result = changed(remove_errors, errors, seed, {"k": k, "which": which})
    if result is None:
        assert len(errors.spans) < k
        return
    assert len(result) == len(errors.spans) - k
    left = iter(errors.spans)
    assert all(span in left for span in result)


@given(errors=error_lists(), seed=SEEDS, k=COUNTS)
def test_k_false_errors_follow_the_others_in_a_place(errors: ErrorList, seed: int, k: int) -> None:
    result = changed(add_errors, errors, seed, {"k": k})
    if result is None:
        assert not errors.output.strip()
        return
    severities, false = result[: len(errors.spans)], result[len(errors.spans) :]
    assert (severities, len(false)) == (errors.spans, k)
    assert all(span.interval and span.severity and span.explanation for span in false)
    assert all(span.text == span.text.strip() for span in false)
    if sum(apart(word, severities) for word in words(errors.output)) >= k:
        assert all(apart(span, result[:i]) for i, span in enumerate(result) if i >= len(severities))


@given(errors=error_lists(), seed=SEEDS, replacing=st.booleans())
def test_a_critical_error_is_the_whole_text(errors: ErrorList, seed: int, replacing: bool) -> None:
    result = changed(critical_error, errors, seed, {"replacing": replacing})
    assert result is not None
    assert (result[-1].text, result[-1].severity) == (errors.output, 5)
    assert result[:-1] == (() if replacing else errors.spans)


@pytest.mark.parametrize(("name", "rule", "options"), PAPER, ids=[each.name for each in PAPER])
def test_an_option_of_another_rule_is_refused(
    name: str, rule: ExplanationPerturbation, options: Mapping[str, object]
) -> None:
    error = ErrorSpan(text="", explanation=name, severity=3)
    errors = ErrorList(output="One two.", spans=(error,))
    with pytest.raises(PerturbationError, match="unexpected keyword argument 'volume'"):
        rule.changed(errors, generator_for(1, "rule", "id"), **options, volume=11)


@explanation_perturbation(push="falls", family="addition")
def repeat(errors: ErrorList, rng: Generator, *, times: int = 2) -> Sequence[ErrorSpan]:
    """Say everything `times` times."""
    return errors.spans * times


def changed_by(
    perturbation: ExplanationPerturbation, errors: ErrorList = LIST, **options: object
) -> tuple[ErrorSpan, ...]:
    return perturbation.changed(errors, generator_for(1, "name", "id"), **options)


def gives(*result: object) -> ExplanationPerturbation:
    return ExplanationPerturbation(lambda *_: result, push="falls", family="severity")  # type: ignore[arg-type]  # what it gives is wrong


def test_a_rule_returns_errors_and_takes_options() -> None:
    assert changed_by(repeat) == (NOTED, NOTED)
    assert changed_by(repeat, times=3) == (NOTED, NOTED, NOTED)
    assert (repeat.push, repeat.family) == ("falls", "addition")


def test_a_list_that_stays_as_it_was_has_a_reason_of_its_own() -> None:
    with pytest.raises(NothingToChangeError, match="is unchanged") as caught:
        changed_by(repeat, times=1)
    assert caught.value.reason is Unchanged.NO_ROOM


@pytest.mark.parametrize("family", ["severity", "explanation", "both", "removal"])
def test_a_list_without_errors_is_refused_before_the_rule_is_asked(family: str) -> None:
    rule = ExplanationPerturbation(repeat.rule, push="falls", family=family)  # type: ignore[arg-type]  # one of the literals
    with pytest.raises(NothingToChangeError, match="empty") as caught:
        changed_by(rule, EMPTY, times="so many that the rule would fail")
    assert caught.value.reason is Unchanged.NO_ERRORS


def test_an_unknown_option_is_an_error() -> None:
    with pytest.raises(PerturbationError, match=r"the rule failed: TypeError.*volume"):
        changed_by(repeat, volume=11)


def test_an_unknown_option_of_our_own_rule_is_an_error_with_its_name() -> None:
    with pytest.raises(PerturbationError, match=r"soften_both\(\) got an unexpected.*volume"):
        changed_by(soften_both, volume=11)


def test_a_rule_that_fails_is_an_error_with_the_reason() -> None:
    with pytest.raises(PerturbationError, match=r"the rule failed: TypeError.*multiply"):
        changed_by(repeat, times="2")


def test_a_rule_that_says_no_keeps_its_words() -> None:
    @explanation_perturbation(push="rises", family="removal")
    def never(*_: object) -> tuple[ErrorSpan, ...]:
        raise PerturbationError("not today")

    with pytest.raises(PerturbationError, match="^not today$"):
        changed_by(never)


def test_a_rule_that_gives_no_error_spans_is_an_error() -> None:
    with pytest.raises(PerturbationError, match="gave 'left' where an ErrorSpan was expected"):
        changed_by(gives(NOTED, "left"))


def test_a_rule_that_marks_what_is_not_there_is_an_error() -> None:
    elsewhere = located("gone", 4, explanation="", severity=1)
    with pytest.raises(PerturbationError, match="'gone' is not at"):
        changed_by(gives(elsewhere))


@pytest.mark.parametrize("text", ["", "Ann"])
def test_a_list_knows_where_its_errors_are(text: str) -> None:
    with pytest.raises(ValueError, match=r"'left' is not at \(4, 8\) in the text"):
        ErrorList(output=text, spans=(NOTED,))


def test_an_unlocated_error_may_quote_what_is_not_there() -> None:
    made_up = ErrorSpan(text="Bo came.", explanation="", severity=2)
    assert ErrorList(output=OUTPUT, spans=(made_up,)).spans == (made_up,)
