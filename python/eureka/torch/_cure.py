"""Another attention rule in somebody's model, without a change of its code."""

from __future__ import annotations

import contextlib
import copyreg
import functools
import weakref
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from .._error import Error
from ._call import HIDDEN, Call, call_of
from ._intercept import (
    BADDBMM,
    EINSUM,
    MHA,
    PRODUCTS,
    SDPA,
    inside_multi_head_attention,
    is_attention_softmax,
    overlapping,
    plain_model,
    refuse_meta,
)
from ._met import meeting
from ._rules import HeatTreatment, Rule, rule_of

_CURE = "_eureka_cure"
#: By which Lightning computes a module, beside its `forward`.
_STEPS = ("training_step", "validation_step", "test_step", "predict_step")
_cured: weakref.WeakSet[nn.Module] = weakref.WeakSet()


def attend_by(rule: Rule, call: Call) -> Tensor:
    """Attention by a rule, which a watch is told of."""
    met = meeting()
    if met is None:
        return rule.attend(call, SDPA)
    with met.cured(call, rule) as seen:
        out = rule.attend(call, SDPA)
        seen(out)
    return out


class CureMode(TorchFunctionMode):
    """Inside the modules that are cured: attention by the rule."""

    def __init__(self, cure: AttentionCure) -> None:
        super().__init__()
        self.cure = cure
        self.width: int | None = None

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Passes on all but attention."""
        kwargs = kwargs or {}
        if func is SDPA:
            self.cure.calls += 1
            return attend_by(self.cure.rule, call_of(args, kwargs))
        if func is MHA:
            met = meeting()
            with contextlib.nullcontext() if met is None else met.folding(args, kwargs):
                return inside_multi_head_attention(self, func, args, kwargs)
        if is_attention_softmax(func, args, kwargs):
            self.cure.calls += 1
            return self._weigh(func, args, kwargs)
        if func in PRODUCTS or func in BADDBMM or func is EINSUM:
            self._note_width(func, args)
        return func(*args, **kwargs)

    def _weigh(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
        rule = self.cure.rule
        z = args[0] if args else kwargs["input"]
        if rule.needs_queries():
            raise Error(
                f"{rule.name} needs queries and keys, and this model computes its logits by itself",
                "usage",
                hint="let it use scaled_dot_product_attention (Hugging Face: attn_implementation='sdpa')",
            )
        if self.width is None:
            raise Error(
                "a softmax was met before any product of queries and keys", "usage", hint="name the layers to cure"
            )

        def weigh() -> Tensor:
            exact = z if z.dtype == torch.float64 else z.float()
            visible = exact > HIDDEN
            scale = self.width**-0.5  # type: ignore[operator]
            weights = rule.weights(exact.masked_fill(~visible, 0.0), visible, self.width or 1, scale)
            return weights.to(kwargs.get("dtype") or z.dtype)

        met = meeting()
        return weigh() if met is None else met.weighed(z, rule, weigh)

    def _note_width(self, func: Any, args: tuple[Any, ...]) -> None:
        """Of a head: what queries and keys were summed over, last before the softmax."""
        left = args[1] if func in BADDBMM or func is EINSUM else args[0]
        if isinstance(left, Tensor) and left.dim() >= 3:
            self.width = left.shape[-1]


class AttentionCure:
    """A rule in force in a model: a context, or for good until :meth:`remove`."""

    def __init__(self, model: nn.Module | None, rule: Rule, modules: list[nn.Module]) -> None:
        self.model = model
        self.rule = rule
        self.calls = 0  #: attention computed by the rule so far
        self._modules: list[nn.Module] = []
        self._steps = 0
        self._in_step = False
        self._mode = CureMode(self)
        for module in modules:
            self._put_into(module, type(module))

    def __reduce__(self) -> Any:
        # Modules that are loaded put themselves under it: see _loaded.
        return _again, (self.rule, self._steps)

    def __deepcopy__(self, memo: Any) -> AttentionCure:
        # A copy of a cured model is cured by the same.
        return self

    def _class_of(self, original: type[nn.Module]) -> type[nn.Module]:
        mode = self._mode

        @functools.wraps(original.forward)
        def forward(this: Any, *args: Any, **kwargs: Any) -> Any:
            if self._in_step:
                return original.forward(this, *args, **kwargs)
            with mode:
                return original.forward(this, *args, **kwargs)

        def reduce(this: Any, protocol: Any) -> Any:
            # Pickle finds no class that was made here; its own, and the cure with it, can be found.
            reduced: Any = original.__reduce_ex__(this, protocol)
            made_anew = reduced[0] is copyreg.__newobj__  # type: ignore[attr-defined]
            return (_loaded, (original, self), *reduced[2:]) if made_anew else reduced

        methods: dict[str, Any] = {"forward": forward, "__reduce_ex__": reduce, _CURE: self}
        methods.update(
            {name: self._stepping(getattr(original, name), mode) for name in _STEPS if hasattr(original, name)}
        )
        return type(original.__name__, (original,), methods)

    def _put_into(self, module: nn.Module, original: type[nn.Module]) -> None:
        # A class of its own, and not a function in the module: a deep copy must run its own layers.
        module.__class__ = self._class_of(original)
        self._modules.append(module)
        _cured.add(module)

    def _stepping(self, method: Any, mode: CureMode) -> Any:
        """A step that may compute the layers with or without the module's own `forward`."""

        @functools.wraps(method)
        def stepping(this: Any, *args: Any, **kwargs: Any) -> Any:
            self._in_step = True
            try:
                with mode:
                    return method(this, *args, **kwargs)
            finally:
                self._in_step = False

        return stepping

    def step(self) -> None:
        """One update has been done: for a rule with a schedule."""
        self._steps += 1
        if isinstance(self.rule, HeatTreatment):
            self.rule.go_to(self._steps)

    def remove(self) -> None:
        """The model is as it was."""
        for module in self._modules:
            module.__class__ = type(module).__bases__[0]
            _cured.discard(module)
        self._modules.clear()

    def __enter__(self) -> AttentionCure:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


def _again(rule: Rule, steps: int) -> AttentionCure:
    """A cure that was saved with its model."""
    cure = AttentionCure(None, rule, [])
    cure._steps = steps
    return cure


def _loaded(original: type[nn.Module], cure: AttentionCure) -> nn.Module:
    """A cured module before its state comes: of a file, or of a copy, which its cure does not hold on to."""
    module: nn.Module = original.__new__(original)
    if cure.model is None:
        cure._put_into(module, original)
    else:
        module.__class__ = cure._class_of(original)
    return module


def _refuse_twice(modules: list[nn.Module]) -> None:
    """A call of attention has one rule."""
    for i, module in enumerate(modules):
        if (other := overlapping(module, _cured)) is not None:
            raise Error(f"a cure is in force in {type(other).__name__} already", "usage", hint="remove() it first")
        if (other := overlapping(module, modules[:i])) is not None:
            raise Error(f"layers name {type(other).__name__} twice, or a part of it too", "usage")


def cure_of(module: nn.Module) -> AttentionCure | None:
    """The cure in force in a module, if there is one."""
    found = getattr(type(module), _CURE, None)
    return found if isinstance(found, AttentionCure) else None


def _modules_of(model: nn.Module, layers: Iterable[str] | str | None) -> list[nn.Module]:
    if layers is None:
        return [model]
    named = dict(model.named_modules())
    chosen = []
    for name in map(str, [layers] if isinstance(layers, str) else layers):
        if name not in named:
            near = [one for one in named if one.endswith(name) or name in one][:6]
            raise Error(
                f"the model has no module '{name}'", "usage", hint=f"did you mean {', '.join(near)}?" if near else ""
            )
        chosen.append(named[name])
    if not chosen:
        raise Error("layers names no module", "usage", hint="leave it out for all of the model")
    return chosen


def cure(
    model: nn.Module, rule: str | Rule = "norm_softmax", layers: Iterable[str] | str | None = None, **options: Any
) -> AttentionCure:
    """Puts another attention rule into a model: ``with eureka.cure(model, "norm_softmax"): train()``.

    Without ``with`` it stays until :meth:`AttentionCure.remove`. ``layers`` are names of modules
    (``model.named_modules()``); all of the model when left out. Parameters, state_dict and the code of the model stay
    as they are.

    Rules: norm_softmax (``deviation="variance"``), scale (``multiple=16``), heat_treatment (``steps=10000``,
    ``start=24``; call :meth:`AttentionCure.step` after each update), qk_norm (``norm="rms"``), sigmoid, softmax_one,
    scalable_softmax, entmax15. Attention must go through ``scaled_dot_product_attention`` or a softmax over the last
    dimension; qk_norm needs the former.
    """
    made = rule_of(rule, options)
    refuse_meta(model)
    target = plain_model(model)
    modules = _modules_of(target, layers)
    _refuse_twice(modules)
    return AttentionCure(target, made, modules)


def attention_function(rule: str | Rule, **options: Any) -> Any:
    """A function for Hugging Face's AttentionInterface that computes attention by a rule."""
    made = rule_of(rule, options)

    def forward(
        module: nn.Module,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attention_mask: Tensor | None,
        scaling: float | None = None,
        dropout: float = 0.0,
        is_causal: bool | None = None,
        **_: Any,
    ) -> tuple[Tensor, None]:
        if is_causal is None:
            is_causal = bool(getattr(module, "is_causal", True))
        if attention_mask is not None:
            attention_mask = attention_mask[..., : key.shape[-2]]
        causal = bool(is_causal) and attention_mask is None and query.shape[-2] > 1
        call = Call(
            query,
            key,
            value,
            attention_mask,
            dropout,
            causal,
            query.shape[-1] ** -0.5 if scaling is None else float(scaling),
            grouped=key.shape[-3] != query.shape[-3],
        )
        out = attend_by(made, call)
        return out.transpose(1, 2).contiguous(), None

    return forward


HUGGING_FACE_NAMES = (
    "norm_softmax",
    "scale",
    "qk_norm",
    "sigmoid",
    "softmax_one",
    "scalable_softmax",
    "entmax15",
)


def register_with_transformers() -> list[str]:
    """Makes the rules known to Hugging Face: ``attn_implementation="eureka_norm_softmax"``. Returns the names."""
    from transformers import AttentionInterface
    from transformers.masking_utils import AttentionMaskInterface, sdpa_mask

    names = []
    for name in HUGGING_FACE_NAMES:
        registered = f"eureka_{name}"
        AttentionInterface.register(registered, attention_function(name))
        AttentionMaskInterface.register(registered, sdpa_mask)
        names.append(registered)
    return names
