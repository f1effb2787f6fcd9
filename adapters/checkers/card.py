"""The card of a checker: its head, classes, maximum length and files, read from its folder.

Only ``config.json``, ``tokenizer_config.json`` and the header of the weights are read. Nothing
that could run code is loaded: no pickle, and no program that a configuration names.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

from spanjury.adapters.checkers.local_models import model_at
from spanjury.adapters.model_files import OFFSET_POSITIONS, model_digest
from spanjury.judges.core import Calibration, ConfigError

Form = Literal["pair", "joined", "template"]
"""Form of a pair: two texts; one text with the tokenizer's end token between passage and claim; or
the text of a template.
"""

Head = Literal[
    "sequence", "token", "writer", "hhem", "alignscore", "alignscore-bin", "alignscore-reg"
]
"""Part of the model that gives the answer: a classifier of pairs or of tokens, the first token that
an encoder-decoder writes, HHEM's classifier of the first token, or AlignScore's head for three
classes, for two, or for a number from 0 to 1.
"""

Json: TypeAlias = Mapping[str, object]

PASSAGE, CLAIM = "{passage}", "{claim}"
"""Placeholders of a template for the passage and the claim."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Arrangement of passage and claim in the text that the model reads.

    Parameters
    ----------
    template
        With ``{passage}`` and ``{claim}``, each once; for the form ``"template"``.
    lead
        Text before the passage in the form ``"joined"``.
    first
        The special token before a template; empty if there is none.
    """

    form: Form
    template: str = ""
    lead: str = ""
    first: str = ""


class HeadKind(NamedTuple):
    """The form of models with one kind of head.

    `layer` is the first part of the names of the head's weights, and `layout` the default, on which
    such models were trained. `labels` and `supported`, the index of that class, are their authors';
    empty and None if the files say them.
    """

    layer: str
    layout: Layout = Layout(form="pair")
    labels: tuple[str, ...] = ()
    supported: int | None = None


HEADS: Mapping[Head, HeadKind] = {
    "sequence": HeadKind("classifier"),
    "token": HeadKind("classifier"),
    "writer": HeadKind("decoder", Layout(form="joined", lead="predict: "), supported=1),
    # HHEM-2.1 was trained on this prompt, and its head reads the first token, the padding.
    "hhem": HeadKind(
        "t5.classifier",
        Layout(
            form="template",
            template=(
                "Determine if the hypothesis is true given the premise?\n\n"
                f"Premise: {PASSAGE}\n\nHypothesis: {CLAIM}"
            ),
            first="<pad>",
        ),
    ),
    "alignscore": HeadKind(
        "tri_layer", labels=("aligned", "not_aligned_1", "not_aligned_2"), supported=0
    ),
    "alignscore-bin": HeadKind("bin_layer", labels=("not_aligned", "aligned"), supported=1),
    "alignscore-reg": HeadKind("reg_layer", labels=("not_aligned", "aligned"), supported=1),
}

CONFIG, TOKENIZER, TOKENIZER_CONFIG = "config.json", "tokenizer.json", "tokenizer_config.json"
MARKS = "special_tokens_map.json"  # older tokenizers list their special tokens there
CALIBRATION = "spanjury.json"
"""File of the constants fitted to a checker by calibration; absent for models never calibrated."""

WEIGHTS, SHARDS = "model.safetensors", "model.safetensors.index.json"
GRAPH = "model.onnx"
_GRAPHS = (GRAPH, f"onnx/{GRAPH}")
_WORD_FILES = ("spm.model", "spiece.model", "sentencepiece.bpe.model", "vocab.txt", "vocab.json")
_PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt")
_DIGESTED = {".json", ".txt", ".model", ".safetensors", ".onnx", ".onnx_data"}
_HEADS: Mapping[str, Head] = {
    "ForSequenceClassification": "sequence",
    "ForTokenClassification": "token",
    "T5ForConditionalGeneration": "writer",
}
_ALIGNSCORE: Mapping[str, Head] = {
    "tri": "alignscore",
    "bin": "alignscore-bin",
    "reg": "alignscore-reg",
}
"""AlignScore's three heads, by its authors' names for them."""
_HHEM_LABELS = ("hallucinated", "consistent")
_HHEM = "hhemv2"  # prefix of the model type, in lower case
_ANSWERS = "0/1"  # what MiniCheck writes
_LONGEST_OF_WRITERS = 2048  # as MiniCheck's authors read; T5 counts positions relatively
_TWO, _THREE = 2, 3  # classes: supported or not, or the three of NLI
_LONGEST = 4096  # default cap on tokens per input, for models that allow more
_USUAL = 512  # assumed if neither the model nor its tokenizer names a length
_SANE = 1 << 20  # a tokenizer without a limit writes a number of thirty digits
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
    """A checker's properties, as read from its folder.

    Parameters
    ----------
    identity
        Repository and commit of a folder in the hub's cache, otherwise the folder's last name;
        then a digest of the files.
    graph
        The ONNX file to run; None if torch runs the weights.
    supported, contradicted
        Indices of the classes; None if no class has that meaning.
    longest
        Maximum number of tokens per input, special tokens included.
    is_relative
        Whether it counts positions relatively, so that longer inputs are possible.
    mark
        The tokenizer's end token, which joins passage and claim in the form ``"joined"``.
    padding
        Id of the token that pads batches; masked.
    calibration
        Constants fitted to it by calibration; None if there are none.
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
    calibration: Calibration | None = None


def read_checker_card(folder: Path, *, supported: int | str = "", answers: str = "") -> CheckerCard:
    """Read the card of the checker in `folder`.

    `supported` is the name or the index of the class that means *supported*, for a model whose
    configuration leaves it open. `answers` are the two words that an encoder-decoder writes, the
    one for *not supported* first; for AlignScore, it is the name of the head to use.

    Raises `ConfigError` if the folder holds no checker that can be run safely, or its classes are
    unclear.
    """
    config = _read_json(folder / CONFIG)
    graph = next((folder / name for name in _GRAPHS if _has(folder, name)), None)
    weights = _weight_names(folder) if graph is None else frozenset()
    head = _head(folder, config, weights)
    if answers and head == "alignscore":
        if answers not in _ALIGNSCORE:
            raise ConfigError(f"answers={answers}: AlignScore's heads are {', '.join(_ALIGNSCORE)}")
        head = _ALIGNSCORE[answers]
    elif answers and head != "writer":
        raise ConfigError(f"{folder} does not write answers: leave out answers={answers}")
    tokenizer, marks = _optional(folder, TOKENIZER_CONFIG), _optional(folder, MARKS)
    if graph is not None and head == "writer":
        raise ConfigError(f"{graph}: an encoder-decoder is run by torch; remove the graph")
    _check_tokenizer(folder, head, needs_whole=graph is not None or head == "hhem")
    layer = HEADS[head].layer
    if graph is None and not any(name.startswith(f"{layer}.") for name in weights):
        raise ConfigError(
            f"{folder} holds an encoder without the head of a checker: its weights have no "
            f"{layer!r}"
        )
    labels = _labels(folder, config, head=head, answers=answers)
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
        longest=_LONGEST_OF_WRITERS if head == "writer" else _longest(config, tokenizer),
        is_relative=head in {"writer", "hhem"} or config.get("position_biased_input") is False,
        mark=_mark({**marks, **tokenizer}),
        padding=_number(config.get("pad_token_id"), 0),
        calibration=_calibration(folder),
    )


def base_card(folder: Path, *, head: Head, labels: tuple[str, ...]) -> CheckerCard:
    """Return the card of a checker to be trained from the encoder in `folder`.

    Its classes are `labels`, the first of which means *supported*.

    Raises `ConfigError` if the folder has no configuration or no tokenizer, or the configuration
    names code.
    """
    config = _safe_config(folder)
    _check_tokenizer(folder, head, needs_whole=False)
    tokenizer = _optional(folder, TOKENIZER_CONFIG)
    return CheckerCard(
        folder=folder,
        identity=folder.resolve().name,
        head=head,
        graph=None,
        labels=labels,
        supported=0,
        contradicted=1 if len(labels) == _THREE else None,
        longest=_longest(config, tokenizer),
        is_relative=config.get("position_biased_input") is False,
        mark=_mark(tokenizer),
        padding=_number(config.get("pad_token_id"), 0),
    )


def class_names(folder: Path) -> tuple[str, ...]:
    """Return the class names of the model in `folder`.

    Raises `ConfigError` if its configuration is missing or names code.
    """
    return _labels(folder, _safe_config(folder), head="sequence", answers="")


def write_calibration(folder: Path, calibration: Calibration) -> None:
    """Write the constants fitted by calibration into the checker's folder."""
    text = json.dumps(asdict(calibration), indent=1)
    (folder / CALIBRATION).write_text(f"{text}\n", encoding="utf-8")


def _calibration(folder: Path) -> Calibration | None:
    if not _has(folder, CALIBRATION):
        return None
    values: dict[str, Any] = dict(_read_json(folder / CALIBRATION))
    try:
        return Calibration(**values)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{folder / CALIBRATION} does not fit: {error}") from error


def _safe_config(folder: Path) -> Json:
    """Read the configuration; raise `ConfigError` if it names code to run."""
    config = _read_json(folder / CONFIG)
    _check_code(folder, config)
    return config


def _check_code(folder: Path, config: Json) -> None:
    if "auto_map" in config:
        raise ConfigError(
            f"{folder / CONFIG} names code of the model's author (auto_map), which never runs here"
        )


def _head(folder: Path, config: Json, weights: frozenset[str]) -> Head:
    """Return the head of this model; raise `ConfigError` if it is of no supported kind."""
    if str(config.get("model_type")).lower().startswith(_HHEM):
        return "hhem"  # checked before auto_map, since HHEM's own code is not needed
    _check_code(folder, config)
    layers = tuple(f"{HEADS[head].layer}." for head in _ALIGNSCORE.values())
    if any(name.startswith(layers) for name in weights):
        return "alignscore"
    architectures = config.get("architectures")
    name = str(architectures[0]) if isinstance(architectures, list) and architectures else "none"
    for ending, head in _HEADS.items():
        if name.endswith(ending):
            return head
    if config.get("is_encoder_decoder") is True:
        raise ConfigError(
            f"{folder / CONFIG}: {name} is an encoder-decoder, and only those of T5 are checkers"
        )
    raise ConfigError(
        f"{folder / CONFIG}: a checker classifies pairs (…ForSequenceClassification) or tokens "
        f"(…ForTokenClassification) or writes its answer (T5ForConditionalGeneration), and the "
        f"architecture here is {name}"
    )


def _check_tokenizer(folder: Path, head: Head, *, needs_whole: bool) -> None:
    """Refuse a folder without a tokenizer; onnxruntime and HHEM need ``tokenizer.json``."""
    if _has(folder, TOKENIZER):
        return
    if needs_whole or not any(_has(folder, name) for name in _WORD_FILES):
        advice = "; copy that of google/flan-t5-base into it" if head == "hhem" else ""
        raise ConfigError(f"{folder} has no tokenizer: {TOKENIZER} is missing{advice}")


def _weight_names(folder: Path) -> frozenset[str]:
    """Return the names of the weights; refuse a folder that has none, or only pickles."""
    if _has(folder, SHARDS):
        weight_map = _read_json(folder / SHARDS).get("weight_map")
        return frozenset(weight_map) if isinstance(weight_map, dict) else frozenset()
    if _has(folder, WEIGHTS):
        return frozenset(_header(folder / WEIGHTS))
    if pickles := sorted(file.name for kind in _PICKLES for file in folder.glob(kind)):
        raise ConfigError(
            f"{folder} holds its weights as a pickle ({pickles[0]}), which can run code when it is "
            f"loaded: convert them to {WEIGHTS}"
        )
    raise ConfigError(f"{folder} has no weights: neither {WEIGHTS} nor {_GRAPHS[0]} is there")


def _header(file: Path) -> Json:
    """Return the JSON header of a safetensors file: names and shapes of its weights."""
    try:
        with file.open("rb") as stream:
            length = int.from_bytes(stream.read(8), "little")
            return _json_object(stream.read(min(length, _LARGEST_HEADER)), file)
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error}") from error


def _labels(folder: Path, config: Json, *, head: Head, answers: str) -> tuple[str, ...]:
    """Return the class names by index.

    transformers omits the names of two unnamed classes; those of some models stand in code only.
    """
    if head == "writer":
        words = tuple(word.strip() for word in (answers or _ANSWERS).split("/"))
        if len(words) != _TWO or "" in words or words[0] == words[1]:
            raise ConfigError(
                f"{folder}: answers are the word for 'not supported' and that for 'supported', as "
                f"in answers={_ANSWERS}, got {answers!r}"
            )
        return words
    if HEADS[head].labels:
        return HEADS[head].labels
    names = config.get("id2label")
    labels = (
        tuple(str(names[key]) for key in sorted(names, key=_as_number))
        if isinstance(names, dict)
        else tuple(f"LABEL_{number}" for number in range(_number(config.get("num_labels"), 2)))
    )
    is_named = not all(map(_GENERIC.fullmatch, map(str.lower, labels)))
    return labels if is_named or head != "hhem" else _HHEM_LABELS


def _classes(
    folder: Path, labels: tuple[str, ...], *, head: Head, supported: int | str
) -> tuple[int, int | None]:
    """Return the indices of the classes *supported* and *contradicted*."""
    folded = [re.sub(r"[^a-z0-9]+", "_", label.lower()).strip("_") for label in labels]
    listed = ", ".join(f"{number} {label}" for number, label in enumerate(labels))
    most, allowed = (_THREE, "2 or 3") if head in {"sequence", "alignscore"} else (_TWO, "2")
    if not _TWO <= len(labels) <= most:
        raise ConfigError(f"{folder / CONFIG}: expected {allowed} classes, got {listed or 'none'}")
    against = [number for number, name in enumerate(folded) if name in _CONTRADICTED]
    contradicted = against[0] if len(labels) == _THREE and len(against) == 1 else None
    if supported != "":
        named = _named(folder, labels, supported=supported, listed=listed)
        if named == contradicted:
            raise ConfigError(
                f"supported={supported!r} names the class of contradictions of"
                f" {folder / CONFIG}: {listed}"
            )
        return named, contradicted
    if (by_authors := HEADS[head].supported) is not None:
        return by_authors, None
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
    raise ConfigError(f"supported={supported!r} is not a class of {folder / CONFIG}: {listed}")


def _longest(config: Json, tokenizer: Json) -> int:
    positions = _number(config.get("max_position_embeddings"), 0)
    if config.get("model_type") in OFFSET_POSITIONS:
        positions -= _number(config.get("pad_token_id"), 0) + 1
    limits = (positions, _number(tokenizer.get("model_max_length"), 0))
    return min(_LONGEST, min((limit for limit in limits if 0 < limit < _SANE), default=_USUAL))


def _mark(tokenizer: Json) -> str:
    """Return the end token; in older files it is an object that holds the text."""
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


def _optional(folder: Path, name: str) -> Json:
    return _read_json(folder / name) if _has(folder, name) else {}


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
