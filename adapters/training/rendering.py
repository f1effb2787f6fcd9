"""Pairs as tokens with labels: the loss is on the answer only.

An example that is longer than the context loses the end of a source, never of its target.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from spanjury.adapters.causal.chat_tokens import ChatTokens
from spanjury.adapters.training.job import TrainingPair
from spanjury.judges.core import Message

IGNORED = -100
"""The label of a token that is not learnt, as torch's cross-entropy has it."""
CUT_MARK = " […]"
"""Stands where a source was cut."""
_GUESSES = 8  # of how much of a source fits
_WASTE = 2  # tokens for which no further guess is worth its time


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """An example in tokens: the conversation's, the answer's and the end token.

    The answer begins at `answer`, 1 or more, and its explanations at `light`, behind which only
    the end token is none; `cut` says whether a source was cut, `faulty` what its verdict is.
    """

    ids: tuple[int, ...]
    answer: int
    light: int
    cut: bool = False
    faulty: bool | None = None

    @property
    def labels(self) -> tuple[int, ...]:
        """The same tokens, `IGNORED` before the answer."""
        return (IGNORED,) * self.answer + self.ids[self.answer :]

    def weights(self, explanation: float) -> tuple[float, ...]:
        """Return the weight of each token in the loss; their sum is 1, however long the answer.

        A token of an explanation weighs `explanation` times as much as others of the answer.
        """
        last = len(self.ids) - 1
        raw = [
            explanation if self.light <= index < last else 1.0
            for index in range(self.answer, len(self.ids))
        ]
        total = sum(raw)
        return (0.0,) * self.answer + tuple(weight / total for weight in raw)


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedPairs:
    """Examples in tokens, how many were cut, and how many skipped since nothing could be cut."""

    examples: tuple[Rendered, ...]
    cut: int
    skipped: int


def render_all(pairs: Iterable[TrainingPair], chat: ChatTokens, *, limit: int) -> RenderedPairs:
    """Render pairs, each with at most `limit` tokens; raise `ConfigError` as `ChatTokens` does."""
    rendered = [render(pair, chat, limit=limit) for pair in pairs]
    kept = tuple(example for example in rendered if example is not None)
    return RenderedPairs(
        examples=kept,
        cut=sum(example.cut for example in kept),
        skipped=len(rendered) - len(kept),
    )


def render(pair: TrainingPair, chat: ChatTokens, *, limit: int) -> Rendered | None:
    """Render a pair with at most `limit` tokens; return None if that cannot be had by cutting."""
    answer = chat.answer(pair.target)
    prompt = chat.prompt(pair.messages)
    cut = len(prompt) + len(answer) > limit
    if cut:
        shorter = _cut_to(pair, chat, room=limit - len(answer), whole=len(prompt))
        if shorter is None:
            return None
        prompt = shorter
    heavy = len(chat.answer(pair.target[: len(pair.target) - pair.light])) - 1
    ids = (*prompt, *answer)
    light = min(len(prompt) + heavy, len(ids) - 1)
    return Rendered(ids=ids, answer=len(prompt), light=light, cut=cut, faulty=pair.faulty)


def _cut_to(pair: TrainingPair, chat: ChatTokens, *, room: int, whole: int) -> list[int] | None:
    """Return a prompt of at most `room` tokens, of the `whole` of it, by cutting the sources."""
    messages, tokens = pair.messages, whole
    for source in sorted((text for text in pair.sources if text), key=len, reverse=True):
        index = next((at for at, message in enumerate(messages) if source in message.content), None)
        if index is None:
            continue
        cut = _Cut(chat=chat, messages=messages, index=index, source=source)
        bare = cut.prompt(0)
        if len(bare) <= room:
            return cut.longest(bare, room=room, whole=tokens)
        messages, tokens = cut.messages_with(0), len(bare)
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cut:
    """A conversation in which one source is cut."""

    chat: ChatTokens
    messages: tuple[Message, ...]
    index: int
    source: str

    def messages_with(self, kept: int) -> tuple[Message, ...]:
        """Return the messages with `kept` characters of the source."""
        message = self.messages[self.index]
        beginning = self.source[:kept].rstrip() + CUT_MARK
        fresh = replace(message, content=message.content.replace(self.source, beginning, 1))
        return (*self.messages[: self.index], fresh, *self.messages[self.index + 1 :])

    def prompt(self, kept: int) -> list[int]:
        return self.chat.prompt(self.messages_with(kept))

    def longest(self, bare: list[int], *, room: int, whole: int) -> list[int]:
        """Return a prompt of nearly `room` tokens; of `bare` has it none, of `whole` too many.

        Tokens grow with characters about evenly, so that a few guesses in between do.
        """
        kept, fitting, over, tokens = 0, bare, len(self.source), whole
        for _ in range(_GUESSES):
            if room - len(fitting) <= _WASTE or over - kept <= 1:
                break
            share = (room - len(fitting)) / (tokens - len(fitting))
            guess = min(kept + max(1, int(share * (over - kept))), over - 1)
            prompt = self.prompt(guess)
            if len(prompt) <= room:
                kept, fitting = guess, prompt
            else:
                over, tokens = guess, len(prompt)
        return fitting
