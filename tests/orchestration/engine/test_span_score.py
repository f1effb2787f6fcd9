from dataclasses import replace
from pathlib import Path

import pytest
from fakes.judges import ASPECT, FixedJudge, mark, panel_of, segment

from spanjury.judges.core import ConfigError, ErrorSpan, Judge, Outcome, PanelReport, Report
from spanjury.judges.scoring import SpanMap, SpanPenalty
from spanjury.judges.scoring.span_map import write_map
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.engine.span_score import SpanScore, span_score
from spanjury.orchestration.services.judging.panels import open_panel
from spanjury.orchestration.wiring.config import PanelConfig, SeatConfig

TEXT = segment().output


LOST = ErrorSpan(text="the moon is cheese", explanation="invented", severity=5)


def year(severity: int) -> ErrorSpan:
    return mark(TEXT, "1935", "not the year", severity=severity)


def finding(*spans: ErrorSpan, score: float = 4) -> FixedJudge:
    return FixedJudge(says=Report(score=score, spans=spans))


def panel(*judges: Judge, score: SpanScore | None) -> Panel:
    return panel_of(*judges, span_score=score)


async def report_of(*judges: Judge, score: SpanScore) -> PanelReport:
    return await panel(*judges, score=score).assess(segment(), ASPECT)


async def test_each_seat_speaks_by_the_spans_that_it_found() -> None:
    report = await report_of(finding(year(4)), finding(score=5), score=span_score())
    assert report.score == 3  # 1 for who found the error, 5 for who found none
    assert report.aggregation == "from-spans"
    assert [seat.report.score for seat in report.seats] == [4, 5]


async def test_merged_spans_count_as_they_are_reported() -> None:
    report = await report_of(finding(year(2)), finding(year(4)), score=span_score())
    assert ([span.severity for span in report.spans], report.score) == ([4], 1)


async def test_the_whole_list_is_as_bad_as_its_worst_error_whoever_found_it() -> None:
    report = await report_of(finding(year(4)), finding(score=5), score=span_score(over="list"))
    assert report.score == 1


async def test_a_seat_that_scores_without_naming_errors_has_no_say() -> None:
    report = await report_of(finding(year(4)), finding(score=4), score=span_score())
    assert report.score == 1


async def test_a_panel_that_names_no_error_for_its_scores_abstains() -> None:
    report = await report_of(finding(score=4), finding(score=3), score=span_score())
    assert (report.outcome, report.score) == (Outcome.ABSTAINED, None)
    assert "lacks a location" in report.reason


async def test_a_seat_whose_quotations_are_not_in_the_text_has_no_say() -> None:
    lost = finding(*[replace(LOST, text=f"the moon is cheese {n}") for n in range(7)], score=1)
    alone = await report_of(lost, score=span_score())
    assert (alone.outcome, alone.score) == (Outcome.ABSTAINED, None)
    assert "lacks a location in the text" in alone.reason
    beside = await report_of(finding(year(4), score=2), lost, score=span_score())
    assert beside.score == 1
    crowd = [replace(LOST, text=f"the moon is cheese {n}") for n in range(8)]  # as many as are kept
    crowded = await report_of(
        finding(year(4), score=2), finding(*crowd, score=1), score=span_score()
    )
    assert crowded.outcome is Outcome.ABSTAINED
    praising = await panel(finding(score=5), finding(score=5), score=None).judge(segment(), ASPECT)
    assert span_score(over="list").of(praising, [LOST]) is None
    assert span_score(over="list").of(praising, [LOST, year(4)]) == 1


async def test_an_error_that_names_no_seat_is_everybodys() -> None:
    plain = panel(finding(score=5), finding(score=5), score=None)
    verdict = await plain.judge(segment(), ASPECT)
    assert span_score().of(verdict, [year(4)]) == 1
    assert span_score().of(verdict, [replace(year(4), found_by=("seat0",))]) == 3


def test_everything_that_makes_the_score_is_in_the_panels_signature() -> None:
    scores = (None, span_score(), span_score(over="list"), span_score(rest=0.5))
    assert len({panel(finding(), score=score).signature for score in scores}) == 4


async def test_a_panel_is_asked_by_name_how_its_score_is_made() -> None:
    for name, score in {"aggregate": 4, "from-spans": 1, "from-spans:by=error,top=5": 1.8}.items():
        config = PanelConfig(seats=(SeatConfig(judge=finding(year(4))),), score=name)
        async with open_panel(config) as opened:
            report = await opened.assess(segment(), ASPECT)
            assert report.score == pytest.approx(score)


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("spans", "expected aggregate, from-spans"),
        ("aggregate:rest=1", "expected aggregate, from-spans"),
        ("from-spans:rest=2", "rest must be"),
        ("from-spans:wrost=2", "rest'. Choose from by, file, over"),
        ("from-spans:by=word", "sentence"),
        ("from-spans:file=absent.json", "absent.json"),
        ("from-spans:file=absent.json,rest=.2", "leave out all but over"),
    ],
)
async def test_an_invalid_score_option_is_reported_before_judging(name: str, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        async with open_panel(judges=["form"], score=name):
            pass


async def test_a_fitted_map_is_read_from_its_file(tmp_path: Path) -> None:
    fitted = SpanMap(penalty=SpanPenalty(by="error", weights=(0.5, 1.0, 2.0, 3.5, 5.0)))
    write_map(fitted, tmp_path / "map.json")
    score = span_score(file=tmp_path / "map.json", over="list")
    assert score == SpanScore(span_map=fitted, over="list")
