"""A base model small enough to be trained to judge within seconds, and a tokenizer made for it."""

from collections.abc import Sequence
from pathlib import Path

import torch
from tokenizers import Tokenizer
from tokenizers.decoders import ByteLevel as ByteLevelDecoder
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel
from tokenizers.trainers import BpeTrainer
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

_MARKS = ["<|im_start|>", "<|im_end|>", "<|pad|>"]
_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n"
    "{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
_PIECES = 1200
_CONTEXT = 256


def save_judge_base(folder: Path, texts: Sequence[str]) -> str:
    """Save a random model in `folder`; its tokenizer has long words for what is in `texts`."""
    pieces = Tokenizer(BPE())
    pieces.pre_tokenizer = ByteLevel(add_prefix_space=False, use_regex=False)
    pieces.decoder = ByteLevelDecoder()
    pieces.train_from_iterator(
        texts,
        BpeTrainer(
            vocab_size=_PIECES,
            special_tokens=_MARKS,
            initial_alphabet=ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    tokenizer = PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]  # not annotated
        tokenizer_object=pieces, pad_token="<|pad|>", eos_token="<|im_end|>"
    )
    tokenizer.chat_template = _TEMPLATE
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(7)
        model = LlamaForCausalLM(
            LlamaConfig(
                vocab_size=len(tokenizer),
                hidden_size=128,
                intermediate_size=352,
                num_hidden_layers=2,
                num_attention_heads=4,
                num_key_value_heads=2,
                max_position_embeddings=_CONTEXT,
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
