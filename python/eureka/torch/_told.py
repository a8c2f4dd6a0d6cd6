"""What was met in a step as numbers under their names in metrics.jsonl, and as sentences about what was not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _core
from .._error import Error
from ._met import Met
from ._projections import Projections, projections_of
from ._seen import Seen, host


def told(
    met: Met, seen: list[Seen], layers: list[str], loss_scale: float, note: Callable[[str], None]
) -> tuple[list[tuple[str, float]], dict[str, str]]:
    """The numbers of each layer, and which gradients `gradients` tells of it."""
    numbers: list[tuple[str, float]] = []
    for one in seen:
        for text in one.notes:
            note(f"{one.name}: {text}")
        if one.d_out is None:
            note(f"{one.name}: no gradient came through it")
        try:
            numbers += one.numbers(layers.index(one.name), loss_scale)
        except Error as problem:
            note(f"{one.name}: {problem.what}")
    for text in unseen(met):
        note(text)
    numbers.sort(key=lambda number: ("attention", "jacobian", "attenuation").index(number[0].split("/")[0]))
    of_projections, gradients_of = _projection_numbers(met, seen, layers, loss_scale, note)
    return of_projections + numbers, gradients_of


def unseen(met: Met) -> list[str]:
    """A sentence for each module that has attention, or looks like it, and in which none was seen."""
    sentences = [
        f"{name}: a softmax over logits whose queries and keys were not found" for name in sorted(met.provenance.lost)
    ]
    sentences += [f"{name or 'the model'}: attention by {how} is not seen" for name, how in met.passed_over.items()]
    known = [*met.attended, *met.passed_over]
    parents = {at[:i] for at in known for i in range(len(at) + 1) if i == len(at) or at[i] == "."}
    for name, kind in met.called.items():
        inside = any(name == at or name.startswith(f"{at}.") for at in met.attended)
        if "attention" in kind.lower() and name not in parents and not inside:
            sentences.append(f"{name} ({kind}): it was computed, but no attention was seen in it")
    return sentences


def complaint_of_nothing(met: Met) -> Error:
    """No attention at all."""
    like = [f"{name or 'the model'} ({how})" for name, how in met.passed_over.items()]
    like += [f"{name} ({kind})" for name, kind in met.called.items() if "attention" in kind.lower()]
    return Error(
        "no attention was seen in this model" + (f"; these look like it: {', '.join(like[:4])}" if like else ""),
        "usage",
        hint="attention is seen where it goes through scaled_dot_product_attention or a softmax over the last of "
        "three or more dimensions; flex_attention and hand-written kernels are not",
    )


def _projections(met: Met, one: Seen) -> Projections | None:
    """Of the module that computes it, or the one around that."""
    place = one.name.split("#")[0]
    widths = (
        one.heads * one.q.shape[3],
        one.key_heads * one.k.shape[3],
        one.key_heads * one.v.shape[3],
    )
    named = dict(met.model.named_modules())
    for name in (place, place.rpartition(".")[0]):
        found = projections_of(named[name], widths) if name in named else None
        if found is not None:
            return found
    return None


def _are_gone(met: Met, one: Seen, parameters: list[Any]) -> bool:
    """A gradient came through the layer, and nothing is left of those of its projections: zero_grad() was faster."""
    if one.d_out is None or not one.d_out.any() or not all(parameter.requires_grad for parameter in parameters):
        return False
    left = [met.gradients.get(parameter, parameter.grad) for parameter in parameters]
    return not any(gradient is not None and bool(gradient.any()) for gradient in left)


def _projection_numbers(
    met: Met, seen: list[Seen], layers: list[str], loss_scale: float, note: Callable[[str], None]
) -> tuple[list[tuple[str, float]], dict[str, str]]:
    """The numbers of `gradients` for W_Q, W_K and W_V where they can be told apart."""
    parts: list[tuple[int, str, int, Any, Any]] = []
    gradients_of: dict[str, str] = {}
    for one in seen:
        projections = _projections(met, one)
        layer = layers.index(one.name)
        gone = projections is not None and _are_gone(met, one, [entry[0] for entry in projections.parts.values()])
        if gone:
            note(f"{one.name}: gradients of W_Q, W_K and W_V were zeroed before w.step(): call it before zero_grad()")
        if projections is None or gone:
            gradients_of[one.name] = "its queries, keys and values themselves (attenuation/d_q, d_k, d_v)"
            continue
        gradients_of[one.name] = projections.said
        for part, (parameter, _, _) in projections.parts.items():
            gradient = met.gradients.get(parameter, parameter.grad)
            if gradient is None:
                break
            weights = host(projections.of(part, parameter))
            heads = one.heads if part == "q" else weights.shape[0] // (one.k if part == "k" else one.v).shape[3]
            of_part = host(projections.of(part, gradient)) / np.float32(loss_scale)
            parts.append((layer, part, heads, weights, of_part))
    complete = {layer for layer, *_ in parts if sum(one[0] == layer for one in parts) == 3}
    return _core.gradients([one for one in parts if one[0] in complete]), gradients_of
