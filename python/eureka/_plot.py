"""Figures with the looks of Eureka's reports; matplotlib is imported when one is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._error import Error

if TYPE_CHECKING:
    from ._compare import Comparison
    from ._detect import Findings
    from ._look import Look
    from ._records import Study

# Those of src/figure/palette.cpp.
INK, MUTED, GRID, PLATEAU, MOMENT = "#1b1e23", "#5a626e", "#e3e6ea", "#d98e04", "#a62b6f"
SERIES = ("#0072b2", "#d55e00", "#008a63", "#b85c94", "#3a9bd9", "#c98a00", "#7a7a1f")


def _axes(ax: Any) -> Any:
    if ax is None:
        try:
            from matplotlib import pyplot
        except ImportError:
            raise Error("plots need matplotlib", "failed", hint="pip install matplotlib") from None
        ax = pyplot.subplots(figsize=(7.2, 3.6))[1]
    ax.grid(True, color=GRID, linewidth=0.8)
    ax.set_axisbelow(True)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color(MUTED)
    ax.tick_params(colors=MUTED)
    return ax


def plot_findings(findings: Findings, ax: Any) -> Any:
    """A curve with its plateaus and moments."""
    ax = _axes(ax)
    ax.plot(findings.steps, findings.values, color=SERIES[0], linewidth=1.6)
    for plateau in findings.plateaus:
        ax.plot([plateau.start, plateau.end], [plateau.level] * 2, color=PLATEAU, linewidth=4, alpha=0.55)
    for moment in findings.moments:
        ax.axvline(moment.step, color=MOMENT, linestyle=":", linewidth=1.6, label=f"moment at {moment.step:.0f}")
    ax.set_xlabel("step", color=INK)
    if findings.moments:
        ax.legend(frameon=False)
    return ax


def _survival(ax: Any, name: str, color: str, steps: list[tuple[float, float, float, float]], end: float) -> None:
    times = np.array([0.0] + [step[0] for step in steps] + [max(end, steps[-1][0] if steps else 0.0)])
    rows = np.array([[1.0, 1.0, 1.0]] + [list(step[1:]) for step in steps])
    rows = np.vstack([rows, rows[-1:]])
    ax.step(times, rows[:, 0], where="post", color=color, linewidth=1.8, label=name)
    ax.fill_between(times, rows[:, 1], rows[:, 2], step="post", color=color, alpha=0.12, linewidth=0)


def _finish_survival(ax: Any) -> Any:
    ax.set_ylim(-0.02, 1.02)
    ax.set_xlabel("step", color=INK)
    ax.set_ylabel("share still without it", color=INK)
    ax.legend(frameon=False)
    return ax


def plot_comparison(comparison: Comparison, ax: Any) -> Any:
    """Kaplan-Meier curves of all arms."""
    ax = _axes(ax)
    for i, arm in enumerate([comparison.baseline, *comparison.arms]):
        steps = list(zip(arm.times, arm.survival, arm.survival_low, arm.survival_high))
        _survival(ax, arm.name, SERIES[i % len(SERIES)], steps, comparison.horizon)
    return _finish_survival(ax)


def plot_study(study: Study, ax: Any) -> Any:
    """Kaplan-Meier curves of a study's arms at its first point."""
    ax = _axes(ax)
    end = float(study.points[0]["budget"])
    for i, arm in enumerate(arm for arm in study.arms if arm["point"] == 0):
        steps = [(s["step"], s["share"], s["low"], s["high"]) for s in arm["survival"]]
        _survival(ax, str(arm["name"]), SERIES[i % len(SERIES)], steps, end)
    return _finish_survival(ax)


def plot_weights(look: Look, ax: Any) -> Any:
    """The weights of the first sample's first head."""
    ax = _axes(ax)
    ax.grid(False)
    image = ax.imshow(look.tensors["weights"][0, 0], cmap="Blues", vmin=0, aspect="auto", interpolation="nearest")
    ax.figure.colorbar(image, ax=ax)
    ax.set_xlabel("key", color=INK)
    ax.set_ylabel("query", color=INK)
    return ax
