"""Attention rules in PyTorch: those of Eureka's engines, for any scaled logits with any mask."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from .._error import Error
from .._given import finite
from ._call import Call, count, masked_softmax
from ._covariance import norm_softmax_attention, norm_softmax_weights

#: From here on NormSoftmax is computed without a matrix of queries by keys, where no mask is in the way.
LONG = 256

Sdpa = Callable[..., Tensor]
#: Whether PyTorch's own attention takes keys that heads share: from 2.5 on.
GROUPS = "enable_gqa" in (getattr(F, "scaled_dot_product_attention", F.softmax).__doc__ or "")


class Entmax15(torch.autograd.Function):
    """1.5-entmax over the last dimension: max(0, z / 2 - tau)^2, with tau such that the weights add up to one."""

    @staticmethod
    def forward(ctx: Any, z: Tensor) -> Tensor:
        """The threshold by sorting; hidden keys stand at the lowest number there is."""
        half = (z - z.amax(-1, keepdim=True)) / 2
        ordered = half.sort(-1, descending=True).values.clamp(min=-2.0)
        number = torch.arange(1, z.shape[-1] + 1, device=z.device, dtype=z.dtype)
        mean = ordered.cumsum(-1) / number
        spread = (ordered * ordered).cumsum(-1) - number * mean * mean
        tau = mean - ((1 - spread) / number).clamp(min=0).sqrt()
        support = (tau <= ordered).sum(-1, keepdim=True).clamp(min=1)
        weights: Tensor = (half - tau.gather(-1, support - 1)).clamp(min=0) ** 2
        ctx.save_for_backward(weights)
        return weights

    @staticmethod
    def backward(ctx: Any, *grad: Tensor) -> Tensor:
        """Within the support, roots of the weights less their share."""
        (weights,) = ctx.saved_tensors
        root = weights.sqrt()
        along = (root * grad[0]).sum(-1, keepdim=True) / root.sum(-1, keepdim=True)
        passed: Tensor = root * (grad[0] - along)
        return passed


class Rule:
    """What a rule does to one call of attention."""

    name = "softmax"  #: as Eureka's engines know it

    def options(self) -> dict[str, Any]:
        """Those of the engines' rule."""
        return {}

    def prepare(self, call: Call) -> Call:
        """Whatever is done to queries and keys before they meet."""
        return call

    def weights(self, z: Tensor, visible: Tensor | None, width: int, scale: float) -> Tensor:
        """From scaled logits (scale * q.k, and what is added to them) in at least float32."""
        return masked_softmax(z, visible)

    def needs_queries(self) -> bool:
        """Cannot be done to logits alone."""
        return False

    def attend(self, call: Call, sdpa: Sdpa) -> Tensor:
        """The output for one call; `sdpa` is PyTorch's own."""
        return explicit(self, self.prepare(call.ungrouped()))


def explicit(rule: Rule, call: Call) -> Tensor:
    """With the matrix of weights made."""
    exact = call.q.dtype if call.q.dtype == torch.float64 else torch.float32
    with torch.autocast(call.q.device.type, enabled=False):
        z = (call.q.to(exact) @ call.k.to(exact).transpose(-1, -2)) * call.scale
        bias = call.bias()
        if bias is not None:
            z = z + bias.to(exact)
        weights = rule.weights(z, call.visible(), call.q.shape[-1], call.scale)
        if call.dropout > 0:
            weights = F.dropout(weights, call.dropout)
        return (weights @ call.v.to(exact)).to(call.v.dtype)


def by_sdpa(call: Call, sdpa: Sdpa, q: Tensor, k: Tensor) -> Tensor:
    """Plain attention after something was done to queries and keys."""
    call = replace(call, q=q.to(call.v.dtype), k=k.to(call.v.dtype))
    if not GROUPS:
        call = call.ungrouped()
    more = {"enable_gqa": True} if call.grouped else {}
    return sdpa(
        call.q,
        call.k,
        call.v,
        attn_mask=call.mask,
        dropout_p=call.dropout,
        is_causal=call.causal,
        scale=call.scale,
        **more,
    )


class Scale(Rule):
    """Softmax of logits so many times as large."""

    def __init__(self, multiple: float = 16.0) -> None:
        self.multiple = multiple

    def factor(self, like: Tensor) -> Any:
        """On the scale."""
        return self.multiple

    def prepare(self, call: Call) -> Call:
        """On the queries, so that a factor that changes is an ordinary tensor to torch.compile."""
        q = call.q * self.factor(call.q)
        return Call(q, call.k, call.v, call.mask, call.dropout, call.causal, call.scale, call.grouped)

    def weights(self, z: Tensor, visible: Tensor | None, width: int, scale: float) -> Tensor:
        """Hidden keys stay hidden whatever the factor."""
        return masked_softmax(z * self.factor(z), visible)

    def attend(self, call: Call, sdpa: Sdpa) -> Tensor:
        """At the speed of PyTorch's own."""
        prepared = self.prepare(call)
        return by_sdpa(prepared, sdpa, prepared.q, prepared.k)


class HeatTreatment(Scale):
    """A sharp scale that cools down to 1/sqrt(d): a half-cosine over the first half of `steps` updates."""

    def __init__(self, steps: int, start: float = 24.0, end: float = 1.0, kind: str = "half-cosine") -> None:
        if steps < 1:
            raise Error("heat_treatment needs the number of steps of the training", "config", hint="steps=10000")
        if kind not in ("linear", "cosine", "half-cosine"):
            raise Error(f"there is no schedule '{kind}'", "config", hint="known: linear, cosine, half-cosine")
        self.steps, self.start, self.end, self.kind = steps, start, end, kind
        self._now: dict[torch.device, Tensor] = {}
        self.go_to(0)

    def go_to(self, step: int) -> None:
        """The multiple in force after so many updates."""
        progress = min(max(step / self.steps, 0.0), 1.0)
        if self.kind == "linear":
            self.multiple = self.start + (self.end - self.start) * progress
        else:
            share = min(1.0, 2 * progress if self.kind == "half-cosine" else progress)
            self.multiple = self.end + 0.5 * (self.start - self.end) * (1 + math.cos(math.pi * share))
        for now in self._now.values():
            now.fill_(self.multiple)

    def factor(self, like: Tensor) -> Any:
        """A tensor, lest torch.compile make a program for each value."""
        if like.device not in self._now:
            self._now[like.device] = torch.tensor(self.multiple, device=like.device)
        return self._now[like.device].to(like.dtype)


class NormSoftmax(Rule):
    """Each row of logits divided by min(deviation, sqrt(d)) before the softmax."""

    name = "norm_softmax"

    def __init__(self, deviation: str = "std", epsilon: float = 1e-6, long: int = LONG) -> None:
        if deviation not in ("std", "variance"):
            raise Error(f"there is no deviation '{deviation}'", "config", hint="known: std, variance")
        self.deviation, self.epsilon, self.long = deviation, epsilon, long

    def options(self) -> dict[str, Any]:
        """As in the engines."""
        return {"deviation": self.deviation, "epsilon": self.epsilon}

    def weights(self, z: Tensor, visible: Tensor | None, width: int, scale: float) -> Tensor:
        """Of any logits, with the matrix made."""
        return norm_softmax_weights(z, visible, width, scale, self.deviation, self.epsilon)

    def attend(self, call: Call, sdpa: Sdpa) -> Tensor:
        """Without a matrix of queries by keys where no mask stands in the way."""
        call = call.ungrouped()
        square = not call.causal or call.q.shape[-2] == call.k.shape[-2]
        if call.mask is None and square and call.k.shape[-2] >= self.long:
            return norm_softmax_attention(
                call.q,
                call.k,
                call.v,
                causal=call.causal,
                multiple=call.multiple,
                deviation=self.deviation,
                epsilon=self.epsilon,
                dropout=call.dropout,
                sdpa=sdpa,
            )
        return explicit(self, call)


class QkNorm(Rule):
    """Queries and keys normalized before they meet, without learned gains."""

    name = "qk_norm"

    def __init__(self, norm: str = "layer", epsilon: float = 1e-6) -> None:
        if norm not in ("layer", "rms", "l2"):
            raise Error(f"there is no norm '{norm}'", "config", hint="known: layer, rms, l2")
        self.norm, self.epsilon = norm, epsilon

    def options(self) -> dict[str, Any]:
        """As in the engines."""
        return {"norm": self.norm, "epsilon": self.epsilon, "learnable": False}

    def needs_queries(self) -> bool:
        """Logits no longer know the lengths of queries and keys."""
        return True

    def _normalized(self, x: Tensor) -> Tensor:
        exact = x if x.dtype == torch.float64 else x.float()
        if self.norm == "layer":
            exact = exact - exact.mean(-1, keepdim=True)
        square = (exact * exact).sum(-1, keepdim=True)
        if self.norm == "l2":
            return exact * math.sqrt(x.shape[-1]) * (square + self.epsilon**2).rsqrt()
        return exact * (square / x.shape[-1] + self.epsilon).rsqrt()

    def prepare(self, call: Call) -> Call:
        """The norm."""
        q, k = self._normalized(call.q), self._normalized(call.k)
        return Call(q, k, call.v, call.mask, call.dropout, call.causal, call.scale, call.grouped)

    def attend(self, call: Call, sdpa: Sdpa) -> Tensor:
        """At the speed of PyTorch's own."""
        prepared = self.prepare(call)
        return by_sdpa(prepared, sdpa, prepared.q, prepared.k)


class Sigmoid(Rule):
    """A sigmoid for each key, with a bias of -ln(visible keys)."""

    name = "sigmoid"

    def __init__(self, bias: str = "log-keys") -> None:
        if bias not in ("log-keys", "none"):
            raise Error(f"there is no bias '{bias}'", "config", hint="known: log-keys, none")
        self.bias = bias

    def options(self) -> dict[str, Any]:
        """As in the engines."""
        return {"bias": self.bias}

    def weights(self, z: Tensor, visible: Tensor | None, width: int, scale: float) -> Tensor:
        """No competition between keys."""
        weights = torch.sigmoid(z - count(z, visible).log() if self.bias == "log-keys" else z)
        return weights if visible is None else weights.masked_fill(~visible, 0.0)


class SoftmaxOne(Rule):
    """Softmax with 1 added to the denominator."""

    name = "softmax_one"

    def weights(self, z: Tensor, visible: Tensor | None, width: int, scale: float) -> Tensor:
        """As if there were a further key of logit 0 and value 0."""
        if visible is not None:
            z = z.masked_fill(~visible, torch.finfo(z.dtype).min)
        return torch.softmax(F.pad(z, (1, 0)), -1)[..., 1:]


class ScalableSoftmax(Rule):
    """Softmax with a scale that grows as the logarithm of the number of visible keys."""

    name = "scalable_softmax"

    def __init__(self, strength: float = 0.43) -> None:
        self.strength = strength

    def options(self) -> dict[str, Any]:
        """As in the engines."""
        return {"strength": self.strength, "learnable": False}

    def weights(self, z: Tensor, visible: Tensor | None, width: int, scale: float) -> Tensor:
        """Row by row."""
        return masked_softmax(z * (self.strength * count(z, visible).log()), visible)


class Entmax(Rule):
    """1.5-entmax, between softmax and a sparse projection."""

    name = "entmax15"

    def weights(self, z: Tensor, visible: Tensor | None, width: int, scale: float) -> Tensor:
        """Hidden keys lie far below the threshold."""
        if visible is not None:
            z = z.masked_fill(~visible, torch.finfo(z.dtype).min / 4)
        weights: Tensor = Entmax15.apply(z)  # type: ignore[no-untyped-call]
        return weights if visible is None else weights.masked_fill(~visible, 0.0)


RULES: dict[str, type[Rule]] = {
    "softmax": Rule,
    "norm_softmax": NormSoftmax,
    "scale": Scale,
    "heat_treatment": HeatTreatment,
    "qk_norm": QkNorm,
    "sigmoid": Sigmoid,
    "softmax_one": SoftmaxOne,
    "scalable_softmax": ScalableSoftmax,
    "entmax15": Entmax,
}


def rule_of(name: str | Rule, options: dict[str, Any]) -> Rule:
    """By name and options; a rule of your own is taken as it is."""
    if isinstance(name, Rule):
        if options:
            raise Error("a rule that is already made takes no options", "config")
        return name
    if name not in RULES:
        raise Error(
            f"there is no cure '{name}'", "config", hint=f"known: {', '.join(n for n in RULES if n != 'softmax')}"
        )
    known = dict(inspect.signature(RULES[name]).parameters)
    for option in options:
        if option not in known:
            raise Error(f"{name} has no option '{option}'", "config", hint=f"it has: {', '.join(known) or 'none'}")
    for option, parameter in known.items():
        if parameter.default is inspect.Parameter.empty and option not in options:
            raise Error(f"{name} needs the option '{option}'", "config", hint=f'cure(model, "{name}", {option}=...)')
        # Of options that are words the rule itself knows which there are.
        if option in options and not isinstance(parameter.default, str) and finite(options[option], option) <= 0:
            raise Error(f"{option} must be above 0, not {options[option]}", "config")
    return RULES[name](**options)
