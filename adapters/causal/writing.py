"""Batched generation: each prompt is continued as if it were alone.

Prompts are padded on the left, so that the next tokens of all rows share one column. A row that
has ended leaves the batch, and its part of the cache is dropped.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from transformers import DynamicCache, PreTrainedModel


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A prompt of 1 or more tokens, to be continued by at most `most` tokens, 1 or more.

    Temperature 0 takes the most likely token. Without a seed, each run samples differently.
    `rivals` is the number of most likely tokens to report at each position. `forced` is a given
    continuation: `score` scores it, and nothing is sampled. A JSON `schema` or a GBNF `grammar`
    constrains the continuation in engines that support it; `write` refuses both.
    """

    ids: Sequence[int]
    most: int
    temperature: float = 0.0
    seed: int | None = None
    rivals: int = 0
    forced: Sequence[int] = ()
    schema: str = ""
    grammar: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """Log-probabilities of a written token, and of the most likely tokens at its position."""

    logprob: float
    rivals: Sequence[tuple[int, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A continuation, without its end token.

    `ended` is True if the model ended it or it was forced, and False if it was cut: at its maximum
    length, or because its caller no longer waited. `tokens` has one entry per token if rivals were
    requested or the continuation was forced; otherwise it is empty.
    """

    ids: Sequence[int]
    ended: bool
    tokens: Sequence[Token]


@dataclass(slots=True, kw_only=True)
class _Row:
    """A continuation in progress."""

    number: int
    prompt: Prompt
    generator: torch.Generator
    ids: list[int] = field(default_factory=list)
    tokens: list[Token] = field(default_factory=list)

    def take(self, logits: torch.Tensor, *, likeliest: int) -> int:
        """Choose the next token by its logits, ``(vocabulary,)``, and record it."""
        token = likeliest
        if self.prompt.temperature > 0:
            shares = (logits / self.prompt.temperature).softmax(dim=-1)
            token = int(torch.multinomial(shares, 1, generator=self.generator))
        self.ids.append(token)
        if self.prompt.rivals:
            logprobs = logits.log_softmax(dim=-1)
            top = logprobs.topk(min(self.prompt.rivals, logprobs.shape[-1]))
            rivals = list(zip(top.indices.tolist(), top.values.tolist(), strict=True))
            self.tokens.append(Token(logprob=float(logprobs[token]), rivals=rivals))
        return token


def write(
    model: PreTrainedModel,
    prompts: Sequence[Prompt],
    *,
    ends: frozenset[int],
    padding: int,
    dropped: Callable[[int], bool],
) -> list[Written]:
    """Continue one or more prompts with a model in evaluation mode; return the results in order.

    Any token in `ends` ends a continuation. `padding` is the id that pads rows; it is masked.
    `dropped` takes a prompt's index and returns True if its caller no longer waits; its
    continuation then stops where it is.

    Raises `ValueError` for a prompt with a schema or a grammar.
    """
    if any(prompt.schema or prompt.grammar for prompt in prompts):
        raise ValueError("a continuation cannot be constrained to a schema or a grammar here")
    rows = [
        _Row(number=number, prompt=prompt, generator=_generator(prompt.seed, model.device))
        for number, prompt in enumerate(prompts)
    ]
    ended = [False] * len(rows)
    alive = rows
    with torch.inference_mode():
        ids, mask = _filled_up(prompts, padding=padding, device=model.device)
        cache = DynamicCache(config=model.config)
        while alive:
            logits = _next_logits(model, ids, mask=mask, cache=cache)
            likeliest = logits.argmax(dim=-1).tolist()
            kept: list[int] = []
            drawn: list[int] = []
            for at, row in enumerate(alive):
                token = row.take(logits[at], likeliest=likeliest[at])
                if token in ends:
                    ended[row.number] = True
                elif len(row.ids) < row.prompt.most and not dropped(row.number):
                    kept.append(at)
                    drawn.append(token)
            if len(kept) < len(alive):
                alive = [alive[at] for at in kept]
                left = torch.tensor(kept, dtype=torch.long, device=model.device)
                mask = mask[left]
                if kept:
                    cache.batch_select_indices(left)
            ids = torch.tensor(drawn, dtype=torch.long, device=model.device)[:, None]
            mask = torch.cat([mask, torch.ones_like(ids)], dim=1)
    own = [len(row.ids) - over for row, over in zip(rows, ended, strict=True)]
    return [
        Written(ids=row.ids[:kept], ended=over, tokens=row.tokens[:kept])
        for row, kept, over in zip(rows, own, ended, strict=True)
    ]


def score(model: PreTrainedModel, prompt: Prompt) -> Written:
    """Return the forced continuation of a prompt with the log-probability of each token."""
    untyped: Any = model
    with torch.inference_mode():
        ids = torch.tensor([[*prompt.ids, *prompt.forced]], device=model.device)
        logits: torch.Tensor = untyped(input_ids=ids, logits_to_keep=len(prompt.forced) + 1).logits
        logprobs = logits[0, :-1].float().log_softmax(dim=-1)
        own = logprobs.gather(1, ids[0, len(prompt.ids) :, None])[:, 0].tolist()
    tokens = [Token(logprob=logprob, rivals=()) for logprob in own]
    return Written(ids=prompt.forced, ended=True, tokens=tokens)


def _next_logits(
    model: PreTrainedModel, ids: torch.Tensor, *, mask: torch.Tensor, cache: DynamicCache
) -> torch.Tensor:
    """Return the logits of each row's next token, ``(rows, vocabulary)``."""
    positions = (mask.cumsum(dim=1) - 1).clamp(min=0)[:, -ids.shape[1] :]
    untyped: Any = model
    logits: torch.Tensor = untyped(
        input_ids=ids,
        attention_mask=mask,
        position_ids=positions,
        past_key_values=cache,
        use_cache=True,
        logits_to_keep=1,
    ).logits
    return logits[:, -1].float()


def _generator(seed: int | None, device: torch.device) -> torch.Generator:
    generator = torch.Generator(device=device)
    if seed is None:
        generator.seed()
    else:
        generator.manual_seed(seed)
    return generator


def _filled_up(
    prompts: Sequence[Prompt], *, padding: int, device: torch.device
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the left-padded tokens and their mask, each ``(rows, longest)``."""
    longest = max(len(prompt.ids) for prompt in prompts)
    ids = torch.full((len(prompts), longest), padding, dtype=torch.long)
    mask = torch.zeros((len(prompts), longest), dtype=torch.long)
    for row, prompt in enumerate(prompts):
        ids[row, longest - len(prompt.ids) :] = torch.tensor(prompt.ids, dtype=torch.long)
        mask[row, longest - len(prompt.ids) :] = 1
    return ids.to(device), mask.to(device)
