"""Waiting times of two or more groups of runs, compared as ``eureka study`` does."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._error import Error
from ._given import finite, real

Interval = tuple[Optional[float], Optional[float]]


@dataclass(frozen=True)
class Paired:
    """The same pair (seed) in both arms."""

    pairs: int
    sooner: int
    later: int
    undecided: int
    sign_test_p: float
    signed_rank_p: float


@dataclass(frozen=True)
class Arm:
    """One group of runs, and how it compares with the baseline. What the data cannot tell is None."""

    name: str
    n: int
    events: int
    rate: float | None
    rate_interval: Interval
    median: float | None  #: Kaplan-Meier
    median_interval: Interval
    restricted_mean: float | None  #: a run without the event counts as the whole horizon
    restricted_mean_interval: Interval | None
    times: NDArray[np.float64]  #: of the survival curve's steps
    survival: NDArray[np.float64]
    survival_low: NDArray[np.float64]
    survival_high: NDArray[np.float64]
    log_rank_p: float | None
    log_rank_p_holm: float | None  #: corrected over the arms
    hazard_ratio: float | None  #: Cox; above 1: sooner than the baseline
    hazard_ratio_interval: Interval | None
    speedup: float | None  #: restricted mean of the baseline over the arm's
    speedup_interval: Interval | None
    paired: Paired | None
    verdict_kind: str
    verdict: str


@dataclass(frozen=True)
class Comparison:
    """What :func:`compare` found: the baseline, and every other arm against it."""

    baseline: Arm
    arms: list[Arm]
    horizon: float

    def __getitem__(self, name: str) -> Arm:
        for arm in [self.baseline, *self.arms]:
            if arm.name == name:
                return arm
        raise KeyError(name)

    def __str__(self) -> str:
        lines = [f"{self.baseline.name}: {self.baseline.events} of {self.baseline.n} (baseline)"]
        lines += [arm.verdict for arm in self.arms]
        return "\n".join(lines)

    def to_pandas(self) -> Any:
        """A data frame with a row for each arm; needs pandas."""
        import pandas

        curves = ("times", "survival", "survival_low", "survival_high", "paired")
        rows = [{k: v for k, v in vars(arm).items() if k not in curves} for arm in [self.baseline, *self.arms]]
        return pandas.DataFrame(rows).set_index("name")

    def plot(self, ax: Any = None) -> Any:
        """Draws the shares still without the event; needs matplotlib. Returns the axes."""
        from ._plot import plot_comparison

        return plot_comparison(self, ax)


def _arm(raw: dict[str, Any]) -> Arm:
    return Arm(**{**raw, "paired": Paired(**raw["paired"]) if raw["paired"] else None})


def compare(
    times: ArrayLike,
    happened: ArrayLike,
    group: Sequence[Hashable],
    pair: Sequence[Hashable] | None = None,
    *,
    baseline: Hashable | None = None,
    horizon: float | None = None,
    level: float = 0.95,
) -> Comparison:
    """Compares groups of runs by how long they waited for an event: one entry of each argument is one run.

    ``times``: when the event came, or until when it was waited for. ``happened``: whether it came. ``group``: the arm
    of the run; the first one met is the baseline unless ``baseline`` names it. ``pair``: what runs of different arms
    share, such as a seed. ``horizon``: the steps planned for every run; the longest time when left out.

    Kaplan-Meier curves, log-rank tests with Holm's correction, restricted means with bootstrap intervals, Cox' hazard
    ratio, paired tests and a verdict in words; docs/statistics.md tells what each number means.
    """
    at = real(times, "times", np.float64)
    came = real(happened, "happened", np.float64)
    if isinstance(group, str) or not hasattr(group, "__len__"):
        raise Error("group is no list of names, one for each run", "input")
    names = [str(one) for one in group]
    if at.ndim != 1 or came.shape != at.shape or len(names) != len(at) or (pair is not None and len(pair) != len(at)):
        raise Error("times, happened, group and pair differ in length: each entry is one run", "input")
    if len(at) == 0:
        raise Error("there are no runs to compare", "input")
    if not np.isfinite(at).all() or (at < 0).any():
        raise Error(
            "times must be finite and not negative", "input", hint="a run without the event has the time it was seen"
        )
    if not np.isin(came, (0, 1)).all():
        raise Error("happened must be true or false for each run", "input")
    if not 0 < (level := finite(level, "level")) < 1:
        raise Error(f"the level must be between 0 and 1, not {level:g}", "input", hint="level=0.95")
    order = list(dict.fromkeys(names))
    first = order[0] if baseline is None else str(baseline)
    if first not in order:
        raise Error(f"there is no group '{first}'", "input", hint=f"known: {', '.join(order)}")
    order.sort(key=lambda name: name != first)
    numbers: dict[Hashable, int] = {}
    runs: dict[str, list[tuple[float, bool, int]]] = {name: [] for name in order}
    for i, name in enumerate(names):
        key = i if pair is None else pair[i]
        if not isinstance(key, Hashable):
            raise Error(f"a pair is a number or a name, not {key!r:.60}", "input")
        runs[name].append((float(at[i]), bool(came[i]), numbers.setdefault(key, len(numbers))))
    for name, of_arm in runs.items():
        if len({run[2] for run in of_arm}) != len(of_arm):
            raise Error(f"two runs of '{name}' have the same pair", "input")
    end = float(at.max()) if horizon is None else finite(horizon, "the horizon")
    if not end > 0:
        raise Error("the horizon must be above 0", "input")
    raw = _core.compare(list(runs.items()), end, level, pair is not None)
    return Comparison(_arm(raw[0]), [_arm(one) for one in raw[1:]], end)
