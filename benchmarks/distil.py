"""Speed of the local model at generation and training, compared with transformers' own functions.

    python benchmarks/distil.py [--base FOLDER|embedded] [--prompts 16] [--tokens 48] [--steps 4]

Generation: many concurrent calls compared with `generate` one by one, in tokens per second.
Training: our steps compared with a plain transformers Trainer with the same adapter, examples and
batches.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import anyio
import torch
from transformers import DataCollatorForSeq2Seq, Trainer, TrainingArguments

from spanjury.adapters.causal.base import find_base
from spanjury.adapters.causal.chat_tokens import ChatTokens
from spanjury.adapters.causal.low_rank import attach
from spanjury.adapters.models.local_model import open_local
from spanjury.adapters.torch_models import find_device
from spanjury.adapters.training import trainer as ours
from spanjury.adapters.training.checkpoint import CheckpointFile
from spanjury.adapters.training.job import TrainingOptions, TrainingPair
from spanjury.adapters.training.rendering import RenderedPairs, render_all
from spanjury.judges.core import ChatRequest, Decoding, Message, ModelOptions

SENTENCE = "The committee met on Tuesday and put the decision about the bridge off until May. "
ANSWER = (
    "Location: on Tuesday\nExplanation: The source says Monday.\nSeverity: 3\n\nOverall score: 70"
)


def conversation(number: int) -> tuple[Message, ...]:
    """Return a conversation by its number; all have similar lengths."""
    text = f"Find the errors in text {number}.\n{SENTENCE * (4 + number % 3)}"
    return (Message(role="user", content=text),)


async def written_together(base: str, *, prompts: int, tokens: int) -> tuple[float, float]:
    """Return the tokens per second of concurrent calls, and of `generate` one by one."""
    async with open_local(f"local/{base}", options=ModelOptions()) as opened:
        requests = [
            ChatRequest(messages=conversation(number), decoding=Decoding(max_tokens=tokens))
            for number in range(prompts)
        ]
        await opened.complete(requests[0])  # warms up
        written = 0

        async def ask(request: ChatRequest) -> None:
            nonlocal written
            reply = await opened.complete(request)
            written += reply.usage.completion

        began = time.perf_counter()
        async with anyio.create_task_group() as asking:
            for request in requests:
                asking.start_soon(ask, request)
        together = written / (time.perf_counter() - began)
    return together, written_alone(base, requests, tokens=tokens)


def written_alone(base: str, requests: list[ChatRequest], *, tokens: int) -> float:
    """Return the tokens per second of `generate`."""
    weights = find_base(base)
    chat = ChatTokens(weights.tokenizer(), name=base)
    model: Any = weights.load(device=find_device("auto"))
    written = 0
    began = time.perf_counter()
    for request in requests:
        ids = torch.tensor([chat.prompt(request.messages)], device=model.device)
        generated = model.generate(
            input_ids=ids,
            attention_mask=torch.ones_like(ids),
            max_new_tokens=tokens,
            do_sample=False,
            eos_token_id=chat.end,
            pad_token_id=chat.padding,
        )
        written += generated.shape[1] - ids.shape[1]
    return written / (time.perf_counter() - began)


def learnt(base: str, *, steps: int) -> tuple[float, float]:
    """Return the tokens per second of our training steps, and of transformers' Trainer."""
    options = TrainingOptions(batch_size=8, micro_batch_size=2, max_steps=steps, warmup=0.0)
    model_base = find_base(base)
    chat = ChatTokens(model_base.tokenizer(), name=base)
    pairs = [
        TrainingPair(messages=conversation(number), target=ANSWER)
        for number in range(options.batch_size * steps)
    ]
    rendered = render_all(pairs, chat, limit=2048)
    with tempfile.TemporaryDirectory() as folder:
        trainer = ours.Trainer(
            model=adapted(base, options),
            examples=rendered.examples,
            validation=(),
            padding=chat.padding,
            options=options,
            checkpoints=CheckpointFile(path=Path(folder) / "checkpoint", belongs_to={}),
            tell=lambda _progress, _line: None,
            stopped=lambda: False,
        )
        progress = trainer.run()
        mine = progress.tokens / progress.seconds
        return mine, theirs(base, rendered, options=options, folder=folder)


def adapted(base: str, options: TrainingOptions) -> Any:  # noqa: ANN401  of two libraries
    """Return the base with a new adapter."""
    model = find_base(base).load(device=find_device("auto"))
    return attach(model, rank=options.rank, alpha=options.alpha, dropout=options.dropout)


def theirs(base: str, rendered: RenderedPairs, *, options: TrainingOptions, folder: str) -> float:
    """Return the tokens per second of transformers' Trainer."""
    tokenizer = find_base(base).tokenizer()
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    arguments = TrainingArguments(
        output_dir=folder,
        per_device_train_batch_size=options.micro_batch_size,
        gradient_accumulation_steps=options.batch_size // options.micro_batch_size,
        max_steps=options.max_steps or -1,
        learning_rate=options.learning_rate,
        weight_decay=options.weight_decay,
        save_strategy="no",
        report_to=[],
        disable_tqdm=True,
        bf16=torch.cuda.is_available(),
    )
    trainer = Trainer(
        model=adapted(base, options),
        args=arguments,
        train_dataset=[
            {"input_ids": list(example.ids), "labels": list(example.labels)}
            for example in rendered.examples
        ],
        data_collator=DataCollatorForSeq2Seq(tokenizer),
    )
    began = time.perf_counter()
    trainer.train()
    return sum(len(example.ids) for example in rendered.examples) / (time.perf_counter() - began)


def main() -> None:
    """Measure, and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--base", default="embedded")
    parser.add_argument("--prompts", type=int, default=16)
    parser.add_argument("--tokens", type=int, default=48)
    parser.add_argument("--steps", type=int, default=4)
    options = parser.parse_args()

    async def write() -> tuple[float, float]:
        return await written_together(options.base, prompts=options.prompts, tokens=options.tokens)

    if options.prompts:
        together, alone = anyio.run(write)
        print(f"writing: {together:.1f} tokens/s, one by one {alone:.1f}: x{together / alone:.2f}")
        sys.stdout.flush()
    if options.steps:
        mine, other = learnt(options.base, steps=options.steps)
        print(f"learning: {mine:.0f} tokens/s, a bare Trainer {other:.0f}: x{mine / other:.2f}")


if __name__ == "__main__":
    main()
