"""One text at a time, from asynchronous code and from any other."""

import copy
import inspect
import json
import pickle
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace

import anyio
import pytest
from fakes.judges import ASPECT, FixedJudge, WaitingJudge, segment

import spanjury
from spanjury.judges.core import (
    ConfigError,
    Decision,
    DecisionBasis,
    Ground,
    JudgeError,
    Outcome,
    PanelReport,
    PluginError,
    Report,
    Result,
    SeatReport,
)
from spanjury.orchestration.services.judging.check import Source, request_of
from spanjury.orchestration.services.serving.agent_tools import compared
from spanjury.orchestration.wiring.config import PanelConfig

SOURCE = "The bridge opened in 1932."
OUTPUT = "The bridge opened in 1935."
RULES = ("grounding", "form")
FAILED = Report(outcome=Outcome.TIMED_OUT, reason="no reply within 120 s")


def test_one_call_says_which_word_is_wrong_and_shows_where_the_source_says_otherwise() -> None:
    report = spanjury.check(OUTPUT, source=SOURCE, judges=RULES)
    assert report.decision is Decision.FAULTY
    (span,) = report.spans
    assert (span.text, OUTPUT[span.start : span.end]) == ("1935", "1935")
    (place,) = span.evidence
    assert SOURCE[place.start : place.end] == place.text
    assert set(report.scores) == {"consistency", "fluency"}


def test_a_call_inside_a_running_loop_uses_another_thread() -> None:
    async def notebook() -> spanjury.TextReport:
        return spanjury.check(OUTPUT, source=SOURCE, judges=RULES)

    for backend in ("asyncio", "trio"):
        assert anyio.run(notebook, backend=backend).decision is Decision.FAULTY


async def test_an_open_panel_judges_texts_of_several_tasks_at_once() -> None:
    panel = await spanjury.open_panel(judges=RULES)
    found: dict[int, spanjury.TextReport] = {}

    async def check(number: int) -> None:
        found[number] = await spanjury.acheck(f"It is {number} km.", source=SOURCE, panel=panel)

    async with anyio.create_task_group() as group:
        for number in range(20):
            group.start_soon(check, number)
    await panel.aclose()
    assert {report.text for report in found.values()} == {f"It is {n} km." for n in range(20)}
    with pytest.raises(spanjury.EvaluationError, match="the panel is closed: open a new one"):
        await spanjury.acheck(OUTPUT, source=SOURCE, panel=panel)


async def test_a_panel_that_is_closed_lets_what_is_under_way_come_to_its_end() -> None:
    judge = WaitingJudge.holding(["slow"])
    panel = await spanjury.open_panel(judges=[judge])
    ends: list[str] = []

    async def check() -> None:
        report = await spanjury.acheck("A.", aspects="fluency", segment_id="slow", panel=panel)
        ends.append(f"judged {report.scores['fluency']}")

    async def close() -> None:
        await panel.aclose()
        ends.append("closed")

    async with anyio.create_task_group() as group:
        group.start_soon(check)
        await anyio.wait_all_tasks_blocked()
        group.start_soon(close)
        await anyio.wait_all_tasks_blocked()
        assert ends == []
        judge.events["slow"].set()
    assert sorted(ends) == ["closed", "judged 3.0"]  # who is woken first is the loop's


async def test_an_open_panel_takes_an_aspect_by_name() -> None:
    text = spanjury.Segment(output=OUTPUT, inputs={"Article": SOURCE})
    answer = spanjury.Segment(output=OUTPUT, inputs={"Context": SOURCE}, task="qa")
    async with spanjury.open_panel(judges=RULES) as panel:
        for segment, name in ((text, "consistency"), (answer, "faithfulness")):
            report = await panel.assess(segment, name)
            assert [span.text for span in report.spans] == ["1935"]
        with pytest.raises(spanjury.EvaluationError, match="unknown aspect"):
            await panel.assess(answer, "truthiness")


async def test_a_caller_who_leaves_takes_the_judges_with_it() -> None:
    judge = WaitingJudge.holding(["slow"])
    async with spanjury.open_panel(judges=[judge]) as panel:
        with anyio.move_on_after(0.01) as waiting:
            await spanjury.acheck("A.", aspects="fluency", segment_id="slow", panel=panel)
        assert waiting.cancelled_caught
        assert panel.life.under_way == 0


def test_a_source_that_is_missing_leaves_the_text_undecided_and_says_why() -> None:
    report = spanjury.check("It opened in 1935.", judges=RULES)
    assert report.decision is None
    assert report["consistency"].outcome is Outcome.ABSTAINED
    assert "Article" in report.unscored["consistency"]
    assert "fluency" in report.scores


def test_a_judge_that_fails_is_an_outcome_and_no_exception() -> None:
    broken = FixedJudge(says=JudgeError("it is tired"))
    report = spanjury.check("A.", aspects="fluency", judges=[broken])
    assert (report.scores, report.decision) == ({}, None)
    assert "it is tired" in report.unscored["fluency"]


def test_a_faulty_aspect_decides_though_another_is_not_judged() -> None:
    report = spanjury.check("the the the the.", aspects=["consistency", "fluency"], judges=RULES)
    assert report["consistency"].decision is None
    assert report["fluency"].decision is not Decision.OK
    assert report.decision is report["fluency"].decision


def test_a_report_knows_its_text_and_becomes_json_and_a_line() -> None:
    report = spanjury.check(OUTPUT, source=SOURCE, segment_id="b", judges=RULES)
    row = json.loads(report.to_json())
    assert (row["id"], row["output"], row["decision"]) == ("b", OUTPUT, "faulty")
    (span,) = (span for result in row["results"] for span in result["spans"])
    assert OUTPUT[span["start"] : span["end"]] == span["text"] == "1935"
    assert repr(report).startswith("<TextReport 'b': faulty, 1 error; consistency ")
    assert len(repr(report)) < 100


def test_a_notebook_shows_the_marks_and_nothing_of_a_hostile_text_runs() -> None:
    hostile = "<script>alert(1)</script> <b onload=x> It opened in 1935.\u202e"
    html = spanjury.check(hostile, source=SOURCE, judges=RULES)._repr_html_()
    assert "<mark" in html
    assert "<script" not in html
    assert "<b " not in html
    assert "\u202e" not in html


@pytest.mark.parametrize(
    ("headers", "aspects", "task"),
    [
        ((), (), "summarization"),
        (("Article",), (), "summarization"),
        (("Question", "Context"), (), "question-answering"),
        ((), ("simplicity",), "simplification"),
        (("Question",), ("faithfulness",), "question-answering"),
    ],
)
def test_the_task_follows_from_headers_and_aspects(
    headers: tuple[str, ...], aspects: tuple[str, ...], task: str
) -> None:
    request = request_of("A.", source=dict.fromkeys(headers, "B."), aspects=aspects)
    assert {aspect.task.name for aspect in request.aspects} == {task}


def test_all_aspects_go_with_a_criterion() -> None:
    every = request_of("A.", aspects="all").aspects
    stated = "criterion: Every price is in euros"
    assert request_of("A.", aspects=["all", stated]).aspects[:-1] == every
    assert request_of("A.", aspects=stated).aspects[-1].name == stated


@pytest.mark.parametrize(
    "asked",
    [
        {"aspects": "criterion: Every price is in euros"},
        {"rubric": {"criteria": [{"text": "Every price is in euros"}]}},
    ],
)
def test_a_criterion_without_a_model_is_refused(asked: dict[str, object]) -> None:
    problem = r"only a model can judge a criterion: pass models=\[NAME\]"
    judging: Sequence[Callable[..., object]] = (spanjury.check, spanjury.evaluate)
    for judge, texts in zip(judging, (OUTPUT, [{"output": OUTPUT}]), strict=True):
        with pytest.raises(ConfigError, match=problem):
            judge(texts, **asked)
    report = spanjury.check(
        OUTPUT, judges=[FixedJudge(says=Report(score=3))], aspects="criterion: It is short"
    )
    assert report.scores


def test_aspects_come_by_name_or_as_they_are_but_of_one_task() -> None:
    fluency = spanjury.find_aspect("fluency")
    assert spanjury.find_aspect("summarization", "fluency") == fluency
    names = request_of("A.", aspects=[fluency, "consistency", "fluency"]).aspects
    assert [aspect.name for aspect in names] == ["fluency", "consistency"]
    other = spanjury.find_aspect("story", "fluency")
    with pytest.raises(spanjury.EvaluationError, match="of several tasks: story, summarization"):
        request_of("A.", aspects=[fluency, other])
    with pytest.raises(spanjury.EvaluationError, match="no task has the aspect 'truthiness'"):
        request_of("A.", aspects="truthiness")
    with pytest.raises(spanjury.EvaluationError, match="name the task: it may be one of data-to"):
        request_of("A.", aspects="correctness")


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        (3, "source must be a text.*got 3"),
        ([3], r"source\[0\] must be"),
        ([{"body": "a"}], "'text'"),
    ],
)
def test_a_source_of_another_form_is_refused_in_words(source: object, problem: str) -> None:
    with pytest.raises(spanjury.EvaluationError, match=problem):
        request_of("A.", source=source)  # type: ignore[arg-type]  # the point of it


def test_a_document_may_have_a_number_as_id_and_further_keys() -> None:
    documents: list[Mapping[str, object]] = [
        {"id": 3, "text": SOURCE, "relevance": 0.5},
        {"text": "It rained."},
    ]
    inputs = request_of(OUTPUT, source=documents).segment.inputs
    assert inputs["3"] == SOURCE
    assert [*inputs.values()] == [SOURCE, "It rained."]


def test_a_report_without_a_decision_says_what_is_missing() -> None:
    report = spanjury.check(OUTPUT, task="rag", judges=RULES)
    assert (report.decision, report.ok) == (None, False)
    assert report.undecided == "faithfulness needs Context: the text has no source"
    assert report.undecided in repr(report)
    asked = spanjury.check(OUTPUT, question="When did it open?", judges=RULES)
    assert asked.undecided == "faithfulness needs Context, which the source lacks"


@pytest.mark.parametrize(
    ("source", "inputs"),
    [
        (None, {}),
        (SOURCE, {"Context": SOURCE}),
        ([SOURCE, "It rained."], {"Context [1]": SOURCE, "Context [2]": "It rained."}),
        ([{"id": "a.txt", "text": SOURCE}], {"a.txt": SOURCE}),
        ({"Context": SOURCE}, {"Context": SOURCE}),
    ],
)
def test_a_question_is_an_input_and_makes_the_text_an_answer(
    source: Source | None, inputs: dict[str, str]
) -> None:
    segment = request_of(OUTPUT, source=source, question="When did it open?").segment
    assert segment.task == "question-answering"
    assert segment.inputs == {"Question": "When did it open?", **inputs}
    report = spanjury.check(OUTPUT, source=source, question="When did it open?", judges=RULES)
    assert report.segment.inputs == segment.inputs
    named = request_of(OUTPUT, source=SOURCE, question="When?", task="summarization").segment
    assert named.inputs == {"Question": "When?", "Article": SOURCE}


@pytest.mark.parametrize("source", [None, SOURCE, [SOURCE, "It rained."], {"Context": SOURCE}])
def test_the_question_of_a_row_is_that_of_a_text(source: Source | None) -> None:
    asked = {"source": source, "question": "When did it open?"}
    report = spanjury.check(OUTPUT, **asked, judges=RULES)  # type: ignore[arg-type]  # parameters
    (judged,) = spanjury.evaluate([{"output": OUTPUT, **asked}], judges=RULES)
    assert judged.segment.inputs == report.segment.inputs
    assert [*judged.reports] == [*report.reports]


@pytest.mark.parametrize(
    "source",
    [
        {"Question": "Where?"},
        {"question": "Where?"},
        [{"id": "Question", "text": SOURCE}],
        [{"id": "Question", "text": SOURCE}, SOURCE],
    ],
)
def test_a_question_is_refused_beside_another(source: Source) -> None:
    with pytest.raises(ConfigError, match="the source has a Question"):
        request_of(OUTPUT, source=source, question="When?")


def test_a_question_is_refused_beside_messages() -> None:
    with pytest.raises(ConfigError, match="no source or question"):
        request_of([{"role": "assistant", "content": OUTPUT}], question="When?")


def test_a_report_passes_by_name_only() -> None:
    report = spanjury.check(OUTPUT, source=SOURCE, judges=RULES)
    assert not report.ok
    assert not report.passed(fail_on="severity>=4")
    assert report.passed(fail_on=["severity>=5"], fail_under="fluency=5")
    with pytest.raises(TypeError, match="use report.ok"):
        assert report
    with pytest.raises(spanjury.EvaluationError, match=r"passed\(\) needs a term"):
        report.passed()


@pytest.mark.parametrize("name", ["fluency", "consistancy"])
def test_a_term_on_an_aspect_that_was_not_judged_is_an_error(name: str) -> None:
    report = spanjury.check(OUTPUT, source=SOURCE, judges=RULES, aspects="consistency")
    message = f"not judged on '{name}'; aspects: consistency"
    with pytest.raises(spanjury.EvaluationError, match=message):
        report.passed(fail_on=f"aspect={name} and severity>=4")
    with pytest.raises(spanjury.EvaluationError, match=message):
        report.passed(fail_under=f"{name}=4")


def test_reports_are_copied_pickled_and_compared() -> None:
    report = spanjury.check(OUTPUT, source=SOURCE, judges=RULES)
    again = [copy.copy(report), copy.deepcopy(report), pickle.loads(pickle.dumps(report))]
    assert again == [report] * 3
    assert again[2].to_dict() == report.to_dict()
    assert again[2] != spanjury.check("It opened.", source=SOURCE, judges=RULES)


def test_an_argument_that_does_not_fit_names_the_function_that_was_called() -> None:
    with pytest.raises(TypeError, match=r"^check\(\) has no parameter 'sources'.*mean 'source'"):
        spanjury.check(OUTPUT, sources=SOURCE)  # type: ignore[call-arg]  # the point of it
    with pytest.raises(TypeError, match=r"^evaluate\(\): missing a required argument: 'data'"):
        spanjury.evaluate()  # type: ignore[call-arg]  # the point of it
    assert inspect.signature(spanjury.evaluate).return_annotation is spanjury.TextReports


def test_completion_lists_every_name() -> None:
    assert {*spanjury.__all__, "agents", "exams", "frameworks", "testing"} <= {*dir(spanjury)}


def test_passages_stay_apart_and_evidence_says_which() -> None:
    source = {"Question": "When?", "Context": ["It is in Halvern.", SOURCE]}
    report = spanjury.check(OUTPUT, source=source, judges=RULES)
    (span,) = report.spans
    (place,) = span.evidence
    inputs = report.segment.inputs
    assert (len(inputs), inputs[place.input]) == (3, SOURCE)


@pytest.mark.parametrize("inputs", ["A text.", {"Article": ["a"]}, {1: "a"}, None])
def test_inputs_with_bad_headers_are_refused_when_a_segment_is_made(inputs: object) -> None:
    with pytest.raises(ValueError, match="references must be a tuple of texts, got 'It is.'"):
        spanjury.Segment(output="x", references="It is.")  # type: ignore[arg-type]  # the mistake
    with pytest.raises(ValueError, match="inputs must map headers to texts"):
        spanjury.Segment(output="A.", inputs=inputs)  # type: ignore[arg-type]  # the point of it


def test_a_segment_without_an_id_is_named_after_its_texts() -> None:
    one = spanjury.Segment(output="A.", inputs={"Article": "B."})
    assert one.segment_id == spanjury.Segment(output="A.", inputs={"Article": "B."}).segment_id
    assert one.segment_id != spanjury.Segment(output="A.", inputs={"Article": "C."}).segment_id


def test_a_span_is_no_likelier_an_error_than_its_text_where_that_is_measured() -> None:
    output = f"{SOURCE} Penguins danced wildly beneath purple lamps."
    report = spanjury.check(output, source=SOURCE)["consistency"]
    probabilities = [span.probability or 0.0 for span in report.spans]
    assert max(probabilities) == report.error_probability
    span = replace(report.spans[0], probability=0.99)
    own = FixedJudge(says=Report(score=1, spans=(span,), error_probability=0.5))
    unmeasured = spanjury.check(output, source=SOURCE, judges=["grounding", own])["consistency"]
    assert 0.99 in [span.probability for span in unmeasured.spans]


@pytest.mark.parametrize(
    ("output", "source", "message"),
    [
        (None, None, "output is a text or an agent's messages, got None"),
        (b"It opened.", None, "output is a text or an agent's messages, got b'It opened.'"),
        (
            "It opened.",
            {"Article": None},
            r"source\['Article'\] must be a text or a list of texts, got N",
        ),
        (
            "It opened.",
            {"Context": [1]},
            r"source\['Context'\]\[0\] must be a text, got 1",
        ),
        ("It opened.", {"Context": {"text": "x"}}, r"source\['Context'\] must be a text or a list"),
        ("It opened.", {1: "x"}, "a key of source must be a text, got 1"),
    ],
)
def test_texts_of_another_type_are_refused_by_name(
    output: object, source: object, message: str
) -> None:
    for task in (None, "summarization"):
        with pytest.raises(ConfigError, match=message):
            request_of(output, source=source, task=task)  # type: ignore[arg-type]  # the mistake


def test_generators_are_taken_where_lists_are() -> None:
    asked = request_of(
        OUTPUT,
        source=(passage for passage in [SOURCE]),  # type: ignore[arg-type]  # the point
        aspects=(name for name in ["consistency"]),  # type: ignore[arg-type]  # the point
    )
    assert asked == request_of(OUTPUT, source=[SOURCE], aspects=["consistency"])
    report = spanjury.check(OUTPUT, source=SOURCE, judges=(name for name in RULES))  # type: ignore[arg-type]  # the point
    assert report.decision is Decision.FAULTY
    rows = ({"output": OUTPUT, "source": SOURCE} for _ in range(2))
    reports = spanjury.evaluate(rows, judges=iter(RULES), aspects=iter(["consistency"]))  # type: ignore[arg-type]  # the point
    assert [report.decision for report in reports] == [Decision.FAULTY] * 2
    scores = spanjury.score_metric("wer", iter(["a", "b"]), map(str, "ab"))  # type: ignore[arg-type]  # the point
    assert scores.segments == (0, 0)


@pytest.mark.parametrize("references", [None, 3, [None], b"It opened."])
def test_references_of_another_type_are_refused_by_name(references: object) -> None:
    with pytest.raises(ConfigError, match=r"references(\[0\])? must be a text.*, got "):
        request_of("It opened.", references=references)  # type: ignore[arg-type]  # the mistake


def test_one_reference_needs_no_list() -> None:
    assert request_of("It opened.", references="It was opened.").segment.references == (
        "It was opened.",
    )


def test_an_open_panel_and_names_of_judges_do_not_go_together() -> None:
    async def ask() -> None:
        async with spanjury.open_panel(judges=[FixedJudge(says=Report(score=5))]) as panel:
            await spanjury.acheck("A.", panel=panel, judges=["form"])

    with pytest.raises(spanjury.EvaluationError, match="name no others"):
        anyio.run(ask)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"aspects": 3}, "aspects must be a text, an Aspect or a list of texts or Aspects, got 3"),
        ({"aspects": [3]}, r"aspects\[0\] must be a text or an Aspect, got 3"),
        ({"aspects": None}, "aspects must be a text, .*, got None"),
        ({"task": 3}, "task must be a text or None, got 3"),
        ({"segment_id": 3}, "segment_id must be a text, got 3"),
        ({"rubric": 3}, "rubric must be a Rubric, a path, a text, a dict or None, got 3"),
        ({"judges": [3]}, r"judges\[0\] must be a text, a Judge or a SeatConfig, got 3"),
        ({"judges": [object()]}, r"judges\[0\] must be a text, .*, got an object"),
        ({"models": 3}, "models must be a text, a ModelConfig or a list of .*, got 3"),
    ],
)
def test_an_argument_of_another_type_is_refused_by_name(
    wrong: dict[str, object], message: str
) -> None:
    with pytest.raises(ConfigError, match=f"^{message}$"):
        spanjury.check("It rains.", **wrong)  # type: ignore[arg-type]  # the mistake


def test_an_aspect_that_was_not_judged_is_an_error_with_those_that_were() -> None:
    report = spanjury.check("It rains.", aspects="fluency", judges="form")
    with pytest.raises(KeyError, match="'fluensy' was not judged; did you mean 'fluency'"):
        report["fluensy"]


async def test_an_open_panel_refuses_what_is_no_segment_or_aspect() -> None:
    async with spanjury.open_panel(judges="form") as panel:
        wrong: Callable[..., Awaitable[object]] = panel.assess
        with pytest.raises(ConfigError, match="segment must be a Segment, got 'It rains.'"):
            await wrong("It rains.", "fluency")
        with pytest.raises(ConfigError, match="aspect must be an Aspect or a text, got 3"):
            await wrong(spanjury.Segment(output="It rains."), 3)


def test_one_name_is_as_good_as_a_list_of_one() -> None:
    report = spanjury.check("A.", aspects="fluency", judges="form")
    assert [seat.seat for seat in report["fluency"].seats] == ["form"]
    (same,) = spanjury.evaluate([{"output": "A."}], aspects="fluency", judges="form")
    assert same.scores == report.scores


def test_a_panel_and_judges_are_not_named_together() -> None:
    with pytest.raises(spanjury.EvaluationError, match="name no others"):
        spanjury.check("A.", panel=PanelConfig(), judges="form")


def test_a_panel_of_another_type_is_an_error_that_names_the_right_ones() -> None:
    with pytest.raises(
        spanjury.EvaluationError, match="panel must be a PanelConfig, a path, .* got a dict"
    ):
        spanjury.check("A.", panel={"seats": ["form"]})  # type: ignore[arg-type]


def result(*scores: float | None, decision: Decision | None = None) -> Result:
    seats = tuple(
        SeatReport(
            seat=f"judge {number}",
            signature="",
            report=FAILED if score is None else Report(score=score),
            seconds=0.0,
        )
        for number, score in enumerate(scores)
    )
    given = [score for score in scores if score is not None]
    basis = DecisionBasis(ground=Ground.SCORE, reason="so it is") if decision else None
    report = (
        PanelReport(score=sum(given) / len(given), seats=seats, decision=decision, basis=basis)
        if given
        else PanelReport(outcome=FAILED.outcome, reason=FAILED.reason, seats=seats)
    )
    return Result(segment=segment(), aspect=ASPECT, report=report)


@pytest.mark.parametrize(
    ("a", "b", "better", "difference"),
    [
        ((4.0,), (3.0,), "a", 1.0),
        ((3.0,), (4.0,), "b", -1.0),
        ((3.5,), (3.0,), "a", 0.5),
        ((3.4,), (3.0,), "no difference", 0.4),
        ((5.0, 4.0), (3.0, 3.0), "a", 1.5),
        ((5.0, 3.0), (3.0, 4.0), "no difference", 0.5),  # each judge prefers another
        ((5.0, 5.0, 3.0), (3.0, 3.0, 4.0), "a", 1.0),  # two of three
    ],
)
def test_the_text_that_the_judges_put_half_a_step_higher_is_better(
    a: tuple[float, ...], b: tuple[float, ...], better: str, difference: float
) -> None:
    comparison = compared(result(*a), result(*b))
    assert comparison.difference == pytest.approx(difference)
    assert comparison.better == better


def test_only_judges_that_scored_both_texts_are_compared() -> None:
    # Their means are 3.0 and 2.0; the one judge of both finds them equal.
    comparison = compared(result(2.0, 4.0), result(2.0, None))
    assert (comparison.better, comparison.difference) == ("no difference", 0.0)


def test_without_a_judge_of_both_texts_nothing_is_compared() -> None:
    comparison = compared(result(5.0, None), result(None, 1.0))
    assert comparison.better == "unscored"
    assert comparison.difference is None


def test_a_text_that_was_not_scored_is_not_worse() -> None:
    comparison = compared(result(4.0), result(None))
    assert comparison.better == "unscored"
    assert "no reply within 120 s" in comparison.reason


def test_a_better_decision_counts_where_the_scores_are_near() -> None:
    ok, unsure = (
        result(score, decision=decision)
        for score, decision in ((3.3, Decision.OK), (3.1, Decision.UNSURE))
    )
    comparison = compared(ok, unsure)
    assert comparison.better == "a"
    assert comparison.reason == "it is ok, the other unsure; 1 of 1 judges prefer it"
    assert compared(unsure, ok).better == "b"


def test_a_better_decision_against_the_score_decides_nothing() -> None:
    ok, unsure = (
        result(score, decision=decision)
        for score, decision in ((3.1, Decision.OK), (3.3, Decision.UNSURE))
    )
    assert compared(ok, unsure).better == "no difference"


class Unsigned:
    """A judge but for its signature."""

    async def assess(self, segment: object, aspect: object) -> Report:
        return Report(score=3)


@pytest.mark.parametrize(
    ("given", "reason"),
    [(FixedJudge, "is a class"), (Unsigned(), "lacks a signature")],
)
def test_what_is_no_judge_is_refused_before_a_text_is_judged(given: object, reason: str) -> None:
    with pytest.raises(PluginError, match=reason):
        spanjury.check("It rains.", judges=[given], aspects="fluency")  # type: ignore[list-item]  # wrong
