"""Replies paid for under one release are there under the next."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import pytest
from fakes.judges import ASPECT, FixedJudge, segment
from fakes.memory import DictMemory

from spanjury.judges.agent.searcher import Searcher
from spanjury.judges.core import (
    Aspect,
    ChatModel,
    ChatRequest,
    Decoding,
    Judge,
    KeyedJudge,
    Message,
    Outcome,
    Reply,
    Report,
    Sample,
    Segment,
    ToolSpec,
)
from spanjury.judges.core.keys import report_key
from spanjury.judges.llm.annotator import Annotator
from spanjury.judges.llm.distilled import Distilled
from spanjury.judges.llm.geval import GEval
from spanjury.judges.metrics.judge import MetricJudge
from spanjury.judges.scoring import FromSpans
from spanjury.orchestration.engine.memory import FAILED, RememberedJudge, RememberedModel
from spanjury.orchestration.engine.memory_codec import ReportKeys, written
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


SEEN: dict[str, Callable[[Segment, Aspect], tuple[Segment, Aspect]]] = {
    "output": lambda seg, asp: (replace(seg, output="Else."), asp),
    "input": lambda seg, asp: (replace(seg, inputs={"Article": "Else."}), asp),
    "definition": lambda seg, asp: (seg, replace(asp, definition="Else.")),
    "best": lambda seg, asp: (seg, replace(asp, best="All facts agree.")),
    "task": lambda seg, asp: (seg, replace(asp, task=replace(asp.task, description="Else."))),
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
        ("distilled", "llm.short_prompt.fill_template"),
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
