"""Export of a checker to an ONNX graph, which onnxruntime runs without torch."""

import shutil
from pathlib import Path

import torch
from torch import nn

from spanjury.adapters.checkers.card import (
    CALIBRATION,
    CONFIG,
    GRAPH,
    MARKS,
    TOKENIZER,
    TOKENIZER_CONFIG,
    CheckerCard,
    read_checker_card,
)
from spanjury.adapters.checkers.folder import open_folder
from spanjury.adapters.checkers.onnx_model import LOGITS
from spanjury.adapters.checkers.torch_model import TorchModel, load_words
from spanjury.adapters.model_files import finished_files
from spanjury.adapters.reading.export import quantise, write_graph
from spanjury.adapters.torch_models import quietly
from spanjury.judges.core import ClaimPair, ClaimSupport, ConfigError

_COPIED = (CONFIG, TOKENIZER_CONFIG, MARKS, CALIBRATION)
_ALIKE = 1e-4
"""Largest allowed difference of probabilities between torch and a graph of 32-bit floats."""

_PAIRS = (
    ClaimPair("The ferry leaves at six. Dogs travel free.", "The ferry leaves at six."),
    ClaimPair("The ferry leaves at six. Dogs travel free.", "The ferry leaves at nine."),
    ClaimPair(
        "The mill was closed in May after a flood. Its owner, Ida Brandt, sold the two wheels to a"
        " museum in the next valley and kept the house, where her son now repairs clocks.",
        "Ida Brandt gave the house to a museum. Her son repairs clocks there.",
    ),
    ClaimPair("Rain is likely in the north.", "It will rain."),
)
"""Pairs on which an exported model is compared with the original."""


class _Logits(nn.Module):
    """A classifier that returns only its logits, as an exported graph must return tensors."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor,
        token_type_ids: torch.Tensor | None = None,
    ) -> torch.Tensor:
        types = {} if token_type_ids is None else {"token_type_ids": token_type_ids}
        logits: torch.Tensor = self.network(
            input_ids=input_ids, attention_mask=attention_mask, **types
        ).logits
        return logits


def export_onnx(folder: Path, target: Path, *, int8: bool = False) -> float:
    """Write the checker in `folder` to `target`, as ``model.onnx`` with its tokenizer and settings.

    Raises `ConfigError` if `folder` holds no checker with weights, if `target` already has a graph,
    if torch cannot export the model, or if the graph, before any rounding, gives other
    probabilities than torch; `StoreError` if writing fails.

    Parameters
    ----------
    target
        May be `folder`; the graph is then run instead of the weights.
    int8
        Whether weights are rounded to 8-bit integers, for a quarter of the size.

    Returns
    -------
    float
        Largest difference between the graph's and torch's probabilities on a few sample pairs.
    """
    card = read_checker_card(folder)
    if card.graph is not None or (target / GRAPH).exists():
        raise ConfigError(f"{card.graph or target / GRAPH} exists: the model is exported already")
    with finished_files(target, last=GRAPH) as aside:
        _write(card, aside)
        difference = _difference(folder, aside)
        if difference > _ALIKE:
            raise ConfigError(
                f"{folder} cannot be exported: the probabilities of the graph and of torch "
                f"differ by {difference:.2g}"
            )
        if int8:
            quantise(aside / GRAPH, aside / GRAPH)
            difference = _difference(folder, aside)
    return difference


def _write(card: CheckerCard, folder: Path) -> None:
    """Write the graph, the tokenizer and the configuration files into `folder`."""
    for name in _COPIED:
        if (card.folder / name).is_file():
            shutil.copyfile(card.folder / name, folder / name)
    load_words(card).save(str(folder / TOKENIZER))
    model = TorchModel(card, device="cpu")
    axes = {0: "windows"} if card.head == "sequence" else {0: "windows", 1: "pieces"}
    try:
        with quietly():
            write_graph(
                _Logits(model.network).eval(),
                folder / GRAPH,
                inputs=model.inputs,
                outputs={LOGITS: axes},
            )
    except (RuntimeError, ValueError, TypeError, NotImplementedError) as error:
        raise ConfigError(f"torch cannot export {card.folder}: {error}") from error


def _difference(folder: Path, exported: Path) -> float:
    """Return the largest difference between the probabilities of two checkers."""
    own = open_folder(folder=str(folder)).check(_PAIRS)
    other = open_folder(folder=str(exported)).check(_PAIRS)
    return max(
        abs(left - right)
        for before, after in zip(own, other, strict=True)
        for left, right in zip(_probabilities(before), _probabilities(after), strict=True)
    )


def _probabilities(answer: ClaimSupport) -> tuple[float, ...]:
    return answer.supported, *(word.supported for word in answer.words)
