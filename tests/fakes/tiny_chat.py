"""A model that converses: a random Llama of 0.8 million weights, and a tokenizer made for it."""

from collections.abc import Sequence
from pathlib import Path

import torch
from tokenizers import Tokenizer
from tokenizers.decoders import ByteLevel as ByteLevelDecoder
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel
from tokenizers.trainers import BpeTrainer
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from spanjury.adapters.training.job import TrainingPair
from spanjury.judges.core import Message

CONTEXT = 256
_MARKS = ["<|im_start|>", "<|im_end|>", "<|pad|>"]
_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n"
    "{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
_ANIMALS = ("cat", "dog", "cow", "fox", "hen", "owl", "pig", "ram")


def chat_tokenizer(*, template: str = _TEMPLATE, end: bool = True) -> PreTrainedTokenizerFast:
    """Return a byte-level tokenizer with a chat template and an end token."""
    texts = [text for pair in tiny_pairs() for text in (pair.messages[0].content, pair.target)]
    return _tokenizer(texts, size=400, words=True, template=template, end=end)


def _tokenizer(
    texts: Sequence[str], *, size: int, words: bool, template: str = _TEMPLATE, end: bool = True
) -> PreTrainedTokenizerFast:
    pieces = Tokenizer(BPE())
    pieces.pre_tokenizer = ByteLevel(add_prefix_space=False, use_regex=words)
    pieces.decoder = ByteLevelDecoder()
    pieces.train_from_iterator(
        texts,
        BpeTrainer(
            vocab_size=size,
            special_tokens=_MARKS,
            initial_alphabet=ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    tokenizer = PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]  # not annotated
        tokenizer_object=pieces, pad_token="<|pad|>", **({"eos_token": "<|im_end|>"} if end else {})
    )
    tokenizer.chat_template = template or None
    return tokenizer


def save_chat_model(folder: Path, *, seed: int = 7, template: str = _TEMPLATE) -> str:
    """Save the model in `folder`, the same one every time for a seed."""
    return _saved(chat_tokenizer(template=template), folder, layers=4, seed=seed)


def save_judge_base(folder: Path, texts: Sequence[str]) -> str:
    """Save a model of two layers in `folder` that learns to judge within seconds.

    Its tokenizer has long words for what is in `texts`.
    """
    return _saved(_tokenizer(texts, size=1200, words=False), folder, layers=2)


def _saved(tokenizer: PreTrainedTokenizerFast, folder: Path, *, layers: int, seed: int = 7) -> str:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = LlamaForCausalLM(
            LlamaConfig(
                vocab_size=len(tokenizer),
                hidden_size=128,
                intermediate_size=352,
                num_hidden_layers=layers,
                num_attention_heads=4,
                num_key_value_heads=2,
                max_position_embeddings=CONTEXT,
                tie_word_embeddings=False,
                eos_token_id=tokenizer.eos_token_id,
                pad_token_id=tokenizer.pad_token_id,
                bos_token_id=None,
            )
        )
    # Of weights as small as random ones usually are, little can be made by an adapter.
    for name, weight in model.named_parameters():
        if name in {"model.embed_tokens.weight", "lm_head.weight"}:
            weight.data.mul_(8)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


def tiny_pairs() -> list[TrainingPair]:
    """Return eight examples; each target follows from a word of its conversation."""
    return [
        TrainingPair(
            messages=(Message(role="user", content=f"Judge this text: the {animal} sat down."),),
            target=f"Location: the {animal}\nSeverity: {n % 5 + 1}\nOverall score: {n * 5}",
            sources=(f"the {animal} sat down.",),
        )
        for n, animal in enumerate(_ANIMALS)
    ]
