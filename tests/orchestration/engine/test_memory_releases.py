"""Replies paid for under one release are there under the next."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from statistics import fmean

import msgspec
import pytest
from fakes.judges import ASPECT, FixedJudge, mark, panel_of, segment
from fakes.memory import DictMemory

from spanjury.adapters.files.results.results import result_line
from spanjury.judges.agent.searcher import Searcher
from spanjury.judges.core import (
    Aspect,
    ChatModel,
    ChatRequest,
    Consolidation,
    Decoding,
    Judge,
    KeyedJudge,
    Message,
    Outcome,
    Reply,
    Report,
    Result,
    Sample,
    Segment,
    ToolSpec,
    TransientModelError,
    Usage,
    Verdict,
)
from spanjury.judges.core.keys import report_key
from spanjury.judges.llm.annotator import Annotator
from spanjury.judges.llm.distilled import Distilled
from spanjury.judges.llm.geval import GEval
from spanjury.judges.metrics.judge import MetricJudge
from spanjury.judges.scoring.from_spans import FromSpans
from spanjury.orchestration.engine.aggregation import median
from spanjury.orchestration.engine.finished_rows import FinishedRow, FinishedRows
from spanjury.orchestration.engine.memory import FAILED, RememberedJudge, RememberedModel
from spanjury.orchestration.engine.memory_codec import ReportKeys, written
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.engine.rule_consolidator import RuleConsolidator
from spanjury.orchestration.engine.summary import Summary
from spanjury.orchestration.wiring.metrics import open_metric_judge
from spanjury.testing import ScriptedModel

REQUEST = ChatRequest(
    messages=(
        Message(role="system", content="Be strict."),
        Message(role="user", content="Judge \udc00 this."),
    ),
    prefix="Score:",
    decoding=Decoding(temperature=0.5, seed=7, max_tokens=77),
    tools=(ToolSpec(name="look", description="Looks.", parameters={"type": "object"}),),
)
KEYS = {  # (model, within an assessment) -> key; with another, every reply is paid for again
    ("openai-compatible/judge", False): "86a83e5617f4cdab469c3da4fdba7296",
    ("openai-compatible/judge", True): "ef821e112b06a346dd4702a5ac26fede",
    ("openai/judge", False): "7d20d729884ba648830a3fc2390bb53d",
    ("openai/judge", True): "525e50922d8fa8d25f32897d242a666a",
}
KEYS_OF_0_1_0 = {  # as that release wrote them, behind LiteLLM 1.106.4
    ("openai-compatible/judge", False): "43257054514b8af2950543b86af5c6fb",
    ("openai-compatible/judge", True): "7c8f4123d27f7530af4b7ee76a917cbd",
    ("openai/judge", False): "0764f6867fa4d4649112fe354fc7d556",
    ("openai/judge", True): "797fde30e9fd1acee74268cea2f96614",
}
REPORT_OF_0_1_0 = "0287d6b7b31040e2ba27ac31de579e13"
SEEN: dict[str, Callable[[Segment, Aspect], tuple[Segment, Aspect]]] = {
    "output": lambda seg, asp: (replace(seg, output="Else."), asp),
    "input": lambda seg, asp: (replace(seg, inputs={"Article": "Else."}), asp),
    "definition": lambda seg, asp: (seg, replace(asp, definition="Else.")),
    "best": lambda seg, asp: (seg, replace(asp, best="All facts agree.")),
    "task": lambda seg, asp: (seg, replace(asp, task=replace(asp.task, description="Else."))),
}
TEXT = segment()
MARKED = Report(
    score=2,
    spans=(mark(TEXT.output, "in 1935", severity=4),),
    usage=Usage(calls=1, prompt=90, completion=10),
)


@dataclass(slots=True)
class Named:
    """A model of a name; counts what it is asked."""

    signature: str
    asked: int = 0

    async def complete(self, request: ChatRequest) -> Reply:
        self.asked += 1
        return Reply(text=f"reply {self.asked}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A judge that asks one thing, and reads replies as `reads` tells it to."""

    model: ChatModel
    reads: Mapping[str, Report] = field(default_factory=dict)
    signature: str = "counted"

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        reply = await self.model.complete(REQUEST)
        return self.reads.get(reply.text, Report(score=3))


async def _ask(model: ChatModel, memory: DictMemory, *, assessing: bool) -> None:
    known = RememberedModel(model, memory)
    if assessing:
        await RememberedJudge(Reading(model=known), memory, place="1").assess(segment(), ASPECT)
    else:
        await known.complete(REQUEST)


@pytest.mark.parametrize(("name", "assessing"), KEYS)
async def test_a_reply_is_kept_under_the_key_that_it_always_had(name: str, assessing: bool) -> None:
    memory = DictMemory()
    await _ask(Named(name), memory, assessing=assessing)
    assert KEYS[name, assessing] in memory.values


@pytest.mark.parametrize(("name", "assessing"), KEYS)
async def test_a_reply_that_0_1_0_kept_is_taken_over(name: str, assessing: bool) -> None:
    model, memory = Named(name), DictMemory()
    memory.values[KEYS_OF_0_1_0[name, assessing]] = kept = written(Reply(text="paid for"))
    await _ask(model, memory, assessing=assessing)
    assert (model.asked, memory.values[KEYS[name, assessing]]) == (0, kept)


async def test_a_report_that_0_1_0_kept_of_another_s_judge_is_taken() -> None:
    model, memory = Named("model"), DictMemory()
    memory.values[REPORT_OF_0_1_0] = written(Report(score=2))
    judge = RememberedJudge(Reading(model=model), memory, place="1")
    assert (await judge.assess(segment(), ASPECT)).score == 2
    assert model.asked == 0


def test_no_report_of_0_1_0_is_taken_of_a_judge_that_reads_replies() -> None:
    keys = ReportKeys(Annotator(model=ScriptedModel()), place="")
    assert keys.former(segment(), ASPECT) is None


async def test_another_reader_reads_the_replies_without_a_call() -> None:
    model, memory = Named("model"), DictMemory()
    known = RememberedModel(model, memory)
    for signature, score in (("reader 1", 3), ("reader 2", 4)):
        judge = Reading(model=known, reads={"reply 1": Report(score=score)}, signature=signature)
        assert (await RememberedJudge(judge, memory).assess(segment(), ASPECT)).score == score
    assert model.asked == 1


async def test_failures_are_asked_again_if_another_reader_fails_too() -> None:
    model, memory = Named("model"), DictMemory()
    known = RememberedModel(model, memory)
    reads = {"reply 1": Report(outcome=Outcome.UNPARSEABLE, reason="no score")}

    async def outcome(signature: str, again: frozenset[Outcome]) -> Outcome:
        judge = Reading(model=known, reads=reads, signature=signature)
        return (await RememberedJudge(judge, memory, again=again).assess(segment(), ASPECT)).outcome

    assert await outcome("reader 1", frozenset()) is Outcome.UNPARSEABLE
    assert await outcome("reader 2", frozenset()) is Outcome.UNPARSEABLE
    assert model.asked == 1
    assert await outcome("reader 3", FAILED) is Outcome.SCORED
    assert model.asked == 2


@dataclass(frozen=True, slots=True)
class Length:
    """A metric of another package."""

    signature: str = "length"

    def score_segments(self, samples: Sequence[Sample], /) -> Sequence[float]:
        return [float(len(sample.output)) for sample in samples]


def prompted() -> dict[str, Judge]:
    model = ScriptedModel()
    annotator = Annotator(model=model)
    return {
        "annotator": annotator,
        "geval": GEval(model=model),
        "geval with steps of its own": GEval(model=model, steps="auto"),
        "distilled": Distilled(model=model),
        "searcher": Searcher(model=model),
        "from spans": FromSpans(judge=annotator),
    }


@pytest.mark.parametrize("name", prompted())
def test_a_report_is_made_again_for_whatever_its_prompt_shows(name: str) -> None:
    judge = prompted()[name]
    assert isinstance(judge, KeyedJudge)
    key = report_key(judge, segment(), ASPECT)
    unseen = replace(segment(), references=("Else.",), system="bart", meta={"line": 7})
    assert report_key(judge, unseen, ASPECT) == key
    for what, change in SEEN.items():
        assert report_key(judge, *change(segment(), ASPECT)) != key, what


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("annotator", "llm.prompt.describe"),
        ("annotator", "llm.prompt.fill_template"),
        ("geval", "llm.geval.describe"),
        ("geval with steps of its own", "llm.geval.fill_template"),
        ("distilled", "llm.distilled_form.fill_template"),
        ("searcher", "agent.prompts.describe"),
        ("from spans", "llm.prompt.describe"),
    ],
)
def test_a_report_is_made_again_when_other_code_writes_its_prompt(
    name: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = report_key(prompted()[name], segment(), ASPECT)
    monkeypatch.setattr(f"spanjury.judges.{words}", lambda *_: "Else.")
    assert report_key(prompted()[name], segment(), ASPECT) != before


def test_a_metric_is_measured_again_for_its_texts_its_scale_and_its_code_alone() -> None:
    judge = open_metric_judge("f1", {})
    said = replace(segment(), references=("It opened in 1932.",))
    key = report_key(judge, said, ASPECT)
    for same in (
        (replace(said, system="bart"), ASPECT),
        (said, replace(ASPECT, definition="Else.", worst="Bad.", confusable=("fluency",))),
    ):
        assert report_key(judge, *same) == key
    for other in (
        (replace(said, output="Else."), ASPECT),
        (replace(said, references=("Else.",)), ASPECT),
        (said, replace(ASPECT, scale=replace(ASPECT.scale, labels=("No", "Yes")))),
    ):
        assert report_key(judge, *other) != key


def test_a_metric_of_another_package_is_known_by_its_own_signature() -> None:
    card = open_metric_judge("f1", {}).card
    judges = [MetricJudge(metric=Length(name), card=card) for name in ("length", "length 2")]
    assert len({report_key(judge, segment(), ASPECT) for judge in judges}) == 2
    assert len({judge.signature.rpartition("|code:")[2] for judge in judges}) == 1


def test_a_judge_inside_another_is_known_by_its_signature_if_it_says_no_more() -> None:
    keys = {
        report_key(FromSpans(judge=FixedJudge(says=None, name=name)), segment(), ASPECT)
        for name in ("a", "b")
    }
    assert len(keys) == 2


def panel(*judges: Judge, **fields: object) -> Panel:
    return panel_of(*judges, names=[judge.signature for judge in judges], **fields)


def two(report: Report | Exception = MARKED) -> tuple[Judge, Judge]:
    return FixedJudge(says=report, name="a"), FixedJudge(says=Report(score=5), name="b")


async def kept(memory: DictMemory, of: Panel) -> bytes:
    """Judge the text, keep its row if it is finished, and return it."""
    result = Result(segment=TEXT, aspect=ASPECT, report=await of.assess(TEXT, ASPECT))
    rows, line = FinishedRows(memory, of, write=result_line), result_line(result)
    await rows.keep(rows.key(TEXT, ASPECT), result, line)
    return line


def recalled(
    memory: DictMemory, of: Panel, text: Segment = TEXT, aspect: Aspect = ASPECT
) -> FinishedRow | None:
    rows = FinishedRows(memory, of, write=result_line)
    return rows.recall(rows.key(text, aspect), text, aspect)


async def test_a_row_comes_back_byte_for_byte_and_counts_as_its_result_did() -> None:
    memory, made = DictMemory(), panel(*two())
    line = await kept(memory, made)
    row = recalled(memory, panel(*two()))
    assert row is not None
    assert row.line == line
    of_result, of_row = Summary(), Summary()
    of_result.add(Result(segment=TEXT, aspect=ASPECT, report=await made.assess(TEXT, ASPECT)))
    of_row.count(row.figures)
    assert (of_row, of_row.usage["a"]) == (of_result, MARKED.usage)
    report = await made.assess(TEXT, ASPECT)
    assert report.spans
    assert row.result() == Result(
        segment=TEXT, aspect=ASPECT, report=replace(report, seats=(), usage=Usage())
    )


@pytest.mark.parametrize(
    "changed",
    [
        panel(*two(), aggregation=median, aggregation_name="median"),
        panel(*two()[::-1]),
        panel(*two()[:1]),
        panel(*two(), consolidator=RuleConsolidator(max_spans=1)),
        panel(two()[0], FixedJudge(says=Report(score=5), name="c")),
    ],
)
async def test_another_panel_has_other_rows(changed: Panel) -> None:
    memory = DictMemory()
    await kept(memory, panel(*two()))
    assert recalled(memory, changed) is None


@pytest.mark.parametrize(
    ("text", "aspect"),
    [
        (replace(TEXT, segment_id="t"), ASPECT),
        (replace(TEXT, output="The bridge opened."), ASPECT),
        (replace(TEXT, inputs={"Article": "It opened in 1935."}), ASPECT),
        (replace(TEXT, system="bart"), ASPECT),
        (replace(TEXT, references=("It opened.",)), ASPECT),
        (TEXT, replace(ASPECT, definition="All facts agree.")),
        (TEXT, replace(ASPECT, name="fluency")),
    ],
)
async def test_another_text_or_aspect_has_another_row(text: Segment, aspect: Aspect) -> None:
    memory = DictMemory()
    await kept(memory, panel(*two()))
    assert recalled(memory, panel(*two()), text, aspect) is None


async def test_an_aggregation_of_other_code_has_other_rows(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    memory = DictMemory()
    for name, score in (("aggregation_one", "3.0"), ("aggregation_two", "4.0")):
        (tmp_path / f"{name}.py").write_text(f"def score(scores):\n    return {score}\n")
    monkeypatch.syspath_prepend(tmp_path)
    same, other = (import_module(f"aggregation_{name}").score for name in ("one", "two"))
    await kept(memory, panel(*two(), aggregation=same, aggregation_name="constant"))
    assert recalled(memory, panel(*two(), aggregation=same, aggregation_name="constant"))
    assert not recalled(memory, panel(*two(), aggregation=other, aggregation_name="constant"))


async def test_an_aggregation_without_a_module_is_not_remembered() -> None:
    memory = DictMemory()

    class Mean:
        __module__ = "__main__"

        def __call__(self, scores: Sequence[float]) -> float:
            return fmean(scores)

    await kept(memory, panel(*two(), aggregation=Mean(), aggregation_name="own"))
    assert memory.values == {}


@pytest.mark.parametrize(
    "report",
    [
        TransientModelError("the server is down"),
        Report(outcome=Outcome.UNPARSEABLE, reason="no score"),
        Report(outcome=Outcome.TIMED_OUT, reason="slow"),
    ],
)
async def test_a_row_with_a_seat_to_be_asked_again_is_not_kept(report: Report | Exception) -> None:
    memory = DictMemory()
    await kept(memory, panel(*two(report)))
    assert memory.values == {}


async def test_an_abstention_is_an_answer() -> None:
    memory, abstains = DictMemory(), Report(outcome=Outcome.ABSTAINED, reason="nothing to judge")
    await kept(memory, panel(*two(abstains)))
    assert recalled(memory, panel(*two(abstains))) is not None


async def test_neither_a_model_that_consolidates_nor_an_observer_is_passed_over() -> None:
    class Model:
        signature = "model"

        async def consolidate(self, verdict: Verdict) -> Consolidation:
            return await RuleConsolidator().consolidate(verdict)

    memory = DictMemory()
    await kept(memory, panel(*two(), consolidator=Model()))
    await kept(memory, panel(*two(), observer=lambda *_: nullcontext(lambda _: None)))
    assert memory.values == {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Looking(FixedJudge):
    """A plugin's judge, whose reports depend on a file of its own, too."""

    def report_key(self, segment: Segment, aspect: Aspect) -> str:
        return "digest of the file"


async def test_rows_of_a_judge_that_may_depend_on_more_than_the_row_are_made_again() -> None:
    memory, looking = DictMemory(), Looking(says=Report(score=3))
    await kept(memory, panel(looking))
    await kept(memory, panel(FromSpans(judge=looking)))
    assert memory.values == {}
    await kept(memory, panel(RememberedJudge(looking, DictMemory())))
    assert memory.values == {}
    await kept(memory, panel(RememberedJudge(two()[0], DictMemory())))
    assert len(memory.values) == 1


async def test_an_invalid_row_is_not_taken_for_a_row() -> None:
    memory = DictMemory()
    await kept(memory, panel(*two()))
    (key,) = memory.values
    for damaged in (b"", b"{}", msgspec.json.encode({"score": 3}), b'{"outcome": "scored"'):
        memory.values[key] = damaged
        assert recalled(memory, panel(*two())) is None
