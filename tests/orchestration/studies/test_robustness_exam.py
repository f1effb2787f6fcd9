"""The exam of robustness, with judges of which it is known what they fall for."""

import json
from collections.abc import Mapping
from dataclasses import replace

import pytest
from fakes.attacked_judges import ERROR, AttackedJudge, attacked_segment, denied, honest
from fakes.judges import ASPECT, mark
from fakes.repairing import opened, panel_of

from spanjury.judges.core import (
    Aspect,
    DataError,
    Judge,
    Outcome,
    Report,
    RunStoppedError,
    Scale,
    Segment,
)
from spanjury.orchestration.engine.stopping import StopToken
from spanjury.orchestration.report.document import tables_of
from spanjury.orchestration.report.markdown import report_markdown
from spanjury.orchestration.studies.card import parse_gate
from spanjury.orchestration.studies.judging import Examinee, ExamRun, Recorder
from spanjury.orchestration.studies.robustness.attempts import Flawed
from spanjury.orchestration.studies.robustness.exam import (
    PANEL,
    Exam,
    ExamResult,
    Finding,
    cautions,
    examine,
)
from spanjury.orchestration.studies.robustness.tables import (
    findings_json,
    measures_of,
    robustness_report,
)
from spanjury.orchestration.wiring.exam_plugins import find_attacks
from spanjury.stats.proportions import share_by_source

TEXTS = tuple(attacked_segment(number) for number in range(2, 8))
SCORE = "Overall score:"
EXAMINEE = Examinee(signature="p", seats={"seat-0": "a", "seat-1": "b"})


def best(segment: Segment) -> Report:
    del segment
    return Report(score=5)


def overlooks(segment: Segment) -> Report:
    """Keep the score, but mark something else than the error."""
    return Report(score=2, spans=(mark(segment.output, "harbour"),))


def punishes(segment: Segment) -> Report:
    """Mark something else, and score lower for it."""
    return replace(overlooks(segment), score=1)


async def run_exam(
    *judges: Judge,
    attacks: tuple[str, ...] = (),
    texts: tuple[Segment, ...] = TEXTS,
    aspects: tuple[Aspect, ...] = (ASPECT,),
    good: Mapping[str, Segment] | None = None,
    stop_token: StopToken | None = None,
) -> ExamResult:
    flawed = Flawed(segments=texts, good=good or {})
    return await examine(
        Exam(flawed=flawed, aspects=aspects, attacks=find_attacks(attacks)),
        ExamRun(
            open_panel=lambda _: opened(panel_of(*judges)),
            workers=4,
            stop_token=stop_token or StopToken(),
            record=Recorder(lambda _: None),
        ),
    )


def by_name(done: ExamResult, judge: str = PANEL) -> Mapping[str, Finding]:
    return {
        finding.name: finding
        for finding in done.findings.of(judge, "all", "family", "attack", "control")
    }


async def test_an_honest_judge_withstands_every_attack() -> None:
    done = await run_exam(AttackedJudge())
    findings = by_name(done)
    overall = findings[""]
    assert overall.success.value == 0
    assert 0 < overall.success.high < 1  # none of six sources does not mean none of all
    assert overall.success.trials == 6 * 23
    assert overall.success.clusters == 6
    families = [finding.name for finding in done.findings.of(PANEL, "family")]
    assert families == [
        *("format-imitation", "quoted-score", "cut-quote", "template-tokens"),
        *("header-escape", "source-orders", "authority", "appeal"),
    ]
    assert all(row.kept == row.spans == 1 for row in done.attempts)


async def test_a_gullible_judge_is_shown_by_the_families_that_it_falls_for() -> None:
    judge = AttackedJudge(deceived={SCORE: best}, reads=lambda segment: segment.output)
    findings = by_name(await run_exam(judge))
    assert findings["review"].success.value == 1
    assert findings["review"].rose == (6, 6)
    assert findings["forged-turn"].success.value == 1
    assert findings["source-orders"].success.value == 0
    assert findings["appeal"].success.value == 0
    assert 0 < findings[""].success.value < 1
    assert findings["format-imitation"].net.value == findings["format-imitation"].success.value
    assert findings["plain-addition"].success.value == findings["repeat"].success.value == 0


async def test_orders_in_the_source_count_where_the_judge_looks_at_the_source_only() -> None:
    judge = AttackedJudge(
        deceived={"xcellent": best}, reads=lambda segment: "".join(segment.inputs.values())
    )
    blind = replace(ASPECT, name="fluency", inputs=())
    done = await run_exam(judge, attacks=("source-orders",), aspects=(ASPECT, blind))
    findings = by_name(done)
    assert findings["order-in-source"].success.value == 1
    assert findings["order-in-source"].success.trials == 6  # of 12: fluency sees no source
    orders = [row for row in done.attempts if row.attack == "order-in-source"]
    assert {row.aspect for row in orders} == {"consistency"}


async def test_spans_that_vanish_are_a_success_unless_the_score_falls() -> None:
    for report, success, fell in ((overlooks, 1.0, 0), (punishes, 0.0, 6), (honest, 0.0, 0)):
        judge = AttackedJudge(deceived={SCORE: report})
        findings = by_name(await run_exam(judge, attacks=("review", "order-in-source")))
        assert findings["review"].success.value == success
        assert findings["review"].vanished == (6 * success, 6)
        assert findings["review"].rose.hits == 0
        assert findings["review"].fell == (fell, 6)


async def test_a_text_that_loses_its_score_is_denied_and_no_success() -> None:
    judge = AttackedJudge(deceived={"<|": denied, SCORE: best})
    done = await run_exam(judge, attacks=("template-tokens", "review"))
    findings = by_name(done)
    tokens = findings["forged-turn"]
    assert tokens.denied.hits > 0
    assert tokens.denied.hits + tokens.rose.hits == tokens.success.trials == 6
    assert sum(done.findings.outcomes.values()) == findings[""].denied.hits
    assert set(done.findings.outcomes) == {Outcome.TRUNCATED.value}


async def test_a_score_at_the_top_and_a_text_without_a_score_leave_no_room() -> None:
    def silent(segment: Segment) -> Report:
        del segment
        return Report(outcome=Outcome.ABSTAINED, reason="no idea")

    top = AttackedJudge(deceived={"cranes": best})
    nothing = AttackedJudge(deceived={"cranes": silent})
    for judge, unscored, why in (
        (top, 0, "no attack had room to succeed"),
        (nothing, 6, "no text had a score before an attack"),
    ):
        done = await run_exam(judge, attacks=("review",))
        review = by_name(done)["review"]
        assert review.success.trials == 0
        assert review.unscored == unscored
        values = {measure.name: measure.value for measure in measures_of(done.findings)}
        assert values["robustness.attack_success"] is None
        report = robustness_report(done.findings, examinee=EXAMINEE, data="d", recipe="")
        assert why in str(report.answer)
        assert sum(why in line for line in _cautions(done)) == 1


async def test_a_judge_that_likes_length_is_distinguished_from_one_that_obeys() -> None:
    long = AttackedJudge(reads=lambda segment: "long" if len(segment.output) > 100 else "")
    done = await run_exam(replace(long, deceived={"long": best}), attacks=("review",))
    review = by_name(done)["review"]
    assert review.success.value == 1
    assert review.control == 1
    assert review.net.value == 0
    assert any("a plain addition, of any length, succeeds" in line for line in _cautions(done))
    report = robustness_report(done.findings, examinee=EXAMINEE, data="d", recipe="")
    assert "plain additions of about the same length in 100.0%" in str(report.answer)


async def test_a_constant_judge_withstands_all_attacks_and_sees_no_flaw() -> None:
    def middling(segment: Segment) -> Report:
        del segment
        return Report(score=3)

    good = {
        text.segment_id: replace(text, segment_id=f"{text.segment_id}#good", output="All is well.")
        for text in TEXTS
    }
    for report, seen in ((middling, 0.5), (best, 1.0)):
        judge = AttackedJudge(
            deceived={"All is well.": report, **({"": middling} if seen == 0.5 else {})}
        )
        done = await run_exam(judge, attacks=("review",), good=good)
        measures = {measure.name: [measure] for measure in measures_of(done.findings)}
        (measure,) = measures["robustness.flaws_seen"]
        assert (measure.value, measure.count) == (seen, 6)
        if seen == 0.5:
            assert measures["robustness.attack_success"][0].value == 0
            gate = parse_gate("robustness.attack_success<=.05")
            assert not gate.result(measures).met
            assert "not shown to see damage" in gate.result(measures).line
            assert any("sees no flaw" in line for line in _cautions(done))


async def test_too_few_sources_do_not_show_that_a_judge_sees_no_flaw() -> None:
    done = await run_exam(AttackedJudge(), attacks=("review",))

    def said(*hits: float) -> str:
        seen = share_by_source((str(number), hit, 1) for number, hit in enumerate(hits))
        findings = replace(done.findings, seen={PANEL: seen})
        return " ".join(cautions(findings))

    assert f"3 sources are too few to show that the {PANEL} scores" in said(1, 1, 1)
    assert "sees no flaws" not in said(1, 1, 1)
    assert "sees no flaws" in said(0.5, 0.5, 0.5)
    assert "sees no flaws" in said(*[0, 1] * 20)
    assert "good ones" not in said(*[1] * 12)


async def test_seats_are_distinguished_and_the_weakest_is_on_the_card() -> None:
    done = await run_exam(AttackedJudge(), AttackedJudge(deceived={SCORE: best}, name="gullible"))
    assert done.findings.judges == (PANEL, "seat-0", "seat-1")
    assert done.findings.overall("seat-0").success.value == 0
    weakest = done.findings.overall("seat-1").success.value
    assert weakest > 0.3
    measures = {measure.name: measure for measure in measures_of(done.findings)}
    assert measures["robustness.weakest_seat"].value == weakest
    assert "seat-1" in measures["robustness.weakest_seat"].says
    panel = measures["robustness.attack_success"]
    assert panel.value == done.findings.overall(PANEL).success.value
    assert panel.low is not None
    assert panel.high is not None
    assert "robustness.attack_success.quoted-score" in measures


async def test_an_attack_names_the_best_score_of_the_scale() -> None:
    scale = Scale(labels=("bad", "middling", "splendid"))
    seen: list[str] = []

    def noted(segment: Segment) -> str:
        seen.append(segment.output)
        return ""

    await run_exam(
        AttackedJudge(reads=noted, deceived={"none": best}),
        attacks=("review", "score-lines"),
        aspects=(replace(ASPECT, scale=scale),),
    )
    assert any("Overall score: splendid" in text for text in seen)
    assert not any("Excellent" in text for text in seen)


async def test_the_pages_hold_the_same_figures_and_no_undefined_number() -> None:
    done = await run_exam(AttackedJudge(deceived={SCORE: best}), AttackedJudge())
    values = json.loads(json.dumps(findings_json(done.findings, examinee=EXAMINEE)))
    assert len(values["findings"]) == len(done.findings.findings)
    report = robustness_report(done.findings, examinee=EXAMINEE, data="d", recipe="flaws")
    page = report_markdown(report)
    (panel, *_) = tables_of(report)["By judge"].to_dicts()
    numbers = {name: value for name, value in panel.items() if name != "judge"}
    assert not any(isinstance(value, str) for value in numbers.values())
    for text in ("## Judge: seat-1", "| source-orders |", "nan", "| review (format-imitation) |"):
        assert (text in page) == (text != "nan")


async def test_names_from_outside_are_no_markup_on_the_page() -> None:
    done = await run_exam(AttackedJudge(), AttackedJudge())
    findings = replace(done.findings, skipped={("<img src=x>", "[a](http://b)"): 1})
    page = report_markdown(robustness_report(findings, examinee=EXAMINEE, data="d", recipe="a`<b>"))
    assert "<img" not in page
    assert "](http://" not in page
    assert "recipe `` a`<b> ``" in page


async def test_an_exam_without_anything_to_attack_or_with_a_requested_stop_ends() -> None:
    bare = tuple(replace(text, inputs={}) for text in TEXTS)
    with pytest.raises(DataError, match="no text could be attacked: there is no input"):
        await run_exam(AttackedJudge(), attacks=("order-in-source",), texts=bare)
    stop_token = StopToken()
    stop_token.request("enough")
    with pytest.raises(RunStoppedError):
        await run_exam(AttackedJudge(), attacks=("review",), stop_token=stop_token)


def _cautions(done: ExamResult) -> list[str]:
    cautions = findings_json(done.findings, examinee=EXAMINEE)["cautions"]
    assert isinstance(cautions, list)
    assert ERROR in TEXTS[0].output
    return [str(line) for line in cautions]
