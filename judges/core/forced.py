"""The likelihood of a given text: the log-probabilities of a reply that was forced on a model.

`ChatRequest.forced` asks for them. Where a server can only be held to a text by a grammar, it cuts
the text into tokens as it likes, and its tokens may be bytes of a character: they are laid over
the text here.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from spanjury.judges.core.chat import Reply, TokenLogprob
from spanjury.judges.core.errors import PermanentModelError

_SLACK = 8  # characters that tokens of unreadable bytes may stand for in a row
_CANNOT = (
    "the model cannot say how likely a given text is: {}. Models that run here do"
    " (local/…), and servers that follow grammars and give log-probabilities (llama.cpp, vLLM)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LikelyToken:
    """A stretch of a text that a model reads as one token, and its log-probability there."""

    start: int
    end: int
    logprob: float


def forced_logprobs(reply: Reply, text: str) -> tuple[LikelyToken, ...]:
    """Return the tokens of `text`, which was forced on a model, in order and without gaps.

    Tokens that hold a part of a character are one with the next that ends a character.

    Raises `PermanentModelError` if the reply has no log-probabilities, or is another text.

    Examples
    --------
    >>> said = (TokenLogprob(token="a", logprob=-1.0), TokenLogprob(token=" b", logprob=-2.0))
    >>> [token.end for token in forced_logprobs(Reply(text="a b", logprobs=said), "a b")]
    [1, 3]
    """
    if not reply.logprobs:
        raise PermanentModelError(_CANNOT.format("its reply has no log-probabilities"))
    tokens = _laid_over(reply.logprobs, text)
    if not tokens or text[tokens[-1].end :].strip():
        raise PermanentModelError(_CANNOT.format("it wrote another text"))
    return tokens


def _laid_over(written: Sequence[TokenLogprob], text: str) -> tuple[LikelyToken, ...]:
    """Find each token in `text`, behind the one before."""
    tokens: list[LikelyToken] = []
    start, unplaced = 0, 0.0
    for token in written:
        unplaced += token.logprob
        size = len(token.token)
        begin = text.find(token.token, start, start + size + _SLACK) if size else -1
        if begin >= 0:
            tokens.append(LikelyToken(start=start, end=begin + size, logprob=unplaced))
            start, unplaced = begin + size, 0.0
    return tuple(tokens)
