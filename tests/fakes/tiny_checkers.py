"""Checkers of a few thousand random weights, of the classes and tokenizers that real ones have."""

import json
from pathlib import Path
from typing import Any

import torch
from tokenizers import SentencePieceUnigramTokenizer, Tokenizer
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel
from tokenizers.processors import TemplateProcessing
from tokenizers.trainers import BpeTrainer
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    BertTokenizer,
    DebertaV2Config,
    DebertaV2ForSequenceClassification,
    DebertaV2Tokenizer,
    ModernBertConfig,
    ModernBertForTokenClassification,
    PreTrainedModel,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaForSequenceClassification,
    RobertaTokenizer,
)

__all__ = ["NLI", "TEXTS", "save_checker"]

TEXTS = (
    "The council said on Tuesday that the library will not close in May.",
    "It was built by Mary Evans in 1932 and holds 12,000 books; 40 people work there.",
    "A new roof costs two million euros. The town pays half of it.",
)
NLI = {0: "entailment", 1: "neutral", 2: "contradiction"}
_SMALL = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
}


def save_checker(
    kind: str, folder: Path, *, labels: dict[int, str] | None = None, positions: int = 192
) -> Path:
    """Save a ``roberta``, ``deberta``, ``modernbert`` or ``bert``; the same one every time."""
    tokenizer, model_class, config_class, options = _MAKERS[kind]()
    names = {} if labels is None else {"id2label": labels, "label2id": _reversed(labels)}
    config = config_class(
        **_SMALL,
        **options,
        vocab_size=len(tokenizer),
        max_position_embeddings=positions,
        pad_token_id=tokenizer.pad_token_id,
        **names,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(11)
        model: PreTrainedModel = model_class(config)
    for weight in model.parameters():
        weight.data.mul_(6)  # random weights are small, and make all pairs alike
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _reversed(labels: dict[int, str]) -> dict[str, int]:
    return {name: number for number, name in labels.items()}


def _roberta() -> tuple[Any, Any, Any, dict[str, Any]]:
    trained = Tokenizer(BPE())
    trained.pre_tokenizer = ByteLevel(add_prefix_space=False)
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    trainer = BpeTrainer(
        vocab_size=400, special_tokens=special, initial_alphabet=ByteLevel.alphabet()
    )
    trained.train_from_iterator(TEXTS, trainer)
    model: Any = trained.model
    state = json.loads(model.__getstate__())
    merges: Any = [tuple(pair) for pair in state["merges"]]
    tokenizer = RobertaTokenizer(vocab=state["vocab"], merges=merges)
    return tokenizer, RobertaForSequenceClassification, RobertaConfig, {"type_vocab_size": 1}


def _deberta() -> tuple[Any, Any, Any, dict[str, Any]]:
    trained = SentencePieceUnigramTokenizer()
    special = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]"]
    trained.train_from_iterator(TEXTS, vocab_size=150, special_tokens=special, unk_token="[UNK]")
    vocab = [tuple(entry) for entry in json.loads(trained.to_str())["model"]["vocab"]]
    tokenizer = DebertaV2Tokenizer(vocab=vocab, unk_id=3)
    options = {
        "type_vocab_size": 0,
        "relative_attention": True,
        "pos_att_type": ["c2p", "p2c"],
        "position_biased_input": False,
        "norm_rel_ebd": "layer_norm",
        "share_att_key": True,
        "position_buckets": 16,
        "pooler_hidden_size": 16,
    }
    return tokenizer, DebertaV2ForSequenceClassification, DebertaV2Config, options


def _modernbert() -> tuple[Any, Any, Any, dict[str, Any]]:
    trained = Tokenizer(BPE())
    trained.pre_tokenizer = ByteLevel(add_prefix_space=False)
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    trainer = BpeTrainer(
        vocab_size=400, special_tokens=special, initial_alphabet=ByteLevel.alphabet()
    )
    trained.train_from_iterator(TEXTS, trainer)
    trained.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    fast: Any = PreTrainedTokenizerFast
    tokenizer = fast(
        tokenizer_object=trained,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
    )
    options = {"bos_token_id": 2, "eos_token_id": 3, "cls_token_id": 2, "sep_token_id": 3}
    return tokenizer, ModernBertForTokenClassification, ModernBertConfig, options


def _bert() -> tuple[Any, Any, Any, dict[str, Any]]:
    letters = "abcdefghijklmnopqrstuvwxyz0123456789.,;'"
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters]
    pieces += [f"##{letter}" for letter in letters]
    pieces += ["the", "library", "council", "books", "will", "not", "close", "may"]
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    return BertTokenizer(vocab=vocabulary), BertForSequenceClassification, BertConfig, {}


_MAKERS = {"bert": _bert, "deberta": _deberta, "modernbert": _modernbert, "roberta": _roberta}
