"""Where a softmax has its logits from: queries and keys are followed through what is done to them.

scores = q @ k.transpose(-1, -2) * scale + mask        a product, a scale, a bias
weights = dropout(softmax(scores, -1))                 weights of that product
out = weights @ v                                      and here is the whole attention
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from ._call import Call
from ._intercept import BADDBMM, EINSUM, PRODUCTS, is_attention_softmax
from ._rules import Rule


@dataclass(frozen=True)
class Scaled:
    """A tensor times a number."""

    base: Tensor
    factor: float


@dataclass(frozen=True)
class Logits:
    """scale * q k' + bias."""

    q: Tensor
    k: Tensor
    scale: float
    bias: Tensor | None = None

    def added(self, more: Tensor) -> Logits:
        """With something added."""
        return replace(self, bias=more if self.bias is None else self.bias + more)

    def replaced(self, mask: Tensor, value: float) -> Logits:
        """With a value where the mask is true."""
        bias = torch.zeros((), device=mask.device) if self.bias is None else self.bias
        return replace(self, bias=torch.where(mask, torch.full((), value, device=mask.device), bias))


@dataclass(frozen=True)
class Weights:
    """What a softmax (or the rule of a cure) made of logits; None where these were not followed."""

    logits: Logits | None
    rule: Rule
    module: str
    dropout: float = 0.0


MULTIPLY = frozenset({torch.mul, Tensor.mul, Tensor.__mul__, Tensor.__rmul__, Tensor.mul_, Tensor.__imul__})
DIVIDE = frozenset({torch.div, Tensor.div, Tensor.__truediv__, Tensor.div_, Tensor.__itruediv__, torch.true_divide})
ADD = frozenset({torch.add, Tensor.add, Tensor.__add__, Tensor.__radd__, Tensor.add_, Tensor.__iadd__})
FILL = frozenset({torch.masked_fill, Tensor.masked_fill, Tensor.masked_fill_})
SAME = frozenset(
    {
        Tensor.to,
        Tensor.float,
        Tensor.half,
        Tensor.bfloat16,
        Tensor.double,
        Tensor.type,
        Tensor.type_as,
        Tensor.contiguous,
        Tensor.clone,
        torch.clone,
    }
)
DROPOUT = frozenset({F.dropout, torch.dropout})


def number_of(x: Any) -> float | None:
    """A number, or a tensor that holds one."""
    if isinstance(x, (int, float)):
        return float(x)
    return float(x) if isinstance(x, Tensor) and x.dim() == 0 else None


class Provenance:
    """Follows tensors through one step; forgets all of it with :meth:`clear`."""

    def __init__(self, found: Callable[[Call, Weights, Tensor], None]) -> None:
        self._tags: dict[int, tuple[Tensor, Any]] = {}
        self._found = found
        self.lost: set[str] = set()  # modules with a softmax over logits that were not followed

    def clear(self) -> None:
        """Tensors of a step that is over are let go."""
        self._tags.clear()

    def _tag(self, x: Any) -> Any:
        known = self._tags.get(id(x))
        return known[1] if known is not None and known[0] is x else None

    def _put(self, x: Any, tag: Any) -> None:
        if isinstance(x, Tensor):
            self._tags[id(x)] = (x, tag)

    def logits_of(self, z: Tensor) -> Logits | None:
        """Of what a softmax is about to be taken of."""
        tag = self._tag(z)
        return tag if isinstance(tag, Logits) else None

    def put_weights(self, weights: Tensor, z: Tensor, rule: Rule, module: str) -> None:
        """They came of these logits."""
        logits = self.logits_of(z)
        if logits is None:
            self.lost.add(module)
        self._put(weights, Weights(logits, rule, module))

    def note(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], out: Any, module: str) -> None:
        """One call that has been made."""
        if not isinstance(out, Tensor) or out.dim() < 3:
            return
        if func in PRODUCTS:
            self._note_product(args[0], args[1] if len(args) > 1 else kwargs.get("mat2", kwargs.get("other")), out)
        elif func in BADDBMM:
            self._note_baddbmm(args, kwargs, out)
        elif func is EINSUM:
            self._note_einsum(args, out)
        elif is_attention_softmax(func, args, kwargs):
            self.put_weights(out, args[0] if args else kwargs["input"], Rule(), module)
        else:
            self._note_elementwise(func, args, kwargs, out)

    def _note_product(self, left: Any, right: Any, out: Tensor) -> None:
        if not isinstance(left, Tensor) or not isinstance(right, Tensor) or left.dim() < 3 or right.dim() < 3:
            return
        tag = self._tag(left)
        if isinstance(tag, Weights):
            self._note_output(tag, right, out)
        else:
            self._put(out, self._logits(left, right.transpose(-1, -2)))

    def _logits(self, q: Tensor, k: Tensor) -> Logits:
        of_q = self._tag(q)
        return Logits(of_q.base, k, of_q.factor) if isinstance(of_q, Scaled) else Logits(q, k, 1.0)

    def _note_output(self, tag: Weights, v: Tensor, out: Tensor) -> None:
        if tag.logits is None:
            return
        logits = tag.logits
        call = Call(logits.q, logits.k, v, logits.bias, tag.dropout, False, logits.scale, False)
        self._found(call, tag, out)

    def _note_baddbmm(self, args: tuple[Any, ...], kwargs: dict[str, Any], out: Tensor) -> None:
        given = dict(zip(("input", "batch1", "batch2"), args), **kwargs)
        alpha, beta = float(given.get("alpha", 1)), float(given.get("beta", 1))
        logits = self._logits(given["batch1"], given["batch2"].transpose(-1, -2))
        logits = replace(logits, scale=logits.scale * alpha)
        self._put(out, logits if beta == 0 else logits.added(given["input"].detach() * beta))

    def _note_einsum(self, args: tuple[Any, ...], out: Tensor) -> None:
        if not isinstance(args[0], str) or len(args) != 3 or "->" not in args[0] or "." in args[0]:
            return
        sides, result = args[0].replace(" ", "").split("->")
        first, _, second = sides.partition(",")
        left, right = args[1], args[2]
        if not all(isinstance(x, Tensor) and x.dim() in (3, 4) for x in (left, right)) or len(result) != out.dim():
            return
        tag = self._tag(left)
        queries, keys = result[-2], result[-1]
        if isinstance(tag, Weights):
            # b h i j, b h j d -> b h i d, or with the result in another order of axes
            summed = [axis for axis in first if axis in second and axis not in result]
            if len(summed) == 1 and first[-1] == summed[0] and second[-2:-1] == summed[0] and result[-2] == first[-2]:
                self._note_output(tag, right, out)
            return
        shared = [axis for axis in first if axis in second and axis not in result]
        if len(shared) != 1 or queries not in first or keys not in second:
            return
        q = torch.einsum(f"{first}->{''.join(a for a in result[:-2] if a in first)}{queries}{shared[0]}", left)
        k = torch.einsum(f"{second}->{''.join(a for a in result[:-2] if a in second)}{keys}{shared[0]}", right)
        of_left = self._tag(left)
        scale = of_left.factor if isinstance(of_left, Scaled) else 1.0
        self._put(out, Logits(q if scale == 1.0 else q / scale, k, scale))

    def _note_elementwise(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], out: Tensor) -> None:
        given = args[0] if args else kwargs.get("input")
        tag = self._tag(given)
        other = args[1] if len(args) > 1 else kwargs.get("other")
        if func in MULTIPLY or func in DIVIDE:
            factor = number_of(other)
            if factor is None and func in MULTIPLY and number_of(given) is not None:
                given, factor, tag = other, number_of(given), self._tag(other)
            if factor is None or not math.isfinite(factor) or factor == 0:
                return
            self._note_scaled(given, tag, 1 / factor if func in DIVIDE else factor, out)
        elif func in ADD and isinstance(other, Tensor):
            if isinstance(tag, Logits):
                self._put(out, tag.added(other.detach()))
            elif isinstance(self._tag(other), Logits) and isinstance(given, Tensor):
                self._put(out, self._tag(other).added(given.detach()))
        elif func in FILL and isinstance(tag, Logits):
            mask, value = (
                args[1] if len(args) > 1 else kwargs["mask"],
                number_of(args[2] if len(args) > 2 else kwargs["value"]),
            )
            if value is not None:
                self._put(out, tag.replaced(mask, value))
        elif func is torch.where and len(args) == 3 and isinstance(self._tag(args[1]), Logits):
            value = number_of(args[2])
            if value is not None:
                self._put(out, self._tag(args[1]).replaced(~args[0], value))
        elif func in SAME and tag is not None and isinstance(given, Tensor) and out.shape == given.shape:
            self._put(out, tag)
        elif func in DROPOUT and isinstance(tag, Weights):
            share = number_of(args[1] if len(args) > 1 else kwargs.get("p", 0.5)) or 0.0
            training = args[2] if len(args) > 2 else kwargs.get("training", True)
            self._put(out, replace(tag, dropout=share if training else 0.0))

    def _note_scaled(self, given: Any, tag: Any, factor: float, out: Tensor) -> None:
        if isinstance(tag, Logits):
            bias = None if tag.bias is None else tag.bias * factor
            self._put(out, replace(tag, scale=tag.scale * factor, bias=bias))
        elif isinstance(tag, Scaled):
            self._put(out, Scaled(tag.base, tag.factor * factor))
        elif tag is None and out is not given:
            self._put(out, Scaled(given, factor))
