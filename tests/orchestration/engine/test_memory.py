from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import anyio
import pytest
from fakes.earlier_rows import as_written_earlier
from fakes.judges import ASPECT, TASK, FixedJudge, WaitingJudge, mark, panel_of, segment
from fakes.logs import capture_logs
from fakes.memory import DictMemory
from hypothesis import given
from hypothesis import strategies as st

from spanjury.judges.core import (
    Aspect,
    ChatModel,
    ChatRequest,
    Decoding,
    ErrorSpan,
    Evidence,
    Finish,
    JudgeError,
    Message,
    ModelError,
    ModelTimeoutError,
    Outcome,
    PanelReport,
    ParseError,
    Reply,
    Report,
    Scale,
    Segment,
    StoreError,
    TemplateTokens,
    TokenLogprob,
    ToolCall,
    ToolSpec,
    TransientModelError,
    Usage,
)
from spanjury.orchestration.engine.memory import (
    FAILED,
    LIST_ALONE,
    RememberedJudge,
    RememberedModel,
    RememberedTokens,
)
from spanjury.orchestration.engine.memory_codec import read_reply, read_report, written
from spanjury.orchestration.engine.panel import Panel
from spanjury.testing import ScriptedModel

SEGMENT = segment()
REPORT = Report(
    score=2.5,
    spans=(mark(SEGMENT.output, "1935"), ErrorSpan(text="", explanation="No end.", severity=None)),
    rationale="Wrong year. \ud83d",
    reply="Score: Fair",
    usage=Usage(calls=1, prompt=20, completion=5),
)
REQUEST = ChatRequest(
    messages=(Message(role="user", content="Judge \udc00 this."),),
    tools=(ToolSpec(name="look", description="Looks.", parameters={"type": "object"}),),
)
REPLY = Reply(
    text="Score: \ud83d",
    finish=Finish.TOOL_CALLS,
    reasoning="Hm.",
    usage=Usage(calls=1, prompt=3),
    logprobs=(TokenLogprob(token="a", logprob=float("-inf"), top={"b": -1.5}),),
    tool_calls=(ToolCall(call_id="1", name="look", arguments="{}"),),
)


@dataclass(slots=True)
class CountedJudge:
    """Says one thing after the other; counts how often it was asked."""

    says: list[Report | Exception]
    signature: str = "counted"
    asked: int = 0

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        self.asked += 1
        said = self.says[min(self.asked, len(self.says)) - 1]
        if isinstance(said, Exception):
            raise said
        return said


@dataclass(slots=True)
class BrokenMemory:
    """Holds one value for every key, and takes no other; a full one says so."""

    value: bytes | None = None
    full: bool = True
    puts: list[str] = field(default_factory=list)

    def get(self, key: str) -> bytes | None:
        return self.value

    async def put(self, key: str, value: bytes) -> None:
        self.puts.append(key)
        if self.full:
            raise StoreError("memory.db: the disk is full")

    async def put_soon(self, key: str, value: bytes) -> None:
        await self.put(key, value)


async def _assessed(panel: Panel) -> PanelReport:
    report = await panel.assess(SEGMENT, ASPECT)
    return replace(report, seats=tuple(replace(seat, seconds=0.0) for seat in report.seats))


async def test_a_judge_is_asked_once_and_its_answer_is_reused() -> None:
    judge, memory = CountedJudge([REPORT]), DictMemory()
    first = await RememberedJudge(judge, memory).assess(SEGMENT, ASPECT)
    again = await RememberedJudge(judge, memory).assess(SEGMENT, ASPECT)
    assert (first, again, judge.asked) == (REPORT, REPORT, 1)
    assert RememberedJudge(judge, memory).signature == judge.signature


@pytest.mark.parametrize(
    "error",
    [
        ParseError("no score", reply="I like dogs. \ud83d"),
        ModelTimeoutError("too slow", retry_after=3),
        ModelError(),
        JudgeError("cannot"),
    ],
)
async def test_a_panel_s_report_is_the_same_when_a_failure_is_remembered(error: Exception) -> None:
    judge, memory = CountedJudge([error]), DictMemory()
    other = FixedJudge(says=REPORT)
    bare = await _assessed(panel_of(other, CountedJudge([error])))
    for _ in range(2):
        seats = [RememberedJudge(each, memory, again=frozenset()) for each in (other, judge)]
        assert await _assessed(panel_of(*seats)) == bare
    assert judge.asked == 1


@pytest.mark.parametrize("outcome", Outcome)
async def test_asked_again_is_the_unanswered_or_the_failed_on_request(outcome: Outcome) -> None:
    score = 3 if outcome is Outcome.SCORED else None
    judge = CountedJudge([Report(outcome=outcome, score=score, reason="because"), REPORT])
    memory = DictMemory()
    for again in (frozenset[Outcome](), frozenset[Outcome]()):
        await RememberedJudge(judge, memory, again=again).assess(SEGMENT, ASPECT)
    assert judge.asked == 1
    await RememberedJudge(judge, memory).assess(SEGMENT, ASPECT)
    unanswered = outcome in {Outcome.TIMED_OUT, Outcome.BACKEND_FAILED}
    assert judge.asked == 1 + unanswered
    report = await RememberedJudge(judge, memory, again=FAILED).assess(SEGMENT, ASPECT)
    assert judge.asked == (1 if outcome in {Outcome.SCORED, Outcome.ABSTAINED} else 2)
    assert await RememberedJudge(judge, memory).assess(SEGMENT, ASPECT) == report


CHANGES: dict[str, Callable[[Segment, Aspect], tuple[Segment, Aspect]]] = {
    "output": lambda seg, asp: (replace(seg, output="Else."), asp),
    "inputs": lambda seg, asp: (replace(seg, inputs={"Article": "Else."}), asp),
    "input or reference": lambda seg, asp: (
        replace(seg, inputs={}, references=(*seg.inputs, *seg.inputs.values())),
        asp,
    ),
    "header": lambda seg, asp: (replace(seg, inputs={"Text": seg.inputs["Article"]}), asp),
    "references": lambda seg, asp: (replace(seg, references=("Else.",)), asp),
    "system": lambda seg, asp: (replace(seg, system="bart"), asp),
    "segment's task": lambda seg, asp: (replace(seg, task="story"), asp),
    "aspect": lambda seg, asp: (seg, replace(asp, name="fluency")),
    "task": lambda seg, asp: (seg, replace(asp, task=replace(TASK, description="Else."))),
    "definition": lambda seg, asp: (seg, replace(asp, definition="Else.")),
    "kind": lambda seg, asp: (seg, replace(asp, kind="form")),
    "confusable": lambda seg, asp: (seg, replace(asp, confusable=("fluency",))),
    "worst": lambda seg, asp: (seg, replace(asp, worst="Bad.")),
    "best": lambda seg, asp: (seg, replace(asp, best="Good.")),
    "aspect's inputs": lambda seg, asp: (seg, replace(asp, inputs=())),
    "needs": lambda seg, asp: (seg, replace(asp, needs=("Article",))),
    "scale": lambda seg, asp: (seg, replace(asp, scale=Scale(labels=("No", "Yes")))),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
async def test_a_judge_is_asked_again_for_anything_that_it_could_see_to_be_other(
    change: Callable[[Segment, Aspect], tuple[Segment, Aspect]],
) -> None:
    judge, memory = CountedJudge([Report(score=1)]), DictMemory()
    remembered = RememberedJudge(judge, memory)
    await remembered.assess(SEGMENT, ASPECT)
    await remembered.assess(*change(SEGMENT, ASPECT))
    assert judge.asked == 2


async def test_a_judge_is_not_asked_again_for_what_it_cannot_see() -> None:
    judge, memory = CountedJudge([REPORT]), DictMemory()
    remembered = RememberedJudge(judge, memory)
    await remembered.assess(SEGMENT, ASPECT)
    unseen = replace(
        SEGMENT,
        segment_id="another",
        human={"consistency": {"": 3.0}},
        meta={"line": 7},
        inputs=MappingProxyType(dict(SEGMENT.inputs)),
    )
    await remembered.assess(unseen, ASPECT)
    assert judge.asked == 1


async def test_another_signature_and_another_place_have_a_say_of_their_own() -> None:
    judge, memory = CountedJudge([REPORT, Report(score=1), Report(score=2)]), DictMemory()
    for place, expected in (("", 2.5), ("2", 1), ("", 2.5), ("2", 1)):
        report = await RememberedJudge(judge, memory, place=place).assess(SEGMENT, ASPECT)
        assert report.score == expected
    judge.signature = "other"
    assert (await RememberedJudge(judge, memory).assess(SEGMENT, ASPECT)).score == 2


async def test_two_alike_segments_under_way_at_once_are_asked_for_once() -> None:
    judge = WaitingJudge.holding(["s", "t"])
    remembered = RememberedJudge(judge, DictMemory())
    async with anyio.create_task_group() as asking:
        for name in ("s", "t"):
            asking.start_soon(remembered.assess, segment(name), ASPECT)
            await anyio.wait_all_tasks_blocked()
        assert judge.began == ["s"]
        judge.events["s"].set()
    assert (judge.began, remembered._kept._turns) == (["s"], {})


async def test_cancellation_keeps_nothing_and_hands_the_turn_on() -> None:
    judge, memory = WaitingJudge.holding(["s", "t"]), DictMemory()
    remembered = RememberedJudge(judge, memory)
    scope = anyio.CancelScope()

    async def ask() -> None:
        with scope:
            await remembered.assess(segment("s"), ASPECT)

    async with anyio.create_task_group() as asking:
        asking.start_soon(ask)
        await anyio.wait_all_tasks_blocked()
        asking.start_soon(remembered.assess, segment("t"), ASPECT)
        await anyio.wait_all_tasks_blocked()
        scope.cancel()
        await anyio.wait_all_tasks_blocked()
        assert (judge.began, memory.values) == (["s", "t"], {})
        judge.events["t"].set()
    assert (len(memory.values), remembered._kept._turns) == (1, {})


async def test_a_report_that_does_not_fit_is_not_kept_and_a_mended_judge_is_asked() -> None:
    memory = DictMemory()
    broken = RememberedJudge(FixedJudge(says=Report(score=99)), memory)
    with pytest.raises(JudgeError, match="99 is not within 1 to 5"):
        await broken.assess(SEGMENT, ASPECT)
    mended = RememberedJudge(FixedJudge(says=REPORT), memory)
    assert (await mended.assess(SEGMENT, ASPECT)).score == 2.5


@pytest.mark.parametrize("says", [PanelReport(score=3), "no report", RuntimeError("a bug")])
async def test_a_subclass_of_report_is_passed_on_and_not_kept(says: object) -> None:
    memory = DictMemory()
    bare = await _assessed(panel_of(FixedJudge(says=says)))
    assert await _assessed(panel_of(RememberedJudge(FixedJudge(says=says), memory))) == bare
    assert memory.values == {}


async def test_a_failing_memory_is_reported_and_not_blamed_on_the_judge() -> None:
    full = BrokenMemory()
    with pytest.raises(StoreError, match="full"):
        await RememberedJudge(FixedJudge(says=REPORT), full).assess(SEGMENT, ASPECT)
    with pytest.raises(StoreError, match="full"):
        await RememberedModel(ScriptedModel("a"), full).complete(REQUEST)
    assert len(full.puts) == 2


@pytest.mark.parametrize("value", [b"", b"\xff", b"1", b"{}", b'{"outcome": "scored"}', b"[]"])
async def test_unreadable_memories_are_asked_for_again_with_one_warning(value: bytes) -> None:
    memory = BrokenMemory(value, full=False)
    judge = RememberedJudge(FixedJudge(says=REPORT), memory)
    model = RememberedModel(ScriptedModel("a", "b"), memory)
    with capture_logs() as logs:
        for _ in range(2):
            assert await judge.assess(SEGMENT, ASPECT) == REPORT
        assert [(await model.complete(REQUEST)).text for _ in range(2)] == ["a", "b"]
    assert [entry["event"] for entry in logs] == ["memory.value_unreadable"] * 2
    assert len(memory.puts) == 4


async def test_a_model_is_asked_once_for_a_request() -> None:
    model, memory = ScriptedModel(REPLY, "second"), DictMemory()
    for _ in range(2):
        assert await RememberedModel(model, memory).complete(REQUEST) == REPLY
    assert RememberedModel(model, memory).signature == model.signature
    second = await RememberedModel(model, memory).complete(
        replace(REQUEST, decoding=Decoding(seed=1))
    )
    assert (second.text, len(model.requests)) == ("second", 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplingJudge:
    """Asks a model the same three times, side by side, as its version reads the replies."""

    model: ChatModel
    version: int

    @property
    def signature(self) -> str:
        return f"sampling {self.version}"

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        replies: list[str] = []

        async def ask() -> None:
            replies.append((await self.model.complete(REQUEST)).text)

        async with anyio.create_task_group() as asking:
            for _ in range(3):
                asking.start_soon(ask)
        return Report(score=3, rationale=" ".join(sorted(replies)))


async def test_a_repeated_question_gets_its_own_draws_and_the_same_when_rescored() -> None:
    model, memory = ScriptedModel(*"abcdef"), DictMemory()
    remembered = RememberedModel(model, memory)
    for version in (1, 2):  # the second reads the replies in another way: no call
        judge = SamplingJudge(model=remembered, version=version)
        for place, expected in (("", "a b c"), ("2", "d e f")):
            report = await RememberedJudge(judge, memory, place=place).assess(SEGMENT, ASPECT)
            assert report.rationale == expected
    assert len(model.requests) == 6


async def test_a_model_s_error_is_not_kept() -> None:
    model, memory = ScriptedModel(ModelError("down"), "up"), DictMemory()
    remembered = RememberedModel(model, memory)
    with pytest.raises(ModelError, match="down"):
        await remembered.complete(REQUEST)
    assert (await remembered.complete(REQUEST)).text == "up"


async def test_a_tokenizer_is_asked_once_in_all_runs_and_its_listed_tokens_are_left_out() -> None:
    memory, sources = DictMemory(), list[str]()
    found = TemplateTokens(tokens=("<|im_end|>", "<file_sep>"), source="it")
    for answer in (found, None):  # in the second run it is not asked

        async def ask(answer: TemplateTokens | None = answer) -> TemplateTokens | None:
            return answer

        tokens = RememberedTokens(ask, memory=memory, signature="m", note=sources.append)
        assert await tokens.get() == ("<file_sep>",) == await tokens.get()
    assert sources == ["it", "it"]


async def test_requests_that_waited_for_a_tokenizer_in_vain_do_not_ask_it_one_by_one() -> None:
    asked = anyio.Event()
    tries = 0

    async def ask() -> TemplateTokens | None:
        nonlocal tries
        tries += 1
        await asked.wait()
        if tries == 1:
            raise TransientModelError("gone")
        return None

    sources = list[str]()
    tokens = RememberedTokens(ask, memory=None, signature="m", note=sources.append)
    async with anyio.create_task_group() as requests:
        for _ in range(3):
            requests.start_soon(tokens.get)
        await anyio.wait_all_tasks_blocked()
        asked.set()
    assert (tries, sources) == (1, [])
    assert await tokens.get() == ()
    assert (tries, sources) == (2, [LIST_ALONE])


async def test_alike_requests_under_way_at_once_are_asked_for_once() -> None:
    model = ScriptedModel("only")
    remembered = RememberedModel(model, DictMemory())
    async with anyio.create_task_group() as asking:
        for _ in range(5):
            asking.start_soon(remembered.complete, REQUEST)
    assert len(model.requests) == 1


ANY_TEXT = st.text(st.characters(exclude_categories=()))
TWO = st.text(min_size=2, max_size=2)
REPORTS = st.builds(
    Report,
    outcome=st.just(Outcome.SCORED),
    score=st.one_of(st.integers(1, 5), st.floats(allow_nan=False)),
    rationale=ANY_TEXT,
    reply=ANY_TEXT,
    spans=st.lists(
        st.builds(
            ErrorSpan,
            text=ANY_TEXT,
            explanation=ANY_TEXT,
            severity=st.one_of(st.none(), st.integers(1, 5)),
            start=st.none(),
            end=st.none(),
            located=st.just(ErrorSpan(text="", explanation="", severity=None).located),
            found_by=st.lists(ANY_TEXT).map(tuple),
            evidence=st.lists(
                st.builds(Evidence, input=ANY_TEXT, start=st.just(3), end=st.just(5), text=TWO)
            ).map(tuple),
            probability=st.none() | st.floats(0, 1),
        )
    ).map(tuple),
    error_probability=st.none() | st.floats(0, 1),
)


@given(REPORTS)
def test_a_report_is_read_as_it_was_written(report: Report) -> None:
    assert read_report(written(report)) == report


def test_reports_and_replies_are_read_as_they_were_written() -> None:
    assert read_report(written(REPORT)) == REPORT
    assert read_reply(written(REPLY)) == REPLY


def test_a_report_that_was_kept_before_there_were_probabilities_is_read() -> None:
    earlier = as_written_earlier(written(REPORT)).encode()
    assert b"probability" not in earlier
    assert read_report(earlier) == REPORT


async def test_more_aspects_than_a_judge_keeps_in_mind_stay_distinct() -> None:
    judge, memory = CountedJudge([REPORT]), DictMemory()
    remembered = RememberedJudge(judge, memory)
    for _ in range(2):
        for number in range(1200):
            await remembered.assess(SEGMENT, replace(ASPECT, definition=str(number)))
    assert judge.asked == 1200
