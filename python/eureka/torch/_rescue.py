"""The paired study of somebody's own training: whether a cure makes it learn sooner."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import nn

from .._compare import Comparison, compare
from .._detect import Findings, detect
from .._error import Error
from ._cure import AttentionCure, cure


@dataclass(frozen=True)
class Rescue:
    """What :func:`rescue` found: a curve for each arm and seed, and how the arms compare."""

    comparison: Comparison
    findings: dict[tuple[str, int], Findings]

    @property
    def verdict(self) -> str:
        """In words, for each cure."""
        return "\n".join(arm.verdict for arm in self.comparison.arms)

    def __str__(self) -> str:
        arms = [self.comparison.baseline, *self.comparison.arms]
        lines = [f"{arm.name:>16}  moments {arm.events}/{arm.n}  median step {_number(arm.median)}" for arm in arms]
        return "\n".join([*lines, self.verdict])


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.0f}"


def _curve(result: Any) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    if isinstance(result, tuple) and len(result) == 2:
        steps, values = result
        return np.asarray(steps, dtype=float), np.asarray(values, dtype=float)
    values = np.asarray(result, dtype=float)
    return np.arange(1, len(values) + 1, dtype=float), values


def rescue(
    make_run: Callable[..., Any],
    cures: str | Mapping[str, Mapping[str, Any]] | Iterable[str] = "norm_softmax",
    seeds: Iterable[int] = range(10),
    *,
    direction: str = "up",
    plateau_level: float | None = None,
    horizon: float | None = None,
    show: bool = False,
) -> Rescue:
    """Trains your own model with and without a cure over the same seeds, and says whether the cure helps.

    ``make_run(seed, cured)`` makes the model and the data from the seed, calls ``cured(model)`` once before it trains,
    and returns the curve: values, or ``(steps, values)``. ``cured`` puts the cure of the arm into the model (and
    returns it, for rules with a schedule; None in the arm without). Seed by seed all arms see the same, which is up to
    ``make_run``.

    ``cures`` is a name, names, or a mapping from an arm's name to ``{"rule": ..., its options}``. ``direction`` is
    "down" where the curve is a loss. A run without a moment counts as waiting until ``horizon`` (the end of the longest
    curve when left out). ``show`` prints a line for each run.
    """
    if len(inspect.signature(make_run).parameters) < 2:
        raise Error("make_run takes a seed and a function", "usage", hint="def make_run(seed, cured): ...")
    if isinstance(cures, str):
        cures = [cures]
    arms: dict[str, Mapping[str, Any] | None] = {"as it is": None}
    if isinstance(cures, Mapping):
        arms.update(cures)
    else:
        arms.update({name: {"rule": name} for name in cures})
    rows: list[tuple[float, bool, str, int]] = []
    findings: dict[tuple[str, int], Findings] = {}
    for seed in seeds:
        for name, how in arms.items():
            found = _one(make_run, seed, how, direction, plateau_level)
            findings[name, seed] = found
            moment = found.moments[0].step if found.moments else None
            end = float(found.steps[-1]) if len(found.steps) else 0.0
            rows.append((end if moment is None else moment, moment is not None, name, seed))
            if show:
                print(
                    f"seed {seed}, {name}: {'no moment' if moment is None else f'moment at {moment:.0f}'}", flush=True
                )
    if not rows:
        raise Error("there are no seeds", "usage")
    ends = max(float(found.steps[-1]) for found in findings.values() if len(found.steps))
    times, happened, group, pair = zip(*rows)
    comparison = compare(
        times, happened, group, pair, baseline="as it is", horizon=ends if horizon is None else horizon
    )
    result = Rescue(comparison, findings)
    if show:
        print(result)
    return result


def _one(
    make_run: Callable[..., Any],
    seed: int,
    how: Mapping[str, Any] | None,
    direction: str,
    plateau_level: float | None,
) -> Findings:
    made: list[AttentionCure] = []
    asked: list[nn.Module] = []

    def cured(model: nn.Module) -> AttentionCure | None:
        asked.append(model)
        if how is None:
            return None
        made.append(cure(model, **how))
        return made[-1]

    try:
        steps, values = _curve(make_run(seed, cured))
    finally:
        for one in made:
            one.remove()
    if not asked:
        raise Error("make_run never called cured(model): both arms were the same", "usage")
    if made and all(one.calls == 0 for one in made):
        raise Error(
            "no attention of the model went through the cure", "usage", hint="eureka.watch tells what can be seen of it"
        )
    return detect(values, steps, direction=direction, plateau_level=plateau_level)
