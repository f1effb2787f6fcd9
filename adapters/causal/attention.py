"""xformers' memory-efficient attention [1], as an attention function of transformers.

Only ``memory_efficient_attention`` and ``LowerTriangularMask`` of its operations are used, so any
module with the same functions can replace them.

References
----------
.. [1] Rabe, Staats (2021), Self-attention does not need O(n^2) memory, arXiv:2112.05682
"""

from functools import partial
from types import ModuleType
from typing import Any

import torch
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import sdpa_mask

from spanjury.adapters.torch_models import find_device
from spanjury.judges.core import ConfigError
from spanjury.judges.core.lazy import library

XFORMERS = "xformers"
"""The name under which `register` makes it known to transformers."""

_ALIGNED = 8  # a bias must begin every row at a multiple of this many elements


def best_attention(device: torch.device) -> str:
    """Register and name xformers' attention on a GPU that it supports, else name PyTorch's own."""
    operations = operations_for(device) if device.type == "cuda" else None
    if operations is None:
        return "sdpa"
    register(operations)
    return XFORMERS


def attention_here() -> tuple[str, str]:
    """Return the name of the attention that local models use here, and the type of their device."""
    device = find_device("auto")
    return best_attention(device), device.type


def operations_for(device: torch.device) -> ModuleType | None:
    """Return xformers' operations if they run on `device`, forward and backward, else None.

    xformers may be absent, built for another PyTorch, or lack a kernel for this GPU.
    """
    try:
        operations = library("xformers.ops", extra="gpu")
    except ConfigError:
        return None
    query = torch.zeros(1, 8, 1, 64, device=device, dtype=torch.bfloat16, requires_grad=True)
    mask = operations.LowerTriangularMask()
    try:
        operations.memory_efficient_attention(query, query, query, mask, 0.0).sum().backward()
    except NotImplementedError:
        return None
    return operations


def register(operations: Any, *, name: str = XFORMERS) -> None:  # noqa: ANN401  a module
    """Register operations with transformers under a name, for ``attn_implementation``."""
    AttentionInterface.register(name, partial(_forward, operations))
    # `sdpa_mask` gives a boolean mask, or None if a causal mask says the same.
    AttentionMaskInterface.register(name, sdpa_mask)


def _forward(  # noqa: PLR0917  transformers calls it so
    operations: Any,  # noqa: ANN401  a module
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    **_: object,
) -> tuple[torch.Tensor, None]:
    """Compute attention: ``(batch, heads, length, size)`` -> ``(batch, length, heads, size)``."""
    shared = query.shape[1] // key.shape[1]
    if shared > 1:  # grouped-query heads
        key = key.repeat_interleave(shared, dim=1)
        value = value.repeat_interleave(shared, dim=1)
    bias: object = None
    if attention_mask is not None:
        bias = _bias(attention_mask, like=query)
    elif query.shape[2] > 1 and getattr(module, "is_causal", True):
        bias = operations.LowerTriangularMask()
    attended: torch.Tensor = operations.memory_efficient_attention(
        query.transpose(1, 2),
        key.transpose(1, 2),
        value.transpose(1, 2),
        bias,
        dropout if module.training else 0.0,
        scale=scaling,
    )
    return attended, None


def _bias(mask: torch.Tensor, *, like: torch.Tensor) -> torch.Tensor:
    """Return the bias to add: 0 where the mask is true, the most negative float elsewhere."""
    batch, _, queries, keys = mask.shape
    if mask.dtype != torch.bool:
        mask = mask >= 0
    room = -(-keys // _ALIGNED) * _ALIGNED
    bias = torch.zeros(batch, 1, queries, room, dtype=like.dtype, device=like.device)
    # Not minus infinity: a padding row attends to nothing, and its softmax would be NaN.
    bias[..., :keys].masked_fill_(~mask, torch.finfo(like.dtype).min)
    return bias[..., :keys].expand(batch, like.shape[1], queries, keys)
