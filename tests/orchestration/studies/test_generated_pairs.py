"""Damage that a model writes for an exam: who is asked, what is left out, what ends it."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest
from anyio import Event, create_task_group, wait_all_tasks_blocked
from numpy.random import Generator

from spanjury.judges.core import (
    ChatModel,
    ChatRequest,
    ModelError,
    ModelRefusedError,
    ModelTimeoutError,
    PermanentModelError,
    PerturbationError,
    Reply,
    RunStoppedError,
    Segment,
    TransientModelError,
)
from spanjury.orchestration.engine.stopping import StopToken
from spanjury.orchestration.studies.discernment.exam import generated_pairs
from spanjury.orchestration.studies.generation import TextGenerator
from spanjury.perturbations.generated import generated_perturbation
from spanjury.perturbations.pairs import Condition, PerturbedPair, Skipped, perturbed_pairs
from spanjury.perturbations.perturbation import text_perturbation
from spanjury.testing import ScriptedModel

TEXTS = ("Anna lives in Oslo now.", "Bob was born in Oslo.", "Carl has never been to Oslo.")
SEGMENTS = tuple(
    Segment(segment_id=name, output=text) for name, text in zip("abc", TEXTS, strict=True)
)


@text_perturbation(family="tests", level="word", harms={"fluency"})
def shout(text: str, rng: Generator, *, k: int = 1) -> str:
    del rng
    return text.upper() + "!" * k


@text_perturbation(family="tests", level="word")
def broken(text: str, rng: Generator) -> str:
    del text, rng
    raise RuntimeError


def condition(name: str, *, written: str = "", k: object = 1) -> Condition:
    return Condition(
        name=name,
        perturbation=shout,
        level="word",
        options={"k": k},
        generated=generated_perturbation(written) if written else None,
    )


BY_MODEL = condition("entities", written="fictional-entities")


def moved(text: str) -> str:
    return text.replace("Oslo", "Velmora")


class Inventor:
    """Puts an invented town into the text that it is asked about, once it is let."""

    signature = "inventor"

    def __init__(self, *, waits: bool = False) -> None:
        self.asked: list[str] = []
        self.may = Event()
        if not waits:
            self.may.set()

    async def complete(self, request: ChatRequest) -> Reply:
        (text,) = (text for text in TEXTS if text in request.messages[1].content)
        self.asked.append(text)
        await self.may.wait()
        return Reply(text=moved(text))


async def written(
    model: ChatModel,
    conditions: Sequence[Condition] = (BY_MODEL,),
    *,
    segments: Sequence[Segment] = SEGMENTS,
    stop_token: StopToken | None = None,
    workers: int = 1,
) -> list[PerturbedPair | Skipped]:
    @asynccontextmanager
    async def opened() -> AsyncIterator[ChatModel]:
        yield model

    generator = TextGenerator(name="the writer", open=opened, workers=workers)
    return await generated_pairs(
        segments, conditions, seed=5, generator=generator, stop_token=stop_token or StopToken()
    )


async def test_the_model_damages_what_it_can_be_asked_for_and_rules_the_rest() -> None:
    ruled = (condition("first"), condition("last", k=2))
    shown = await written(Inventor(), (ruled[0], BY_MODEL, ruled[1]), workers=4)
    assert shown[:3] + shown[6:] == list(perturbed_pairs(SEGMENTS, ruled, seed=5))
    for one, segment in zip(shown[3:6], SEGMENTS, strict=True):
        assert isinstance(one, PerturbedPair)
        assert (one.clean, one.condition, one.written_by) == (segment, "entities", "the writer")
        assert one.damaged.segment_id == f"{segment.segment_id}#entities"
        assert one.damaged.output == moved(segment.output)


async def test_gold_spans_are_where_the_model_has_changed_the_text() -> None:
    (shown, *_) = await written(Inventor())
    assert isinstance(shown, PerturbedPair)
    (span,) = shown.damaged.gold
    assert (span.start, span.text) == (TEXTS[0].index("Oslo"), "Velmora")
    assert span.explanation == "entities: 'Oslo' was replaced by 'Velmora'."


async def test_the_model_is_asked_for_k_changes_with_the_seed() -> None:
    model = ScriptedModel(moved(TEXTS[0]))
    twice = condition("twice", written="fictional-entities", k=2)
    await written(model, (twice,), segments=SEGMENTS[:1])
    (request,) = model.requests
    assert "Pick 2 of what the text names" in request.messages[1].content
    assert request.decoding.seed == 5


async def test_each_worker_asks_about_one_text_at_once() -> None:
    model, pairs = Inventor(waits=True), list[PerturbedPair | Skipped]()

    async def run() -> None:
        pairs.extend(await written(model, workers=2))

    async with create_task_group() as group:
        group.start_soon(run)
        await wait_all_tasks_blocked()
        assert model.asked == list(TEXTS[:2])
        model.may.set()
    assert [one.clean for one in pairs if isinstance(one, PerturbedPair)] == list(SEGMENTS)


@pytest.mark.parametrize(
    ("replies", "reason"),
    [
        ((TEXTS[0], TEXTS[0]), "the model left the text as it was, twice"),
        (("No.", "Never."), "the model, asked twice, did no fictional-entities"),
        ((ModelTimeoutError("after 120 s"),), "the model failed: timed_out"),
        ((TransientModelError("gone"),), "the model failed: backend_failed"),
        ((ModelRefusedError("not with me"),), "the model failed: refused"),
    ],
)
async def test_a_text_that_the_model_cannot_change_is_skipped_with_the_reason(
    replies: tuple[str | Exception, ...], reason: str
) -> None:
    model = ScriptedModel(*replies, moved(TEXTS[1]), moved(TEXTS[2]))
    first, *others = await written(model)
    assert first == Skipped(
        segment_id="a", condition="entities", reason=reason, written_by="the writer"
    )
    assert [one.damage.text for one in others if isinstance(one, PerturbedPair)] == [
        moved(text) for text in TEXTS[1:]
    ]


async def test_no_model_is_asked_about_an_empty_text() -> None:
    empty = Segment(segment_id="empty", output=" ")
    (shown,) = await written(ScriptedModel(), segments=(empty,))
    assert isinstance(shown, Skipped)
    assert shown.reason == "the text is empty"


async def test_a_model_that_cannot_be_asked_ends_it_and_names_the_text() -> None:
    model = ScriptedModel(moved(TEXTS[0]), PermanentModelError("wrong key"), repeat_last=True)
    with pytest.raises(PermanentModelError, match="entities of 'b' cannot be written: wrong key"):
        await written(model)
    assert len(model.requests) == 2


@pytest.mark.parametrize("error", [TransientModelError("gone"), ModelRefusedError("gone")])
async def test_a_model_that_answers_nothing_at_all_ends_it(error: ModelError) -> None:
    empty = Segment(segment_id="empty", output="")
    with pytest.raises(ModelError, match="the writer wrote nothing: gone"):
        await written(ScriptedModel(error, repeat_last=True), segments=(*SEGMENTS, empty))


async def test_a_model_that_answers_but_never_does_what_is_asked_ends_nothing() -> None:
    model = ScriptedModel(TransientModelError("gone"), "No.", repeat_last=True)
    shown = await written(model)
    assert all(isinstance(one, Skipped) for one in shown)


async def test_running_work_ends_and_nothing_begins_after_a_stop_request() -> None:
    model, stop_token = Inventor(waits=True), StopToken()

    async def run() -> None:
        with pytest.raises(RunStoppedError, match="enough"):
            await written(model, stop_token=stop_token, workers=2)

    async with create_task_group() as group:
        group.start_soon(run)
        await wait_all_tasks_blocked()
        stop_token.request("enough")
        model.may.set()
    assert model.asked == list(TEXTS[:2])


async def test_a_stop_request_without_grace_drops_what_is_under_way() -> None:
    stop_token = StopToken()

    async def run() -> None:
        with pytest.raises(RunStoppedError, match="at once"):
            await written(Inventor(waits=True), stop_token=stop_token, workers=2)

    async with create_task_group() as group:
        group.start_soon(run)
        await wait_all_tasks_blocked()
        stop_token.request("at once", grace=0.0)


async def test_a_stop_request_after_the_last_text_was_begun_changes_nothing() -> None:
    model, stop_token, pairs = Inventor(waits=True), StopToken(), list[PerturbedPair | Skipped]()

    async def run() -> None:
        pairs.extend(await written(model, stop_token=stop_token, workers=3))

    async with create_task_group() as group:
        group.start_soon(run)
        await wait_all_tasks_blocked()
        stop_token.request("enough")
        model.may.set()
    assert len(pairs) == 3


async def test_a_rule_that_fails_fails_before_the_model_is_asked() -> None:
    ruled = Condition(name="ruled", perturbation=broken, level="word")
    model = ScriptedModel()
    with pytest.raises(PerturbationError, match="ruled cannot damage 'a'"):
        await written(model, (BY_MODEL, ruled))
    assert model.requests == ()


@pytest.mark.parametrize("k", [0, "all", 1.5])
async def test_no_model_is_asked_for_what_is_no_number_of_changes(k: object) -> None:
    model = ScriptedModel()
    with pytest.raises(PerturbationError, match="entities: a model is asked for k changes, not"):
        await written(model, (condition("entities", written="fictional-entities", k=k),))
    assert model.requests == ()
