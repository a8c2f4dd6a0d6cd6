"""Plateaus and sudden rises in one curve."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._error import Error
from ._given import number, real


@dataclass(frozen=True)
class Plateau:
    """A stretch on which nothing is learned."""

    start: float
    end: float
    level: float


@dataclass(frozen=True)
class Moment:
    """A sudden rise (or fall, of a loss) off a plateau that holds."""

    step: float  #: half-way between the levels
    rise_start: float  #: 10% of the way
    rise_end: float  #: 90% of the way
    before: float  #: level of the plateau it leaves
    after: float
    score: float  #: 0 to 1: how sure
    plateau: Plateau


@dataclass(frozen=True)
class FirstRise:
    """The way from where the curve starts to a known plateau: no moment."""

    step: float
    rise_start: float
    rise_end: float
    before: float
    after: float


@dataclass(frozen=True)
class UnderWay:
    """A sudden rise that had begun when the curve ended."""

    rise_start: float
    before: float
    reached: float
    plateau: Plateau
    kind: str  #: "moment" or "grokking"


@dataclass(frozen=True)
class Findings:
    """What the detector found in a curve."""

    plateaus: list[Plateau]
    moments: list[Moment]
    groks: list[Moment]  #: rises of validation long after training was solved: no moments
    first_rise: FirstRise | None
    under_way: UnderWay | None
    steps: NDArray[np.float64]
    values: NDArray[np.float64]
    direction: str

    @property
    def moment(self) -> Moment | None:
        """The largest moment, or None."""
        return max(self.moments, key=lambda m: abs(m.after - m.before)) if self.moments else None

    def plot(self, ax: Any = None) -> Any:
        """Draws the curve with its plateaus and moments; needs matplotlib. Returns the axes."""
        from ._plot import plot_findings

        return plot_findings(self, ax)


def _moment(raw: dict[str, Any]) -> Moment:
    return Moment(**{**raw, "plateau": Plateau(**raw["plateau"])})


def _findings(raw: dict[str, Any], steps: NDArray[np.float64], values: NDArray[np.float64], direction: str) -> Findings:
    under_way = raw["under_way"]
    return Findings(
        plateaus=[Plateau(**one) for one in raw["plateaus"]],
        moments=[_moment(one) for one in raw["moments"]],
        groks=[_moment(one) for one in raw["groks"]],
        first_rise=FirstRise(**raw["first_rise"]) if raw["first_rise"] else None,
        under_way=UnderWay(**{**under_way, "plateau": Plateau(**under_way["plateau"])}) if under_way else None,
        steps=steps,
        values=values,
        direction=direction,
    )


def _numbers(values: ArrayLike, what: str) -> NDArray[np.float64]:
    array = real(values, what, np.float64)
    if array.ndim != 1:
        raise Error(f"{what} have {array.ndim} dimensions: a curve is a list of numbers", "input")
    return np.ascontiguousarray(array)


def _known(value: float | None, what: str) -> float | None:
    return None if value is None else number(value, what)


def detect(
    values: ArrayLike,
    steps: ArrayLike | None = None,
    *,
    training: ArrayLike | None = None,
    training_steps: ArrayLike | None = None,
    direction: str | None = None,
    plateau_level: float | None = None,
    best_level: float | None = None,
    budget: float | None = None,
) -> Findings:
    """Finds plateaus and moments in a finished curve, as ``eureka detect`` does.

    ``training`` is the same metric on the training samples, where it is known: it tells grokking from a moment.
    ``direction`` is "up" where larger is better, "down" for a loss; left out, it is read off the curve.
    ``plateau_level`` is where the task is known to stall, ``budget`` how many steps were planned.
    """
    numbers = _numbers(values, "values")
    at = np.arange(len(numbers), dtype=np.float64) if steps is None else _numbers(steps, "steps")
    training_numbers = _numbers([] if training is None else training, "training values")
    if training_steps is not None:
        training_at = _numbers(training_steps, "training steps")
    else:
        training_at = at if training is not None else _numbers([], "training steps")
    if direction is None:
        direction = _core.guess_direction("", at, numbers)
    levels = (_known(plateau_level, "plateau_level"), _known(best_level, "best_level"), _known(budget, "budget"))
    raw = _core.detect(at, numbers, training_at, training_numbers, direction, *levels)
    return _findings(raw, at, numbers, direction)


class Detector:
    """The detector point by point, for a run that is still going on.

    Before :meth:`finish` only confirmed moments are told, those whose new level has held: fit for stopping a run. What
    it looks back on is bounded whatever the length of the curve; the points themselves are kept for drawing, 16 bytes
    each.
    """

    def __init__(
        self,
        direction: str = "up",
        *,
        plateau_level: float | None = None,
        best_level: float | None = None,
        budget: float | None = None,
    ) -> None:
        self._direction = direction
        levels = (_known(plateau_level, "plateau_level"), _known(best_level, "best_level"), _known(budget, "budget"))
        self._detector = _core.MomentDetector(direction, *levels)
        self._steps = array("d")
        self._values = array("d")

    def add(self, step: float, value: float) -> None:
        """One evaluation; steps increase."""
        step, value = number(step, "step"), number(value, "value")
        self._detector.add(step, value)
        self._steps.append(step)
        self._values.append(value)

    def add_training(self, step: float, value: float) -> None:
        """The same metric on the training samples."""
        self._detector.add_training(number(step, "step"), number(value, "value"))

    def finish(self) -> None:
        """No more will come: a rise that has gone most of its way counts."""
        self._detector.finish()

    @property
    def findings(self) -> Findings:
        """What there is so far."""
        return _findings(self._detector.findings(), np.array(self._steps), np.array(self._values), self._direction)

    @property
    def moments(self) -> list[Moment]:
        """Those confirmed so far."""
        return self.findings.moments
