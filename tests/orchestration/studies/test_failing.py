"""Conditions, means and shares over results, as a program asks for them."""

import json
from dataclasses import replace

import pytest
from fakes.judges import ASPECT, mark, segment

from spanjury.judges.core import (
    ConfigError,
    Decision,
    DecisionBasis,
    ErrorSpan,
    Ground,
    Outcome,
    PanelReport,
    Result,
    Scale,
)
from spanjury.orchestration.studies.failing.conditions import Failure, failing, parse_condition
from spanjury.orchestration.studies.failing.gate import MeanDemand, Terms, held_to, parse_terms
from spanjury.orchestration.studies.failing.lines import Location, annotations, failing_line, sarif

OUTPUT = "The bridge opened in 1935 and has ten lanes."
YEAR = replace(mark(OUTPUT, "1935", severity=5), probability=0.4, category="Number")
LANES = replace(mark(OUTPUT, "ten", severity=2), probability=0.9)
OMITTED = ErrorSpan(text="", explanation="Its length is missing.", severity=None)
INVENTED = ErrorSpan(text="1999", explanation="Not the year.", severity=5)
BY_SPANS = DecisionBasis(ground=Ground.SPANS, reason="An error is marked.")


def result(
    *spans: ErrorSpan, name: str = "s", score: float = 2, decision: Decision = Decision.FAULTY
) -> Result:
    report = PanelReport(score=score, spans=spans, decision=decision, basis=BY_SPANS)
    return Result(segment=segment(name, OUTPUT), aspect=ASPECT, report=report)


UNSCORED = Result(
    segment=segment("u", OUTPUT),
    aspect=ASPECT,
    report=PanelReport(outcome=Outcome.TIMED_OUT, reason="It took too long."),
)


@pytest.mark.parametrize(
    "condition",
    [
        *("probability>1", "error_probability<0", "severity>5", "severity=3.5", "score<1"),
        *("severity>=4 and severity<=3", "severity>3 and severity<4", "spans<0", "spans=1.5"),
        *("decision=ok and decision=faulty", "decision<ok", "outcome=scored and outcome!=scored"),
        *("category=a and category=b", "score>2 and score<=2", "spans>2 and spans<3", "score=0"),
    ],
)
def test_a_condition_that_can_never_hold_is_refused(condition: str) -> None:
    with pytest.raises(ConfigError, match=r"can never hold: \w+ is|is 1 or more, not 0"):
        parse_condition(condition)


@pytest.mark.parametrize(
    "condition",
    [
        *("score<=5", "score>=1", "score>=1 and score<=5", "error_probability>=0", "spans>=0"),
        *("error_probability<=1", "decision>=ok", "decision<=faulty", "aspect=a and score>=1"),
        "severity>=4 and score<=5",
    ],
)
def test_a_condition_of_which_a_part_always_holds_is_refused(condition: str) -> None:
    with pytest.raises(ConfigError, match="always holds: "):
        parse_condition(condition)


@pytest.mark.parametrize(
    "condition",
    [
        *("severity>=1", "probability>=0", "decision!=ok", "aspect=a and score<=5", "score!=5"),
        *("probability>=1", "probability>.999 and probability<1", "severity>=4 and severity<5"),
        *("decision!=ok and decision!=unsure and decision!=faulty", "category!=a and category!=b"),
        *("score>4 and score<4.1", "spans>2 and spans<4", "spans>999", "aspect!=a and aspect=b"),
    ],
)
def test_a_condition_that_can_hold_is_accepted(condition: str) -> None:
    assert parse_condition(condition).text == condition


def test_a_score_beyond_the_scale_of_every_aspect_is_refused() -> None:
    wide = replace(ASPECT, name="wide", scale=Scale(labels=tuple("abcdefgh")))
    terms = parse_terms(fail_on=["aspect=consistency and score>=7"])
    with pytest.raises(ConfigError, match="score>=7' can never hold; scores: consistency from 1"):
        held_to(terms, [result(YEAR)])
    terms = parse_terms(fail_on=["aspect=wide and score>7"])
    assert held_to(terms, [result(YEAR), replace(result(YEAR), aspect=wide)]).total == 2
    with pytest.raises(ConfigError, match="no text is judged on 'wide'; aspects: consistency"):
        held_to(terms, [result(YEAR)])


def test_a_score_that_divides_the_scale_of_no_aspect_is_refused() -> None:
    wide = replace(ASPECT, scale=Scale(labels=tuple("abcdefgh")))
    terms = parse_terms(fail_on=["aspect=consistency and score<=5"])
    with pytest.raises(ConfigError, match="score<=5' always holds; scores: consistency from 1 to"):
        held_to(terms, [result(YEAR)])
    assert held_to(terms, [result(YEAR), replace(result(YEAR), aspect=wide)]).total == 2


@pytest.mark.parametrize("condition", ["score>=7", "score<7", "score>5", "aspect!=a and score=6"])
def test_a_score_beyond_the_usual_scale_needs_the_name_of_an_aspect(condition: str) -> None:
    with pytest.raises(ConfigError, match="without aspect=NAME, the score is on the scale of 1 to"):
        parse_condition(condition)


@pytest.mark.parametrize(
    ("condition", "score", "fails"),
    [
        ("score<3", 1, True),
        ("score<3", 2, False),  # the yes, as 5 of 5
        ("score>=5", 2, True),
        ("aspect!=b and score<3", 2, False),
        ("aspect=criterion and score<2", 1, True),  # on its own scale
        ("aspect=criterion and score<2", 2, False),
    ],
)
def test_a_score_without_an_aspect_is_mapped_from_the_scale_of_each(
    condition: str, score: float, *, fails: bool
) -> None:
    yes_no = replace(ASPECT, name="criterion", scale=Scale(labels=("No", "Yes")))
    row = replace(result(score=score, decision=Decision.OK), aspect=yes_no)
    failures = failing([row], condition)
    assert bool(failures) is fails
    assert all(f"score {score:.2f} of 2" in failure.says for failure in failures)


def test_a_mean_beyond_the_scale_of_its_aspect_is_refused() -> None:
    with pytest.raises(ConfigError, match="consistency >= 7 can never be reached; its scale is 1"):
        held_to(parse_terms(fail_under=["consistency=7"]), [result(YEAR)])


@pytest.mark.parametrize(
    ("condition", "spans"),
    [
        ("severity>=4", (YEAR,)),
        ("severity<=4", (LANES,)),
        ("severity=2", (LANES,)),
        ("severity>1", (YEAR, LANES)),
        ("probability>.5", (LANES,)),
        ("category=number", (YEAR,)),
        ("category!=number", None),
        ("severity>=4 and probability>=.8", None),
        ("severity>=1 AND probability>=.8", (LANES,)),
        ("spans=3", ()),
        ("spans>3", None),
        ("decision=faulty and severity<2", None),
        ("outcome=scored", ()),
        ("aspect!=consistency", None),
    ],
)
def test_a_condition_names_the_spans_that_meet_all_of_it(
    condition: str, spans: tuple[ErrorSpan, ...] | None
) -> None:
    text = result(YEAR, LANES, OMITTED)
    assert parse_condition(condition).failing_spans(text) == spans
    assert [row.spans for row in failing([text], condition)] == ([] if spans is None else [spans])


def test_an_error_without_a_place_counts_by_its_severity() -> None:
    omitted = replace(OMITTED, severity=4)
    assert failing([result(omitted)], "severity>=4")[0].spans == (omitted,)
    assert failing([result(OMITTED)], "severity>=1", "severity!=4") == []


@pytest.mark.parametrize(
    ("condition", "spans"),
    [
        ("severity>=4", None),
        ("category!=number", None),
        ("spans>=2", None),
        ("spans=1", ()),
        ("severity>=4 and located=unlocated", (INVENTED,)),
        ("severity>=1 and located!=exact", (INVENTED,)),
        ("spans=2 and located=unlocated", (INVENTED,)),
        ("located=exact", (LANES,)),
    ],
)
def test_a_quote_that_is_not_in_the_text_counts_only_where_it_is_asked_for(
    condition: str, spans: tuple[ErrorSpan, ...] | None
) -> None:
    text = result(INVENTED, LANES)
    assert [row.spans for row in failing([text], condition)] == ([] if spans is None else [spans])


def test_an_omission_is_no_quote_that_is_not_in_the_text() -> None:
    omitted = replace(OMITTED, severity=4)
    assert failing([result(omitted)], "located=unlocated", "located!=exact") == []
    assert failing([result(omitted)], "spans=1")[0].spans == ()


def test_the_location_of_a_quote_is_one_of_the_known_words() -> None:
    with pytest.raises(ConfigError, match=r"located is exact, normalised, fuzzy, unlocated, not"):
        parse_condition("located=nowhere")
    with pytest.raises(ConfigError, match="located is compared by = or !="):
        parse_condition("located>=exact")


@pytest.mark.parametrize(
    "condition",
    [
        *("score<5", "score!=5", "spans=0", "error_probability<1", "outcome=scored"),
        *("decision=ok", "decision<=ok", "decision<unsure", "decision>=unsure"),
    ],
)
def test_a_report_without_a_score_meets_no_condition_on_what_it_lacks(condition: str) -> None:
    assert failing([UNSCORED], condition) == []


def test_a_report_without_a_decision_is_not_ok() -> None:
    (row,) = failing([UNSCORED], "decision!=ok")
    assert row.says == "timed_out: It took too long."
    assert failing([UNSCORED], "decision!=ok and spans=0") == []


def test_a_row_names_every_condition_that_it_meets_and_each_span_once() -> None:
    (row,) = failing([result(YEAR, LANES)], "severity>=2", "severity>=4", "score<3")
    assert row.conditions == ("severity>=2", "severity>=4", "score<3")
    assert row.spans == (YEAR, LANES)
    assert failing_line(row) == (
        "failing: s, consistency (severity>=2; severity>=4; score<3): severity 5, probability 0.40,"
        " Number, '1935': wrong (and 1 more)"
    )


def test_a_row_names_its_system_unless_its_id_ends_in_it() -> None:
    texts = [result(YEAR, name=name) for name in ("tabs", "tabs/s")]
    of_system = [replace(text, segment=replace(text.segment, system="s")) for text in texts]
    lines = [failing_line(row).partition(" (")[0] for row in failing(of_system, "severity>=4")]
    assert lines == ["failing: tabs, s, consistency", "failing: tabs/s, consistency"]


def test_a_row_that_fails_as_a_whole_names_its_gravest_error_or_the_reason_of_its_decision() -> (
    None
):
    (row,) = failing([result(LANES, YEAR, INVENTED, score=1.2)], "decision=faulty")
    assert row.spans == ()
    why = "faulty, score 1.20: severity 5, probability 0.40, Number, '1935': wrong"
    assert failing_line(row) == f"failing: s, consistency (decision=faulty): {why}"
    assert list(annotations(row, {})) == [f"::error title=consistency::s, consistency: {why}"]
    (row,) = failing([result(INVENTED, score=1.2)], "decision=faulty")
    assert failing_line(row).endswith(": faulty, score 1.20: An error is marked.")


def missed(terms: Terms, *results: Result) -> list[str]:
    return list(held_to(terms, results).missed())


def test_a_mean_that_is_as_demanded_is_not_missed_for_being_a_sum_of_fractions() -> None:
    scores = [result(YEAR, score=3.3) for _ in range(3)]  # by their sum it is 3.2999999999999994
    assert missed(Terms(means=(MeanDemand(least=3.3),)), *scores) == []
    assert missed(Terms(means=(MeanDemand(least=3.31),)), *scores) == [
        "mean score of consistency >= 3.31 (it is 3.3 over 3 scored texts)"
    ]


def test_a_demand_on_all_aspects_is_mapped_to_the_scale_of_each_aspect() -> None:
    criterion = replace(ASPECT, name="euros", scale=Scale(labels=("Not met", "Met")))
    results = [replace(result(score=n, decision=Decision.OK), aspect=criterion) for n in (2, 2, 1)]
    assert missed(parse_terms(fail_under=["3"]), *results) == []
    assert missed(parse_terms(fail_under=["4"]), *results) == [
        "mean score of euros >= 1.75 (it is 1.667 over 3 scored texts; its scale is 1 to 2)"
    ]
    assert missed(parse_terms(fail_under=["euros=1.6"]), *results) == []
    with pytest.raises(ConfigError, match="euros >= 4 can never be reached; its scale is 1 to 2"):
        missed(parse_terms(fail_under=["euros=4"]), *results)
    with pytest.raises(ConfigError, match="scale of 1 to 5; write ASPECT=SCORE"):
        parse_terms(fail_under=["8"])


@pytest.mark.parametrize("demand", ["0.8", "consistency=0.8", "1", "consistency=1"])
def test_a_demand_that_every_mean_meets_is_refused(demand: str) -> None:
    with pytest.raises(ConfigError, match="every mean meets it, since scores begin at 1"):
        parse_terms(fail_under=[demand])


def test_a_text_counts_once_and_one_without_a_decision_not_at_all() -> None:
    fluent = replace(ASPECT, name="fluency")
    good = result(name="a", decision=Decision.OK)
    faulty = result(YEAR, name="b")
    twice = [replace(one, aspect=fluent) for one in (good, faulty)]
    results = (good, twice[0], faulty, twice[1], UNSCORED)
    assert missed(Terms(most_flagged=0.5), *results) == []
    assert missed(Terms(most_flagged=0.49), *results) == ["faulty texts <= 49% (it is 50%: 1 of 2)"]


def test_a_demand_on_what_has_no_score_is_missed() -> None:
    terms = Terms(means=(MeanDemand(least=0),), most_flagged=1.0)
    assert missed(terms, UNSCORED) == [
        "mean score of consistency >= 0 (no text has a score)",
        "faulty texts <= 100% (no text has a decision)",
    ]
    assert missed(terms)[0] == "mean score of any aspect >= 0 (no score)"


def test_a_condition_on_an_aspect_that_has_no_score_is_missed() -> None:
    condition = "aspect=consistency and severity>=4"
    good = result(name="b", decision=Decision.OK)
    fluent = replace(good, aspect=replace(ASPECT, name="fluency"))
    untested = f"no report with {condition} (no text has a score on the aspect)"
    assert missed(parse_terms(fail_on=[condition]), UNSCORED, fluent) == [untested]
    assert missed(parse_terms(fail_on=[condition]), UNSCORED, fluent, good) == []
    others = ["aspect!=consistency and severity>=4", "aspect=consistency and outcome=refused"]
    assert missed(parse_terms(fail_on=["severity>=4", *others]), UNSCORED, fluent) == []


@pytest.mark.parametrize("condition", ["severity>4 or spans>2", "decision=faulty or severity>4"])
def test_or_in_a_condition_is_refused_with_advice(condition: str) -> None:
    with pytest.raises(ConfigError, match="state each alternative as a condition of its own"):
        parse_condition(condition)


def failed(*results: Result) -> list[Failure]:
    return failing(results, "severity>=1", "outcome!=scored")


def test_a_row_without_a_line_or_a_file_is_annotated_without() -> None:
    (row,) = failed(result(LANES))
    why = "severity 2, probability 0.90, 'ten': wrong"
    said = f"title=consistency%3A severity 2::s, consistency: {why}"
    assert list(annotations(row, {})) == [f"::error {said}"]
    located = {"s": Location("a b.jsonl")}
    assert list(annotations(row, located)) == [f"::error file=a b.jsonl,{said}"]


def test_sarif_tells_two_errors_with_one_quote_apart_and_keeps_rows_without_a_span() -> None:
    locations = {"s": Location("/d/a b.jsonl", 7)}
    log = sarif(failed(result(LANES, LANES), UNSCORED), locations, is_complete=False)
    (run,) = json.loads(json.dumps(log))["runs"]
    first, second, whole = run["results"]
    marks = [one["partialFingerprints"]["spanjury/v1"] for one in (first, second, whole)]
    assert marks[0].removesuffix(":1") == marks[1].removesuffix(":2")
    assert len(set(marks)) == 3
    assert [one["level"] for one in (first, second, whole)] == ["note", "note", "error"]
    place = first["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "file:///d/a%20b.jsonl"}
    assert "locations" not in whole
    assert whole["message"] == {"text": "u, consistency: timed_out: It took too long."}
    assert run["invocations"] == [{"executionSuccessful": False}]
