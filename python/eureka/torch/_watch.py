"""What happens inside the attention of somebody's model while they train it."""

from __future__ import annotations

import contextlib
import math
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from .. import _core
from .._detect import Findings, _findings
from .._error import Error
from .._records import Place, Run
from ._call import Call, call_of
from ._intercept import MHA, SDPA, inside_multi_head_attention, plain_model, refuse_meta
from ._projections import Projections, projections_of
from ._provenance import Provenance, Weights
from ._rules import Rule
from ._seen import Seen, host, seen_of

_active: list[Watch] = []


def watching() -> Watch | None:
    """The watch that is taking a look at this moment."""
    return _active[-1] if _active else None


class WatchMode(TorchFunctionMode):
    """Inside the model, in steps that are looked at."""

    def __init__(self, watch: Watch) -> None:
        super().__init__()
        self.watch = watch

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Notes attention, and changes nothing."""
        kwargs = kwargs or {}
        watch = self.watch
        if watch.busy:
            return func(*args, **kwargs)
        if func is MHA:
            before, watch.folded_heads = watch.folded_heads, int(args[4] if len(args) > 4 else kwargs["num_heads"])
            try:
                return inside_multi_head_attention(self, func, args, kwargs)
            finally:
                watch.folded_heads = before
        out = func(*args, **kwargs)
        if func is SDPA:
            watch.saw(call_of(args, kwargs), Rule(), out)
        else:
            watch.provenance.note(func, args, kwargs, out, watch.place())
        return out


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
        self.busy = False
        self.folded_heads = 1
        self._scaler, self._seed, self._plateau_level = scaler, seed, plateau_level
        self._out = out
        self._run: Any = None
        self._writes = not (torch.distributed.is_available() and torch.distributed.is_initialized()) or (
            torch.distributed.get_rank() == 0
        )
        self._loss_sum: Tensor | float = 0.0
        self._losses = 0
        self._last_row: list[tuple[str, float]] = []
        self._open = False
        self._looking = False
        self._forget()

    # ---- the user's side

    def __enter__(self) -> Watch:
        if self._open:
            raise Error("this watch is open already", "usage")
        if any(getattr(module, "_eureka_watch", None) is not None for module in self.model.modules()):
            raise Error("this model is watched already", "usage", hint="one watch for a model at a time")
        self.model.__dict__["_eureka_watch"] = self
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
        self._end_look()
        self.model.__dict__.pop("_eureka_watch", None)
        self._open = False
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
        self.steps += 1
        if loss is not None:
            self._loss_sum = self._loss_sum + (loss.detach() if isinstance(loss, Tensor) else float(loss))
            self._losses += 1
        looked = self._looking
        seen: list[tuple[str, float]] = []
        if looked:
            seen = self._end_look()
            self.numbers = dict(seen)
        if looked or numbers:
            self._write(numbers, seen)
        if (self.steps + 1) % self.every == 0:
            self._begin_look()

    # ---- a look

    def _forget(self) -> None:
        self._stack: list[str] = []
        self._calls: dict[str, int] = {}
        self._order: list[str] = []
        self._seen: dict[str, Seen] = {}
        self._attended: set[str] = set()
        self._called: dict[str, str] = {}
        self._gradients: dict[nn.Parameter, Tensor] = {}
        self._hooks: list[Any] = []
        self._mode: Any = None
        self._stance: Any = None
        self.provenance = Provenance(self._found)

    def place(self) -> str:
        """The module that is being computed."""
        return self._stack[-1] if self._stack else ""

    def _begin_look(self) -> None:
        self._forget()
        self._looking = True
        for name, module in self.model.named_modules():
            self._hooks.append(module.register_forward_pre_hook(self._entering(name)))
            self._hooks.append(self._hook_exit(module))
        for parameter in self.model.parameters():
            if parameter.requires_grad and hasattr(parameter, "register_post_accumulate_grad_hook"):
                register: Any = parameter.register_post_accumulate_grad_hook
                self._hooks.append(register(self._keep_gradient))
        compiler = getattr(torch, "compiler", None)
        if "torch._dynamo" in sys.modules and hasattr(compiler, "set_stance"):
            # Compiled models run as they are written in this one step: nothing is compiled again.
            self._stance = torch.compiler.set_stance("force_eager")

    def _hook_exit(self, module: nn.Module) -> Any:
        try:
            return module.register_forward_hook(self._leaving, always_call=True)
        except TypeError:  # before PyTorch 2.0
            return module.register_forward_hook(self._leaving)

    def _entering(self, name: str) -> Callable[..., None]:
        def enter(module: nn.Module, _: Any) -> None:
            if not self._stack:
                self._calls.clear()
                if self._mode is None:
                    self._mode = WatchMode(self)
                    self._mode.__enter__()
                    _active.append(self)
            self._stack.append(name)
            if module.training and torch.is_grad_enabled():
                self._called[name] = type(module).__name__

        return enter

    def _leaving(self, *_: Any) -> None:
        if self._stack:
            self._stack.pop()
        if not self._stack:
            self._leave_mode()

    def _leave_mode(self) -> None:
        if self._mode is not None:
            self._mode.__exit__(None, None, None)
            self._mode = None
            _active.remove(self)
        self.provenance.clear()

    def _keep_gradient(self, parameter: Tensor) -> None:
        if parameter.dim() >= 2 and parameter.grad is not None and isinstance(parameter, nn.Parameter):
            self._gradients[parameter] = parameter.grad

    def _end_look(self) -> list[tuple[str, float]]:
        """Hooks go, and what was seen becomes numbers."""
        if not self._looking:
            return []
        self._looking = False
        self._leave_mode()
        for hook in self._hooks:
            hook.remove()
        self._hooks = []
        if self._stance is not None:
            self._stance.__exit__(None, None, None)
            self._stance = None
        seen = [self._seen[name] for name in self._order if name in self._seen]
        if not seen or not self._open or self.steps == 0:
            if self.steps > 0 and not self.layers and self._called and sys.exc_info()[0] is None:
                self._complain_of_nothing()
            self._forget()
            return []
        if not self.layers:
            self.layers = [one.name for one in seen]
        numbers = self._numbers([one for one in seen if one.name in self.layers])
        self._forget()
        return numbers

    def _complain_of_nothing(self) -> None:
        like = [f"{name} ({kind})" for name, kind in self._called.items() if "attention" in kind.lower()]
        raise Error(
            "no attention was seen in this model" + (f"; these look like it: {', '.join(like[:4])}" if like else ""),
            "usage",
            hint="attention is seen where it goes through scaled_dot_product_attention or a softmax over the last of "
            "three or more dimensions; flex_attention and hand-written kernels are not",
        )

    # ---- what the modes report

    def _is_training(self) -> bool:
        module = self.model if not self._stack else self.model.get_submodule(self._stack[-1])
        return module.training

    def _key(self, place: str) -> str:
        """A module that is computed more than once in a forward pass has a layer for each time."""
        number = self._calls[place] = self._calls.get(place, 0) + 1
        name = place or type(self.model).__name__
        return name if number == 1 else f"{name}#{number}"

    def saw(self, call: Call, rule: Rule, out: Tensor, place: str | None = None, folded: int | None = None) -> None:
        """One attention has been computed."""
        at = self.place() if place is None else place
        self._attended.add(at)
        if not self._is_training():
            return
        key = self._key(at)
        if not torch.is_grad_enabled():
            # The first pass of a checkpointed segment, whose second comes with the backward pass.
            if key not in self._order:
                self._order.append(key)
            return
        if key in self._seen:
            return
        if key not in self._order:
            self._order.append(key)
        self.busy = True
        try:
            heads = self.folded_heads if folded is None else folded
            with torch.no_grad():
                one = seen_of(key, call, rule, self.samples, heads)
            one.expect_gradient(out, heads)
            self._seen[key] = one
        except Exception as problem:
            self._note(f"{key}: {type(problem).__name__}: {problem}")
        finally:
            self.busy = False

    def _found(self, call: Call, weights: Weights, out: Tensor) -> None:
        self.saw(call, weights.rule, out, weights.module)

    @contextlib.contextmanager
    def cured(self, call: Call, rule: Rule) -> Iterator[Callable[[Tensor], None]]:
        """A cure computes attention; what it calls for that is not attention of the model's own."""
        before, self.busy = self.busy, True
        try:
            yield lambda out: self._saw_cured(call, rule, out)
        finally:
            self.busy = before

    def _saw_cured(self, call: Call, rule: Rule, out: Tensor) -> None:
        self.busy = False
        self.saw(call, rule, out)

    def weighed(self, z: Tensor, rule: Rule, weigh: Callable[[], Tensor]) -> Tensor:
        """A cure makes weights of logits that the model has computed by itself."""
        before, self.busy = self.busy, True
        try:
            weights = weigh()
        finally:
            self.busy = before
        self.provenance.put_weights(weights, z, rule, self.place())
        return weights

    # ---- numbers

    def _note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    def _numbers(self, seen: list[Seen]) -> list[tuple[str, float]]:
        loss_scale = float(self._scaler.get_scale()) if self._scaler is not None else 1.0
        numbers: list[tuple[str, float]] = []
        for one in seen:
            layer = self.layers.index(one.name)
            for note in one.notes:
                self._note(f"{one.name}: {note}")
            if one.d_out is None:
                self._note(f"{one.name}: no gradient came through it")
            try:
                numbers += one.numbers(layer, loss_scale)
            except Error as problem:
                self._note(f"{one.name}: {problem.what}")
        self._name_the_unseen()
        numbers.sort(key=lambda number: ("attention", "jacobian", "attenuation").index(number[0].split("/")[0]))
        return self._projection_numbers(seen, loss_scale) + numbers

    def _name_the_unseen(self) -> None:
        for name in self.provenance.lost:
            self._note(f"{name}: a softmax over logits whose queries and keys were not found")
        parents = {at[:i] for at in self._attended for i in range(len(at) + 1) if i == len(at) or at[i] == "."}
        for name, kind in self._called.items():
            inside = any(name == at or name.startswith(f"{at}.") for at in self._attended)
            if "attention" in kind.lower() and name not in parents and not inside:
                self._note(f"{name} ({kind}): it was computed, but no attention was seen in it")

    def _projections(self, one: Seen) -> tuple[str, Projections | None]:
        """Of the module that computes it, or the one around that."""
        place = one.name.split("#")[0]
        widths = (
            one.heads * one.q.shape[3],
            one.key_heads * one.k.shape[3],
            one.key_heads * one.v.shape[3],
        )
        named = dict(self.model.named_modules())
        for name in (place, place.rpartition(".")[0]):
            if name in named:
                found = projections_of(named[name], widths)
                if found is not None:
                    return name, found
        return place, None

    def _projection_numbers(self, seen: list[Seen], loss_scale: float) -> list[tuple[str, float]]:
        """The numbers of `gradients` for W_Q, W_K and W_V where they can be told apart."""
        parts = []
        self.gradients_of: dict[str, str] = {}
        for one in seen:
            _, projections = self._projections(one)
            layer = self.layers.index(one.name)
            if projections is None:
                self.gradients_of[one.name] = "its queries, keys and values themselves (attenuation/d_q, d_k, d_v)"
                continue
            self.gradients_of[one.name] = projections.said
            for part, (parameter, _, _) in projections.parts.items():
                gradient = self._gradients.get(parameter, parameter.grad)
                if gradient is None:
                    break
                weights = host(projections.of(part, parameter))
                heads = one.heads if part == "q" else weights.shape[0] // (one.k if part == "k" else one.v).shape[3]
                of_part = host(projections.of(part, gradient)) / np.float32(loss_scale)
                parts.append((layer, part, heads, weights, of_part))
        complete = {layer for layer, *_ in parts if sum(one[0] == layer for one in parts) == 3}
        return _core.gradients([one for one in parts if one[0] in complete])

    # ---- the run directory

    def _write(self, numbers: dict[str, Any], seen: list[tuple[str, float]]) -> None:
        if not self._writes:
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
        from ._cure import cure_of

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
    that ``eureka detect`` and ``eureka report`` read; a temporary one when left out. ``plateau_level`` is where the
    task is known to stall; ``scaler`` the GradScaler of a mixed-precision training, so that gradients are told without
    its factor.

    What could not be seen is in :attr:`Watch.notes`.
    """
    if every < 1 or samples < 1:
        raise Error("every and samples are at least 1", "usage")
    refuse_meta(model)
    if out is not None and (Path(out) / "metrics.jsonl").exists():
        raise Error("already holds a run", "output", str(out), "choose another place, or remove it")
    return Watch(model, every, samples, out, plateau_level, scaler, seed)
