import pytest

from spanjury.judges.core import PermanentModelError, Reply, TokenLogprob, forced_logprobs


def reply(*tokens: tuple[str, float]) -> Reply:
    return Reply(
        text="".join(token for token, _ in tokens),
        logprobs=tuple(TokenLogprob(token=token, logprob=logprob) for token, logprob in tokens),
    )


def laid(reply_given: Reply, text: str) -> list[tuple[str, float]]:
    return [
        (text[token.start : token.end], token.logprob)
        for token in forced_logprobs(reply_given, text)
    ]


def test_tokens_lie_where_they_were_written_and_the_mark_of_the_end_nowhere() -> None:
    reply_given = reply(("It", -1.0), (" rains", -2.0), (".", -0.5), ("", -0.1))
    assert laid(reply_given, "It rains.") == [("It", -1.0), (" rains", -2.0), (".", -0.5)]


def test_bytes_of_a_character_count_for_the_token_behind_them() -> None:
    reply_given = reply(("a", -1.0), ("\ufffd", -2.0), ("\ufffd", -3.0), ("b", -0.5))
    assert laid(reply_given, "a\u201cb") == [("a", -1.0), ("\u201cb", -5.5)]


def test_the_same_word_twice_has_two_places() -> None:
    reply_given = reply(("a", -1.0), (" a", -2.0))
    tokens = forced_logprobs(reply_given, "a a")
    assert [(token.start, token.end) for token in tokens] == [(0, 1), (1, 3)]


@pytest.mark.parametrize(
    "reply_given",
    [
        Reply(text="It rains."),
        reply(("I", -1.0), (" cannot", -1.0), (" say", -1.0)),
        reply(("It", -1.0), (" rai", -1.0)),
    ],
)
def test_a_model_that_writes_something_else_has_no_likelihoods(reply_given: Reply) -> None:
    with pytest.raises(PermanentModelError, match="how likely a given text is"):
        forced_logprobs(reply_given, "It rains.")
