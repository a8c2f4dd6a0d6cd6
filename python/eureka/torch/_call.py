"""One call of attention, whoever made it: queries, keys, values, and which keys are seen."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

#: A mask that is added hides a key where it is below this.
HIDDEN = -1e4


@dataclass(frozen=True)
class Call:
    """What ``scaled_dot_product_attention`` is given, with the scale made plain."""

    q: Tensor
    k: Tensor
    v: Tensor
    mask: Tensor | None
    dropout: float
    causal: bool
    scale: float
    grouped: bool

    @property
    def multiple(self) -> float:
        """The scale in units of 1/sqrt(head width)."""
        return self.scale * math.sqrt(self.q.shape[-1])

    def ungrouped(self) -> Call:
        """With a head of keys and values for each of queries."""
        if not self.grouped or self.k.shape[-3] == self.q.shape[-3]:
            return self
        k = self.k.repeat_interleave(self.q.shape[-3] // self.k.shape[-3], -3)
        v = self.v.repeat_interleave(self.q.shape[-3] // self.v.shape[-3], -3)
        return Call(self.q, k, v, self.mask, self.dropout, self.causal, self.scale, False)

    def visible(self) -> Tensor | None:
        """True where a key is seen, to be broadcast over the logits; None where all are."""
        seen: Tensor | None = None
        if self.causal:
            queries, keys = self.q.shape[-2], self.k.shape[-2]
            seen = torch.ones(queries, keys, dtype=torch.bool, device=self.q.device).tril()
        if self.mask is not None:
            of_mask = self.mask if self.mask.dtype == torch.bool else self.mask > HIDDEN
            seen = of_mask if seen is None else seen & of_mask
        return seen

    def bias(self) -> Tensor | None:
        """What is added to the scaled logits."""
        return None if self.mask is None or self.mask.dtype == torch.bool else self.mask


def call_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
    """Reads the arguments of ``scaled_dot_product_attention``."""
    names = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal", "scale", "enable_gqa")
    given = {**dict(zip(names, args)), **kwargs}
    q = given["query"]
    scale = given.get("scale")
    return Call(
        q=q,
        k=given["key"],
        v=given["value"],
        mask=given.get("attn_mask"),
        dropout=float(given.get("dropout_p") or 0.0),
        causal=bool(given.get("is_causal", False)),
        scale=1 / math.sqrt(q.shape[-1]) if scale is None else float(scale),
        grouped=bool(given.get("enable_gqa", False)),
    )


def masked_softmax(z: Tensor, visible: Tensor | None) -> Tensor:
    """Softmax over the visible keys; a row that sees none has weights 0, and so have its gradients."""
    if visible is None:
        return torch.softmax(z, -1)
    weights = torch.softmax(z.masked_fill(~visible, torch.finfo(z.dtype).min), -1)
    return weights.masked_fill(~visible, 0.0)


def count(z: Tensor, visible: Tensor | None) -> Tensor:
    """How many keys each query sees, at least 1."""
    if visible is None:
        return torch.full_like(z[..., :1], z.shape[-1])
    return visible.sum(-1, keepdim=True).clamp(min=1).to(z.dtype)


def explicit_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
) -> Tensor:
    """Plain attention with the matrix of weights made, where PyTorch has no function for it."""
    call = call_of((query, key, value, attn_mask, dropout_p, is_causal, scale), {})
    z = (call.q @ call.k.transpose(-1, -2)) * call.scale
    bias = call.bias()
    weights = masked_softmax(z if bias is None else z + bias, call.visible())
    return (F.dropout(weights, dropout_p) if dropout_p > 0 else weights) @ call.v
