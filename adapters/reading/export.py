"""Export of a trained encoder as the folder that `onnx_reader` runs, at a quarter of its size.

The graph is also made slim: parts that a reader does not need are removed. A window is read
alone, so nothing is masked: each attention becomes one fused node, and the computation of the
mask is dropped. The last layer is computed only for the first pieces, `[CLS]` and the sentence,
because the outputs for the source are not used. Weights stay as they are, floats or integers.
"""

import logging
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import onnx
import onnxruntime.quantization
import torch
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerBase

from spanjury.adapters.reading.card import (
    FIRST_PIECES,
    INPUTS,
    MODEL,
    OUTPUTS,
    TOKENIZER,
    ReaderCard,
    file_digest,
    write_reader_card,
)
from spanjury.judges.core import VERSION, ConfigError

_OPSET = 17

_AXES = {OUTPUTS[0]: {0: "windows", 1: "pieces"}, OUTPUTS[1]: {0: "windows"}}

_SAMPLE = (2, 16)  # windows and pieces of the example inputs for tracing

_ALIKE = 1e-3  # largest difference of logits that rounding explains

_RUNTIME: Any = onnxruntime  # onnxruntime has no type annotations

_FUSED = "com.microsoft"  # onnxruntime's own operators

_START, _AXIS = "slim.start", "slim.axis"

_SHAPING = frozenset({"Reshape", "Transpose"})

_SCALING = frozenset({"Mul", "Div", "Transpose"})  # of queries and keys, before their product

_MASKING = frozenset({"Add", "Mul", "Div"})  # of the product, before the softmax

_UNMASKING = frozenset({"IsNaN", "Where"})  # after it, for rows that are masked completely

_PRODUCTS = ("MatMul", "MatMulInteger")

_PRODUCT_PARTS = frozenset({*_PRODUCTS, "DynamicQuantizeLinear", "Cast", "Mul", "Add"})

_NOTHING = frozenset[str]()


def export(
    model: torch.nn.Module,
    tokenizer: Tokenizer | PreTrainedTokenizerBase,
    folder: Path,
    *,
    max_length: int = 192,
    quantised: bool = True,
) -> ReaderCard:
    """Write `model` into `folder`, which is created, and return its card.

    Raises `ConfigError` if the tokenizer cannot be saved as ``tokenizer.json``.

    Parameters
    ----------
    model
        Takes ``input_ids``, ``attention_mask`` and ``token_type_ids`` by these names, and returns
        the logits of tokens, ``(windows, pieces, 3)``, and of sentences, ``(windows, 3)``, for the
        classes supported, contradicted, absent.
    tokenizer
        Must have ``[CLS]`` and ``[SEP]``; a transformers tokenizer must be a fast one.
    max_length
        Maximum number of pieces per window, as in training.
    quantised
        Whether weights are rounded to 8-bit integers: a quarter of the size, twice as fast.
    """
    folder.mkdir(parents=True, exist_ok=True)
    plain = _plain(tokenizer)
    plain.save(str(folder / TOKENIZER))
    with TemporaryDirectory() as scratch:
        exact = Path(scratch) / MODEL
        write_graph(model, exact)
        has_form = _has_known_form(onnx.load(exact), words=plain.get_vocab_size())
        if quantised:
            quantise(exact, folder / MODEL)
        else:
            (folder / MODEL).write_bytes(exact.read_bytes())
    if has_form:
        onnx.save(slim(onnx.load(folder / MODEL)), folder / MODEL)
    card = ReaderCard(
        name="reader",
        version=VERSION,
        files={file: file_digest(folder / file) for file in (MODEL, TOKENIZER)},
        max_length=max_length,
    )
    write_reader_card(folder, card)
    return card


def _plain(tokenizer: Tokenizer | PreTrainedTokenizerBase) -> Tokenizer:
    """Return a copy without truncation and padding; the original keeps its settings."""
    fast: object = getattr(tokenizer, "backend_tokenizer", tokenizer)
    if not isinstance(fast, Tokenizer):
        raise ConfigError(f"{type(tokenizer).__name__} is not a fast tokenizer")
    copy = Tokenizer.from_str(fast.to_str())
    copy.no_padding()
    copy.no_truncation()
    return copy


def write_graph(
    model: torch.nn.Module,
    file: Path,
    *,
    inputs: Sequence[str] = INPUTS,
    outputs: Mapping[str, Mapping[int, str]] = _AXES,
) -> None:
    """Write `model` as an ONNX graph in 32-bit floats.

    Parameters
    ----------
    inputs
        The names of those `INPUTS` that it takes.
    outputs
        Names of its outputs, in order, with the names of their variable axes.
    """
    ids = torch.ones(_SAMPLE, dtype=torch.int64)
    sample = {name: torch.zeros_like(ids) if name == INPUTS[-1] else ids for name in inputs}
    axes = {**dict.fromkeys(inputs, _AXES[OUTPUTS[0]]), **outputs}
    training = model.training
    write: Callable[..., object] = torch.onnx.export
    with warnings.catch_warnings():
        # It warns that it is the older exporter; the newer one needs another package.
        warnings.simplefilter("ignore")
        write(
            model.eval(),
            kwargs=sample,
            f=str(file),
            input_names=list(inputs),
            output_names=list(outputs),
            dynamic_axes=axes,
            opset_version=_OPSET,
            dynamo=False,
        )
    model.train(training)


def _has_known_form(model: onnx.ModelProto, *, words: int) -> bool:
    """Return whether `slim` works on the graph and gives the same logits."""
    ids = (np.arange(_SAMPLE[1]) % words)[None]
    tensors = dict(zip(INPUTS, (ids, np.ones_like(ids), np.zeros_like(ids)), strict=True))
    usual = _says(model, tensors)
    first = _SAMPLE[1] // 2
    try:
        faster = _says(slim(model), {**tensors, FIRST_PIECES: np.array([first])})
    except ValueError:
        return False
    return all(
        np.allclose(expected, other, atol=_ALIKE)
        for expected, other in zip((usual[0][:, :first], usual[1]), faster, strict=True)
    )


def _says(model: onnx.ModelProto, tensors: Mapping[str, NDArray[np.int64]]) -> list[Any]:
    session = _RUNTIME.InferenceSession(model.SerializeToString())
    taken = {tensor.name: tensors[tensor.name] for tensor in session.get_inputs()}
    logits: list[Any] = session.run(list(OUTPUTS), taken)
    return logits


def quantise(exact: Path, quantised: Path) -> None:
    """Quantise the weights of products and embeddings in a graph to integers.

    It uses 7 bits, since products of 8 bits overflow on processors without special instructions,
    where the same model would give other results. Each column has its own step: for
    all-MiniLM-L6-v2 the logits then deviate by 0.16 of their standard deviation, with one step per
    matrix by 0.59.
    """
    disabled = logging.root.manager.disable
    logging.disable(logging.WARNING)  # it recommends a preprocessing step that changes nothing here
    try:
        _RUNTIME.quantization.quantize_dynamic(
            exact,
            quantised,
            weight_type=_RUNTIME.quantization.QuantType.QInt8,
            per_channel=True,
            reduce_range=True,
        )
    finally:
        logging.disable(disabled)


def slim(model: ModelProto) -> ModelProto:
    """Return `model`, a BERT-like encoder, as a graph with the same outputs in less time.

    It takes one window at a time and no mask. `FIRST_PIECES` is the number of pieces for which it
    computes the logits of tokens.

    Raises
    ------
    ValueError
        If the graph has another form. This is not always detected, so compare their outputs.
    """
    slimmed = ModelProto()
    slimmed.CopyFrom(model)
    graph = _Graph(slimmed)
    attentions = [_attention(graph, node) for node in graph.graph.node if node.op_type == "Softmax"]
    if not attentions:
        raise ValueError("the graph has no attention")
    for attention in attentions:
        fused = helper.make_node(
            "MultiHeadAttention",
            [attention.queries, attention.keys, attention.values],
            [attention.old.output[0]],
            domain=_FUSED,
            num_heads=attention.heads,
        )
        graph.before(attention.old, fused)
        graph.graph.node.remove(attention.old)
    _keep_first_pieces(graph, attentions[-1])
    graph.drop_unused()
    slimmed.opset_import.append(helper.make_opsetid(_FUSED, 1))
    return slimmed


class _Attention(NamedTuple):
    """Tensors of one attention, ``(windows, pieces, width)``, and its last node."""

    queries: str
    keys: str
    values: str
    heads: int
    old: NodeProto


class _Graph:
    """A graph with its nodes in topological order, as ONNX requires."""

    def __init__(self, model: ModelProto) -> None:
        self.graph = model.graph
        self._arrays = {
            array.name: numpy_helper.to_array(array) for array in model.graph.initializer
        }

    def maker(self, tensor: str) -> NodeProto | None:
        return next((node for node in self.graph.node if tensor in node.output), None)

    def users(self, tensor: str) -> list[NodeProto]:
        return [node for node in self.graph.node if tensor in node.input]

    def above(self, tensor: str, *kinds: str, through: frozenset[str] = _NOTHING) -> NodeProto:
        """Return the nearest node of `kinds` above `tensor`, passing only nodes of `through`."""
        tensors = [tensor]
        while tensors:
            makers = [node for node in map(self.maker, tensors) if node]
            for node in makers:
                if node.op_type in kinds:
                    return node
            tensors = _flat(node.input for node in makers if node.op_type in through)
        raise ValueError(f"{tensor} is not made by {' or '.join(kinds)}")

    def below(self, tensor: str, *kinds: str, through: frozenset[str] = _NOTHING) -> NodeProto:
        """Return the nearest node of `kinds` below `tensor`, passing only nodes of `through`."""
        tensors = [tensor]
        while tensors:
            users = [node for name in tensors for node in self.users(name)]
            for node in users:
                if node.op_type in kinds:
                    return node
            tensors = _flat(node.output for node in users if node.op_type in through)
        raise ValueError(f"{tensor} is not used by {' or '.join(kinds)}")

    def array(self, tensor: str) -> NDArray[np.generic] | None:
        """Return the value of a constant; None if the tensor is computed."""
        node = self.maker(tensor)
        if node and node.op_type == "Constant":
            return numpy_helper.to_array(node.attribute[0].t)
        if node and node.op_type == "Identity":  # equal weights are stored once
            return self.array(node.input[0])
        return self._arrays.get(tensor)

    def before(self, node: NodeProto, new: NodeProto) -> None:
        self.graph.node.insert(list(self.graph.node).index(node), new)

    def drop_unused(self) -> None:
        """Remove nodes, constants and inputs that no output depends on."""
        needed = {tensor.name for tensor in self.graph.output}
        kept = []
        for node in reversed(self.graph.node):
            if not needed.isdisjoint(node.output):
                needed.update(node.input)
                kept.append(node)
        del self.graph.node[:], self.graph.value_info[:]
        self.graph.node.extend(reversed(kept))
        for tensors in (self.graph.input, self.graph.initializer):
            for tensor in [tensor for tensor in tensors if tensor.name not in needed]:
                tensors.remove(tensor)


def _flat(lists: Iterable[Iterable[str]]) -> list[str]:
    return list(chain.from_iterable(lists))


def _attention(graph: _Graph, softmax: NodeProto) -> _Attention:
    """Find the attention around a softmax, from the products before and after it."""
    scores = graph.above(softmax.input[0], "MatMul", through=_MASKING)
    mixture = graph.below(softmax.output[0], "MatMul", through=_UNMASKING)
    queries, keys, values = (
        graph.above(tensor, "Reshape", through=_SCALING)
        for tensor in (*scores.input, mixture.input[1])
    )
    end = mixture
    while followers := [node for node in graph.users(end.output[0]) if node.op_type in _SHAPING]:
        end = followers[0]
    return _Attention(
        queries=queries.input[0],
        keys=keys.input[0],
        values=values.input[0],
        heads=_width(graph, queries.input[0]) // _last(graph, queries.input[1]),
        old=end,
    )


def _width(graph: _Graph, tensor: str) -> int:
    """Return the width of a tensor, taken from the bias that is added to it."""
    adding = graph.above(tensor, "Add")
    biases = [array for array in map(graph.array, adding.input) if array is not None]
    if not biases:
        raise ValueError(f"{tensor} has no bias")
    return int(biases[0].size)


def _last(graph: _Graph, shape: str) -> int:
    """Return the last dimension of a shape whose others may be computed."""
    array = graph.array(shape)
    if array is not None:
        return int(array.flat[-1])
    return _last(graph, graph.above(shape, "Concat").input[-1])


def _keep_first_pieces(graph: _Graph, last: _Attention) -> None:
    """Reduce the queries of the last layer to the first pieces; keys and values stay complete."""
    product = graph.above(last.queries, *_PRODUCTS, through=_PRODUCT_PARTS)
    states = taken = product.input[0]
    rounding = graph.maker(taken)
    if rounding and rounding.op_type == "DynamicQuantizeLinear":
        states = rounding.input[0]
    norm = graph.below(last.old.output[0], "LayerNormalization", through=_PRODUCT_PARTS)
    adding = graph.above(norm.input[0], "Add")
    _take_first(graph, product, taken)
    _take_first(graph, adding, states)
    for name, number in ((_START, 0), (_AXIS, 1)):
        graph.graph.initializer.append(numpy_helper.from_array(np.array([number]), name))
    pieces = helper.make_tensor_value_info(FIRST_PIECES, TensorProto.INT64, [1])
    graph.graph.input.append(pieces)


def _take_first(graph: _Graph, node: NodeProto, tensor: str) -> None:
    """Replace the input `tensor` of `node` by its first pieces."""
    if tensor not in node.input:
        raise ValueError(f"{node.name} does not take {tensor}")
    first = f"{node.name}.first_pieces"
    inputs = [tensor, _START, FIRST_PIECES, _AXIS]
    graph.before(node, helper.make_node("Slice", inputs, [first]))
    node.input[list(node.input).index(tensor)] = first
