"""Runs and studies as their directories hold them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Union

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._detect import Findings, detect
from ._error import Error

Place = Union[str, "os.PathLike[str]"]


@dataclass(frozen=True)
class Curve:
    """One column of a run, where it has numbers."""

    name: str
    steps: NDArray[np.int64]
    values: NDArray[np.float64]

    def detect(self, **options: Any) -> Findings:
        """Plateaus and moments in it: :func:`eureka.detect`."""
        if "direction" not in options:
            options["direction"] = _core.guess_direction(self.name, self.steps.astype(np.float64), self.values)
        return detect(self.values, self.steps, **options)


class Columns(Mapping[str, NDArray[np.float64]]):
    """Columns of metrics by name, read-only; in the order of the file."""

    def __init__(self, columns: dict[str, NDArray[np.float64]]) -> None:
        self._columns = columns

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __repr__(self) -> str:
        return f"<{len(self)} columns: {', '.join(list(self)[:4])}, ...>" if len(self) > 4 else f"<{', '.join(self)}>"


class Run:
    """The directory of one run: of ``eureka train``, a trial of a study, or what :func:`eureka.watch` wrote.

    Read when asked for, and again after :meth:`reload`.
    """

    def __init__(self, directory: Place) -> None:
        self.path = Path(directory)
        if not (self.path / "metrics.jsonl").exists() and not (self.path / "config.toml").exists():
            raise Error("holds no run (there is no metrics.jsonl)", "input", str(self.path))

    def __repr__(self) -> str:
        return f"eureka.Run({str(self.path)!r})"

    @cached_property
    def _metrics(self) -> tuple[NDArray[np.int64], Columns]:
        if not (self.path / "metrics.jsonl").exists():
            return np.array([], dtype=np.int64), Columns({})
        steps, columns = _core.metrics(str(self.path))
        return steps, Columns(columns)

    def reload(self) -> None:
        """Forgets what was read: the run may have gone on."""
        for name in ("_metrics", "events", "summary", "meta"):
            self.__dict__.pop(name, None)

    @property
    def steps(self) -> NDArray[np.int64]:
        """Updates done at each row of metrics."""
        return self._metrics[0]

    @property
    def columns(self) -> Columns:
        """Every column of metrics, NaN in rows that lack it."""
        return self._metrics[1]

    @property
    def diagnostics(self) -> Columns:
        """The columns that diagnostics wrote: "attention/entropy/layer0/head1"."""
        return Columns({name: values for name, values in self.columns.items() if "/" in name})

    def _judged_by(self) -> str:
        """The first column of all, unless there is one on validation samples."""
        return next((name for name in self.columns if name.startswith("val_")), next(iter(self.columns)))

    def curve(self, column: str | None = None) -> Curve:
        """One column where it has numbers; the one the run is judged by when left out."""
        if not self.columns:
            raise Error("has no rows of metrics yet", "input", str(self.path))
        name = self._judged_by() if column is None else column
        if name not in self.columns:
            raise Error(
                f"has no column '{name}'", "input", str(self.path), f"known: {', '.join(list(self.columns)[:8])}"
            )
        values = self.columns[name]
        there = ~np.isnan(values)
        return Curve(name, self.steps[there], values[there])

    @cached_property
    def events(self) -> list[dict[str, Any]]:
        """Plateaus, moments, checkpoints as they happened."""
        if not (self.path / "events.jsonl").exists():
            return []
        return [json.loads(line) for line in _core.events(str(self.path))]

    @cached_property
    def summary(self) -> dict[str, Any] | None:
        """How the run ended; None while it has not."""
        text = _core.summary(str(self.path))
        return None if text is None else json.loads(text)

    @cached_property
    def meta(self) -> dict[str, Any]:
        """Who ran it, where, and how it stands."""
        meta: dict[str, Any] = json.loads(_core.meta(str(self.path)))
        return meta

    @cached_property
    def config(self) -> dict[str, Any]:
        """Every setting of the run by its key, "model.width"; not there for one that was watched."""
        config: dict[str, Any] = json.loads(_core.config(str(self.path)))
        return config

    def predictions(self, step: int | None = None, samples: int = 256) -> tuple[Any, NDArray[np.float32]]:
        """Inputs of the first validation samples, and what the run's own engine predicts of them at a checkpoint."""
        return _core.predictions(str(self.path), self.checkpoint(step), samples)

    def checkpoint(self, step: int | None = None) -> int:
        """The step itself if there is a checkpoint of it, that of the newest when none is given; else an error."""
        there = self.checkpoints
        if not there:
            raise Error("has no checkpoint", "input", str(self.path))
        at = there[-1] if step is None else step
        if at not in there:
            hint = f"there are: {', '.join(map(str, there))}"
            raise Error(f"has no checkpoint at step {at}", "input", str(self.path), hint)
        return at

    @property
    def status(self) -> str:
        """running, finished, diverged, interrupted or failed."""
        return str(self.meta["status"])

    @property
    def moment(self) -> float | None:
        """The step of the moment, as the run's summary has it."""
        moment = (self.summary or {}).get("moment") or {}
        step = moment.get("step")
        return None if step is None else float(step)

    @property
    def checkpoints(self) -> list[int]:
        """Steps of the checkpoints that are whole."""
        return _core.checkpoints(str(self.path))

    def tensors(self, step: int | None = None) -> dict[str, NDArray[np.float32]]:
        """The parameters at a checkpoint, by name; the newest when no step is given."""
        return _core.tensors(str(self.path), self.checkpoint(step))

    def to_pandas(self) -> Any:
        """The metrics as a data frame indexed by step; needs pandas."""
        import pandas

        return pandas.DataFrame(dict(self.columns), index=pandas.Index(self.steps, name="step"))

    def plot(self, column: str | None = None, ax: Any = None) -> Any:
        """Draws a column with its plateaus and moments; needs matplotlib. Returns the axes."""
        curve = self.curve(column)
        axes = curve.detect().plot(ax)
        axes.set_ylabel(curve.name)
        return axes


class Study:
    """The directory of a study: its arms, their statistics, and its trials."""

    def __init__(self, directory: Place) -> None:
        self.path = Path(directory)
        self._record: dict[str, Any] = json.loads(_core.study(str(self.path)))

    def __repr__(self) -> str:
        return f"eureka.Study({str(self.path)!r})"

    @property
    def name(self) -> str:
        """Of the study."""
        return str(self._record["name"])

    @property
    def question(self) -> str:
        """What it asks, in a sentence."""
        return str(self._record["question"])

    @property
    def baseline(self) -> str:
        """The arm that the others are compared with."""
        return str(self._record["baseline"])

    @property
    def arms(self) -> list[dict[str, Any]]:
        """Each arm at each point of the axes: name, point, values (every statistic by its key), verdict, survival."""
        return list(self._record["arms"])

    @property
    def points(self) -> list[dict[str, Any]]:
        """The combinations of the axes' values; one, without a name, where there are no axes."""
        return list(self._record["points"])

    @property
    def trials(self) -> list[dict[str, Any]]:
        """Each run: arm, point, seed, status, steps, moment, final value, directory."""
        return list(self._record["trials"])

    def verdicts(self) -> dict[str, str]:
        """A sentence for each arm; with axes under "arm @ point"."""
        points = self.points
        named = len(points) > 1
        return {
            f"{arm['name']} @ {points[arm['point']]['name']}" if named else str(arm["name"]): str(arm["verdict"])
            for arm in self.arms
        }

    def runs(self) -> Iterator[Run]:
        """The directories of the trials."""
        return (Run(self.path / trial["directory"]) for trial in self.trials)

    def to_pandas(self) -> Any:
        """The trials as a data frame; needs pandas."""
        import pandas

        return pandas.DataFrame(self.trials)

    def plot(self, ax: Any = None) -> Any:
        """Draws the shares of runs still without a moment, arm by arm; needs matplotlib. Returns the axes."""
        from ._plot import plot_study

        return plot_study(self, ax)
