"""Rendering of pairs as tokens with labels: the loss covers only the answer.

An example longer than the context loses the end of a source, never a part of its target.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from spanjury.adapters.causal.chat_tokens import ChatTokens
from spanjury.adapters.training.job import TrainingPair
from spanjury.judges.core import Message

IGNORED = -100
"""Label of a token without loss, as in torch's cross-entropy."""
CUT_MARK = " […]"
"""Text that replaces the end of a source that was cut."""
_GUESSES = 8  # attempts at finding how much of a source fits
_WASTE = 2  # unused tokens that are not worth another attempt


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """An example as tokens: those of the conversation, of the answer, and the end token.

    The answer begins at index `answer`, 1 or more, and its explanations at index `light`; they last
    until the end token. `cut` says whether a source was cut; `faulty` is the verdict.
    """

    ids: tuple[int, ...]
    answer: int
    light: int
    cut: bool = False
    faulty: bool | None = None

    @property
    def labels(self) -> tuple[int, ...]:
        """The tokens, with `IGNORED` for those before the answer."""
        return (IGNORED,) * self.answer + self.ids[self.answer :]

    def weights(self, explanation: float) -> tuple[float, ...]:
        """Return the weight of each token in the loss; the weights sum to 1 for any length.

        A token of an explanation has `explanation` times the weight of another token of the answer.
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
    """Examples as tokens; how many were cut, and how many skipped because cutting did not help."""

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
    """Render a pair in at most `limit` tokens; return None if cutting cannot achieve that."""
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
    """Cut sources until a prompt of `whole` tokens has at most `room`; None if that fails."""
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
    """A conversation with one source that is cut."""

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
        """Return a prompt of nearly `room` tokens.

        `bare` is the prompt without any of the source, which fits; `whole` is the number of tokens
        with all of it, which does not.
        The number of tokens grows almost linearly with that of characters, so interpolation needs
        only a few attempts.
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
