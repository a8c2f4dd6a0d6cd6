"""The diagnostics of attention on arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._error import Error
from ._given import real

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Look:
    """What diagnostics see in one attention: numbers by head, and the arrays they come from.

    ``look.attention["entropy"]`` is an array with a number for each head; likewise ``look.jacobian`` and, where the
    gradient was given, ``look.attenuation``. docs/diagnostics.md tells what each means.
    """

    attention: dict[str, NDArray[np.float64]]
    jacobian: dict[str, NDArray[np.float64]]
    attenuation: dict[str, NDArray[np.float64]]
    tensors: dict[str, Floats]  #: weights, out, d_weights, d_scaled_logits, d_q, d_k, d_v

    def to_pandas(self) -> Any:
        """A data frame with a row for each head; needs pandas."""
        import pandas

        columns = {
            f"{name}/{number}": values
            for name in ("attention", "jacobian", "attenuation")
            for number, values in getattr(self, name).items()
        }
        frame = pandas.DataFrame(columns)
        frame.index.name = "head"
        return frame

    def plot(self, ax: Any = None) -> Any:
        """Draws the weights of the first sample's first head; needs matplotlib. Returns the axes."""
        from ._plot import plot_weights

        return plot_weights(self, ax)


def _array(given: Any) -> NDArray[Any]:
    """Whoever's array, where it lies: by DLPack or the buffer protocol. What lies on a device comes to the host."""
    if hasattr(given, "detach"):
        # A tensor of PyTorch's: its gradient is nobody's business here, and NumPy has no bfloat16.
        given = given.detach()
        given = given.float().cpu() if given.is_floating_point() else given.cpu()
    if not isinstance(given, np.ndarray) and hasattr(given, "__dlpack__") and hasattr(np, "from_dlpack"):
        try:
            shared: NDArray[Any] = np.from_dlpack(given)
            return shared
        except (BufferError, RuntimeError, TypeError, AttributeError):  # bool, before PyTorch 2.2
            pass
    return np.asarray(given)


def _heads(array: Any, name: str) -> Floats:
    numbers: Floats = real(_array(array), name, np.float32)
    if numbers.ndim != 4:
        raise Error(
            f"{name} has {numbers.ndim} dimensions, not 4", "input", hint="arrays are samples x heads x tokens x width"
        )
    if (wrong := numbers.size - int(np.isfinite(numbers).sum())) > 0:
        raise Error(f"{name} has {wrong} of {numbers.size} numbers that are not finite", "input")
    return np.ascontiguousarray(numbers)


def _scales(scale: Any, queries: Floats) -> Floats:
    """One for each head."""
    heads, width = queries.shape[1], max(1, queries.shape[3])
    given = real(_array(1 / np.sqrt(width) if scale is None else scale), "scale", np.float32)
    if given.shape not in ((), (1,), (heads,)):
        raise Error(f"scale is {' x '.join(map(str, given.shape))}, which does not fit {heads} heads", "input")
    if not np.isfinite(given).all():
        raise Error("scale must be finite", "input")
    return np.broadcast_to(given, (heads,))


def _pairs(array: Any, shape: tuple[int, int, int, int], name: str) -> Any:
    """Samples x heads x queries x keys, where one that stands for all is not copied."""
    try:
        return np.broadcast_to(array, shape)
    except ValueError:
        raise Error(
            f"{name} is {' x '.join(map(str, array.shape))}, which does not fit {' x '.join(map(str, shape))}", "input"
        ) from None


def look_numbers(
    q: Floats,
    k: Floats,
    v: Floats,
    d_out: Floats | None,
    scale: NDArray[np.float32],
    causal: bool,
    visible: NDArray[Any] | None,
    bias: NDArray[Any] | None,
    rule: str,
    options: Mapping[str, Any],
    layer: int,
    with_tensors: bool,
) -> tuple[list[tuple[str, float]], dict[str, Floats]]:
    """The numbers under the names they have in metrics.jsonl; arrays as :func:`look` makes them of anything."""
    shape = (q.shape[0], q.shape[1], q.shape[2], k.shape[2])
    if visible is not None:
        visible = _pairs(visible, shape, "visible")
    if bias is not None:
        bias = _pairs(np.asarray(bias, dtype=np.float32), shape, "bias")
    return _core.look(
        q, k, v, d_out, [float(s) for s in scale], causal, visible, bias, rule, dict(options), layer, with_tensors
    )


def look(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    d_out: ArrayLike | None = None,
    scale: float | ArrayLike | None = None,
    causal: bool = False,
    visible: ArrayLike | None = None,
    rule: str = "softmax",
    *,
    logit_bias: ArrayLike | None = None,
    **options: Any,
) -> Look:
    """Looks at one attention: weights = rule(scale q k'), out = weights v.

    ``q``, ``k``, ``v``, ``d_out`` are samples x heads x tokens x width; ``k`` and ``v`` may have fewer heads (grouped
    keys) or other tokens (cross-attention). ``d_out`` is the gradient of a loss by ``out``; without it the numbers that
    need it are left out. ``scale`` multiplies q.k, one number or one for each head; 1/sqrt(width) when left out.
    ``visible`` is true where a key may be seen: samples x keys, or anything that broadcasts to samples x heads x
    queries x keys. ``logit_bias`` is added to the scaled logits and hides keys where it is below -1e4. ``rule`` is
    one of Eureka's attention rules, ``options`` its own (``deviation="variance"``).

    Arrays may be NumPy's, PyTorch's, or anything with DLPack or the buffer protocol; what is contiguous float32 on the
    host already is not copied.
    """
    queries, keys, values = _heads(q, "q"), _heads(k, "k"), _heads(v, "v")
    gradient = None if d_out is None else _heads(d_out, "d_out")
    scales = _scales(scale, queries)
    shown = None
    if visible is not None:
        shown = real(_array(visible), "visible", np.bool_).view(np.uint8)
        if shown.ndim == 2:
            if shown.shape != (queries.shape[0], keys.shape[2]):
                raise Error(
                    f"visible is {shown.shape[0]} x {shown.shape[1]}, and there are {queries.shape[0]} samples of "
                    f"{keys.shape[2]} keys",
                    "input",
                    hint="queries x keys for all samples: visible[None, None]",
                )
            shown = shown[:, None, None, :]
    numbers, tensors = look_numbers(
        queries,
        keys,
        values,
        gradient,
        scales,
        causal,
        shown,
        None if logit_bias is None else real(_array(logit_bias), "logit_bias", np.float32),
        str(rule),
        options,
        0,
        True,
    )
    found: dict[str, dict[str, NDArray[np.float64]]] = {"attention": {}, "jacobian": {}, "attenuation": {}}
    for name, value in numbers:
        diagnostic, number, *place = name.split("/")
        if len(place) == 2:
            of_heads = found[diagnostic].setdefault(number, np.full(queries.shape[1], np.nan))
            of_heads[int(place[1][len("head") :])] = value
    return Look(found["attention"], found["jacobian"], found["attenuation"], tensors)
