"""What watching and curing share: the calls by which attention is computed, and one way around a function that would
call itself for ever.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from ._call import explicit_attention

#: Before PyTorch 2.0 there was none, and nobody who called it.
SDPA: Callable[..., Tensor] = getattr(F, "scaled_dot_product_attention", explicit_attention)
MHA = F.multi_head_attention_forward
SOFTMAX = frozenset({torch.softmax, F.softmax, Tensor.softmax})
PRODUCTS = frozenset({torch.matmul, torch.bmm, Tensor.matmul, Tensor.bmm, Tensor.__matmul__})
BADDBMM = frozenset({torch.baddbmm, Tensor.baddbmm})
EINSUM = torch.functional.einsum


def softmax_dimension(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The dimension a softmax runs over."""
    return kwargs["dim"] if "dim" in kwargs else args[1] if len(args) > 1 else None


def is_attention_softmax(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Over the last of three or more dimensions."""
    if func not in SOFTMAX:
        return False
    given = args[0] if args else kwargs.get("input")
    return isinstance(given, Tensor) and given.dim() >= 3 and softmax_dimension(args, kwargs) in (-1, given.dim() - 1)


@contextlib.contextmanager
def _enterable() -> Iterator[None]:
    functional: Any = F
    before = functional.has_torch_function
    functional.has_torch_function = lambda *_: False
    try:
        yield
    finally:
        functional.has_torch_function = before


def inside_multi_head_attention(
    mode: Any, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Calls `multi_head_attention_forward` with the mode in force inside it.

    It asks at its first line whether somebody intercepts it, and would be intercepted again, for ever; for this one
    call the answer is no. What it calls in turn is intercepted as ever.
    """
    with _enterable(), mode:
        return func(*args, **kwargs)


# torch.compile cannot follow it into its own name: such a call stays as it is written, and the rest is compiled.
inside_multi_head_attention._torchdynamo_disable = True  # type: ignore[attr-defined]


def plain_model(model: torch.nn.Module) -> torch.nn.Module:
    """Without what torch.compile and the data-parallel wrappers put around it."""
    while True:
        inner = getattr(model, "_orig_mod", None)
        if inner is None and type(model).__name__ in ("DistributedDataParallel", "DataParallel"):
            inner = getattr(model, "module", None)
        if not isinstance(inner, torch.nn.Module):
            return model
        model = inner


def overlapping(model: torch.nn.Module, others: Iterable[torch.nn.Module]) -> torch.nn.Module | None:
    """One of the others that is this model, a part of it, or what it is a part of."""
    parts = set(model.modules())
    return next((other for other in list(others) if other in parts or model in set(other.modules())), None)


def refuse_meta(model: torch.nn.Module) -> None:
    """A model without numbers has nothing to see, and what is no module neither."""
    from .._error import Error

    if not isinstance(model, torch.nn.Module):
        raise Error(f"{model!r:.60} is no torch.nn.Module", "usage")
    for name, parameter in model.named_parameters():
        if parameter.device.type == "meta":
            raise Error(
                f"'{name}' is on the device meta: it has no numbers", "usage", hint="give it values first: to_empty()"
            )
