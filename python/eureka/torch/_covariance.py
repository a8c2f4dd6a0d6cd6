"""NormSoftmax without a matrix of queries by keys: docs/flash-norm-softmax.md derives it.

The variance of a row of logits s_ij = q_i . k_j over its keys is q_i' C q_i, with C the covariance of the keys. So the
division can be done to the queries, and what is left is plain attention. With a causal mask each row has a covariance
of its own, that of the keys up to it: they are formed chunk by chunk.
"""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from ._call import count, explicit_attention, masked_softmax

#: Rows of a chunk of the causal form.
CHUNK = 128
#: Rows at the beginning of a causal sequence that are computed with their matrix: in rows of few keys the divisor can
#: be next to 0, and float32 then needs logits less their mean before they are divided.
FIRST = 64


def norm_softmax_weights(
    z: Tensor, visible: Tensor | None, width: int, scale: float, deviation: str, epsilon: float
) -> Tensor:
    """By the definition, in terms of scaled logits z = scale * s: s / divisor = z / (scale * divisor)."""
    keys = count(z, visible)
    seen = z if visible is None else z.masked_fill(~visible, 0.0)
    centered = seen - seen.sum(-1, keepdim=True) / keys
    if visible is not None:
        centered = centered.masked_fill(~visible, 0.0)
    variance = (centered * centered).sum(-1, keepdim=True) / (keys * scale * scale) + epsilon
    divisor = variance if deviation == "variance" else variance.sqrt()
    return masked_softmax(centered * math.sqrt(width) / divisor.clamp(max=math.sqrt(width)), visible)


def full_variance(q: Tensor, k: Tensor) -> Tensor:
    """Variance over all keys of each query's logits, ... x queries x 1."""
    # The scatter about any other point is larger, so its gradient by the mean is 0 and need not be worked out.
    centered = k - k.mean(-2, keepdim=True).detach()
    covariance = centered.transpose(-1, -2) @ centered / k.shape[-2]
    return ((q @ covariance) * q).sum(-1, keepdim=True)


def causal_variance(q: Tensor, k: Tensor, chunk: int = CHUNK) -> Tensor:
    """Variance of query i's logits over keys 0 to i, ... x queries x 1; memory linear in the tokens.

    For a chunk that begins at key c: with m and S the mean and the scatter matrix of the c keys before it, and d_j =
    q . (k_j - m) for keys of the chunk, n = c + (keys of the chunk seen), the sum of squares about the mean of all is
    q' S q + sum d_j^2 - (sum d_j)^2 / n. Everything is centered at m, so nothing large is subtracted from itself.
    """
    tokens = k.shape[-2]
    mean = torch.zeros_like(k[..., :1, :])
    scatter = k.new_zeros(*k.shape[:-2], k.shape[-1], k.shape[-1])
    parts = []
    for start in range(0, tokens, chunk):
        keys, queries = k[..., start : start + chunk, :], q[..., start : start + chunk, :]
        size = keys.shape[-2]
        if start == 0:
            # Rows of few keys: about the first key, as near to their mean as any.
            mean = keys[..., :1, :].detach()
        away = queries @ (keys - mean).transpose(-1, -2)
        away = away.tril()
        seen = torch.arange(start + 1, start + size + 1, device=q.device, dtype=q.dtype).unsqueeze(-1)
        if start == 0:
            own = away.sum(-1, keepdim=True) / seen
            square = ((away - own).tril() ** 2).sum(-1, keepdim=True)
        else:
            square = ((queries @ scatter) * queries).sum(-1, keepdim=True)
            total = away.sum(-1, keepdim=True)
            square = square + (away * away).sum(-1, keepdim=True) - total * total / seen
        parts.append(square / seen)
        if start + size < tokens:
            scatter, mean = _with_keys(scatter, mean, start, keys)
    return torch.cat(parts, -2)


def _with_keys(scatter: Tensor, mean: Tensor, before: int, keys: Tensor) -> tuple[Tensor, Tensor]:
    """Scatter matrix and mean of `before` keys, with these added."""
    size = keys.shape[-2]
    own_mean = keys.mean(-2, keepdim=True)
    centered = keys - own_mean
    own = centered.transpose(-1, -2) @ centered
    if before == 0:
        return own, own_mean
    step = own_mean - mean
    both = before + size
    merged = scatter + own + step.transpose(-1, -2) @ step * (before * size / both)
    return merged, mean + step * (size / both)


def norm_softmax_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    causal: bool = False,
    multiple: float = 1.0,
    deviation: str = "std",
    epsilon: float = 1e-6,
    dropout: float = 0.0,
    sdpa: Any = None,
) -> Tensor:
    """softmax(multiple * s / min(deviation of s, sqrt(d))) v, for s = q k', in memory linear in the tokens.

    ``q``, ``k``, ``v`` are ... x tokens x width. With ``causal``, query i sees keys 0 to i. ``deviation`` is "std", or
    "variance" as in the published code. Any other mask needs the explicit form.
    """
    exact = q.dtype if q.dtype == torch.float64 else torch.float32
    with torch.autocast(q.device.type, enabled=False):
        wide_q, wide_k = q.to(exact), k.to(exact)
        # Softmax does not feel what all keys have in common, but rounding does.
        wide_k = wide_k - wide_k.mean(-2, keepdim=True).detach()
        variance = causal_variance(wide_q, wide_k) if causal else full_variance(wide_q, wide_k)
        variance = variance.clamp(min=0) + epsilon
        divisor = variance if deviation == "variance" else variance.sqrt()
        divisor = divisor.clamp(max=math.sqrt(q.shape[-1]))
        factor = multiple / divisor
        first = min(FIRST, q.shape[-2]) if causal else 0
        if causal:
            factor = torch.cat([torch.zeros_like(factor[..., :first, :]), factor[..., first:, :]], -2)
        sharp = (wide_q * factor).to(v.dtype)
    attend = getattr(F, "scaled_dot_product_attention", explicit_attention) if sdpa is None else sdpa
    out: Tensor = attend(sharp, wide_k.to(v.dtype), v, dropout_p=dropout, is_causal=causal, scale=1.0)
    if first == 0:
        return out
    with torch.autocast(q.device.type, enabled=False):
        scale = multiple / math.sqrt(q.shape[-1])
        z = (wide_q[..., :first, :] @ wide_k[..., :first, :].transpose(-1, -2)) * scale
        lower = torch.ones(first, first, dtype=torch.bool, device=q.device).tril()
        weights = norm_softmax_weights(z, lower, q.shape[-1], scale, deviation, epsilon)
        if dropout > 0:
            weights = F.dropout(weights, dropout)
        beginning = (weights @ v[..., :first, :].to(exact)).to(out.dtype)
    return torch.cat([beginning, out[..., first:, :]], -2)
