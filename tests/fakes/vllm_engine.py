"""A stand-in for vLLM: its documented classes for batches, over a small model of transformers.

It takes no argument that vLLM 0.12 does not document, and returns what that documents: the token
that ends a reply among its tokens, one dictionary of log-probabilities for each place, and for the
first token of a prompt none.
"""

import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from transformers import AutoModelForCausalLM, AutoTokenizer

from spanjury.adapters.causal.writing import Prompt, score, write

VERSION = "0.12.0"
REFUSED = '"pattern"'
"""A word that a schema must not contain: the stand-in refuses it, as vLLM refuses some."""
OBJECT = '{"score": 3}'
"""The reply wherever a schema or a grammar is to be followed."""
ENGINES: list["LLM"] = []
"""The engines that were made, for tests to look at."""


@dataclass(kw_only=True)
class StructuredOutputsParams:
    """The form of a reply: exactly one of these."""

    json: str | dict[str, object] | None = None
    grammar: str | None = None

    def __post_init__(self) -> None:
        if (self.json is None) == (self.grammar is None):
            raise ValueError("You must use one kind of structured outputs constraint")


@dataclass(kw_only=True)
class SamplingParams:
    """Settings by which a prompt is continued."""

    temperature: float = 1.0
    seed: int | None = None
    max_tokens: int | None = 16
    logprobs: int | None = None
    prompt_logprobs: int | None = None
    structured_outputs: StructuredOutputsParams | None = None


@dataclass(kw_only=True)
class Logprob:
    """The log-probability of a token."""

    logprob: float


Logprobs = Mapping[int, Logprob]


@dataclass(kw_only=True)
class CompletionOutput:
    """A continuation."""

    token_ids: Sequence[int]
    finish_reason: str | None
    logprobs: Sequence[Logprobs] | None


@dataclass(kw_only=True)
class RequestOutput:
    """All that is returned of a prompt."""

    outputs: list[CompletionOutput]
    prompt_logprobs: Sequence[Logprobs | None] | None


@dataclass(kw_only=True)
class _ModelConfig:
    max_model_len: int


@dataclass(kw_only=True)
class _LLMEngine:
    model_config: _ModelConfig


@dataclass
class LLM:
    """The engine for batches; `calls` has the number of prompts of each call that was made.

    A call is answered once the engine is `ready`.
    """

    model: str
    tensor_parallel_size: int = 1
    calls: list[int] = field(init=False, default_factory=list)
    broken: str = field(init=False, default="")
    ready: threading.Event = field(init=False, default_factory=threading.Event)

    def __post_init__(self) -> None:
        if not Path(self.model, "model.safetensors").is_file():
            raise ValueError("no weights")
        self.ready.set()
        self._model: Any = AutoModelForCausalLM.from_pretrained(self.model)
        self._tokenizer: Any = AutoTokenizer.from_pretrained(self.model)
        context = self._model.config.max_position_embeddings
        self.llm_engine = _LLMEngine(model_config=_ModelConfig(max_model_len=context))
        ENGINES.append(self)

    def generate(
        self,
        prompts: Sequence[Mapping[str, list[int]]],
        sampling_params: Sequence[SamplingParams],
        *,
        use_tqdm: bool = True,
    ) -> list[RequestOutput]:
        """Continue all prompts, or refuse all for one of them."""
        assert not use_tqdm
        self.calls.append(len(prompts))
        self.ready.wait(60)
        if self.broken:
            raise RuntimeError(self.broken)
        for sampling in sampling_params:
            held = sampling.structured_outputs
            if held is not None and REFUSED in str(held.json or held.grammar):
                raise ValueError("the grammar backend does not know patterns")
        pairs = zip(prompts, sampling_params, strict=True)
        return [self._output(prompt["prompt_token_ids"], sampling) for prompt, sampling in pairs]

    def _output(self, ids: list[int], sampling: SamplingParams) -> RequestOutput:
        end: int = self._tokenizer.eos_token_id
        if sampling.prompt_logprobs is not None:
            return RequestOutput(outputs=[], prompt_logprobs=self._scored(ids))
        if sampling.structured_outputs is not None:
            forced = self._tokenizer(OBJECT, add_special_tokens=False)["input_ids"]
            done = CompletionOutput(token_ids=[*forced, end], finish_reason="stop", logprobs=None)
            return RequestOutput(outputs=[done], prompt_logprobs=None)
        assert sampling.max_tokens is not None
        prompt = Prompt(
            ids=ids,
            most=sampling.max_tokens,
            temperature=sampling.temperature,
            seed=sampling.seed,
            rivals=sampling.logprobs or 0,
        )
        ends = frozenset({end})
        (written,) = write(self._model, [prompt], ends=ends, padding=0, dropped=lambda _: False)
        logprobs: list[Logprobs] = [
            {rival: Logprob(logprob=logprob) for rival, logprob in token.rivals}
            | {number: Logprob(logprob=token.logprob)}
            for number, token in zip(written.ids, written.tokens, strict=bool(written.tokens))
        ]
        done = CompletionOutput(
            token_ids=[*written.ids, end] if written.ended else written.ids,
            finish_reason="stop" if written.ended else "length",
            logprobs=logprobs if sampling.logprobs else None,
        )
        return RequestOutput(outputs=[done], prompt_logprobs=None)

    def _scored(self, ids: list[int]) -> list[Logprobs | None]:
        scored = score(self._model, Prompt(ids=ids[:1], most=1, forced=ids[1:]))
        pairs = zip(ids[1:], scored.tokens, strict=True)
        return [None, *({number: Logprob(logprob=token.logprob)} for number, token in pairs)]


def install(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the stand-in what ``import vllm`` finds, with metadata in `folder`."""
    info = folder / f"vllm-{VERSION}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: vllm\nVersion: {VERSION}\n")
    monkeypatch.syspath_prepend(str(folder))
    module: Any = ModuleType("vllm")
    module.LLM, module.SamplingParams = LLM, SamplingParams
    module.sampling_params = ModuleType("vllm.sampling_params")
    module.sampling_params.StructuredOutputsParams = StructuredOutputsParams
    monkeypatch.setitem(sys.modules, "vllm", module)
    ENGINES.clear()
