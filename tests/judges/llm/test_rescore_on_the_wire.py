"""Requests to a server when an annotator scores a list, and the fate of its answers."""

import pytest
from fakes.judges import ASPECT, mark, segment
from loopback.answers import Answer, chat, failure
from loopback.lanes import EACH_LANE, Lane
from loopback.server import LoopbackServer, Received

from spanjury.judges.core import ModelOptions, Outcome, Rescoring, RescoringMethod
from spanjury.judges.llm.annotator import Annotator
from spanjury.judges.llm.error_list import cue, render_errors
from spanjury.judges.text import field_mark

pytestmark = pytest.mark.asyncio_only

SEGMENT = segment()
MARK = field_mark([*SEGMENT.inputs.values(), SEGMENT.output])
SPANS = (mark(SEGMENT.output, "in 1935", "The article says 1932.", 4),)
NO_PREFILL = Lane(name="mistral/unlisted-model")


@pytest.fixture(params=EACH_LANE)
def lane(request: pytest.FixtureRequest) -> Lane:
    chosen: Lane = request.param
    return chosen


async def rescore(lane: Lane, *answers: Answer) -> tuple[Rescoring, tuple[Received, ...]]:
    with LoopbackServer(*answers) as server:
        async with lane.open(lane.name, options=ModelOptions(base_url=server.base_url)) as model:
            rescoring = await Annotator(model=model).rescore(SEGMENT, ASPECT, SPANS)
        return rescoring, server.requests


@pytest.mark.parametrize("repeated", [True, False])
async def test_the_server_is_asked_to_write_on_behind_the_list(
    lane: Lane, *, repeated: bool
) -> None:
    listed = render_errors(SPANS, mark=MARK).replace(
        cue(MARK), f"Faulty ({MARK}): yes\n{cue(MARK)}"
    )
    said = f"{listed} Poor" if repeated else " Poor"
    rescoring, (request,) = await rescore(lane, chat(said))
    *_, last = messages_of(request)
    assert last == {"role": "assistant", "content": listed}
    assert request.body["continue_final_message"] is True
    assert request.body["add_generation_prompt"] is False
    assert (rescoring.report.score, rescoring.method) == (2, RescoringMethod.CONTINUED)
    assert rescoring.report.reply == " Poor"


async def test_a_server_that_goes_on_with_a_new_error_is_asked_again(
    lane: Lane,
) -> None:
    wrong = chat('\n\nError 2:\nLocation: "bridge"\nOverall score: Poor', finish="length")
    rescoring, requests = await rescore(lane, wrong)
    assert len(requests) == 2
    assert rescoring.report.outcome is Outcome.UNPARSEABLE
    assert "'Error 2:'" in rescoring.report.reason


async def test_a_server_that_turns_the_prefix_down_is_asked_in_a_new_turn(lane: Lane) -> None:
    rescoring, (_, restated) = await rescore(lane, failure(400, "no prefill"), chat("Good"))
    assert (rescoring.report.score, rescoring.method) == (4, RescoringMethod.RESTATED)
    assert messages_of(restated)[-1]["role"] == "user"
    assert "continue_final_message" not in restated.body


@pytest.mark.heavy
async def test_a_provider_that_cannot_continue_is_sent_the_new_turn_alone() -> None:
    rescoring, (request,) = await rescore(NO_PREFILL, chat("Fair"))
    assert (rescoring.report.score, rescoring.method) == (3, RescoringMethod.RESTATED)
    assert [message["role"] for message in messages_of(request)] == [
        "system",
        "user",
        "assistant",
        "user",
    ]


def messages_of(request: Received) -> list[dict[str, object]]:
    messages = request.body["messages"]
    assert isinstance(messages, list)
    return messages
