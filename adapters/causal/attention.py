"""xformers' memory-efficient attention [1], as an attention function of transformers.

Besides the calls of `Kernel` nothing of xformers is used, so that anything that computes the same
can stand in for it.

References
----------
.. [1] Rabe, Staats (2021), Self-attention does not need O(n^2) memory, arXiv:2112.05682
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import sdpa_mask

from spanjury.adapters.torch_models import find_device
from spanjury.judges.core import ConfigError
from spanjury.judges.core.lazy import library

XFORMERS = "xformers"
"""The name under which transformers knows it once it is registered."""

_ALIGNED = 8  # a bias must begin every row at a multiple of this many elements


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """The functions of xformers that are used.

    `attend` is ``memory_efficient_attention(query, key, value, attn_bias, p, scale=)``: it takes
    tensors ``(batch, length, heads, size)``, a bias ``(batch, heads, queries, keys)`` that is
    added, or a causal one, or None, and the share that is dropped; it returns the shape of the
    query. `causal` is ``LowerTriangularMask()``.
    """

    attend: Callable[..., torch.Tensor]
    causal: Callable[[], object]


def best_attention(device: torch.device) -> str:
    """Register and name xformers' attention where a GPU has a kernel of it, else PyTorch's own."""
    kernel = kernel_for(device) if device.type == "cuda" else None
    if kernel is None:
        return "sdpa"
    register(kernel)
    return XFORMERS


def attention_here() -> tuple[str, str]:
    """Return who computes the attention of local models, and the type of their device."""
    device = find_device("auto")
    return best_attention(device), device.type


def kernel_for(device: torch.device) -> Kernel | None:
    """Return the functions of xformers if they attend on `device`, and can be trained through.

    xformers may be absent, be built for another PyTorch, or know no kernel for this GPU.
    """
    try:
        operations = library("xformers.ops", extra="gpu")
    except ConfigError:
        return None
    kernel = Kernel(
        attend=operations.memory_efficient_attention, causal=operations.LowerTriangularMask
    )
    query = torch.zeros(1, 8, 1, 64, device=device, dtype=torch.bfloat16, requires_grad=True)
    try:
        kernel.attend(query, query, query, kernel.causal(), 0.0).sum().backward()  # type: ignore[no-untyped-call]  # not annotated
    except NotImplementedError:
        return None
    return kernel


def register(kernel: Kernel, *, name: str = XFORMERS) -> None:
    """Make transformers know a kernel by a name, for ``attn_implementation``."""
    AttentionInterface.register(name, partial(_forward, kernel))
    # Either where to look, or None where the causal mask says it all.
    AttentionMaskInterface.register(name, sdpa_mask)


def _forward(  # noqa: PLR0917  transformers calls it so
    kernel: Kernel,
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    **_: object,
) -> tuple[torch.Tensor, None]:
    """Attend; ``(batch, heads, length, size)`` -> ``(batch, length, heads, size)``."""
    shared = query.shape[1] // key.shape[1]
    if shared > 1:  # grouped-query heads
        key = key.repeat_interleave(shared, dim=1)
        value = value.repeat_interleave(shared, dim=1)
    bias: object = None
    if attention_mask is not None:
        bias = _bias(attention_mask, like=query)
    elif query.shape[2] > 1 and getattr(module, "is_causal", True):
        bias = kernel.causal()
    attended = kernel.attend(
        query.transpose(1, 2),
        key.transpose(1, 2),
        value.transpose(1, 2),
        bias,
        dropout if module.training else 0.0,
        scale=scaling,
    )
    return attended, None


def _bias(mask: torch.Tensor, *, like: torch.Tensor) -> torch.Tensor:
    """Return what to add: 0 where the mask is true, the least float elsewhere."""
    batch, _, queries, keys = mask.shape
    if mask.dtype != torch.bool:
        mask = mask >= 0
    room = -(-keys // _ALIGNED) * _ALIGNED
    bias = torch.zeros(batch, 1, queries, room, dtype=like.dtype, device=like.device)
    # Not minus infinity: a row of padding sees nothing, and would become NaN.
    bias[..., :keys].masked_fill_(~mask, torch.finfo(like.dtype).min)
    return bias[..., :keys].expand(batch, like.shape[1], queries, keys)
