"""A small Llama as an ONNX graph: a base in GGUF with low-rank matrices added to its weights.

Matrix products use 8-bit integers. The graph takes embeddings, so that it needs no copy of the
vocabulary, and a mask, so that sentences that share a source are read in one pass.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from spanjury.adapters.gguf_files import QuickReader

Floats = NDArray[np.float32]

EMBEDDINGS, POSITIONS, MASK, STATES = "embeddings", "positions", "mask", "states"
"""Tensors of the graph. It takes embeddings, ``(1, pieces, size)``, positions, ``(1, pieces)``, and
an additive attention mask, ``(1, 1, pieces, pieces)``; it returns states, ``(1, pieces, size)``.
"""

_OPSET, _IR = 17, 9
_MICROSOFT = "com.microsoft"
_LONGEST = 1024  # number of positions in the table of rotation angles
_BLOCK = 32  # weights that share one quantisation step
_MOST = 255
_TINY = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """Dimensions of a Llama, from the metadata of its GGUF."""

    layers: int
    size: int
    inner: int
    heads: int
    key_heads: int
    epsilon: float
    angle_base: float

    @property
    def head(self) -> int:
        """Dimension of one head."""
        return self.size // self.heads


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """A base model: its dimensions and its weights, ``(outputs, inputs)``, by GGUF's names."""

    shape: Shape
    weights: Mapping[str, Callable[[], Floats]]
    pieces: tuple[str, ...]
    merges: tuple[str, ...]


def read_base(file: Path) -> Base:
    """Read the GGUF of a Llama; its weights are dequantised only when called."""
    reader = QuickReader(file)

    def value(name: str) -> object:
        return reader.fields[name].contents()

    def number(name: str) -> float:
        return float(str(value(f"llama.{name}")))

    shape = Shape(
        layers=int(number("block_count")),
        size=int(number("embedding_length")),
        inner=int(number("feed_forward_length")),
        heads=int(number("attention.head_count")),
        key_heads=int(number("attention.head_count_kv")),
        epsilon=number("attention.layer_norm_rms_epsilon"),
        angle_base=number("rope.freq_base"),
    )
    weights = {tensor.name: _Unpacked(tensor, shape=shape) for tensor in reader.tensors}
    pieces, merges = value("tokenizer.ggml.tokens"), value("tokenizer.ggml.merges")
    assert isinstance(pieces, list)
    assert isinstance(merges, list)
    return Base(shape=shape, weights=weights, pieces=tuple(pieces), merges=tuple(merges))


@dataclass(frozen=True, slots=True)
class _Unpacked:
    tensor: gguf.ReaderTensor
    shape: Shape = field(kw_only=True)

    def __call__(self) -> Floats:
        plain: Floats = gguf.dequantize(self.tensor.data, self.tensor.tensor_type).astype(
            np.float32
        )
        for name, heads in (("attn_q", self.shape.heads), ("attn_k", self.shape.key_heads)):
            if f".{name}." in self.tensor.name:
                # GGUF interleaves the two halves of a head, as its rotation expects.
                pairs = plain.reshape(heads, self.shape.head // 2, 2, plain.shape[1])
                plain = pairs.swapaxes(1, 2).reshape(plain.shape)
        return plain


def decoder_graph(base: Base, added: Mapping[str, Floats]) -> onnx.ModelProto:
    """Return the graph of `base`, with `added` summed to the weights that it names."""
    shape = base.shape
    graph = _Graph(epsilon=shape.epsilon)
    graph.constant("angles/cos", np.cos(_angles(shape)))
    graph.constant("angles/sin", np.sin(_angles(shape)))

    def weight(name: str) -> Floats:
        plain = base.weights[f"{name}.weight"]()
        return plain + added[name] if name in added else plain

    states = EMBEDDINGS
    for layer in range(shape.layers):
        add = _Layer(graph=graph, shape=shape, room=f"blk.{layer}", weight=weight)
        states = add.to(states)
    graph.norm(states, weight("output_norm"), STATES)
    return graph.model(shape.size)


def _angles(shape: Shape) -> Floats:
    steps = shape.angle_base ** (-np.arange(0, shape.head, 2) / shape.head)
    return np.outer(np.arange(_LONGEST), steps).astype(np.float32)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layer:
    """Builder of one layer of a graph; `weight` returns a weight by its name in GGUF."""

    graph: "_Graph"
    shape: Shape
    room: str
    weight: Callable[[str], Floats]

    def to(self, states: str) -> str:
        """Append the layer to `states`; return the name of its output."""
        graph, shape = self.graph, self.shape
        keys = shape.key_heads * shape.head
        together = self._product(self._normed(states, "attn_norm"), "attn_q", "attn_k", "attn_v")
        q, k, v = graph.split(together, (shape.size, keys, keys), self._at("split"))
        seen = self._attention(graph.turned(q), graph.turned(k), v)
        states = graph.add(states, self._product(seen, "attn_output"), self._at("sum"))
        wide = self._product(self._normed(states, "ffn_norm"), "ffn_gate", "ffn_up")
        gate, up = graph.split(wide, (shape.inner, shape.inner), self._at("gate_up"))
        opened = graph.node("QuickGelu", [gate], self._at("opened"), domain=_MICROSOFT, alpha=1.0)
        inner = graph.node("Mul", [opened, up], self._at("inner"))
        return graph.add(states, self._product(inner, "ffn_down"), self._at("states"))

    def _at(self, name: str) -> str:
        return f"{self.room}/{name}"

    def _normed(self, states: str, name: str) -> str:
        return self.graph.norm(states, self.weight(f"{self.room}.{name}"), self._at(name))

    def _product(self, states: str, *names: str) -> str:
        """Add one product for several weights, concatenated."""
        weights = [self.weight(f"{self.room}.{name}") for name in names]
        return self.graph.product(states, np.concatenate(weights), self._at(names[0]))

    def _attention(self, q: str, k: str, v: str) -> str:
        """Add grouped-query attention, in which several heads share one key and value head."""
        graph, at, width = self.graph, self._at, self.shape.head
        heads = self.shape.key_heads
        shared = self.shape.heads // heads
        # (1, pieces, size) -> (heads, shared * pieces, width)
        grouped = graph.shaped(q, (1, -1, heads, shared, width), at("q"), order=(0, 2, 3, 1, 4))
        queries = graph.shaped(grouped, (heads, -1, width), at("queries"))
        keys = graph.shaped(k, (-1, heads, width), at("keys"), order=(1, 2, 0))
        values = graph.shaped(v, (-1, heads, width), at("values"), order=(1, 0, 2))
        raw = graph.node("MatMul", [queries, keys], at("raw"))
        scale = graph.constant("scale", np.array(width**-0.5, dtype=np.float32))
        scaled = graph.node("Mul", [raw, scale], at("scaled"))
        pieces = graph.node("Shape", [k], at("pieces"), start=1, end=2)
        room = [graph.numbers((heads, shared)), pieces, pieces]
        apart = graph.node("Reshape", [scaled, graph.joined(room, at("room"))], at("apart"))
        masked = graph.node("Add", [apart, MASK], at("masked"))
        shares = graph.node("Softmax", [masked], at("shares"), axis=-1)
        flat = graph.joined([graph.numbers((heads, -1)), pieces], at("flat"))
        seen = graph.node(
            "MatMul", [graph.node("Reshape", [shares, flat], at("flat_shares")), values], at("seen")
        )
        by_head = graph.shaped(seen, (heads, shared, -1, width), at("by_head"), order=(2, 0, 1, 3))
        return graph.shaped(by_head, (1, -1, self.shape.size), at("context"))


class _Graph:
    """An ONNX graph under construction."""

    def __init__(self, *, epsilon: float) -> None:
        self._epsilon = epsilon
        self._nodes: list[onnx.NodeProto] = []
        self._constants: dict[str, onnx.TensorProto] = {}

    def node(
        self,
        kind: str,
        inputs: list[str],
        name: str,
        *,
        domain: str = "",
        **attributes: Any,  # noqa: ANN401 - those of an operator
    ) -> str:
        """Add a node with one output; its name is that of the node, and is returned."""
        self._nodes.append(
            helper.make_node(kind, inputs, [name], name=name, domain=domain, **attributes)
        )
        return name

    def constant(self, name: str, value: NDArray[np.generic]) -> str:
        """Add a constant, once per name; return the name."""
        if name not in self._constants:
            self._constants[name] = numpy_helper.from_array(np.ascontiguousarray(value), name)
        return name

    def numbers(self, values: tuple[int, ...]) -> str:
        """Add a constant for a shape or an order of axes."""
        return self.constant(f"numbers{values}", np.array(values, dtype=np.int64))

    def add(self, left: str, other: str, name: str) -> str:
        """Add the sum of two tensors."""
        return self.node("Add", [left, other], name)

    def norm(self, states: str, weight: Floats, name: str) -> str:
        """Add a root-mean-square normalisation."""
        scale = self.constant(f"{name}/weight", weight)
        return self.node(
            "SimplifiedLayerNormalization", [states, scale], name, axis=-1, epsilon=self._epsilon
        )

    def split(self, states: str, sizes: tuple[int, ...], name: str) -> list[str]:
        """Split the last axis into parts of these sizes."""
        outputs = [f"{name}/{at}" for at in range(len(sizes))]
        inputs = [states, self.numbers(sizes)]
        self._nodes.append(helper.make_node("Split", inputs, outputs, name=name, axis=-1))
        return outputs

    def shaped(
        self, states: str, shape: tuple[int, ...], name: str, *, order: tuple[int, ...] = ()
    ) -> str:
        """Add a reshape, then optionally a transposition."""
        reshaped = self.node("Reshape", [states, self.numbers(shape)], f"{name}/shaped")
        return self.node("Transpose", [reshaped], name, perm=order) if order else reshaped

    def joined(self, shapes: list[str], name: str) -> str:
        """Concatenate several parts of a shape."""
        return self.node("Concat", shapes, name, axis=0)

    def turned(self, states: str) -> str:
        """Add the rotary position embedding."""
        inputs = [states, POSITIONS, "angles/cos", "angles/sin"]
        return self.node(
            "RotaryEmbedding", inputs, f"{states}/turned", domain=_MICROSOFT, interleaved=0
        )

    def product(self, states: str, weight: Floats, name: str) -> str:
        """Add a product with `weight`, ``(outputs, inputs)``, quantised to 8 bits.

        Every 32 weights, and every 32 activations, have their own step. This is because a few
        inputs of a decoder are far larger than all others, and because the texts read in the same
        pass must not change a sentence's rounding.
        """
        outputs, size = weight.shape
        blocks = weight.reshape(outputs, size // _BLOCK, _BLOCK)
        low = np.minimum(blocks.min(-1), 0.0)
        steps = np.maximum((blocks.max(-1) - low) / _MOST, _TINY).astype(np.float32)
        zeros = np.clip(np.round(-low / steps), 0, _MOST)
        whole = np.clip(np.round(blocks / steps[..., None]) + zeros[..., None], 0, _MOST)
        inputs = [
            states,
            self.constant(f"{name}/whole", whole.astype(np.uint8)),
            self.constant(f"{name}/steps", steps.reshape(-1)),
            self.constant(f"{name}/zeros", zeros.astype(np.uint8).reshape(-1)),
        ]
        form = {"K": size, "N": outputs, "bits": 8, "block_size": _BLOCK, "accuracy_level": 4}
        return self.node("MatMulNBits", inputs, name, domain=_MICROSOFT, **form)

    def model(self, size: int) -> onnx.ModelProto:
        """Return the finished ONNX model."""
        described = helper.make_tensor_value_info
        inputs = [
            described(EMBEDDINGS, TensorProto.FLOAT, (1, "pieces", size)),
            described(POSITIONS, TensorProto.INT64, (1, "pieces")),
            described(MASK, TensorProto.FLOAT, (1, 1, "pieces", "pieces")),
        ]
        output = described(STATES, TensorProto.FLOAT, (1, "pieces", size))
        graph = helper.make_graph(
            self._nodes, "decoder", inputs, [output], list(self._constants.values())
        )
        opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(_MICROSOFT, 1)]
        model: onnx.ModelProto = helper.make_model(graph, opset_imports=opsets)
        model.ir_version = _IR
        return model


def added_weights(matrices: Mapping[str, NDArray[np.generic]]) -> Iterator[tuple[str, Floats]]:
    """Yield each weight's low-rank update: the product of NAME.up and NAME.down."""
    for name in {key.rpartition(".")[0] for key in matrices if key.endswith(".up")}:
        up, down = (matrices[f"{name}.{part}"].astype(np.float32) for part in ("up", "down"))
        yield name, up @ down
