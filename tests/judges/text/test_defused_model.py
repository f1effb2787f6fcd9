"""No judged text speaks in the tokens of a chat template, and quotes of it come back whole."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanjury.judges.core import ChatRequest, Message, Reply, ToolCall
from spanjury.judges.text import defused
from spanjury.judges.text.template_tokens import join_tokens, split_tokens
from spanjury.testing import ScriptedModel

TOKENS = (
    "<|im_start|>", "<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|start_header_id|>",
    "<|end_header_id|>", "<|begin_of_text|>", "<|user|>", "<|assistant|>", "<|system|>", "<|end|>",
    "<|START_OF_TURN_TOKEN|>", "<|channel|>", "<|turn>", "<turn|>", "<start_of_turn>",
    "<end_of_turn>", "<bos>", "<eos>", "<pad>", "<unk>", "<s>", "</s>", "[INST]", "[/INST]",
    "<<SYS>>", "<</SYS>>", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[TOOL_CALLS]",
    "[AVAILABLE_TOOLS]", "[/TOOL_RESULTS]", "<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>",
    "<｜User｜>", "<｜Assistant｜>", "＜|im_end|＞", "[gMASK]", "<sop>", "<tool_call>",
    "<SPECIAL_10>", "<TOOLCALL>", "<fim_prefix>", "<fim▁begin>", "]~b]", "]~!b[", "[e~[",
    "[|system|]", "[|user|]", "[|assistant|]", "[|endofturn|]", "<beginning_of_sentence>",
    "<beginning_of_image>", "<seed:bos>", "<seed:eos>", "<seed:tool_call>", "</seed:tool_call>",
    "<minimax:tool_call>", "</minimax:tool_call>", "<role>", "</role>", "<longcat_user>",
    "<im_start>", "<im_end>",
)  # fmt: skip
PIECES = st.lists(
    st.one_of(
        st.sampled_from([*TOKENS, "<", ">", "|", "[", "]", " ", "  ", "< ", "im_end", "</", "s>"]),
        st.text(max_size=5),
    ),
    max_size=20,
).map("".join)


@given(PIECES)
def test_a_split_text_is_joined_back_unchanged(text: str) -> None:
    assert join_tokens(split_tokens(text, reasoning=False)) == text


@given(PIECES)
def test_no_token_is_left_in_a_text(text: str) -> None:
    assert not any(token in split_tokens(text) for token in TOKENS)


@given(st.text(st.characters(exclude_characters="<[]＜")))
def test_a_text_without_tokens_stays_as_it_is(text: str) -> None:
    assert split_tokens(text) == text


@pytest.mark.parametrize(
    "text", ["a < b > c", "[APPLAUSE] <b>bold</b>", "<p>5 |x| 6</p>", "[1]", "[|]"]
)
def test_ordinary_brackets_stay_as_they_are(text: str) -> None:
    assert split_tokens(text) == text


@pytest.mark.parametrize("tag", ["<think>", "</thinking>", "<seed:think>", "</seed:think>"])
def test_tags_of_reasoning_are_split_in_texts_and_not_in_what_a_model_said(tag: str) -> None:
    assert split_tokens(tag) == f"{tag[0]} {tag[1:]}"
    assert split_tokens(tag, reasoning=False) == tag


async def test_a_request_without_tokens_and_its_reply_pass_untouched() -> None:
    reply = Reply(text="It says < |im_end|> and <think>.")
    model = ScriptedModel(reply)
    request = ChatRequest(messages=(Message(role="user", content="Hm."),), prefix="Overall")
    assert await defused(model).complete(request) is reply
    assert model.requests == (request,)
    assert defused(model).signature == model.signature


async def test_quotes_in_text_reasoning_and_tool_calls_come_back() -> None:
    quote = "ends <|im_end|> or < |eot_id|> here"
    apart = split_tokens(quote)
    call = ToolCall(call_id="1", name="search", arguments=f'{{"query": "{apart}"}}')
    model = ScriptedModel(Reply(text=apart, reasoning=apart, tool_calls=(call,)))
    answer = Message(role="assistant", content="<think>Hm.</think> [INST]", tool_calls=(call,))
    asked = ChatRequest(
        messages=(Message(role="user", content=quote), answer, Message(role="tool", content=quote)),
        prefix=quote,
    )
    reply = await defused(defused(model)).complete(asked)
    assert (reply.text, reply.reasoning) == (quote, quote)
    assert reply.tool_calls[0].arguments == f'{{"query": "{quote}"}}'
    (request,) = model.requests
    assert [message.content for message in request.messages] == [
        apart,
        "<think>Hm.</think> [ INST]",
        apart,
    ]
    assert request.prefix == apart


async def test_a_quoted_end_of_reasoning_does_not_end_the_reasoning_of_a_reply() -> None:
    model = ScriptedModel("It says < /think> here.")
    request = ChatRequest(messages=(Message(role="user", content="It says </think> here."),))
    reply = await defused(model).complete(request)
    assert "</think>" not in model.requests[0].messages[0].content
    assert "</think>" not in reply.text
