"""A run's model as a plain torch module, with the parameters of a checkpoint."""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .._error import Error
from .._records import Place, Run
from ._call import Call
from ._cure import attend_by
from ._intercept import SDPA
from ._rules import Rule, rule_of

#: Options of these rules are those of the engines; what the engines can learn beside them is not known here.
_RULES = ("softmax", "norm_softmax", "sigmoid", "softmax_one", "entmax15")


class _RMSNorm(nn.Module):
    def __init__(self, width: int, epsilon: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.epsilon = epsilon

    def forward(self, x: Tensor) -> Tensor:
        return x * (x.square().mean(-1, keepdim=True) + self.epsilon).rsqrt() * self.weight


class _Attention(nn.Module):
    def __init__(self, width: int, heads: int, bias: bool, rule: Rule, multiple: float, causal: bool) -> None:
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(width, width, bias=bias) for _ in range(3))
        self.proj = nn.Linear(width, width)
        self.heads, self.rule, self.multiple, self.causal = heads, rule, multiple, causal

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (line(x).unflatten(-1, (self.heads, -1)).transpose(1, 2) for line in (self.q, self.k, self.v))
        scale = self.multiple / math.sqrt(q.shape[-1])
        if self.rule.name == "softmax":
            # By PyTorch's own, so that a cure can take its place.
            out = SDPA(q, k, v, is_causal=self.causal, scale=scale)
        else:
            out = attend_by(self.rule, Call(q, k, v, None, 0.0, self.causal, scale, False))
        result: Tensor = self.proj(out.transpose(1, 2).flatten(2))
        return result


class _Mlp(nn.Module):
    def __init__(self, width: int, hidden: int, activation: str) -> None:
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(width, hidden), nn.Linear(hidden, width)
        self.activation = F.gelu if activation == "gelu" else F.relu

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.fc2(self.activation(self.fc1(x)))
        return result


class _Block(nn.Module):
    def __init__(self, attn: _Attention, norms: tuple[nn.Module, nn.Module], mlp: nn.Module | None) -> None:
        super().__init__()
        self.norm1, self.attn = norms[0], attn
        if mlp is not None:
            self.norm2, self.mlp = norms[1], mlp

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x)) if hasattr(self, "mlp") else x


class Transformer(nn.Module):
    """Eureka's `transformer` and `decoder`; parameters have the names that they have in a run's checkpoints."""

    def __init__(self, config: dict[str, Any], shapes: dict[str, tuple[int, ...]]) -> None:
        super().__init__()
        self.loaded_from: tuple[Run, int] | None = None  #: the run and the step of its checkpoint
        option = {key[len("model.") :]: value for key, value in config.items() if key.startswith("model.")}
        width, epsilon = int(option["width"]), float(option["norm_epsilon"])

        def norm() -> nn.Module:
            if option["norm"] == "layer":
                return nn.LayerNorm(width, epsilon)
            return _RMSNorm(width, epsilon) if option["norm"] == "rms" else nn.Identity()

        rows, columns = shapes["embed.weight"]
        self.takes_ids = "embed.bias" not in shapes
        self.embed = nn.Embedding(rows, columns) if self.takes_ids else nn.Linear(columns, rows)
        if "cls" in shapes:
            self.cls = nn.Parameter(torch.zeros(shapes["cls"]))
        if "positions" in shapes:
            self.positions = nn.Parameter(torch.zeros(shapes["positions"]))
        options = {
            key[len("attention.") :]: value
            for key, value in config.items()
            if key.startswith("attention.")
            and key not in ("attention.rule", "attention.cap")
            and not key.startswith("attention.scale.")
        }
        rule = rule_of(str(config["attention.rule"]), options)
        multiple = float(config["attention.scale.multiple"])
        causal = config["model.name"] == "decoder"
        hidden = round(float(option["mlp_ratio"]) * width)
        self.blocks = nn.ModuleList(
            _Block(
                _Attention(width, int(option["heads"]), bool(option["qkv_bias"]), rule, multiple, causal),
                (norm(), norm()),
                _Mlp(width, hidden, str(option["activation"])) if hidden > 0 else None,
            )
            for _ in range(int(option["depth"]))
        )
        self.norm = norm()
        classes = shapes["head.bias"][0]
        self.head = nn.Linear(width, classes)
        if option["tied_head"]:
            self.head.weight = self.embed.weight

    def forward(self, inputs: Tensor) -> Tensor:
        """Ids or vectors in; class logits or predicted numbers out, of the sample or of every token."""
        x = self.embed(inputs)
        if hasattr(self, "cls"):
            x = torch.cat([self.cls.reshape(1, 1, -1).expand(len(x), 1, -1), x], 1)
        if hasattr(self, "positions"):
            x = x + self.positions
        for block in self.blocks:
            x = block(x)
        result: Tensor = self.head(self.norm(x[:, 0] if hasattr(self, "cls") else x))
        return result


def load(run: Place | Run, step: int | None = None) -> Transformer:
    """The model of a run of Eureka's at a checkpoint (the newest when no step is given), as a plain torch module.

    It gives what the run's own engine gives, to rounding, and trains like any other module. Models `transformer` and
    `decoder` with learned positions or none, rules softmax, norm_softmax, sigmoid, softmax_one and entmax15 with a
    fixed scale; anything else is an error that names it.
    """
    source = run if isinstance(run, Run) else Run(run)
    config = source.config
    refusals = {
        "model.name": ("transformer", "decoder"),
        "model.positions": ("learned", "none"),
        "attention.rule": _RULES,
        "attention.scale.kind": ("fixed",),
        "attention.cap": ("root-width", None),
        "attention.deviation": ("std", "variance", None),
    }
    for key, known in refusals.items():
        if config.get(key) not in known:
            hint = f"what can be loaded: {', '.join(one for one in known if one is not None)}"
            raise Error(f"has {key} = {config.get(key)}", "input", str(source.path), hint)
    at = source.checkpoint(step)
    tensors = {name: torch.from_numpy(values) for name, values in source.tensors(at).items()}
    model = Transformer(config, {name: tuple(tensor.shape) for name, tensor in tensors.items()})
    state = {name: tensor.reshape(model.state_dict()[name].shape) for name, tensor in tensors.items()}
    if config["model.tied_head"]:
        state["head.weight"] = state["embed.weight"]
    model.load_state_dict(state)
    model.loaded_from = (source, at)
    return model
