"""Pairs as tokens: the chat template, the labels, the end token, and what is cut."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fakes.tiny_chat import CONTEXT, chat_tokenizer, tiny_pairs
from hypothesis import given
from hypothesis import strategies as st

from spanjury.adapters.causal.chat_tokens import ChatTokens
from spanjury.adapters.models.token_files import read_template_tokens
from spanjury.adapters.training.job import TrainingPair, pairs_digest
from spanjury.adapters.training.rendering import CUT_MARK, IGNORED, render, render_all
from spanjury.judges.core import ConfigError, Message

TOKENIZER: Any = chat_tokenizer()
CHAT = ChatTokens(TOKENIZER, name="tiny")


def pair(source: str, *, target: str = "Overall score: 5") -> TrainingPair:
    content = f"Read this.\n{source}\nMark the errors."
    return TrainingPair(
        messages=(Message(role="user", content=content),), target=target, sources=(source,)
    )


def test_the_loss_is_on_the_answer_and_its_end_token_only() -> None:
    example = tiny_pairs()[0]
    rendered = render(example, CHAT, limit=CONTEXT)
    assert rendered is not None
    prompt = f"<|im_start|>user\n{example.messages[0].content}<|im_end|>\n<|im_start|>assistant\n"
    asked = TOKENIZER(prompt, add_special_tokens=False)["input_ids"]
    due = [
        *TOKENIZER(example.target, add_special_tokens=False)["input_ids"],
        TOKENIZER.eos_token_id,
    ]
    assert list(rendered.ids) == asked + due
    assert list(rendered.labels) == [IGNORED] * len(asked) + due
    assert not rendered.cut


def test_the_explanations_begin_where_the_pair_says_and_end_before_the_end_token() -> None:
    explained = replace(pair("a", target="Overall score: 5\n\nExplanation 1: no"), light=17)
    rendered = render(explained, CHAT, limit=CONTEXT)
    plain = render(pair("a"), CHAT, limit=CONTEXT)
    assert rendered is not None
    assert plain is not None
    assert TOKENIZER.decode(rendered.ids[rendered.light :]) == "Explanation 1: no<|im_end|>"
    assert plain.light == len(plain.ids) - 1
    weights = rendered.weights(0.25)
    assert sum(weights) == pytest.approx(1)
    assert weights[: rendered.answer] == (0.0,) * rendered.answer
    assert weights[rendered.light] == pytest.approx(weights[-1] / 4)


def test_a_source_is_cut_as_far_as_needed_and_the_target_never() -> None:
    long = pair("word " * 400, target="The whole target.")
    rendered = render(long, CHAT, limit=90)
    assert rendered is not None
    assert rendered.cut
    assert 85 <= len(rendered.ids) <= 90
    text = TOKENIZER.decode(rendered.ids)
    assert f"word{CUT_MARK}\nMark the errors." in text
    assert text.endswith("assistant\nThe whole target.<|im_end|>")


@given(words=st.integers(0, 300), limit=st.integers(1, 200))
def test_no_example_exceeds_the_limit_and_none_is_cut_without_need(words: int, limit: int) -> None:
    long_pair = pair("the cat sat " * words)
    whole = render(long_pair, CHAT, limit=10**6)
    rendered = render(long_pair, CHAT, limit=limit)
    assert whole is not None
    if rendered is None:
        assert len(whole.ids) > limit
        return
    assert len(rendered.ids) <= limit
    assert rendered.cut == (len(whole.ids) > limit)
    assert rendered.ids[rendered.answer :] == whole.ids[whole.answer :]


def test_the_longest_source_is_cut_first() -> None:
    long_pair = TrainingPair(
        messages=(Message(role="user", content=f"{'long ' * 200}\nshort one\nGo."),),
        target="5",
        sources=("short one", "long " * 200),
    )
    rendered = render(long_pair, CHAT, limit=50)
    assert rendered is not None
    assert "short one" in TOKENIZER.decode(rendered.ids)


def test_the_next_source_is_cut_too_if_one_is_not_enough() -> None:
    sources = ("long " * 200, "more " * 150)
    long_pair = TrainingPair(
        messages=(Message(role="user", content="\n".join(sources)),), target="5", sources=sources
    )
    rendered = render(long_pair, CHAT, limit=50)
    assert rendered is not None
    assert f"{CUT_MARK}\nmore more" in TOKENIZER.decode(rendered.ids)


def test_cut_and_skipped_examples_are_counted() -> None:
    pairs = [pair("short"), pair("word " * 400), pair("short", target="long " * 400)]
    rendered = render_all(pairs, CHAT, limit=60)
    assert (len(rendered.examples), rendered.cut, rendered.skipped) == (2, 1, 1)


def test_a_mark_of_the_template_in_a_text_is_read_as_plain_text() -> None:
    rendered = render(pair("the end <|im_end|> and on"), CHAT, limit=CONTEXT)
    assert rendered is not None
    ends = [token for token in rendered.ids if token == TOKENIZER.eos_token_id]
    assert len(ends) == 2  # the user's turn and the answer
    assert "the end < |im_end|> and on" in TOKENIZER.decode(rendered.ids)


def test_a_lone_surrogate_is_replaced() -> None:
    rendered = render(pair("a\ud800b"), CHAT, limit=CONTEXT)
    assert rendered is not None
    assert "a\ufffdb" in TOKENIZER.decode(rendered.ids)


@pytest.mark.parametrize(
    ("template", "end", "message"),
    [("", True, "has no chat template"), ("{{ messages }}", False, "has no end token")],
)
def test_a_tokenizer_that_cannot_chat_is_refused(template: str, end: bool, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        ChatTokens(chat_tokenizer(template=template, end=end), name="mute")


def test_a_template_that_refuses_a_conversation_is_reported() -> None:
    refusing = chat_tokenizer(template="{{ raise_exception('no system here') }}")
    with pytest.raises(ConfigError, match="refuses the conversation: no system here"):
        ChatTokens(refusing, name="strict").prompt(tiny_pairs()[0].messages)


def test_a_pair_says_something() -> None:
    with pytest.raises(ValueError, match="says something"):
        TrainingPair(messages=tiny_pairs()[0].messages, target=" ")


def test_the_digest_of_pairs_follows_their_order_and_their_words() -> None:
    pairs = tiny_pairs()
    assert pairs_digest(pairs) == pairs_digest(tiny_pairs())
    assert len({pairs_digest(some) for some in (pairs, pairs[::-1], pairs[1:])}) == 3


def test_a_tokenizer_and_its_saved_files_name_the_same_special_tokens(tmp_path: Path) -> None:
    tokenizer = chat_tokenizer()
    tokenizer.add_tokens(["<file_sep>"])  # read as one, though not special by name
    special = {*ChatTokens(tokenizer, name="tiny").special}
    assert special == {"<|im_start|>", "<|im_end|>", "<|pad|>", "<file_sep>"}
    tokenizer.save_pretrained(tmp_path)
    assert {*read_template_tokens(tmp_path).tokens} == special
