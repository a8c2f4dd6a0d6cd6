"""A torch module's parameters as a checkpoint of Eureka's: the way back of `load`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from .. import _core
from .._error import Error
from .._records import Place, Run
from ._intercept import plain_model, refuse_meta
from ._load import Transformer
from ._seen import host

#: What PyTorch's optimizers call the numbers that Eureka's have of each parameter.
_MOMENTS = (("exp_avg", "m"), ("exp_avg_sq", "v"), ("momentum_buffer", "momentum"))


def save(
    model: nn.Module | Mapping[str, Tensor],
    out: Place,
    run: Place | Run | None = None,
    step: int | None = None,
    *,
    optimizer: torch.optim.Optimizer | None = None,
) -> Run:
    """Makes ``out`` a run directory that goes on with the parameters of a torch module.

    ::

        model = eureka.torch.load("runs/a", step=500)
        ...  # train it, or change what you like
        eureka.torch.save(model, "runs/changed")  # eureka train --out runs/changed --resume

    It has the config of ``run`` and its past; like a branch it is then resumed, branched and looked into by ``eureka
    train --resume``, ``eureka branch`` and ``eureka look``. ``model`` may be any module, or a state_dict, whose tensors
    have the names and shapes of the run's checkpoints (``Run(...).tensors()``); ``run`` is known of one that came from
    :func:`load`. ``step``: how many updates it has behind it, if that is more than the checkpoint had.

    ``optimizer`` is the Adam, AdamW or SGD it was trained with, whose moments go along; without it the run goes on with
    those of its checkpoint.
    """
    source, begins = _source(model, run, step)
    named = _named(model)
    known = source.tensors(begins)
    if source.config.get("model.tied_head") and "head.weight" not in known:
        named.pop("head.weight", None)
    _core.edit_run(
        str(source.path),
        begins,
        begins if step is None else step,
        str(out),
        named,
        {} if optimizer is None else _moments(model, optimizer),
        f"PyTorch {torch.__version__}",
    )
    return Run(out)


def _source(model: Any, run: Place | Run | None, step: int | None) -> tuple[Run, int]:
    """The run whose past it has, and the checkpoint that ends it."""
    plain = plain_model(model) if isinstance(model, nn.Module) else model
    if run is None:
        if not isinstance(plain, Transformer) or plain.loaded_from is None:
            raise Error(
                "it is not known which run this model belongs to", "usage", hint='save(model, out, run="runs/a")'
            )
        return plain.loaded_from
    source = run if isinstance(run, Run) else Run(run)
    behind = [one for one in source.checkpoints if step is None or one <= step]
    if not behind:
        raise Error(
            "has no checkpoint" if step is None else f"has no checkpoint up to step {step}", "input", str(source.path)
        )
    return source, behind[-1]


def _named(model: nn.Module | Mapping[str, Tensor]) -> dict[str, NDArray[np.float32]]:
    if isinstance(model, nn.Module):
        model = plain_model(model)
        refuse_meta(model)
        model = model.state_dict()
    return {name: host(tensor) for name, tensor in model.items()}


def _moments(model: Any, optimizer: torch.optim.Optimizer) -> dict[str, NDArray[np.float32]]:
    if not isinstance(model, nn.Module):
        raise Error("an optimizer goes with a module, not with a state_dict", "usage")
    moments = {}
    for name, parameter in plain_model(model).named_parameters():
        state = optimizer.state.get(parameter, {})
        has = [(ours, state[theirs]) for theirs, ours in _MOMENTS if isinstance(state.get(theirs), Tensor)]
        if not has:
            raise Error(f"the optimizer has no moments of '{name}'", "usage", hint="leave optimizer out")
        for ours, tensor in has:
            moments[f"{ours}.{name}"] = host(tensor)
    return moments
