"""The agreement of scorers with people: tables, intervals, tests, pages."""

import json
import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import spearmanr

from spanjury.judges.core import Segment
from spanjury.orchestration.report.markdown import report_markdown
from spanjury.orchestration.studies.agreement.findings import (
    AspectFindings,
    MetaFindings,
    Ranking,
    SystemMean,
    meta_json,
)
from spanjury.orchestration.studies.agreement.scorers import (
    Agreement,
    Scorer,
    Settings,
    agreements,
    rated_aspects,
    ratings,
)
from spanjury.orchestration.studies.agreement.tables import agreement_report
from spanjury.stats.correlations.grouping import Level

INPUTS, SYSTEMS = 12, 6
_LEVELS: tuple[Level, ...] = ("by-input", "system", "pooled")


def segments(seed: int = 1) -> list[Segment]:
    """Return outputs of systems that differ, with ratings that differ by more."""
    rng = np.random.default_rng(seed)
    return [
        Segment(
            segment_id=f"{document}/{system}",
            output=f"output {document} {system}",
            system=f"s{system}",
            inputs={"Article": f"text {document}"},
            human={"fluency": {"ann": float(system + rng.normal()), "bob": float(system)}},
        )
        for document in range(INPUTS)
        for system in range(SYSTEMS)
    ]


def scorer(
    name: str, texts: list[Segment], *, noise: float, lower_is_better: bool = False
) -> Scorer:
    rng = np.random.default_rng(len(name))
    human = {one.segment_id: one.human_score("fluency") or 0.0 for one in texts}
    sign = -1 if lower_is_better else 1
    return Scorer(
        name=name,
        scores={text: sign * (score + noise * rng.normal()) for text, score in human.items()},
        lower_is_better=lower_is_better,
    )


def by_name(settings: Settings, *scorers: Scorer) -> dict[str, Agreement]:
    table = ratings(segments(), scorers, aspect="fluency")
    return {one.scorer: one for one in agreements(table, settings)}


def whole(
    settings: Settings, *scorers: Scorer, texts: Sequence[Segment] | None = None
) -> MetaFindings:
    table = ratings(segments() if texts is None else texts, scorers, aspect="fluency")
    aspect = AspectFindings(
        aspect="fluency", agreements=agreements(table, settings), seats=(), rankings=()
    )
    return MetaFindings(
        settings=settings,
        data="d.jsonl",
        results=("r.jsonl",),
        aspects=(aspect,),
        spans=(),
        annotators=(),
    )


def test_outputs_for_one_input_stand_in_one_column_and_of_one_system_in_one_row() -> None:
    texts = segments()
    table = ratings(texts, [scorer("good", texts, noise=0.1)], aspect="fluency")
    assert table.human.shape == (SYSTEMS, INPUTS)
    assert table.systems == tuple(f"s{number}" for number in range(SYSTEMS))
    assert table.human[2, 3] == texts[3 * SYSTEMS + 2].human_score("fluency")
    assert table.coverage.tolist() == [1.0]


def test_a_second_output_of_a_system_for_an_input_stands_in_a_column_of_its_own() -> None:
    texts = segments()
    again = replace(texts[0], segment_id="again", human={"fluency": {"": 9.0}})
    table = ratings([*texts, again], [], aspect="fluency")
    assert table.human.shape == (SYSTEMS, INPUTS + 1)
    assert table.human[0, INPUTS] == 9.0
    assert table.items == len(texts) + 1


def test_systems_with_equal_means_share_a_rank() -> None:
    def ranked(by: str, **scores: float) -> Ranking:
        systems = (
            SystemMean(system=name, score=score, low=score, high=score, outputs=3)
            for name, score in scores.items()
        )
        return Ranking(aspect="fluency", by=by, systems=tuple(systems))

    found = whole(Settings(draws=0), scorer("good", segments(), noise=0.1))
    by_people = ranked("people", a=5.0, b=0.1 + 0.2, c=0.3, d=0.1, e=math.nan)
    by_errors = ranked("errors", e=1.0, c=2.0, b=2.0, a=3.0, d=math.nan)
    aspect = replace(found.aspects[0], rankings=(by_people, by_errors))
    page = report_markdown(agreement_report(replace(found, aspects=(aspect,))))
    rows = [[cell.strip() for cell in line.split("|")] for line in page.splitlines()]
    named = [each for each in rows if len(each) > 4 and each[2] in set("abcde")]
    by_first = {each[2]: each[1] for each in named}
    by_other = {each[2]: each[4].rpartition("rank ")[2] for each in named}
    assert by_first == dict(zip("abcde", "1224-", strict=True))
    assert by_other == dict(zip("abcde", "422-1", strict=True))


def test_scorers_of_other_aspects_are_not_compared_but_metrics_are_on_all() -> None:
    texts = segments()
    other = replace(scorer("other", texts, noise=0.1), aspect="coherence")
    same = replace(scorer("same", texts, noise=0.1), aspect="fluency")
    table = ratings(texts, [other, same, scorer("metric", texts, noise=0.1)], aspect="fluency")
    assert [one.name for one in table.scorers] == ["same", "metric"]


def test_unrated_aspects_cannot_be_compared() -> None:
    assert rated_aspects(segments()) == ("fluency",)
    with pytest.raises(ValueError, match="no person rated 'style'"):
        ratings(segments(), [], aspect="style")


def test_agreement_by_input_is_the_mean_of_correlations_within_inputs() -> None:
    texts = segments()
    one = scorer("good", texts, noise=1.0)
    (agreement,) = by_name(Settings(draws=0), one).values()
    human = np.array([text.human_score("fluency") or 0.0 for text in texts])
    scores = np.array([one.scores[text.segment_id] for text in texts])
    inputs = zip(human.reshape(INPUTS, SYSTEMS), scores.reshape(INPUTS, SYSTEMS), strict=True)
    within = [spearmanr(*pair).statistic for pair in inputs]
    assert agreement.value == pytest.approx(np.mean(within))
    assert (agreement.items, agreement.groups) == (INPUTS * SYSTEMS, INPUTS)
    assert math.isnan(agreement.low)


def test_agreement_is_positive_even_if_lower_scores_are_better() -> None:
    texts = segments()
    found = by_name(Settings(draws=0), scorer("error rate", texts, noise=0.1, lower_is_better=True))
    assert found["error rate"].value > 0.9


def test_a_worse_scorer_is_significantly_behind_the_nearest_and_a_twin_is_not() -> None:
    texts = segments()
    good = scorer("good", texts, noise=0.3)
    twin = replace(good, name="twin", scores={**good.scores, "0/0": good.scores["0/0"] + 0.01})
    noisy = scorer("noise alone", texts, noise=50.0)
    found = by_name(Settings(draws=300), good, twin, noisy)
    assert found["noise alone"].behind < 0.02
    assert not found["noise alone"].is_tied
    assert found["good"].is_tied
    assert found["twin"].is_tied
    for one in found.values():
        assert one.low <= one.value <= one.high


def test_enough_swaps_are_drawn_to_show_one_of_many_scorers_to_be_behind() -> None:
    texts = segments()
    poor = [scorer(f"{'poor':x<{length}}", texts, noise=20) for length in range(4, 10)]
    found = by_name(Settings(draws=20), scorer("good", texts, noise=0.1), *poor)
    assert all(found[each.name].standing == "behind" for each in poor)


def test_a_scorer_that_no_test_compares_with_the_nearest_is_not_called_as_near() -> None:
    texts = segments()
    good, other = scorer("good", texts, noise=0.3), scorer("other", texts, noise=0.6)
    early = replace(good, scores=dict([*good.scores.items()][: 6 * SYSTEMS]))
    late = replace(other, scores=dict([*other.scores.items()][6 * SYSTEMS :]))
    found = by_name(Settings(draws=50), early, late)
    assert [one.standing for one in found.values()] == ["nearest", "untested"]
    assert not found["other"].is_tied
    undrawn = by_name(Settings(draws=0), good, other)
    assert {one.standing for one in undrawn.values()} == {"untested"}


def test_constant_scores_have_no_correlation_and_a_reason() -> None:
    texts = segments()
    flat = Scorer(name="flat", scores={text.segment_id: 3.0 for text in texts})
    good = scorer("good", texts, noise=0.3)
    found = by_name(Settings(draws=50), flat, good)
    assert math.isnan(found["flat"].value)
    assert found["flat"].reason == "its scores are constant"
    assert list(found) == ["good", "flat"]
    assert not found["flat"].is_tied


def test_missing_scores_lower_the_coverage_and_nothing_else() -> None:
    texts = segments()
    whole = scorer("good", texts, noise=0.3)
    half = Scorer(name="half", scores=dict(list(whole.scores.items())[: len(texts) // 2]))
    (agreement,) = by_name(Settings(draws=0), half).values()
    assert agreement.coverage == 0.5
    assert agreement.items == len(texts) // 2


def test_scorers_of_different_texts_are_named_with_their_numbers() -> None:
    texts = segments()
    good = scorer("good", texts, noise=0.3)
    half = replace(good, name="half", scores=dict([*good.scores.items()][: len(texts) // 2]))
    page = report_markdown(agreement_report(whole(Settings(draws=0), good, half)))
    assert f"good {len(texts)} outputs" in page
    assert f"half {len(texts) // 2} outputs" in page
    alike = report_markdown(agreement_report(whole(Settings(draws=0), good)))
    assert "these differ" not in alike


def test_the_same_seed_gives_the_same_page() -> None:
    texts = segments()
    scorers = [scorer("good", texts, noise=0.3), scorer("noise alone", texts, noise=50.0)]
    settings = Settings(draws=60, seed=7)
    first, second = (report_markdown(agreement_report(whole(settings, *scorers))) for _ in range(2))
    assert first == second
    assert "| good | **" in first
    assert "60 draws, seed 7" in first


def test_no_scorer_is_called_close_that_is_not_shown_to_agree() -> None:
    texts = segments()
    worse = scorer("worse", texts, noise=0.3)
    against = replace(worse, scores={text: -score for text, score in worse.scores.items()})
    settings = Settings(draws=60)

    def answer(*scorers: Scorer) -> str:
        page = report_markdown(agreement_report(whole(settings, *scorers)))
        return page.replace("\\", "")

    (measured,) = by_name(settings, against).values()
    assert not measured.is_shown
    ends = f"{measured.value:.2f} [{measured.low:.2f}, {measured.high:.2f}]"
    said = f"no scorer is shown to agree with people; `worse` is closest ({ends})"
    assert said in answer(against)
    good = answer(against, scorer("good", texts, noise=0.3))
    assert "`good` is closest to people (" in good
    assert "no scorer" not in good


def test_texts_of_one_system_take_another_level_and_the_report_says_so() -> None:
    texts = [one for one in segments() if one.system == "s0"]
    scorers = (scorer("good", texts, noise=0.3), Scorer(name="silent", scores={}))
    within, of_systems, pooled = (
        report_markdown(
            agreement_report(whole(Settings(draws=0, level=level), *scorers, texts=texts))
        )
        for level in _LEVELS
    )
    says = "so no correlation can be computed at this level: `--level pooled` correlates all texts."
    assert f"On *fluency*, no input has texts of 3 systems, {says}" in within.split("\n\n")[1]
    assert f"On *fluency*, there are no 3 systems, {says}" in of_systems.split("\n\n")[1]
    assert says not in pooled
    assert "no score" in within


def test_a_report_writes_out_the_correlation_and_the_panel() -> None:
    texts = segments()
    panel = scorer("panel", texts, noise=0.3)
    page = report_markdown(agreement_report(whole(Settings(draws=0), panel)))
    assert "the panel is closest" in page
    assert "Spearman's correlation within each input over its systems" in page


def test_several_systems_need_no_other_level() -> None:
    texts = segments()
    page = report_markdown(
        agreement_report(whole(Settings(draws=0), scorer("good", texts, noise=0.3)))
    )
    assert "no input has texts" not in page


def test_json_has_null_for_what_is_undefined() -> None:
    texts = segments()
    flat = Scorer(name="flat", scores={text.segment_id: 3.0 for text in texts})
    settings = Settings(draws=0)
    values = json.loads(json.dumps(meta_json(whole(settings, flat))))
    (row,) = values["agreements"]
    assert row["value"] is None
    assert row["others"]["pearson"] is None


def test_a_few_systems_are_not_resampled() -> None:
    few = [text for text in segments() if text.system in {"s0", "s1"}]
    pooled = Settings(level="pooled", draws=50)
    for texts, units, words in (
        (few, "inputs", "resampled inputs, not systems (fewer than 5 for an input)"),
        (segments(), "both", "resampled systems and inputs (50 draws"),
    ):
        findings = whole(pooled, scorer("good", texts, noise=0.3), texts=texts)
        assert {each.resampled for each in findings.agreements} == {units}
        assert words in " ".join(report_markdown(agreement_report(findings)).split())


def test_an_interval_over_inputs_is_that_of_scipy_s_bootstrap() -> None:
    """A system with few texts would have whole draws to itself if systems were resampled."""
    texts = [
        text
        for text in segments()
        if text.system == "s0" or (text.system == "s1" and text.segment_id < "2")
    ]
    good = scorer("good", texts, noise=1.0)
    table = ratings(texts, [good], aspect="fluency")
    (found,) = agreements(table, Settings(level="pooled", draws=2000))
    rng = np.random.default_rng(5)
    human, scores = table.human, table.scores[0]
    drawn = []
    for _ in range(2000):
        columns = rng.integers(human.shape[1], size=human.shape[1])
        pairs = np.array([human[:, columns].ravel(), scores[:, columns].ravel()])
        drawn.append(spearmanr(*pairs[:, ~np.isnan(pairs).any(axis=0)]).statistic)
    # Percentiles are expanded for few inputs: 1.2 and 98.8 with 12.
    low, high = np.quantile(drawn, [0.012, 0.988])
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.06)


def test_constant_scores_of_people_are_named_as_theirs() -> None:
    texts = [replace(text, human={"fluency": {"ann": 4.0}}) for text in segments()]
    table = ratings(texts, [scorer("good", segments(), noise=0.3)], aspect="fluency")
    (found,) = agreements(table, Settings(draws=0))
    assert found.reason == "people's scores are constant"
