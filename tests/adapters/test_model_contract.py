"""Duties of every adapter of an OpenAI-compatible server: the same words sent, the same replies.

Each lane is held to it by a real server on 127.0.0.1 and by llama.cpp's; for failures see
``test_model_failure_contract.py``.
"""

import gc
import json
from dataclasses import replace

import anyio
import pytest
from loopback.answers import Answer, chat, completion_with
from loopback.lanes import KEY, QUESTION, REQUEST, Lane, ask, said_by_llama_cpp
from loopback.server import LoopbackServer

from spanjury.judges.core import (
    ChatModel,
    ChatRequest,
    ConfigError,
    Decoding,
    Finish,
    Message,
    ModelOptions,
    Reply,
    TokenLogprob,
    ToolCall,
    ToolSpec,
    Usage,
)

pytestmark = pytest.mark.asyncio_only

LOOKUP = ToolSpec(
    name="look_up",
    description="Find a passage.",
    parameters={"type": "object", "properties": {"words": {"type": "string"}}},
)


async def test_a_reply_comes_with_its_usage(lane: Lane) -> None:
    spent = {
        "prompt_tokens": 11,
        "completion_tokens": 5,
        "total_tokens": 16,
        "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens_details": {"reasoning_tokens": 2},
    }
    answer = chat("fine", message={"reasoning_content": "hm"}, usage=spent)
    with LoopbackServer(answer) as server:
        reply = await ask(lane, server)
    usage = Usage(calls=1, prompt=11, cached=4, completion=5, reasoning=2)
    assert reply == Reply(text="fine", reasoning="hm", usage=usage)


async def test_the_request_says_what_was_asked_and_nothing_else(lane: Lane) -> None:
    decoding = Decoding(temperature=0.5, seed=3, max_tokens=17)
    messages = (Message(role="system", content="Be <system> strict."), QUESTION)
    with LoopbackServer(chat("fine")) as server:
        await ask(lane, server, ChatRequest(messages=messages, decoding=decoding))
        received = server.requests[0]
    assert received.path == "/v1/chat/completions"
    assert received.headers["authorization"] == f"Bearer {KEY}"
    assert received.body == {
        "model": "loop",
        "messages": [
            {"role": "system", "content": "Be <system> strict."},
            {"role": "user", "content": "Judge this."},
        ],
        "temperature": 0.5,
        "seed": 3,
        "max_tokens": 17,
    }


@pytest.mark.parametrize(
    ("sent", "finish"),
    [
        ("stop", Finish.STOP),
        ("length", Finish.LENGTH),
        ("content_filter", Finish.REFUSAL),
        ("eos_of_a_sort", Finish.STOP),
    ],
)
async def test_the_finish_reason_is_translated(lane: Lane, sent: str, finish: Finish) -> None:
    with LoopbackServer(chat("some", finish=sent)) as server:
        reply = await ask(lane, server)
    assert (reply.text, reply.finish) == ("some", finish)


async def test_a_refusal_is_a_finish_and_its_words_are_the_text(lane: Lane) -> None:
    with LoopbackServer(chat(None, message={"refusal": "I will not."})) as server:
        reply = await ask(lane, server)
    assert (reply.text, reply.finish) == ("I will not.", Finish.REFUSAL)


@pytest.mark.parametrize("text", ["", None])
async def test_an_empty_reply_is_a_reply(lane: Lane, text: str | None) -> None:
    with LoopbackServer(chat(text)) as server:
        reply = await ask(lane, server)
    assert (reply.text, reply.finish) == ("", Finish.STOP)


@pytest.mark.parametrize("thinking", ["hm", [{"type": "text", "text": "hm"}]])
async def test_content_in_parts_is_a_reply(thinking: object) -> None:
    lean = Lane(name="openai-compatible/loop", plugin="openai-compatible")
    parts = [
        {"type": "thinking", "thinking": thinking},
        {"type": "text", "text": "No "},
        {"type": "reference", "reference_ids": [1]},
        {"type": "text", "text": "Error"},
    ]
    with LoopbackServer(chat(None, message={"content": parts})) as server:
        reply = await ask(lean, server)
    assert (reply.reasoning, reply.text) == ("hm", "No Error")


async def test_log_probabilities_are_asked_for_and_read(lane: Lane) -> None:
    rivals = [{"token": "Good", "logprob": -0.1, "bytes": None}]
    token = {"token": "Good", "logprob": -0.1, "bytes": None, "top_logprobs": rivals}
    answer = chat("Good", logprobs={"content": [token], "refusal": None})
    with LoopbackServer(answer) as server:
        request = ChatRequest(messages=(QUESTION,), decoding=Decoding(logprobs=2))
        reply = await ask(lane, server, request)
        body = server.requests[0].body
    assert (body["logprobs"], body["top_logprobs"]) == (True, 2)
    assert reply.logprobs == (TokenLogprob(token="Good", logprob=-0.1, top={"Good": -0.1}),)


async def test_tools_are_offered_called_and_answered(lane: Lane) -> None:
    called = {"id": "c1", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}
    call = ToolCall(call_id="c1", name="look_up", arguments="{}")
    with LoopbackServer(chat(None, message={"tool_calls": [called]})) as server:
        request = ChatRequest(messages=(QUESTION,), tools=(LOOKUP,))
        reply = await ask(lane, server, request)
        answered = (
            QUESTION,
            Message(role="assistant", content="", tool_calls=(call,)),
            Message(role="tool", content="nothing", call_id="c1"),
        )
        await ask(lane, server, ChatRequest(messages=answered, tools=(LOOKUP,)))
        first, second = server.requests
    assert (reply.finish, reply.tool_calls) == (Finish.TOOL_CALLS, (call,))
    function = {
        "name": "look_up",
        "description": "Find a passage.",
        "parameters": {"type": "object", "properties": {"words": {"type": "string"}}},
    }
    assert first.body["tools"] == [{"type": "function", "function": function}]
    assert second.body["messages"] == [
        {"role": "user", "content": "Judge this."},
        {"role": "assistant", "content": "", "tool_calls": [called]},
        {"role": "tool", "content": "nothing", "tool_call_id": "c1"},
    ]


@pytest.mark.parametrize("repeated", [True, False])
async def test_a_reply_continues_from_its_prefix_without_it(lane: Lane, *, repeated: bool) -> None:
    text = "Score: Good" if repeated else " Good"
    with LoopbackServer(chat(text)) as server:
        reply = await ask(lane, server, ChatRequest(messages=(QUESTION,), prefix="Score:"))
        body = server.requests[0].body
    assert reply.text == " Good"
    assert body["messages"] == [
        {"role": "user", "content": "Judge this."},
        {"role": "assistant", "content": "Score:"},
    ]
    assert body["continue_final_message"] is True
    assert body["add_generation_prompt"] is False


async def test_lone_surrogates_neither_stop_a_request_nor_come_back(lane: Lane) -> None:
    with LoopbackServer(chat("odd \ud83d reply")) as server:
        message = Message(role="user", content="odd \ud800 text, \ud83d\ude00")
        reply = await ask(lane, server, ChatRequest(messages=(message,)))
        body = server.requests[0].body
    assert body["messages"] == [{"role": "user", "content": "odd \ufffd text, \U0001f600"}]
    assert reply.text == "odd \ufffd reply"


async def test_the_signature_names_the_model_but_not_where_it_is_served(lane: Lane) -> None:
    signatures = set()
    for url in ("http://127.0.0.1:1/v1", "http://127.0.0.1:2/v1"):
        async with lane.open(lane.name, options=ModelOptions(base_url=url)) as model:
            assert isinstance(model, ChatModel)
            signatures.add(model.signature)
    assert signatures == {lane.name}


async def test_two_open_models_close_one_by_one(lane: Lane) -> None:
    with LoopbackServer(chat("fine")) as server:
        options = ModelOptions(base_url=server.base_url)
        async with lane.open(lane.name, options=options) as first:
            async with lane.open(lane.name, options=options) as second:
                await second.complete(REQUEST)
            assert (await first.complete(REQUEST)).text == "fine"


@pytest.mark.heavy
def test_one_process_can_run_again_and_again_and_leaves_nothing_open(lane: Lane) -> None:
    with LoopbackServer(chat("fine")) as server:
        for _ in range(3):
            assert anyio.run(ask, lane, server).text == "fine"
    gc.collect()  # what was left open would warn now, and warnings are errors


def test_under_trio_it_says_that_it_needs_asyncio(lane: Lane) -> None:
    async def main() -> None:
        async with lane.open(lane.name, options=ModelOptions(base_url="http://x/v1")):
            pytest.fail("opened")

    with pytest.raises(ConfigError, match="needs asyncio"):
        anyio.run(main, backend="trio")


@pytest.mark.parametrize(
    ("message", "text", "reasoning"),
    [
        ({"content": "fine", "reasoning_content": "hm"}, "fine", "hm"),
        ({"content": "fine", "reasoning": "hm"}, "fine", "hm"),
        ({"content": "<think>hm</think>fine"}, "fine", "hm"),
        ({"content": "\n<thinking>hm</thinking> fine", "reasoning": None}, " fine", "hm"),
        ({"content": "fine <think>or not</think>"}, "fine <think>or not</think>", ""),
        ({"content": "<think>cut sho"}, "<think>cut sho", ""),
    ],
)
async def test_reasoning_is_kept_apart_from_the_reply(
    lane: Lane, message: dict[str, object], text: str, reasoning: str
) -> None:
    with LoopbackServer(chat(None, message=message)) as server:
        reply = await ask(lane, server)
    assert (reply.text, reply.reasoning) == (text, reasoning)


async def test_text_that_looks_like_markup_arrives_unchanged(lane: Lane) -> None:
    odd = '<|im_end|> <system> "\\" \x00\x1f\x7f \u2028\ufeff é \U0001f600 {"role": "system"}'
    with LoopbackServer(chat(odd)) as server:
        reply = await ask(lane, server, ChatRequest(messages=(replace(QUESTION, content=odd),)))
        body = server.requests[0].body
    assert (body["messages"], reply.text) == ([{"role": "user", "content": odd}], odd)


@pytest.mark.parametrize("error", [None, "", {}, {"message": "", "code": None}])
async def test_an_empty_error_beside_a_reply_is_none(lane: Lane, error: object) -> None:
    with LoopbackServer(completion_with(error=error)) as server:
        assert (await ask(lane, server)).text == "fine"


async def test_a_reply_may_say_next_to_nothing_about_itself(lane: Lane) -> None:
    bare = {"choices": [{"message": {"role": "assistant", "content": "fine"}}]}
    with LoopbackServer(Answer(body=json.dumps(bare), headers={})) as server:
        assert await ask(lane, server) == Reply(text="fine", usage=Usage(calls=1))


@pytest.mark.e2e
@pytest.mark.parametrize(
    "decoding",
    [
        Decoding(max_tokens=12),
        Decoding(max_tokens=12, temperature=1.0, seed=5),
        Decoding(max_tokens=8, grammar='root ::= " yes" | " no"'),
        Decoding(max_tokens=3, logprobs=2),
    ],
    ids=["greedy", "drawn", "grammar", "logprobs"],
)
@pytest.mark.parametrize("prefix", ["", "I say:"])
async def test_llama_cpp_replies_the_same_in_every_lane(
    decoding: Decoding, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = ChatRequest(messages=(QUESTION,), prefix=prefix, decoding=decoding)
    first, *others = await said_by_llama_cpp(request, monkeypatch)
    assert isinstance(first, Reply)
    assert first.usage.completion > 0
    assert all(other == first for other in others)
    if decoding.grammar:
        assert first.text.strip() in {"yes", "no"}
