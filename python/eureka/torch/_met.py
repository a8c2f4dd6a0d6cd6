"""What is met of attention in one step of somebody's training: hooks, a mode, and gradients as they come."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from ._call import Call, call_of
from ._intercept import MHA, SDPA, inside_multi_head_attention
from ._provenance import Provenance, Weights
from ._rules import Rule
from ._seen import Seen, seen_of

_active: list[Met] = []


def meeting() -> Met | None:
    """Who notes attention at this moment."""
    return _active[-1] if _active else None


class WatchMode(TorchFunctionMode):
    """Inside the model, in steps that are looked at."""

    def __init__(self, met: Met) -> None:
        super().__init__()
        self.met = met

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Notes attention, and changes nothing."""
        kwargs = kwargs or {}
        met = self.met
        if met.busy:
            return func(*args, **kwargs)
        if func is MHA:
            with met.folding(args, kwargs):
                return inside_multi_head_attention(self, func, args, kwargs)
        out = func(*args, **kwargs)
        if getattr(func, "__name__", "") == "flex_attention":
            met.passed_over[met.place()] = "flex_attention"
        elif func is SDPA:
            met.saw(call_of(args, kwargs), Rule(), out)
        else:
            met.provenance.note(func, args, kwargs, out, met.place())
        return out


class Met:
    """One step: from its making, which puts hooks into the model, to :meth:`end`, which takes them out again."""

    def __init__(self, model: nn.Module, samples: int, note: Callable[[str], None]) -> None:
        self.model, self.samples, self._note = model, samples, note
        self.attended: set[str] = set()  #: modules in which attention was computed
        self.passed_over: dict[str, str] = {}  #: modules whose attention is known to be there, and what computes it
        self.called: dict[str, str] = {}  #: modules that were computed in training, and their classes
        self.gradients: dict[nn.Parameter, Tensor] = {}  #: as they were accumulated
        self.busy = False
        self.folded_heads = 1
        self.provenance = Provenance(self._found)
        self._stack: list[str] = []
        self._calls: dict[str, int] = {}
        self._order: list[str] = []
        self._seen: dict[str, Seen] = {}
        self._names = {id(module): name for name, module in model.named_modules()}
        self._hooks: list[Any] = []
        self._mode: Any = None
        self._stance: Any = None
        self._filter: Any = None
        self._put_hooks()

    def end(self) -> list[Seen]:
        """The model is as it was; each attention in the order in which it was computed."""
        self._leave_mode()
        for hook in self._hooks:
            hook.remove()
        self._hooks = []
        if self._stance is not None:
            self._stance.__exit__(None, None, None)
            self._stance = None
            filters: Any = warnings.filters
            with contextlib.suppress(ValueError):  # somebody else has put them back
                filters.remove(self._filter)
        return [self._seen[name] for name in self._order if name in self._seen]

    def place(self) -> str:
        """The module that is being computed."""
        return self._stack[-1] if self._stack else ""

    def _put_hooks(self) -> None:
        # On all modules there are, and not on the model's own: a copy that is made or saved meanwhile has none of them.
        every = nn.modules.module
        self._hooks.append(every.register_module_forward_pre_hook(self._entering))
        try:
            self._hooks.append(every.register_module_forward_hook(self._leaving, always_call=True))
        except TypeError:  # before PyTorch 2.1
            self._hooks.append(every.register_module_forward_hook(self._leaving))
        for parameter in self.model.parameters():
            if parameter.requires_grad and hasattr(parameter, "register_post_accumulate_grad_hook"):
                register: Any = parameter.register_post_accumulate_grad_hook
                self._hooks.append(register(self._keep_gradient))
        if hasattr(getattr(torch, "compiler", None), "set_stance"):
            # Compiled models run as they are written in this one step: nothing is compiled again.
            self._stance = torch.compiler.set_stance("force_eager")
            # They would warn of hooks on all modules.
            warnings.filterwarnings("ignore", "Using `torch.compile.module.` when there are global hooks", UserWarning)
            self._filter = warnings.filters[0]

    def _entering(self, module: nn.Module, _: Any) -> None:
        name = self._names.get(id(module))
        if name is None:
            return
        training, gradients = module.training, torch.is_grad_enabled()
        if not self._stack:
            # Evaluation takes ways of its own through PyTorch, which a mode would close.
            if not training and not gradients:
                return
            self._calls.clear()
            if self._mode is None:
                self._mode = WatchMode(self)
                self._mode.__enter__()
                _active.append(self)
        self._stack.append(name)
        if training and gradients:
            self.called[name] = type(module).__name__

    def _leaving(self, module: nn.Module, *_: Any) -> None:
        if id(module) not in self._names:
            return
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
            self.gradients[parameter] = parameter.grad

    def _is_training(self) -> bool:
        module = self.model if not self._stack else self.model.get_submodule(self._stack[-1])
        return module.training

    def _key(self, place: str) -> str:
        """A module that is computed more than once in a forward pass has a layer for each time."""
        number = self._calls[place] = self._calls.get(place, 0) + 1
        name = place or type(self.model).__name__
        return name if number == 1 else f"{name}#{number}"

    def saw(self, call: Call, rule: Rule, out: Tensor, place: str | None = None) -> None:
        """One attention has been computed."""
        at = self.place() if place is None else place
        self.attended.add(at)
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
            with torch.no_grad():
                one = seen_of(key, call, rule, self.samples, self.folded_heads)
            one.expect_gradient(out, self.folded_heads)
            self._seen[key] = one
        except Exception as problem:
            self._note(f"{key}: {type(problem).__name__}: {problem}")
        finally:
            self.busy = False

    def _found(self, call: Call, weights: Weights, out: Tensor) -> None:
        self.saw(call, weights.rule, out, weights.module)

    @contextlib.contextmanager
    def folding(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[None]:
        """Inside `multi_head_attention_forward`, which folds heads into samples where it computes weights by itself."""
        before, self.folded_heads = self.folded_heads, int(args[4] if len(args) > 4 else kwargs["num_heads"])
        try:
            yield
        finally:
            self.folded_heads = before

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
