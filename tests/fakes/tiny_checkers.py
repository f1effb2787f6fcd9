"""Checkers of a few thousand random weights, of the classes and tokenizers that real ones have."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import torch
from safetensors.torch import load_file, save_file
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
    RobertaModel,
    RobertaTokenizer,
    T5Config,
    T5ForConditionalGeneration,
    T5ForTokenClassification,
    T5Tokenizer,
)

__all__ = ["NLI", "TEXTS", "AlignScore", "Hhem", "save_checker"]

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
    """Save a ``roberta``, ``deberta``, ``modernbert`` or ``bert``; the same one every time.

    ``t5`` writes its answer as MiniCheck's Flan-T5 does; ``hhem`` and ``alignscore`` are named as
    the weights of their authors are.
    """
    if kind in _WHOLE:
        return _WHOLE[kind](folder)
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
    model: PreTrainedModel = _drawn(lambda: model_class(config))
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _drawn(make: Callable[[], Any], *, factor: float = 6) -> Any:  # noqa: ANN401 - any model
    """Return a model with random weights; those of a new one are small, and make pairs alike."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(11)
        model = make().eval()
    for weight in model.parameters():
        weight.data.mul_(factor)
    return model


class Hhem(torch.nn.Module):
    """T5 with a head on tokens, under the names that HHEM-2.1-open gives its weights."""

    def __init__(self, config: T5Config) -> None:
        super().__init__()
        self.t5 = T5ForTokenClassification(config)

    @classmethod
    def with_weights(cls, folder: Path) -> Self:
        """Return the model that `save_checker` saved."""
        weights = load_file(folder / "model.safetensors")
        words = weights["t5.transformer.shared.weight"]
        model = cls(_t5_config(len(words), num_labels=2)).eval()
        model.load_state_dict({**weights, "t5.transformer.encoder.embed_tokens.weight": words})
        return model


class AlignScore(torch.nn.Module):
    """RoBERTa with three heads, under the names that AlignScore gives its weights."""

    def __init__(self, config: RobertaConfig) -> None:
        super().__init__()
        self.base_model = RobertaModel(config)
        self.bin_layer = torch.nn.Linear(config.hidden_size, 2)
        self.tri_layer = torch.nn.Linear(config.hidden_size, 3)
        self.reg_layer = torch.nn.Linear(config.hidden_size, 1)


def _t5_config(vocab_size: int, **options: Any) -> T5Config:  # noqa: ANN401 - of many types
    return T5Config(
        vocab_size=vocab_size,
        d_model=16,
        d_kv=8,
        d_ff=24,
        num_layers=2,
        num_heads=3,
        relative_attention_num_buckets=8,
        feed_forward_proj="gated-gelu",
        **options,
    )


def _save_writer(folder: Path) -> Path:
    tokenizer = _t5_tokenizer()
    config = _t5_config(len(tokenizer), tie_word_embeddings=False)
    model = _drawn(lambda: T5ForConditionalGeneration(config), factor=1)
    weights = {
        name: weight for name, weight in model.state_dict().items() if "embed_tokens" not in name
    }
    sample = tokenizer("predict: It rains.</s>It rains.", return_tensors="pt")
    with torch.inference_mode():
        start = torch.zeros((1, 1), dtype=torch.int64)
        states = model(**sample, decoder_input_ids=start, output_hidden_states=True)
    head = 0.1 * weights["lm_head.weight"]
    for label in "01":  # so that it writes one of them, as a trained checker does
        head[tokenizer(label)["input_ids"][0]] += states.decoder_hidden_states[-1][0, 0]
    described = {
        **config.to_dict(),
        "tie_word_embeddings": False,
        "architectures": ["T5ForConditionalGeneration"],
    }
    return _save(folder, tokenizer, {**weights, "lm_head.weight": head}, described)


def _save_hhem(folder: Path) -> Path:
    tokenizer = _t5_tokenizer()
    weights = _drawn(lambda: Hhem(_t5_config(len(tokenizer), num_labels=2)), factor=1).state_dict()
    weights["t5.classifier.weight"] *= 0.4
    del weights["t5.transformer.encoder.embed_tokens.weight"]  # the same as those it shares
    config = {
        "model_type": "HHEMv2Config",
        "architectures": ["HHEMv2ForSequenceClassification"],
        "auto_map": {"AutoModelForSequenceClassification": "modeling_hhem_v2.Model"},
    }
    return _save(folder, tokenizer, weights, config)


def _save_alignscore(folder: Path) -> Path:
    tokenizer, _, _, options = _roberta()
    make: Any = RobertaConfig
    config = make(
        **_SMALL,
        **options,
        vocab_size=len(tokenizer),
        max_position_embeddings=192,
        pad_token_id=tokenizer.pad_token_id,
        architectures=["RobertaForMaskedLM"],
    )
    weights = _drawn(lambda: AlignScore(config)).state_dict()
    weights["tri_layer.weight"] *= 0.2
    return _save(folder, tokenizer, weights, config.to_dict())


def _save(folder: Path, tokenizer: Any, weights: Any, config: Any) -> Path:  # noqa: ANN401 - as above
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save_pretrained(folder)
    save_file(weights, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return folder


def _t5_tokenizer() -> Any:  # noqa: ANN401 - a class of transformers
    trained = SentencePieceUnigramTokenizer()
    special = ["<pad>", "</s>", "<unk>"]
    texts = (*TEXTS, "0 1 predict: Premise Hypothesis")
    trained.train_from_iterator(texts, vocab_size=150, special_tokens=special, unk_token="<unk>")
    vocab = [tuple(entry) for entry in json.loads(trained.to_str())["model"]["vocab"]]
    return T5Tokenizer(vocab=[*vocab, ("▁0", -4.0), ("▁1", -4.0)], extra_ids=0)


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


_WHOLE = {"t5": _save_writer, "hhem": _save_hhem, "alignscore": _save_alignscore}
_MAKERS = {"bert": _bert, "deberta": _deberta, "modernbert": _modernbert, "roberta": _roberta}
