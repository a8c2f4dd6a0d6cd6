"""Which parameters of an attention layer make its queries, keys and values, by the names they usually have."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor, nn

#: Names of three matrices.
APART = (
    ("q_proj", "k_proj", "v_proj"),
    ("query", "key", "value"),
    ("to_q", "to_k", "to_v"),
    ("q", "k", "v"),
    ("q_lin", "k_lin", "v_lin"),
    ("wq", "wk", "wv"),
    ("Wq", "Wk", "Wv"),
    ("w_q", "w_k", "w_v"),
    ("linear_q", "linear_k", "linear_v"),
)
#: Names of one matrix that makes all three, one after the other.
TOGETHER = ("in_proj", "qkv", "to_qkv", "Wqkv", "c_attn", "qkv_proj", "query_key_value")


@dataclass(frozen=True)
class Projections:
    """Where the gradients of W_Q, W_K and W_V are, and in words."""

    parts: dict[str, tuple[nn.Parameter, slice | None, bool]]  # parameter, its rows, whether it is stored transposed
    said: str

    def of(self, part: str, tensor: Tensor) -> Tensor:
        """The rows of a part in a tensor laid out as its parameter."""
        _, rows, transposed = self.parts[part]
        whole = tensor.t() if transposed else tensor
        return whole if rows is None else whole[rows]


def _weight(module: nn.Module, name: str) -> tuple[nn.Parameter, bool] | None:
    """The matrix of a linear layer, and whether its rows are inputs."""
    inner = getattr(module, name, None)
    weight = getattr(inner, "weight", None)
    if not isinstance(weight, nn.Parameter) or weight.dim() != 2:
        return None
    return weight, type(inner).__name__ == "Conv1D"


def projections_of(module: nn.Module, widths: tuple[int, int, int]) -> Projections | None:
    """Of the module that computes attention; `widths` are those of all queries, keys and values together."""
    whole = getattr(module, "in_proj_weight", None)
    if isinstance(whole, nn.Parameter):
        return _cut(whole, False, widths, "in_proj_weight")
    weights = [getattr(module, f"{part}_proj_weight", None) for part in "qkv"]
    if all(isinstance(weight, nn.Parameter) for weight in weights):
        apart: dict[str, tuple[nn.Parameter, slice | None, bool]] = {
            part: (weight, None, False) for part, weight in zip("qkv", weights) if weight is not None
        }
        return Projections(apart, "q_proj_weight, k_proj_weight, v_proj_weight")
    for names in APART:
        found = [_weight(module, name) for name in names]
        # Keys and values may have been repeated for the heads that share them.
        if all(one is not None and width % _outputs(one) == 0 for one, width in zip(found, widths)):
            parts: dict[str, tuple[nn.Parameter, slice | None, bool]] = {
                part: (one[0], None, one[1]) for part, one in zip("qkv", found) if one is not None
            }
            return Projections(parts, f"{', '.join(names)}")
    for name in TOGETHER:
        one = _weight(module, name)
        if one is not None:
            return _cut(one[0], one[1], widths, name)
    return None


def _outputs(weight: tuple[nn.Parameter, bool]) -> int:
    return int(weight[0].shape[1 if weight[1] else 0])


def _cut(weight: nn.Parameter, transposed: bool, widths: tuple[int, int, int], name: str) -> Projections | None:
    """Queries first, then keys, then values; by their widths, or not at all."""
    queries, keys, _values = widths
    outputs = _outputs((weight, transposed))
    if outputs != sum(widths):
        # Keys and values may have been repeated for the heads that share them.
        keys = (outputs - queries) // 2
        if keys < 1 or queries + 2 * keys != outputs or widths[1] % keys != 0:
            return None
    ends = [queries, queries + keys, outputs]
    starts = [0, *ends[:-1]]
    return Projections({p: (weight, slice(a, b), transposed) for p, a, b in zip("qkv", starts, ends)}, name)
