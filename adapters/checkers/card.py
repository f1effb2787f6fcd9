"""The card of a checker: its head, classes, length and files, as its folder describes them.

Only ``config.json``, ``tokenizer_config.json`` and the head of the weights are read. Nothing is
loaded that could run code: no pickle, and no program that a configuration names.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from spanjury.adapters.checkers.local_models import model_at
from spanjury.adapters.model_files import OFFSET_POSITIONS, model_digest
from spanjury.judges.core import ConfigError

Form = Literal["pair", "joined", "template"]
"""Form of a pair: two texts, one text with the tokenizer's end mark between passage and claim, or
the words of a template."""

Head = Literal["sequence", "token"]
"""Object that a model classifies: a pair or a token."""

Json: TypeAlias = Mapping[str, object]

CONFIG, TOKENIZER, TOKENIZER_CONFIG = "config.json", "tokenizer.json", "tokenizer_config.json"
MARKS = "special_tokens_map.json"  # older tokenizers name their marks there
WEIGHTS, SHARDS = "model.safetensors", "model.safetensors.index.json"
_GRAPHS = ("model.onnx", "onnx/model.onnx")
_WORD_FILES = ("spm.model", "spiece.model", "sentencepiece.bpe.model", "vocab.txt", "vocab.json")
_PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt")
_DIGESTED = {".json", ".txt", ".model", ".safetensors", ".onnx", ".onnx_data"}
_HEADS: Mapping[str, Head] = {
    "ForSequenceClassification": "sequence",
    "ForTokenClassification": "token",
}
_TWO, _THREE = 2, 3  # classes: supported or not, or the three of NLI
_LONGEST = 4096  # tokens that are read at once where a model has room for more
_USUAL = 512  # where neither the model nor its tokenizer says
_SANE = 1 << 20  # tokenizers without a limit write a number of thirty digits
_LARGEST_HEADER = 1 << 26

_SUPPORTED = frozenset(
    {
        *("supported", "support", "supports", "entailment", "entailed", "entails", "entail"),
        *("consistent", "factual", "faithful", "grounded"),
    }
)
_CONTRADICTED = frozenset(
    {
        *("contradiction", "contradicted", "contradicts", "contradictory", "contradict"),
        *("refuted", "refutes"),
    }
)
_UNSUPPORTED = frozenset(
    {
        *("unsupported", "not_supported", "hallucination", "hallucinated", "hallucinatory"),
        *("inconsistent", "unfaithful", "ungrounded", "not_entailment", "non_entailment"),
        *("not_grounded", "not_consistent", "fabricated", "neutral"),
    }
)
_GENERIC = re.compile(r"label_\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckerCard:
    """A checker's folder, as it describes itself.

    Parameters
    ----------
    identity
        The repository and commit of a folder in the hub's cache, or else the folder's last name;
        and digits that change with its files.
    graph
        The ONNX file that is run; None where torch is to run the weights.
    supported, contradicted
        Numbers of the classes; None where no class means that.
    longest
        The most tokens at once, marks included.
    is_relative
        Whether it counts positions relatively, so that it can read more.
    mark
        The tokenizer's end mark, which joins passage and claim in the form ``"joined"``.
    padding
        The token that fills a batch up; never read.
    """

    folder: Path
    identity: str
    head: Head
    graph: Path | None
    labels: tuple[str, ...]
    supported: int
    contradicted: int | None
    longest: int
    is_relative: bool
    mark: str
    padding: int


def read_card(folder: Path, *, supported: int | str = "") -> CheckerCard:
    """Read what `folder` says of its checker.

    `supported` is the name or the number of the class that means *supported*, for a model whose
    configuration does not tell.

    Raises
    ------
    ConfigError
        If the folder holds no checker that can be run safely, or its classes are unclear.
    """
    config = _read_json(folder / CONFIG)
    if "auto_map" in config:
        raise ConfigError(
            f"{folder / CONFIG} names code of the model's author (auto_map), which never runs here"
        )
    head = _head(folder, config)
    tokenizer = _read_json(folder / TOKENIZER_CONFIG) if _has(folder, TOKENIZER_CONFIG) else {}
    marks = _read_json(folder / MARKS) if _has(folder, MARKS) else {}
    graph = next((folder / name for name in _GRAPHS if _has(folder, name)), None)
    _check_tokenizer(folder, needs_whole=graph is not None)
    if graph is None:
        _check_weights(folder)
    labels = _labels(config)
    numbers = _classes(folder, labels, head=head, supported=supported)
    digest = model_digest(folder, suffixes=_DIGESTED)
    if graph is not None and graph.parent != folder:
        digest += model_digest(graph.parent, suffixes=_DIGESTED)
    return CheckerCard(
        folder=folder,
        identity=f"{model_at(folder).identity}@{digest}",
        head=head,
        graph=graph,
        labels=labels,
        supported=numbers[0],
        contradicted=numbers[1],
        longest=_longest(config, tokenizer),
        is_relative=config.get("position_biased_input") is False,
        mark=_mark({**marks, **tokenizer}),
        padding=_number(config.get("pad_token_id"), 0),
    )


def _head(folder: Path, config: Json) -> Head:
    architectures = config.get("architectures")
    name = str(architectures[0]) if isinstance(architectures, list) and architectures else "none"
    for ending, head in _HEADS.items():
        if name.endswith(ending):
            return head
    raise ConfigError(
        f"{folder / CONFIG}: a checker classifies pairs (…ForSequenceClassification) or tokens "
        f"(…ForTokenClassification), and the architecture here is {name}"
    )


def _check_tokenizer(folder: Path, *, needs_whole: bool) -> None:
    """Refuse a folder without a tokenizer; onnxruntime's is ``tokenizer.json``."""
    if _has(folder, TOKENIZER):
        return
    if needs_whole or not any(_has(folder, name) for name in _WORD_FILES):
        raise ConfigError(f"{folder} has no tokenizer: {TOKENIZER} is missing")


def _check_weights(folder: Path) -> None:
    """Refuse weights that are a pickle, or lack the head that classifies."""
    if _has(folder, SHARDS):
        weight_map = _read_json(folder / SHARDS).get("weight_map")
        names = set(weight_map) if isinstance(weight_map, dict) else set()
    elif _has(folder, WEIGHTS):
        names = set(_header(folder / WEIGHTS))
    elif pickles := sorted(file.name for kind in _PICKLES for file in folder.glob(kind)):
        raise ConfigError(
            f"{folder} holds its weights as a pickle ({pickles[0]}), which can run code when it is "
            f"loaded: convert them to {WEIGHTS}"
        )
    else:
        raise ConfigError(f"{folder} has no weights: neither {WEIGHTS} nor {_GRAPHS[0]} is there")
    if not any(name.startswith("classifier.") for name in names):
        raise ConfigError(
            f"{folder} holds an encoder without the head that classifies: its weights have no "
            "'classifier'"
        )


def _header(file: Path) -> Json:
    """Return the names and shapes at the beginning of a file of safetensors."""
    try:
        with file.open("rb") as stream:
            length = int.from_bytes(stream.read(8), "little")
            return _json_object(stream.read(min(length, _LARGEST_HEADER)), file)
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error}") from error


def _labels(config: Json) -> tuple[str, ...]:
    """Return the names of the classes by number; transformers writes none for two without names."""
    names = config.get("id2label")
    if not isinstance(names, dict):
        count = _number(config.get("num_labels"), 2)
        return tuple(f"LABEL_{number}" for number in range(count))
    return tuple(str(names[key]) for key in sorted(names, key=_as_number))


def _classes(
    folder: Path, labels: tuple[str, ...], *, head: Head, supported: int | str
) -> tuple[int, int | None]:
    """Return the numbers of the classes *supported* and *contradicted*."""
    folded = [re.sub(r"[^a-z0-9]+", "_", label.lower()).strip("_") for label in labels]
    listed = ", ".join(f"{number} {label}" for number, label in enumerate(labels))
    most, allowed = (_TWO, "2") if head == "token" else (_THREE, "2 or 3")
    if not _TWO <= len(labels) <= most:
        raise ConfigError(f"{folder / CONFIG}: expected {allowed} classes, got {listed or 'none'}")
    against = [number for number, name in enumerate(folded) if name in _CONTRADICTED]
    contradicted = against[0] if len(labels) == _THREE and len(against) == 1 else None
    if supported != "":
        return _named(folder, labels, supported=supported, listed=listed), contradicted
    agreeing = [number for number, name in enumerate(folded) if name in _SUPPORTED]
    if len(agreeing) == 1 and (len(labels) == _TWO or contradicted is not None):
        return agreeing[0], contradicted
    if head == "token":
        wrong = [number for number, name in enumerate(folded) if name in _UNSUPPORTED]
        if all(map(_GENERIC.fullmatch, folded)):
            wrong = [1]  # as in all checkers of LettuceDetect, which name no class
        if len(wrong) == 1:
            return 1 - wrong[0], None
    raise ConfigError(
        f"{folder / CONFIG} does not tell which class means 'supported' ({listed}): name it by "
        "supported=NUMBER"
    )


def _named(folder: Path, labels: tuple[str, ...], *, supported: int | str, listed: str) -> int:
    if isinstance(supported, int) and 0 <= supported < len(labels):
        return supported
    if isinstance(supported, str) and labels.count(supported) == 1:
        return labels.index(supported)
    raise ConfigError(f"supported={supported!r} is no class of {folder / CONFIG}: {listed}")


def _longest(config: Json, tokenizer: Json) -> int:
    positions = _number(config.get("max_position_embeddings"), 0)
    if config.get("model_type") in OFFSET_POSITIONS:
        positions -= _number(config.get("pad_token_id"), 0) + 1
    limits = (positions, _number(tokenizer.get("model_max_length"), 0))
    return min(_LONGEST, min((limit for limit in limits if 0 < limit < _SANE), default=_USUAL))


def _mark(tokenizer: Json) -> str:
    """Return the end mark; in older files it is an object with more to say of it."""
    for name in ("eos_token", "sep_token"):
        token = tokenizer.get(name)
        text = token.get("content") if isinstance(token, dict) else token
        if isinstance(text, str) and text:
            return text
    return ""


def _has(folder: Path, name: str) -> bool:
    return (folder / name).is_file()


def _number(value: object, default: int) -> int:
    return int(value) if isinstance(value, int | float) else default


def _as_number(key: str) -> int:
    return int(key) if key.isdecimal() else _SANE


def _read_json(file: Path) -> Json:
    try:
        return _json_object(file.read_bytes(), file)
    except FileNotFoundError as error:
        raise ConfigError(f"{file.parent} holds no checker: {file.name} is missing") from error
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error}") from error


def _json_object(text: bytes, file: Path) -> Json:
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{file} is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise ConfigError(f"{file} is not an object of JSON")
    return value
