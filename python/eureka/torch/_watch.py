"""What happens inside the attention of somebody's model while they train it."""

from __future__ import annotations

import math
import shutil
import sys
import tempfile
import weakref
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from .. import _core
from .._detect import Findings, _findings
from .._error import Error
from .._given import number
from .._records import Place, Run
from ._cure import cure_of
from ._intercept import overlapping, plain_model, refuse_meta
from ._met import Met
from ._told import complaint_of_nothing, told

#: Models that are watched; nothing of it stands in the models themselves, which may be copied and saved meanwhile.
_watched: weakref.WeakSet[nn.Module] = weakref.WeakSet()


class Watch:
    """Looks into a model's attention every so many steps: see :func:`watch`."""

    def __init__(
        self,
        model: nn.Module,
        every: int,
        samples: int,
        out: Place | None,
        plateau_level: float | None,
        scaler: Any,
        seed: int,
    ) -> None:
        self.model = plain_model(model)
        self.every, self.samples = every, samples
        self.layers: list[str] = []  #: names of the attention layers, in the order in which they are computed
        self.notes: list[str] = []  #: what could not be seen, or only in part
        self.numbers: dict[str, float] = {}  #: of the last look, by the names of metrics.jsonl
        self.steps = 0  #: updates done
        self.gradients_of: dict[str, str] = {}  #: which gradients `gradients` tells of each layer
        self._scaler, self._seed, self._plateau_level = scaler, seed, plateau_level
        self._out = out
        self._run: Any = None
        #: Of several processes the first writes.
        self.writes = not (torch.distributed.is_available() and torch.distributed.is_initialized()) or (
            torch.distributed.get_rank() == 0
        )
        self._loss_sum: Tensor | float = 0.0
        self._losses = 0
        self._last_row: list[tuple[str, float]] = []
        self._open = False
        self._met: Met | None = None

    # ---- the user's side

    def __enter__(self) -> Watch:
        if self._open:
            raise Error("this watch is open already", "usage")
        if overlapping(self.model, _watched) is not None:
            raise Error("this model is watched already", "usage", hint="one watch for a model at a time")
        _watched.add(self.model)
        self._open = True
        self._begin_look()
        return self

    def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
        if kind is None:
            self.close()
        else:
            self.close("interrupted" if issubclass(kind, KeyboardInterrupt) else "failed")

    def close(self, status: str | None = None) -> None:
        """The run has ended: finished, or diverged if its last loss is no number, unless another status is said."""
        if not self._open:
            return
        self._open = False
        _watched.discard(self.model)
        self._end_look()
        if self._run is None:
            return
        if status is None:
            last = [value for name, value in self._last_row if name.endswith("loss")]
            status = "diverged" if any(not math.isfinite(value) for value in last) else "finished"
        self._run.end(status, self.steps)
        self._run = None

    @property
    def path(self) -> Path | None:
        """The run directory; None before the first step, and where none is written."""
        return None if self._out is None else Path(self._out)

    @property
    def run(self) -> Run:
        """What has been written so far."""
        if self.path is None:
            raise Error("there is no run directory before the first step", "usage")
        return Run(self.path)

    @property
    def findings(self) -> Findings | None:
        """What the detector has found so far in the curve the run is judged by."""
        if self._run is None:
            return None
        return _findings(self._run.findings(), np.array([]), np.array([]), "")

    def step(self, loss: Any = None, **numbers: Any) -> None:
        """One update has been done. ``loss`` is averaged between rows; numbers such as ``val_accuracy`` make a row.

        Call it after ``optimizer.step()``. Tensors are read when a row is written, so that no device is waited for.
        """
        if not self._open:
            raise Error("this watch is closed", "usage", hint="with eureka.watch(model) as w: ...")
        for name, value in [("loss", loss), *numbers.items()]:
            if isinstance(value, Tensor) and value.numel() != 1:
                raise Error(f"{name} has {value.numel()} numbers, not one", "input", hint=f"{name}.mean()")
        if "step" in numbers or (loss is not None and "train_loss" in numbers):
            raise Error("rows have a 'step' and a 'train_loss' of their own", "usage", hint="give it another name")
        given = {name: value if isinstance(value, Tensor) else number(value, name) for name, value in numbers.items()}
        self.steps += 1
        if loss is not None:
            told_loss = loss.detach().reshape(()) if isinstance(loss, Tensor) else number(loss, "loss")
            self._loss_sum = self._loss_sum + told_loss
            self._losses += 1
        looked = self._met is not None
        seen: list[tuple[str, float]] = []
        if looked:
            seen = self._end_look()
            self.numbers = dict(seen)
        if looked or given:
            self._write(given, seen)
        if (self.steps + 1) % self.every == 0:
            self._begin_look()

    # ---- a look

    def _begin_look(self) -> None:
        self._met = Met(self.model, self.samples, self._note)

    def _end_look(self) -> list[tuple[str, float]]:
        """Hooks go, and what was met becomes numbers."""
        if self._met is None:
            return []
        met, self._met = self._met, None
        seen = met.end()
        if not self._open or self.steps == 0:
            return []
        if not seen:
            if not self.layers and met.called and sys.exc_info()[0] is None:
                raise complaint_of_nothing(met)
            return []
        if not self.layers:
            self.layers = [one.name for one in seen]
        scale = float(self._scaler.get_scale()) if self._scaler is not None else 1.0
        known = [one for one in seen if one.name in self.layers]
        numbers, self.gradients_of = told(met, known, self.layers, scale, self._note)
        return numbers

    def _note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    # ---- the run directory

    def _write(self, numbers: dict[str, Any], seen: list[tuple[str, float]]) -> None:
        if not self.writes:
            return
        row = [(name, float(value)) for name, value in numbers.items() if name.startswith("val_")]
        if self._losses:
            row.append(("train_loss", float(self._loss_sum) / self._losses))
        row += [(name, float(value)) for name, value in numbers.items() if not name.startswith("val_")]
        self._loss_sum, self._losses = 0.0, 0
        self._last_row = row or self._last_row
        if not row and not seen:
            return
        if self._run is None:
            self._create()
        self._run.log(self.steps, row + seen)
        if seen:
            self._describe()

    def _create(self) -> None:
        if self._out is None:
            self._out = tempfile.mkdtemp(prefix="eureka-watch-")
            weakref.finalize(self, shutil.rmtree, self._out, ignore_errors=True)
        parameters = list(self.model.parameters())
        self._run = _core.WatchedRun(
            str(self._out),
            f"PyTorch {torch.__version__}",
            type(self.model).__name__,
            self._rules(),
            str(parameters[0].device) if parameters else "cpu",
            sum(parameter.numel() for parameter in parameters),
            self._seed,
            torch.get_num_threads(),
            self._plateau_level,
        )

    def _rules(self) -> str:
        names = {found.rule.name for module in self.model.modules() if (found := cure_of(module)) is not None}
        return ", ".join(sorted(names)) or "softmax"

    def _describe(self) -> None:
        more = {f"watch.layers.layer{i}": name for i, name in enumerate(self.layers)}
        for i, name in enumerate(self.layers):
            if name in self.gradients_of:
                more[f"watch.gradients.layer{i}"] = self.gradients_of[name]
        more.update({f"watch.notes.note{i}": note for i, note in enumerate(self.notes)})
        if more != getattr(self, "_described", None):
            self._run.describe(more)
            self._described = more


def watch(
    model: nn.Module,
    every: int = 25,
    samples: int = 16,
    out: Place | None = None,
    *,
    plateau_level: float | None = None,
    scaler: Any = None,
    seed: int = 0,
) -> Watch:
    """Watches the attention of a model while you train it, head by head.

    ::

        with eureka.watch(model, out="runs/mine") as w:
            for x, y in batches:
                loss = step(x, y)
                w.step(loss=loss)  # now and then: val_accuracy=...

    The first step and every ``every``-th are looked at: ``samples`` samples of the first microbatch, in the training's
    own forward and backward pass, whose numbers stay what they are to the last bit. ``out`` becomes a run directory
    that ``eureka detect`` and ``eureka report`` read; when left out, a temporary one that goes with the watch.
    ``plateau_level`` is where the task is known to stall; ``scaler`` the GradScaler of a mixed-precision training, so
    that gradients are told without its factor.

    What could not be seen is in :attr:`Watch.notes`.
    """
    if not all(isinstance(one, Integral) and one >= 1 for one in (every, samples)):
        raise Error("every and samples are at least 1, and whole", "usage")
    refuse_meta(model)
    watch = Watch(model, every, samples, out, plateau_level, scaler, seed)
    if watch.writes and out is not None and (Path(out) / "metrics.jsonl").exists():
        raise Error("already holds a run", "output", str(out), "choose another place, or remove it")
    return watch
