"""The figures of one condition: the joint test, and differences of single scores."""

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from rich.console import Console

from spanjury.judges.core import Outcome, Scale, Segment
from spanjury.orchestration.report import Picture, Report
from spanjury.orchestration.report.markdown import report_markdown
from spanjury.orchestration.report.terminal import report_view
from spanjury.orchestration.studies.discernment.conclusions import Conclusion, conclusion
from spanjury.orchestration.studies.discernment.detection import WRITTEN
from spanjury.orchestration.studies.discernment.findings import (
    METHODS,
    Contrast,
    Findings,
    Mode,
    Settings,
    contrasts,
    evaluate_scores,
)
from spanjury.orchestration.studies.discernment.score_arrays import ScoreArrays
from spanjury.orchestration.studies.discernment.summary import cautions, findings_json
from spanjury.orchestration.studies.discernment.tables import discernment_report
from spanjury.orchestration.studies.judging import Examinee, Judgement
from spanjury.perturbations.pairs import Condition, PerturbedPair, Skipped, perturbed_pairs
from spanjury.perturbations.perturbation import (
    NothingToDamageError,
    Perturbation,
    text_perturbation,
)

ASPECTS = ("fluency", "coherence", "relevance")
FALLS = [1.0, 1.0, 1.0, 1.0, 0.0]
STAYS = [0.0] * 5
NONE = [math.nan] * 5
SIXTEENTH = math.log(16, 20)
"""D where four of four fall: p = 1/16."""
PRINTED_ASPECTS = ("fluency", "consistency")
JURY = Examinee(signature="jury v1", seats={"keen": "annotator|temperature:0"})
KEEN = {"shout": (1.0, 0.0), "full-stop": (0.0, 0.0)}
BLIND = {"shout": (0.0, 0.0), "full-stop": (0.0, 0.0)}


@text_perturbation(
    family="characters", level="word", harms={"fluency", "coherence"}, spares={"relevance"}
)
def harm(text: str, rng: Generator) -> str:
    """Harm two aspects."""
    del rng
    return text + "!"


@text_perturbation(family="characters", level="word", spares={"fluency", "relevance"})
def leave_open(text: str, rng: Generator) -> str:
    """Promise nothing of coherence."""
    del rng
    return text + "?"


@text_perturbation(family="invariance", level="word", spares={"*"})
def spare(text: str, rng: Generator) -> str:
    """Harm nothing."""
    del rng
    return text + "."


def joint(
    differences: ArrayLike,
    *,
    of: Perturbation = harm,
    seed: int = 1,
    draws: int = 20_000,
    texts_each: int = 1,
) -> float:
    """Return the joint D of drops of the three aspects, with so many texts of each source."""
    values = np.array(differences, dtype=np.float64)
    clean = np.full(values.shape, 4.0)
    scores = score_arrays(clean, (clean - values)[np.newaxis], texts_each=texts_each)
    every = np.ones((1, values.shape[1]), dtype=bool)
    findings = evaluate_scores(
        replace(scores, aspects=ASPECTS, conditions=("made-up",), applied=every),
        [Condition(name="made-up", perturbation=of, level="word")],
        [Skipped(segment_id="0", condition="made-up", reason="its damage is made up")],
        judgements={},
        scales=dict.fromkeys(ASPECTS, Scale()),
        settings=Settings(seed=seed, draws=draws),
    )
    return findings.findings[0].joint


@pytest.mark.parametrize(
    ("differences", "expected"),
    [
        ([FALLS, STAYS, STAYS], SIXTEENTH),
        ([FALLS, FALLS, STAYS], SIXTEENTH),  # two aspects that say the same are no more sure
        ([FALLS, NONE, STAYS], SIXTEENTH),
        ([STAYS, STAYS, FALLS], 0),  # what is not damaged does not count
        ([NONE, NONE, FALLS], math.nan),
    ],
)
def test_the_joint_test_is_of_the_aspects_that_should_fall(
    differences: list[list[float]], expected: float
) -> None:
    assert joint(differences) == pytest.approx(expected, abs=0.03, nan_ok=True)


def test_aspects_that_fall_on_other_texts_are_surer_together() -> None:
    one, other = [1.0] * 4 + [0.0] * 4, [0.0] * 4 + [1.0] * 4
    assert joint([one, other, [0.0] * 8]) == pytest.approx(math.log(2**8, 20), abs=0.1)


def test_the_joint_test_covers_what_may_fall_if_no_aspect_is_damaged() -> None:
    assert joint([STAYS, FALLS, FALLS], of=leave_open) == pytest.approx(SIXTEENTH, abs=0.03)
    assert math.isnan(joint([FALLS, FALLS, FALLS], of=spare))


def test_the_joint_test_has_one_sign_for_all_texts_of_a_source() -> None:
    of_four = [1.0] * 8
    of_sources = joint([of_four, [0.0] * 8, [0.0] * 8], texts_each=2)
    assert of_sources == pytest.approx(SIXTEENTH, abs=0.03)


def test_the_joint_test_is_reproducible_and_ends_at_its_stated_limit() -> None:
    differences = [[1.0, 1.0, 2.0, -1.0, 1.0], [0.0, 1.0, 1.0, 1.0, -1.0], STAYS]
    assert joint(differences, draws=500) == joint(differences, draws=500)
    assert joint(differences, draws=500) != joint(differences, draws=500, seed=2)
    assert joint([[1.0] * 40] * 3, draws=10_000) == pytest.approx(math.log(10_001, 20))


def described(differences: ArrayLike, *, repeats: int) -> Contrast:
    """Describe drops of single scores that were each said `repeats` times."""
    fell = np.array([differences], dtype=np.float64) * repeats
    clean = np.full(fell.shape, 4.0 * repeats)
    (contrast,) = contrasts(
        clean,
        clean - fell,
        owner=np.arange(fell.size),
        scales={"fluency": Scale()},
        expected=lambda _: "unchanged",
        method=METHODS["calibrated"],
        repeats=repeats,
        settings=Settings(seed=1, draws=100),
    )
    return contrast


@pytest.mark.parametrize("differences", [[0.0, 1.0, 0.0, -1.0, 1.0, 0.0], [1.0] * 6])
def test_differences_are_those_of_single_scores(differences: list[float]) -> None:
    once, often = described(differences, repeats=1), described(differences, repeats=5)
    assert once.equivalence is not None
    assert often.equivalence is not None
    assert often.equivalence.verdict == once.equivalence.verdict
    assert often.equivalence[1:] == pytest.approx(once.equivalence[1:])
    assert often.effects == pytest.approx(once.effects)
    assert often.on_scale == pytest.approx(once.on_scale)


@text_perturbation(
    family="characters", level="character", harms={"fluency"}, spares={"consistency"}
)
def shout(text: str, rng: Generator) -> str:
    """Shout; who shouts already cannot."""
    del rng
    if text.isupper():
        raise NothingToDamageError("there are no small letters | at all")
    return text.upper()


@text_perturbation(family="invariance", level="word", spares={"*"})
def full_stop(text: str, rng: Generator) -> str:
    """Double the full stop."""
    del rng
    return text + "."


CONDITIONS = (
    Condition(
        name="shout",
        perturbation=shout,
        level="character",
        weights={"fluency": 0.9, "consistency": 0.1},
    ),
    Condition(name="full-stop", perturbation=full_stop, level="word"),
)


def findings_of(
    differences: Mapping[str, tuple[float, float]],
    *,
    segments: int = 40,
    clean: float = 4.0,
    last: str = "A text.",
    absent: Mapping[str, int] | None = None,
    mode: Mode = "calibrated",
    texts_each: int = 1,
) -> Findings:
    """Evaluate made-up scores.

    `differences` has, by condition, how far each score falls in every other text, `absent`,
    by aspect, how many scores of damaged texts are missing, `texts_each` how many texts each
    source has.
    """
    texts = [
        Segment(
            segment_id=str(n), task="summarization", output=last if n + 1 == segments else "A text."
        )
        for n in range(segments)
    ]
    shown = list(perturbed_pairs(texts, CONDITIONS, seed=1))
    before = np.full((2, segments), clean)
    damaged = np.full((2, 2, segments), np.nan)
    for row, condition in enumerate(CONDITIONS):
        for one in shown:
            if isinstance(one, PerturbedPair) and one.condition == condition.name:
                column = int(one.clean.segment_id)
                fell = np.array(differences[condition.name]) * (column % 2)
                damaged[row, :, column] = clean - fell
    for aspect, count in (absent or {}).items():
        damaged[:, PRINTED_ASPECTS.index(aspect), :count] = np.nan
    return evaluate_scores(
        score_arrays(before, damaged, texts_each=texts_each),
        CONDITIONS,
        shown,
        judgements=judgements(shown),
        scales=dict.fromkeys(PRINTED_ASPECTS, Scale()),
        settings=Settings(draws=200, mode=mode),
    )


def score_arrays(
    clean: NDArray[np.float64], damaged: NDArray[np.float64], *, texts_each: int = 1
) -> ScoreArrays:
    return ScoreArrays(
        segments=tuple(str(number) for number in range(clean.shape[1])),
        sources=tuple(str(number // texts_each) for number in range(clean.shape[1])),
        aspects=PRINTED_ASPECTS,
        conditions=tuple(condition.name for condition in CONDITIONS),
        clean=clean,
        control=clean.copy(),
        damaged=damaged,
        applied=~np.isnan(damaged[:, 0]),
        repeats=1,
    )


def judgements(shown: list[PerturbedPair | Skipped]) -> dict[tuple[str, str], Judgement]:
    """Mark the first three characters of each damaged text."""
    return {
        (text.segment_id, aspect): Judgement(score=3.0, outcome=Outcome.SCORED, spans=spans)
        for one in shown
        if isinstance(one, PerturbedPair)
        for aspect in PRINTED_ASPECTS
        for text, spans in ((one.clean, ()), (one.damaged, ((0, 3),)))
    }


def report(findings: Findings) -> Report:
    return discernment_report(
        findings,
        examinee=JURY,
        data="data.jsonl",
        recipe="ours",
        pictures=[Picture(file=Path("bars.png"), alt="D of each condition")],
    )


def page(findings: Findings) -> str:
    return report_markdown(report(findings))


def screen(findings: Findings) -> str:
    console = Console(width=80, file=StringIO(), force_terminal=False)
    console.print(report_view(report(findings)))
    text = console.file
    assert isinstance(text, StringIO)
    return text.getvalue()


def verdicts(findings: Findings) -> list[Conclusion]:
    return [conclusion(finding) for finding in findings.findings]


@pytest.mark.parametrize(
    ("differences", "expected"),
    [
        (KEEN, [Conclusion.DISCERNED, Conclusion.STEADY]),
        (BLIND, [Conclusion.NOT_DISCERNED, Conclusion.STEADY]),
        ({"shout": (0, 2), "full-stop": (1, 2)}, [Conclusion.ELSEWHERE, Conclusion.DISTURBED]),
        ({"shout": (-1, 0), "full-stop": (0, 1)}, [Conclusion.REWARDED, Conclusion.DISTURBED]),
    ],
)
def test_a_verdict_looks_where_the_damage_is(
    differences: Mapping[str, tuple[float, float]], expected: list[Conclusion]
) -> None:
    assert verdicts(findings_of(differences)) == expected


def test_few_texts_leave_it_undecided_and_scoreless_ones_unscored() -> None:
    few = findings_of({"shout": (1, 0), "full-stop": (1, 0)}, segments=3)
    assert verdicts(few) == [Conclusion.UNDECIDED, Conclusion.UNDECIDED]
    silent = findings_of(KEEN, absent={"fluency": 40, "consistency": 40})
    assert verdicts(silent) == [Conclusion.UNSCORED, Conclusion.UNSCORED]


def test_a_judge_without_scores_on_what_was_damaged_may_discern_elsewhere() -> None:
    (shouted, _) = findings_of(KEEN, absent={"fluency": 40}).findings
    assert conclusion(shouted) is Conclusion.UNSCORED
    assert conclusion(replace(shouted, discernment=1.5)) is Conclusion.ELSEWHERE


@pytest.mark.parametrize("mode", ["paper", "calibrated"])
def test_texts_of_one_source_are_one_observation(mode: Mode) -> None:
    """One of two texts falls in each of 20 sources, which counts like 20 texts that fall."""
    shared = findings_of(KEEN, texts_each=2, mode=mode)
    alone = METHODS[mode].test(np.ones(20))
    (fluency, _), (spared, _) = (finding.contrasts for finding in shared.findings)
    assert fluency.test == alone
    assert fluency.effects.used == 40
    assert fluency.interval == (0.5, 0.5)  # each source has one text that falls
    assert spared.equivalence is not None
    assert "`, 40 texts of 20 sources" in page(shared)
    assert "40 texts of 20 sources are few" in page(shared)
    assert "of 20 sources" not in page(findings_of(KEEN, mode=mode))


def test_texts_that_move_apart_within_each_source_have_moved() -> None:
    """The sums of the sources are 0, so p is 1, but it is not said that no score moved."""
    before, fell = np.full((2, 40), 4.0), np.tile([1.0, -1.0], 20)
    findings = evaluate_scores(
        score_arrays(before, np.tile(before - fell, (2, 1, 1)), texts_each=2),
        CONDITIONS,
        [
            Skipped(segment_id="0", condition=each.name, reason="its damage is made up")
            for each in CONDITIONS
        ],
        judgements={},
        scales=dict.fromkeys(PRINTED_ASPECTS, Scale()),
        settings=Settings(draws=200),
    )
    assert findings.findings[0].contrasts[0].discernment == 0
    assert not any("no score moved" in caution for caution in cautions(findings))
    (_, spared) = findings.findings
    equivalences = [each.equivalence.verdict for each in spared.contrasts if each.equivalence]
    assert equivalences == ["equivalent"] * 2


def test_one_source_shows_nothing_however_many_texts_it_has() -> None:
    findings = findings_of(KEEN, texts_each=40)
    assert verdicts(findings)[0] is Conclusion.UNDECIDED
    assert "40 texts of 1 source cannot show anything" in page(findings)
    assert "Take texts of 5 sources or more; give texts with equal inputs but" in page(findings)
    assert np.isnan(findings.findings[0].contrasts[0].interval).all()


def test_a_condition_that_found_nothing_damaged_no_text() -> None:
    findings = findings_of(KEEN, segments=1, last="LOUD.")
    assert verdicts(findings)[0] is Conclusion.NOT_DONE
    assert "No text could be damaged by 1 condition: shout." in page(findings)


def test_json_has_every_field_and_no_number_that_json_has_not() -> None:
    text = findings_json(findings_of(KEEN), examinee=JURY)
    assert json.loads(json.dumps(text, allow_nan=False)) == text
    parsed = json.loads(json.dumps(text))
    shouted, stopped = parsed["findings"]
    contrast = shouted["cells"][0]
    assert contrast["test"]["log_p"] == pytest.approx(20 * math.log(0.5), rel=1e-5)
    assert contrast["discernment"] == pytest.approx(20 * math.log(2, 20), rel=1e-5)
    assert contrast["effects"]["net_drop"] == 0.5
    assert (shouted["verdict"], stopped["verdict"]) == ("discerned", "steady")
    assert stopped["discernment"] is None
    assert shouted["localisation"]["hit_rate"] == 1
    assert parsed["settings"] == {"mode": "calibrated", "test": "", "seed": 1, "draws": 200}
    assert set(parsed["versions"]) == {"spanjury", "numpy", "scipy"}
    assert parsed["judge"] == {"signature": "jury v1", "seats": {"keen": "annotator|temperature:0"}}


def test_the_page_names_the_judges_the_settings_and_the_results() -> None:
    text = page(findings_of(KEEN, last="LOUD."))
    steady = "The mean score moves by less than half a step, as it should, after 1 condition"
    for line in (
        "- judge: `jury v1`",
        "- seat keen: `annotator|temperature:0`",
        "- data: `data.jsonl`, 40 texts",
        "- mode: `calibrated`, seed 1, 200 bootstrap draws",
        "- Scores fall enough to act on after 1 condition: shout.",
        f"- {steady}: full-stop.",
        "| shout | **+0.49** | +0.00 = |",
        "| shout | 1 | there are no small letters \\| at all |",
        "![D of each condition](bars.png)",
    ):
        assert line in text.splitlines()


def test_twins_that_people_wrote_are_not_called_damage_by_a_rule() -> None:
    findings = findings_of(KEEN)
    shouted, *others = findings.findings
    assert "| shout | rule |" in page(findings)
    written = replace(findings, findings=(replace(shouted, family=WRITTEN), *others))
    assert "| shout | people |" in page(written)


@pytest.mark.parametrize(
    ("judge", "segments", "answer"),
    [
        (KEEN, 4, "The texts are too few to show what the judge sees."),
        (BLIND, 4, "The texts are too few to show what the judge sees."),
        (BLIND, 9, "The judge sees 0 of 1 kind of damage; it misses shout."),
    ],
)
def test_texts_too_few_for_a_rate_count_only_what_they_decide(
    judge: Mapping[str, tuple[float, float]], segments: int, answer: str
) -> None:
    """The harmless condition is no kind of damage."""
    findings = findings_of(judge, segments=segments)
    assert math.isnan(findings.caught.value)
    assert page(findings).splitlines()[2] == f"**{answer}**"


def test_every_table_of_the_page_has_rows_of_one_length() -> None:
    for block in page(findings_of(KEEN, last="LOUD.")).split("\n\n"):
        rows = [line.replace("\\|", "") for line in block.splitlines() if line.startswith("|")]
        assert len({row.count("|") for row in rows}) <= 1


def test_a_blind_judge_is_called_blind_on_the_page() -> None:
    text = page(findings_of(BLIND))
    assert "- Scores are not shown to fall after 1 condition: shout." in text
    assert "On fluency, no score moved under any condition that should make it fall" in text


def test_missing_scores_are_counted_and_taken_at_their_worst() -> None:
    text = " ".join(cautions(findings_of(KEEN, absent={"fluency": 20})))
    assert "On fluency, 40 of 80 pairs lack a score. D and effects skip them" in text
    assert "scores would no longer fall after: shout." in text


def test_aspects_that_drop_out_of_the_weights_are_named() -> None:
    found = findings_of(KEEN, absent={"consistency": 40})
    assert found.findings[0].unscored_weights == {"consistency": 0.1}
    text = " ".join(cautions(found))
    assert "Skipped: consistency (up to 0.10 of the weight, in 1 condition)." in text
    assert "D with weights" not in " ".join(cautions(findings_of(KEEN)))
    fewer = " ".join(cautions(findings_of(KEEN, absent={"fluency": 4})))
    assert "every fall that is shown now would remain" in fewer
    all_gone = findings_of(KEEN, absent={"consistency": 40})
    assert "On consistency, the judge scored no pair" in " ".join(cautions(all_gone))


@pytest.mark.parametrize(
    ("segments", "caution"),
    [
        (1, "1 text cannot show anything"),
        (4, "would be 0.93. Take texts of 5 sources or more."),
        (20, "are few"),
    ],
)
def test_few_texts_are_warned_of(segments: int, caution: str) -> None:
    assert any(caution in text for text in cautions(findings_of(KEEN, segments=segments)))


def test_texts_at_the_worst_score_are_warned_of() -> None:
    rising = {"shout": (-1.0, 0.0), "full-stop": (0.0, 0.0)}
    text = " ".join(cautions(findings_of(rising, clean=1.0)))
    assert "On fluency, 100% of the clean texts have the worst score already" in text


def test_a_mode_that_gives_no_p_value_is_warned_of() -> None:
    assert "not a p-value" in " ".join(cautions(findings_of(KEEN, mode="paper")))
    assert "anti-conservative" in " ".join(cautions(findings_of(KEEN, mode="wilson")))
    assert not cautions(findings_of(KEEN))


@pytest.mark.parametrize("differences", [KEEN, BLIND])
def test_the_terminal_shows_a_line_a_condition_in_80_characters(
    differences: Mapping[str, tuple[float, float]],
) -> None:
    text = screen(findings_of(differences))
    assert max(len(line) for line in text.splitlines()) <= 80
    rows = [line for line in text.splitlines() if "shout " in line or "full-stop " in line]
    assert len(rows) == 2
    assert verdicts(findings_of(differences))[0].value in rows[0]
