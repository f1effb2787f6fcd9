"""Pairs that a checker learns from, and constants that are fitted to its verdicts."""

from collections.abc import Sequence

import pytest

from spanjury.judges.core import Label
from spanjury.orchestration.studies.distillation.tokens.example import (
    LabelledSpan,
    TokenExample,
    labelled_pairs,
)
from spanjury.orchestration.studies.distillation.tokens.verdicts import (
    Verdict,
    deciding,
    fitted_to,
    verdict_report,
)

SOURCE = "The mill closed in May. It made paper. A dog barks all night in the yard."


def example(output: str, *wrong: str, label: Label = Label.ERROR, **fields: str) -> TokenExample:
    """Return a text in which the words `wrong` contradict the source."""
    starts = [output.index(words) for words in wrong]
    return TokenExample(
        dataset=fields.get("dataset", "d"),
        row="1",
        input_id="1",
        inputs={"Article": SOURCE},
        output=output,
        spans=tuple(
            LabelledSpan(start=start, end=start + len(words), label=Label.CONTRADICTED)
            for start, words in zip(starts, wrong, strict=True)
        ),
        label=label,
        group="g",
        split="train",
        made_of="people",
    )


def count_words(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) for text in texts]


def test_a_classifier_of_pairs_learns_each_sentence_beside_its_best_passage() -> None:
    text = example("The dog barks at noon. It made paper.", "noon")
    wrong, right = labelled_pairs(text, unit="sentence", room=16, count_tokens=count_words)
    assert wrong.pair.passage == "A dog barks all night in the yard."
    assert (wrong.label, wrong.spans) == (Label.CONTRADICTED, ((17, 21, Label.CONTRADICTED),))
    # The pronoun's sentence is read along, and its error is not the claim's.
    assert right.pair.claim == text.output
    assert (right.label, right.spans) == (Label.SUPPORTED, ())


def test_a_classifier_of_tokens_learns_a_whole_text() -> None:
    text = example("The dog barks at noon. It made paper.", "noon")
    (pair,) = labelled_pairs(text, unit="text", room=60, count_tokens=count_words)
    assert pair.pair == (SOURCE, text.output)
    assert (pair.label, pair.spans) == (Label.CONTRADICTED, ((17, 21, Label.CONTRADICTED),))


def test_an_error_without_a_place_is_learnt_only_from_one_claim() -> None:
    (bag,) = labelled_pairs(
        example("A cat sleeps."), unit="sentence", room=60, count_tokens=count_words
    )
    assert (bag.label, bag.spans) == (Label.ERROR, None)
    two = example("A cat sleeps. It made paper.")
    assert not list(labelled_pairs(two, unit="sentence", room=60, count_tokens=count_words))
    whole = example("A cat sleeps.", "A cat sleeps")
    (pair,) = labelled_pairs(whole, unit="text", room=60, count_tokens=count_words)
    assert (pair.label, pair.spans) == (Label.CONTRADICTED, None)


def test_data_sets_that_are_not_learnt_from_decide_if_they_hold_both_kinds() -> None:
    own, right, wrong = (
        example("A dog barks.", dataset="own"),
        example("A dog barks.", label=Label.SUPPORTED, dataset="other"),
        example("A cat sleeps.", dataset="other"),
    )
    assert deciding([own, right, wrong], learnt={"own"}) == [right, wrong]
    assert deciding([own, right], learnt={"own"}) == [own, right]


def verdicts(
    dataset: str, right: Sequence[float], wrong: Sequence[float], *, learnt: bool = False
) -> list[Verdict]:
    return [
        Verdict(dataset=dataset, faulty=faulty, probability=probability, learnt=learnt)
        for faulty, row in ((False, right), (True, wrong))
        for probability in row
    ]


RIGHT = [0.001 * at for at in range(1, 101)]  # up to 0.1
WRONG = [0.05 + 0.009 * at for at in range(100)]


def test_a_tenth_of_the_right_texts_reach_the_threshold_and_of_the_wrong_ones_are_missed() -> None:
    known = verdicts("known", WRONG, RIGHT, learnt=True)  # it says the opposite, and does not count
    fitted = fitted_to([*verdicts("other", RIGHT, WRONG), *known])
    assert fitted is not None
    right = [fitted.calibrated(probability) for probability in RIGHT]
    wrong = [fitted.calibrated(probability) for probability in WRONG]
    assert sum(value >= fitted.threshold for value in right) == 10
    assert sum(value < fitted.vouched for value in wrong) <= 10
    assert fitted.vouched <= fitted.threshold
    assert right[0] < 0.1
    assert wrong[-1] > 0.9


def test_a_data_set_weighs_the_same_however_many_texts_it_has() -> None:
    low = verdicts("low", [0.1] * 30, [0.2] * 30)
    high = verdicts("high", [0.6] * 30, [0.7] * 30)
    assert fitted_to([*low, *high]) == fitted_to([*low, *high, *high])


def test_too_few_texts_fit_nothing() -> None:
    assert fitted_to(verdicts("d", [0.1] * 30, [0.9] * 19)) is None


def test_the_figures_of_a_data_set_are_those_of_constants_fitted_to_others() -> None:
    alike = verdicts("a", RIGHT, WRONG)
    shifted = verdicts("b", [0.5] * 20, [0.99] * 20)
    report = verdict_report([*alike, *shifted, *verdicts("c", RIGHT, WRONG, learnt=True)])
    others, same = (block for block in report.sections if hasattr(block, "rows"))
    rows = {
        row.cells[0].value: [float(str(cell.value)) for cell in row.cells[1:]]
        for row in others.rows
    }
    # The right texts of b are above the threshold that a's set.
    assert rows["b"] == pytest.approx([20, 20, 1.0, rows["b"][3], 1.0, 1.0, 0.0])
    assert rows["a"][4] < 0.2
    assert [row.cells[0].value for row in same.rows] == ["c", "mean"]


def test_a_checker_that_knows_no_other_writers_is_called_weak() -> None:
    blind = verdicts("a", RIGHT, RIGHT)
    assert "AUROC 0.50" in str(verdict_report(blind).sections[-1])
    alone = verdict_report(verdicts("a", RIGHT, RIGHT, learnt=True))
    assert "--held-out" in str(alone.sections[-1])
