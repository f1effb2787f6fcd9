"""vLLM [1] in this process: an open-weight model on all GPUs visible to the process.

It is named ``vllm/FOLDER`` or ``vllm/HUB_ID``. All waiting prompts go to the engine in one call,
which batches as many as fit into the GPUs. Prompts are made as in `local_model`, by the tokenizer
in the model's folder.

The user installs vLLM, 0.12 or later: it supports few versions of PyTorch, and only machines with
an accelerator.

References
----------
.. [1] Kwon et al. (2023), Efficient memory management for large language model serving with
   PagedAttention, SOSP
"""

import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

import anyio.to_thread
import torch

from spanjury.adapters.causal.base import find_base
from spanjury.adapters.causal.chat_tokens import ChatTokens
from spanjury.adapters.causal.writing import Prompt, Token, Written
from spanjury.adapters.models.local_model import LocalModel, Worker, folder_of, working
from spanjury.judges.core import (
    ChatModel,
    ConfigError,
    Form,
    FormRefusedError,
    ModelError,
    ModelOptions,
    PermanentModelError,
    signature,
)
from spanjury.judges.core.lazy import library

_VLLM = "vllm"
_FORMS: frozenset[Form] = frozenset({"bounded-schema", "schema", "grammar"})
"""All: vLLM constrains each token by a schema or a grammar."""

_ROWS = 1024  # prompts per call; vLLM divides them
_ENDS = ("stop", "length")


@dataclass(frozen=True, slots=True, kw_only=True)
class VllmWeights:
    """A model loaded by vLLM, with the tokenizer in its folder."""

    identity: str
    chat: ChatTokens
    vllm: ModuleType
    engine: Any  # `vllm.LLM`, untyped as vLLM may be absent

    def write(
        self, prompts: Sequence[Prompt], dropped: Callable[[int], bool]
    ) -> list[Written | ModelError]:
        """Continue prompts in one call of the engine; dropped ones are continued to their end.

        vLLM refuses a whole call because of one prompt; then each half is tried by itself. Raises
        `PermanentModelError` if the engine fails.
        """
        try:
            outputs = self.engine.generate(
                [{"prompt_token_ids": [*prompt.ids, *prompt.forced]} for prompt in prompts],
                sampling_params=[self._sampling(prompt) for prompt in prompts],
                use_tqdm=False,
            )
        except ValueError as error:
            if len(prompts) == 1:
                has_form = bool(prompts[0].schema or prompts[0].grammar)
                kind = FormRefusedError if has_form else PermanentModelError
                return [kind(f"vLLM refuses the request: {error}")]
        except Exception as error:  # foreign code may raise anything; callers wait
            raise PermanentModelError(f"vLLM failed: {error!r}") from error
        else:
            return [_written(*each) for each in zip(prompts, outputs, strict=True)]
        half = len(prompts) // 2
        first = self.write(prompts[:half], dropped)
        return first + self.write(prompts[half:], dropped)

    def _sampling(self, prompt: Prompt) -> object:
        if prompt.forced:  # vLLM must generate a token, which is ignored
            return self.vllm.SamplingParams(max_tokens=1, temperature=0.0, prompt_logprobs=1)
        form = {"json": prompt.schema} if prompt.schema else {"grammar": prompt.grammar}
        constraint = (
            self.vllm.sampling_params.StructuredOutputsParams(**form)
            if any(form.values())
            else None
        )
        return self.vllm.SamplingParams(
            max_tokens=prompt.most,
            temperature=prompt.temperature,
            seed=prompt.seed,
            logprobs=prompt.rivals or None,
            structured_outputs=constraint,
        )


@asynccontextmanager
async def open_vllm(name: str, *, options: ModelOptions) -> AsyncIterator[ChatModel]:
    """Load a model with vLLM; a plugin of the group ``spanjury.models``.

    It is split over all GPUs visible to the process, which ``CUDA_VISIBLE_DEVICES`` sets.

    Raises `ConfigError` if vLLM is not installed or cannot load the model, a base URL is given, or
    there is no such model, or it has no chat template or no end token.
    """
    folder = folder_of(name, options=options)
    weights = await anyio.to_thread.run_sync(_load, folder)
    async with working(Worker(write=weights.write, rows=_ROWS, tokens=None)) as worker:
        yield LocalModel(
            chat=weights.chat,
            context=int(weights.engine.llm_engine.model_config.max_model_len),
            forms=_FORMS,
            signature=signature(_VLLM, weights=weights.identity, vllm=version(_VLLM)),
            worker=worker,
        )


def _load(name: str) -> VllmWeights:
    # vLLM reads these at import: they disable usage reports, and limit its log to errors.
    os.environ.setdefault("VLLM_NO_USAGE_STATS", "1")
    os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")
    vllm = library(_VLLM, package=_VLLM)
    base = find_base(name)
    if base.gguf or not (Path(base.folder) / "config.json").is_file():
        raise ConfigError(
            f"{name!r} holds no whole model for vLLM (config.json and safetensors); merge an"
            " adapter into its base first"
        )
    chat = ChatTokens(base.tokenizer(), name=name)
    try:
        engine = vllm.LLM(
            model=str(base.folder), tensor_parallel_size=max(1, torch.cuda.device_count())
        )
    except Exception as error:  # foreign code may raise anything
        raise ConfigError(f"vLLM cannot load {name!r}: {error}") from error
    return VllmWeights(identity=base.identity, chat=chat, vllm=vllm, engine=engine)


def _written(prompt: Prompt, output: Any) -> Written | ModelError:  # noqa: ANN401  vLLM's
    """Return vLLM's output for a prompt as a continuation, or the error that ended it."""
    if prompt.forced:
        scored = zip(prompt.forced, output.prompt_logprobs[len(prompt.ids) :], strict=True)
        tokens = [_token(number, logprobs, rivals=0) for number, logprobs in scored]
        return Written(ids=prompt.forced, ended=True, tokens=tokens)
    completion = output.outputs[0]
    if completion.finish_reason not in _ENDS:
        return PermanentModelError(f"vLLM ended the reply: {completion.finish_reason}")
    ended = completion.finish_reason == "stop"
    ids = list(completion.token_ids)
    written = ids[:-1] if ended else ids  # the last is the token that ends it
    tokens = [
        _token(number, logprobs, rivals=prompt.rivals)
        for number, logprobs in zip(written, completion.logprobs or (), strict=False)
    ]
    return Written(ids=written, ended=ended, tokens=tokens)


def _token(number: int, logprobs: Mapping[int, Any], *, rivals: int) -> Token:
    """Return the log-probability of a token and of the most likely tokens at its position."""
    likeliest = sorted(logprobs.items(), key=lambda item: -item[1].logprob)[:rivals]
    return Token(
        logprob=float(logprobs[number].logprob),
        rivals=[(rival, float(logprob.logprob)) for rival, logprob in likeliest],
    )
