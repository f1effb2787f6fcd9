"""Examples of the token form: whose words are labelled how, by people, damage and records."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng

from spanjury.judges.core import ErrorSpan, Label, LabelledWindow, Located, Segment
from spanjury.orchestration.services.training.distil import harms_of
from spanjury.orchestration.studies.distillation.targets import Row
from spanjury.orchestration.studies.distillation.tokens.example import (
    LabelledSpan,
    TokenExample,
    examples_of_people,
    labelled_windows,
    overlaps,
    word_runs,
)
from spanjury.orchestration.studies.distillation.tokens.twins import (
    TwinPlan,
    copied_sentence,
    record_examples,
    twins,
)
from spanjury.perturbations.recipe import find_recipe

ARTICLE = (
    "Mary Evans opened the harbour bridge in Port Ellery on 3 March 1932. It weighs 40 tonnes and"
    " was not painted before 1950. John Price, the mayor, paid 12 workers to clean it."
)


def example(
    output: str, *spans: tuple[str, Label], label: Label, made_of: str = "people"
) -> TokenExample:
    places = ((output.index(text), output.index(text) + len(text), label) for text, label in spans)
    return TokenExample(
        dataset="d",
        row="1",
        input_id="i",
        inputs={"Article": ARTICLE},
        output=output,
        spans=tuple(LabelledSpan(start=a, end=b, label=c) for a, b, c in places),
        label=label,
        group="g",
        split="train",
        made_of=made_of,
    )


def marked(window: LabelledWindow) -> dict[str, Label]:
    pairs = zip(window.window.words, window.words, strict=True)
    return {word: label for word, label in pairs if label > 0}


def row(output: str, *gold: ErrorSpan, **meta: object) -> Row:
    segment = Segment(
        segment_id="1", output=output, inputs={"Article": ARTICLE}, gold=gold, meta=meta
    )
    return Row(
        source="f.jsonl", dataset="d", segment=segment, input_id="i", split="train", licence="MIT"
    )


def test_words_under_a_span_get_its_label_and_the_others_are_supported() -> None:
    one = example(
        "The bridge weighs 45 tonnes in Rome.",
        ("45", Label.CONTRADICTED),
        ("Rome", Label.ABSENT),
        label=Label.ERROR,
    )
    (window,) = labelled_windows(one)
    assert marked(window) == {"45": Label.CONTRADICTED, "Rome": Label.ABSENT}
    assert window.sentence is Label.ERROR
    assert window.words[0] is Label.SUPPORTED


def test_each_sentence_has_the_label_of_its_own_words() -> None:
    one = example(
        "It weighs 45 tonnes. John Price paid.", ("45", Label.CONTRADICTED), label=Label.ERROR
    )
    assert [window.sentence for window in labelled_windows(one)] == [
        Label.CONTRADICTED,
        Label.SUPPORTED,
    ]


def test_one_sentence_needs_only_a_label_and_its_words_are_unknown() -> None:
    (window,) = labelled_windows(example("It was painted.", label=Label.CONTRADICTED))
    assert set(window.words) == {Label.UNKNOWN}
    assert window.sentence is Label.CONTRADICTED


def test_one_label_is_not_enough_for_several_sentences() -> None:
    assert not list(labelled_windows(example("It was painted. It sank.", label=Label.ERROR)))


def test_a_span_over_a_whole_sentence_says_which_sentence_and_not_which_words() -> None:
    text = "It sank in the bay."
    (window,) = labelled_windows(example(text, (text, Label.ABSENT), label=Label.ABSENT))
    assert set(window.words) == {Label.UNKNOWN}
    damaged = example(text, (text, Label.ABSENT), label=Label.ABSENT, made_of="damage")
    (window,) = labelled_windows(damaged)
    assert Label.UNKNOWN not in window.words


@pytest.mark.parametrize(
    ("meta", "label"),
    [
        ({"supported": True}, Label.SUPPORTED),
        ({"supported": False}, Label.ERROR),
        ({"supported": False, "label": "neutral"}, Label.ABSENT),
        ({"supported": False, "label": "contradiction"}, Label.CONTRADICTED),
        ({"supported": True, "label": "entailment"}, Label.SUPPORTED),
        ({"supported": False, "label": "not_entailment"}, Label.ERROR),
    ],
)
def test_a_row_says_whether_it_is_supported(meta: Mapping[str, object], label: Label) -> None:
    (one,) = examples_of_people([row("It weighs much.", **meta)], copies=3)
    assert (one.label, one.licence) == (label, "MIT")
    assert one.copies == 3


def test_a_row_that_says_nothing_is_passed_over() -> None:
    assert not list(examples_of_people([row("It weighs much.", supported=None)], copies=3))


@pytest.mark.parametrize(
    ("category", "extent", "label"),
    [
        ("intrinsic", "", Label.CONTRADICTED),
        ("extrinsic-NP", "", Label.ABSENT),
        ("EntE", "intrinsic", Label.CONTRADICTED),
        ("PredE", "extrinsic", Label.ABSENT),
        ("LinkE", "n/a", Label.ERROR),
        ("not_entailment", "", Label.ERROR),
    ],
)
def test_the_sort_of_a_span_is_read_of_its_kind_or_its_extent(
    category: str, extent: str, label: Label
) -> None:
    span = ErrorSpan(
        text="45",
        start=10,
        end=12,
        located=Located.EXACT,
        explanation="",
        severity=None,
        category=category,
    )
    written = [{"start": 10, "end": 12, "extent": extent}]
    one = row("It weighs 45 tonnes.", span, supported=False, spans=written)
    (made,) = examples_of_people([one], copies=1)
    assert [place.label for place in made.spans] == [label]


HARMS = harms_of(find_recipe("reader"))
PLAN = TwinPlan(
    harms=[harm for harm in HARMS if harm.perturbation.effect_on("consistency") == "falls"],
    harmless=[harm for harm in HARMS if harm.perturbation.effect_on("consistency") == "unchanged"],
    pairs=20,
    seed=5,
)


def test_twins_stand_side_by_side_and_differ_where_the_span_is() -> None:
    made = list(twins([row("Mary Evans opened the bridge in 1932.", supported=True)], PLAN))
    assert len(made) == 40
    for clean, damaged in zip(made[::2], made[1::2], strict=True):
        assert (clean.group, clean.label, clean.spans) == (damaged.group, Label.SUPPORTED, ())
        assert damaged.damage
        assert damaged.output != clean.output
        assert all(damaged.output[span.start : span.end] for span in damaged.spans)
    assert made == list(twins([row("Mary Evans opened the bridge in 1932.", supported=True)], PLAN))


def test_only_the_source_of_a_faulty_text_is_copied() -> None:
    made = twins([row("Nothing of this is true of anything.", supported=False)], PLAN)
    assert not any("Nothing of this" in one.output for one in made)


def test_twins_are_made_of_the_split_that_is_asked_for() -> None:
    plan = replace(PLAN, split="validation")
    assert not list(twins([row("Mary Evans opened the bridge.", supported=True)], plan))


def test_a_copy_is_a_sentence_of_the_source_but_for_its_looks() -> None:
    rng = default_rng(3)
    known = set(ARTICLE.lower().replace(",", " ").replace(".", " ").split())
    for _ in range(50):
        words = copied_sentence(ARTICLE, rng).lower().replace(",", " ").replace(".", " ").split()
        assert words
        assert known.issuperset(words)
    assert copied_sentence("Too short.", rng) == ""


@given(st.integers(min_value=0, max_value=10_000))
def test_a_record_has_a_true_and_a_false_sentence(seed: int) -> None:
    true, false = record_examples(1, seed=seed)
    assert true.inputs == false.inputs
    assert (true.label, true.spans) == (Label.SUPPORTED, ())
    assert false.label is Label.CONTRADICTED
    (span,) = false.spans
    stated = false.output[span.start : span.end]
    assert true.output != false.output
    assert stated not in true.output or len(true.output) > len(false.output)


def test_a_number_that_only_loses_its_sign_is_no_false_value() -> None:
    true, false = record_examples(1, seed=3577)  # 5, and ten less
    assert "is 5" in true.output
    assert "is 6" in false.output


def test_texts_overlap_by_more_than_two_runs_of_eight_words() -> None:
    known = word_runs([ARTICLE])
    assert overlaps(ARTICLE.upper(), known)
    assert overlaps("mary evans opened the harbour bridge in port ellery on 3 march", known)
    assert not overlaps("mary evans opened the harbour bridge in port ellery", known)
    assert not overlaps("Another text has other words, and so many of them.", known)
