"""What was seen of one attention in one step, on the host in float32."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from .._look import look_numbers
from ._call import Call
from ._rules import Rule, Scale

#: Logits of one layer that are looked at, about: fewer samples where there are more. Keeps a look in the noise.
MOST_LOGITS = 4_000_000


def host(x: Tensor) -> NDArray[np.float32]:
    """A copy of its own, whatever becomes of the tensor."""
    copied: NDArray[np.float32] = x.detach().to(device="cpu", dtype=torch.float32, copy=True).contiguous().numpy()
    return copied


def four(x: Tensor, heads: int) -> Tensor:
    """Samples x heads x tokens x width of whatever stands for it; `heads` may be folded into the samples."""
    if x.dim() == 3:
        return x.reshape(-1, heads, *x.shape[1:])
    return x.reshape(-1, *x.shape[-3:]) if x.dim() > 4 else x


@dataclass
class Seen:
    """One attention layer in one step."""

    name: str
    rule: Rule
    q: NDArray[np.float32]
    k: NDArray[np.float32]
    v: NDArray[np.float32]
    mask: NDArray[Any] | None
    causal: bool
    scale: float
    d_out: NDArray[np.float32] | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def samples(self) -> int:
        """How many are looked at."""
        return int(self.q.shape[0])

    @property
    def heads(self) -> int:
        """Of queries."""
        return int(self.q.shape[1])

    @property
    def key_heads(self) -> int:
        """Of keys and values."""
        return int(self.k.shape[1])

    def expect_gradient(self, out: Tensor, heads: int) -> None:
        """The gradient of the output comes in the backward pass."""
        if not out.requires_grad:
            return

        def keep(gradient: Tensor) -> None:
            self.d_out = host(four(gradient, heads)[: self.samples])

        out.register_hook(keep)  # type: ignore[no-untyped-call]

    def numbers(self, layer: int, loss_scale: float) -> list[tuple[str, float]]:
        """What the diagnostics say, under their names in metrics.jsonl."""
        visible = bias = None
        if self.mask is not None:
            if self.mask.dtype == np.bool_:
                visible = self.mask.view(np.uint8)
            else:
                bias = self.mask
        d_out = self.d_out
        if d_out is not None and loss_scale != 1:
            d_out = d_out / np.float32(loss_scale)
        scale = self.scale * (float(self.rule.multiple) if isinstance(self.rule, Scale) else 1.0)
        numbers, _ = look_numbers(
            self.q,
            self.k,
            self.v,
            d_out,
            np.full(self.heads, scale, dtype=np.float32),
            self.causal,
            visible,
            bias,
            self.rule.name,
            self.rule.options(),
            layer,
            False,
        )
        return numbers


def few(samples: int, call: Call, heads: int) -> int:
    """How many samples are looked at, lest a long sequence cost more than the step."""
    logits = heads * call.q.shape[-2] * call.k.shape[-2]
    return max(1, min(samples, math.ceil(MOST_LOGITS / max(1, logits))))


def mask_of(mask: Tensor | None, samples: int, heads: int) -> NDArray[Any] | None:
    """Of the samples that are looked at, as it stands: what is one for all stays one."""
    if mask is None:
        return None
    while mask.dim() < 4:
        folded = mask.dim() == 3 and heads > 1 and mask.shape[0] % heads == 0 and mask.shape[0] > 1
        mask = (
            mask.reshape(-1, heads, *mask.shape[1:])
            if folded
            else mask.unsqueeze(0)
            if mask.dim() < 3
            else mask.unsqueeze(1)
        )
    if mask.dim() > 4:
        mask = mask.reshape(-1, *mask.shape[-3:])
    if mask.shape[0] > 1:
        mask = mask[:samples]
    if mask.dtype == torch.bool:
        flags: NDArray[Any] = mask.detach().cpu().numpy().copy()
        return flags
    return host(mask)


def seen_of(name: str, call: Call, rule: Rule, samples: int, heads: int) -> Seen:
    """Copies what is looked at of one call. `heads`: of queries, where they are folded into the samples."""
    prepared = four(call.q, heads)
    number = min(prepared.shape[0], few(samples, call, prepared.shape[1]))
    ratio = call.k.shape[0] / call.q.shape[0] if call.q.dim() == 3 else 1.0
    key_heads = max(1, round(heads * ratio))
    return Seen(
        name=name,
        rule=rule,
        q=host(prepared[:number]),
        k=host(four(call.k, key_heads)[:number]),
        v=host(four(call.v, key_heads)[:number]),
        mask=mask_of(call.mask, number, heads),
        causal=call.causal,
        scale=call.scale,
        notes=["its dropout is left out of account"] if call.dropout > 0 else [],
    )
