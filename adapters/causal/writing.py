"""Continuing several prompts at once: every row is drawn as if it were alone.

Prompts are filled up on the left, so that all rows' next tokens stand in one column; a row that
has ended leaves the batch, and its part of the cache is dropped.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from transformers import DynamicCache, PreTrainedModel


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A prompt of 1 or more tokens, to be continued by at most `most`, 1 or more.

    Temperature 0 takes the likeliest token; without a seed every draw is another one. `rivals` is
    how many of the likeliest tokens to report at each place. `forced` is a continuation that is
    given: it is scored, by `score`, and nothing is drawn. A JSON `schema` or a GBNF `grammar` holds
    the continuation to a form where an engine can; `write` cannot.
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
    """The log-probability of a written token, and of the likeliest at its place."""

    logprob: float
    rivals: Sequence[tuple[int, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A continuation, without the token that ends it.

    `ended` says whether the model ended it; else its length did. `tokens` has one entry a token,
    where rivals were asked for.
    """

    ids: Sequence[int]
    ended: bool
    tokens: Sequence[Token]


@dataclass(slots=True, kw_only=True)
class _Row:
    """A continuation under way."""

    number: int
    prompt: Prompt
    chance: torch.Generator
    ids: list[int] = field(default_factory=list)
    tokens: list[Token] = field(default_factory=list)

    def take(self, logits: torch.Tensor) -> int:
        """Draw the next token of ``(vocabulary,)`` logits."""
        token = _drawn(logits, self.prompt.temperature, chance=self.chance)
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
    """Continue one or more prompts with a model in evaluation mode; return one a prompt, in order.

    Any token of `ends` ends a continuation; `padding` fills rows up and is never looked at.
    `dropped` says whether no caller waits for the prompt of a place any more; it is left as it is
    then.
    """
    rows = [
        _Row(number=number, prompt=prompt, chance=_chance(prompt.seed, model.device))
        for number, prompt in enumerate(prompts)
    ]
    ended = [False] * len(rows)
    alive = rows
    with torch.inference_mode():
        ids, mask = _filled_up(prompts, padding=padding, device=model.device)
        cache = DynamicCache(config=model.config)
        while alive:
            logits = _next_logits(model, ids, mask=mask, cache=cache)
            greedy = logits.argmax(dim=-1).tolist()
            kept: list[int] = []
            drawn: list[int] = []
            for at, row in enumerate(alive):
                token = row.take(logits[at]) if _is_drawn(row.prompt) else _add(row, greedy[at])
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
    return [_written(row, ended=over) for row, over in zip(rows, ended, strict=True)]


def score(model: PreTrainedModel, prompt: Prompt) -> Written:
    """Return the forced continuation of a prompt with the log-probability of each token."""
    loose: Any = model
    with torch.inference_mode():
        ids = torch.tensor([[*prompt.ids, *prompt.forced]], device=model.device)
        logits: torch.Tensor = loose(input_ids=ids, logits_to_keep=len(prompt.forced) + 1).logits
        logprobs = logits[0, :-1].float().log_softmax(dim=-1)
        own = logprobs.gather(1, ids[0, len(prompt.ids) :, None])[:, 0].tolist()
    tokens = [Token(logprob=logprob, rivals=()) for logprob in own]
    return Written(ids=prompt.forced, ended=True, tokens=tokens)


def _is_drawn(prompt: Prompt) -> bool:
    """Say whether more is wanted of a place than its likeliest token."""
    return prompt.temperature > 0 or prompt.rivals > 0


def _add(row: _Row, token: int) -> int:
    row.ids.append(token)
    return token


def _next_logits(
    model: PreTrainedModel, ids: torch.Tensor, *, mask: torch.Tensor, cache: DynamicCache
) -> torch.Tensor:
    """Return what the model thinks of every next token, ``(rows, vocabulary)``."""
    positions = (mask.cumsum(dim=1) - 1).clamp(min=0)[:, -ids.shape[1] :]
    loose: Any = model
    logits: torch.Tensor = loose(
        input_ids=ids,
        attention_mask=mask,
        position_ids=positions,
        past_key_values=cache,
        use_cache=True,
        logits_to_keep=1,
    ).logits
    return logits[:, -1].float()


def _drawn(logits: torch.Tensor, temperature: float, *, chance: torch.Generator) -> int:
    if temperature == 0:
        return int(logits.argmax())
    shares = (logits / temperature).softmax(dim=-1)
    return int(torch.multinomial(shares, 1, generator=chance))


def _chance(seed: int | None, device: torch.device) -> torch.Generator:
    chance = torch.Generator(device=device)
    if seed is None:
        chance.seed()
    else:
        chance.manual_seed(seed)
    return chance


def _filled_up(
    prompts: Sequence[Prompt], *, padding: int, device: torch.device
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return tokens and where they are a prompt's own, ``(rows, longest)``."""
    longest = max(len(prompt.ids) for prompt in prompts)
    ids = torch.full((len(prompts), longest), padding, dtype=torch.long)
    mask = torch.zeros((len(prompts), longest), dtype=torch.long)
    for row, prompt in enumerate(prompts):
        ids[row, longest - len(prompt.ids) :] = torch.tensor(prompt.ids, dtype=torch.long)
        mask[row, longest - len(prompt.ids) :] = 1
    return ids.to(device), mask.to(device)


def _written(row: _Row, *, ended: bool) -> Written:
    own = len(row.ids) - ended
    return Written(ids=row.ids[:own], ended=ended, tokens=row.tokens[:own])
