"""Damage makes its own reports: offsets fit, quotations are found, what is spared is no error."""

from collections import Counter
from itertools import groupby

import pytest
from fakes.training_rows import aspects_of, data_file, demo_rows, harms_of, text
from hypothesis import given, settings
from hypothesis import strategies as st

from spanjury.judges.core import PerturbationError
from spanjury.judges.llm.distilled_form import read_verdict
from spanjury.judges.llm.parse import located_errors
from spanjury.orchestration.studies.distillation.damage import (
    DamagedText,
    DamagePlan,
    Harm,
    Strike,
    damage_examples,
    damage_spans,
    damaged_by,
)
from spanjury.orchestration.studies.distillation.targets import Targets, rows_of
from spanjury.orchestration.studies.distillation.training_set import Example, example_line
from spanjury.perturbations.perturbation import Case, generator_for, text_perturbation

CLEAN = "Ann Lee opened the old bridge on 12 May 2015. It cost 300 euros. She was not happy."


def made(*, seed: int = 1, recipe: str = "distil", count: int = 6) -> list[Example]:
    rows = demo_rows(count)
    plan = DamagePlan(harms=harms_of(recipe), recipe=recipe, targets=Targets(seed=seed))
    return list(damage_examples(rows, aspects_of(rows), plan))


def only(*names: str) -> tuple[Harm, ...]:
    return tuple(harm for harm in harms_of("distil") if harm.name in names)


def examples_of(output: str, *names: str, aspect: str, seed: int = 1) -> list[Example]:
    """Return the examples of one damaged text on one aspect."""
    rows = rows_of([data_file([text("a", CLEAN, output=output)])])
    aspects = {
        task: tuple(a for a in known if a.name == aspect)
        for task, known in aspects_of(rows).items()
    }
    plan = DamagePlan(harms=only(*names), recipe="r", texts=1, most=1, targets=Targets(seed=seed))
    return [one for one in damage_examples(rows, aspects, plan) if one.provenance.damages]


@settings(max_examples=6, deadline=None)
@given(st.integers(0, 1000), st.sampled_from(["distil", "full", "dhp/summarization"]))
def test_every_span_is_where_it_says_and_its_quotation_leads_there(seed: int, recipe: str) -> None:
    for example in made(seed=seed, recipe=recipe, count=3):
        spans = example.report.spans
        for span in spans:
            assert span.interval is None or example.output[slice(*span.interval)] == span.text
        parsed = read_verdict(example.target)
        found = located_errors(parsed.errors, output=example.output)
        assert [(s.interval, s.severity) for s in found] == [
            (span.interval, span.severity) for span in spans
        ]


def test_the_same_seed_makes_the_same_bytes_and_another_seed_others() -> None:
    first, again, other = (
        b"".join(map(example_line, made(seed=seed, count=2))) for seed in (1, 1, 2)
    )
    assert first == again != other


def test_clean_texts_are_free_of_errors_and_have_the_best_score() -> None:
    clean = [one for one in made() if not one.provenance.damages]
    assert len(clean) == 6 * 3
    assert {one.target for one in clean} == {"Faulty: no\n\nOverall score: 100"}


def test_harmed_aspects_have_an_error_and_spared_ones_have_none() -> None:
    on_fluency = [
        one
        for seed in range(8)
        for one in examples_of(CLEAN, "wrong-number", "typo", aspect="fluency", seed=seed)
    ]
    spared = {one.provenance.damages[0]: bool(one.report.spans) for one in on_fluency}
    assert spared == {"r: wrong-number": False, "r: typo": True}
    ((span,),) = [
        one.report.spans for one in examples_of(CLEAN, "wrong-number", aspect="consistency")
    ]
    assert span.severity == 4


def test_an_aspect_that_no_damage_harms_is_left_out_even_of_clean_texts() -> None:
    rows = demo_rows(3)
    plan = DamagePlan(harms=only("wrong-number"), recipe="r", targets=Targets(seed=1))
    examples = list(damage_examples(rows, aspects_of(rows), plan))
    asked = {one.aspect for one in examples}
    assert "consistency" in asked
    assert "fluency" not in asked


def test_an_aspect_that_may_or_may_not_suffer_teaches_nothing() -> None:
    assert examples_of(CLEAN, "lost-words", aspect="consistency") == []


def test_an_explanation_names_what_was_and_what_is() -> None:
    for seed in range(8):
        (example,) = examples_of("It cost 300 euros.", "wrong-number", aspect="accuracy", seed=seed)
        (span,) = example.report.spans
        assert "‘300’" in span.explanation
        assert f"‘{span.text}’" in span.explanation


def test_a_letter_that_is_struck_marks_its_word() -> None:
    (example,) = examples_of("A long bridge.", "typo", aspect="fluency")
    (span,) = example.report.spans
    clean = next(word for word in ("A", "long", "bridge") if f"‘{word}’" in span.explanation)
    assert abs(len(span.text) - len(clean)) <= 1
    assert span.interval
    assert (f" {example.output} ")[span.interval[0]] == " "


def test_a_sentence_that_is_omitted_has_no_place() -> None:
    (example,) = examples_of(CLEAN, "omitted-sentence", aspect="coverage")
    (span,) = example.report.spans
    assert (span.interval, span.text) == (None, "")
    assert any(part in span.explanation for part in ("Ann Lee", "300", "happy"))
    assert 'Location: ""' in example.target


def test_an_edit_that_leaves_no_word_has_no_position() -> None:
    harm = next(one for one in harms_of("full") if one.rule == "delete-word-run")
    strike = Strike(start=0, end=0, was="No", harm=harm)
    damaged = DamagedText(text="...", strikes=(strike,))
    (span,) = damage_spans(damaged, damaged.strikes, generator_for(1, "test", "a"))
    assert (span.start, span.end, span.text) == (None, None, "")
    assert "No" in span.explanation


def test_a_repeated_passage_is_quoted_with_its_neighbours() -> None:
    output = (
        "The cat saw the cat and the cat saw 7 cats. The cat saw the cat and the cat saw 7 dogs."
    )
    for seed in range(5):
        (example,) = examples_of(output, "repeated-word", aspect="fluency", seed=seed)
        (span,) = example.report.spans
        assert example.output.count(span.text) == 1


def test_several_damages_strike_one_text_and_never_the_same_place() -> None:
    harms = only("wrong-number", "wrong-date", "negation", "typos", "invented-name")
    for seed in range(8):
        rng = generator_for(seed, "test", "")
        damaged = damaged_by(Case(text=CLEAN), harms, rng, most=4)
        undone, reached = "", 0
        for strike in damaged.strikes:
            assert strike.start >= reached
            undone += damaged.text[reached : strike.start] + strike.was
            reached = strike.end
        assert undone + damaged.text[reached:] == CLEAN
        assert len(damaged.harms) > 1


def test_texts_of_another_split_are_never_borrowed() -> None:
    segments = [
        text(str(n), f"source {n}", output=f"Only {n} here. Nothing else.") for n in range(30)
    ]
    rows = rows_of([data_file(segments)])
    split = {row.segment.segment_id: row.split for row in rows}
    plan = DamagePlan(harms=only("foreign-sentence", "foreign-ending"), recipe="r")
    borrowed = Counter[bool]()
    for one in damage_examples(rows, aspects_of(rows), plan):
        numbers = {word for word in one.output.split() if word.isdigit()}
        borrowed[len(numbers) > 1] += 1
        assert {split[number] for number in numbers} == {one.split}
    assert borrowed[True]


def test_no_text_and_aspect_come_twice() -> None:
    for _, group in groupby(made(), key=lambda one: one.provenance.row):
        judged = [(one.output, one.aspect) for one in group]
        assert len(judged) == len(set(judged))


def test_a_rule_that_fails_is_named_with_its_text() -> None:
    @text_perturbation(family="character", level="character", harms={"fluency"})
    def broken(text: str, rng: object) -> str:
        raise RuntimeError(text, rng)

    rows = demo_rows(1)
    plan = DamagePlan(harms=(Harm(name="b", rule="b", perturbation=broken),), recipe="r")
    with pytest.raises(PerturbationError, match=rows[0].segment.segment_id):
        list(damage_examples(rows, aspects_of(rows), plan))


def test_a_rule_of_ones_own_family_is_explained_in_general_words() -> None:
    @text_perturbation(family="ours", level="word", harms={"*"})
    def shout(text: str, rng: object) -> str:
        del rng
        return text.replace("bridge", "BRIDGE")

    rows = rows_of([data_file([text("a", "x", output=CLEAN)])])
    plan = DamagePlan(harms=(Harm(name="s", rule="s", perturbation=shout),), recipe="r", texts=1)
    (span,) = list(damage_examples(rows, aspects_of(rows), plan))[-1].report.spans
    assert "‘bridge’" in span.explanation
    assert "‘BRIDGE’" in span.explanation


def test_a_plan_needs_harms() -> None:
    with pytest.raises(ValueError, match="not a plan"):
        DamagePlan(harms=(), recipe="r")
