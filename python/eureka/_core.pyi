from typing import Any

import numpy as np
from numpy.typing import NDArray

version: str

_Doubles = NDArray[np.float64]
_Floats = NDArray[np.float32]

def guess_direction(name: str, steps: _Doubles, values: _Doubles) -> str: ...
def detect(
    steps: _Doubles,
    values: _Doubles,
    training_steps: _Doubles,
    training_values: _Doubles,
    direction: str,
    plateau_level: float | None,
    best_level: float | None,
    budget: float | None,
) -> dict[str, Any]: ...

class MomentDetector:
    def __init__(
        self,
        direction: str,
        plateau_level: float | None,
        best_level: float | None,
        budget: float | None,
    ) -> None: ...
    def add(self, step: float, value: float) -> None: ...
    def add_training(self, step: float, value: float) -> None: ...
    def finish(self) -> None: ...
    def findings(self) -> dict[str, Any]: ...

def compare(
    groups: list[tuple[str, list[tuple[float, bool, int]]]], horizon: float, level: float, paired: bool
) -> list[dict[str, Any]]: ...
def look(
    q: _Floats,
    k: _Floats,
    v: _Floats,
    d_out: _Floats | None,
    scale: list[float],
    causal: bool,
    visible: NDArray[np.uint8] | None,
    bias: _Floats | None,
    rule: str,
    options: dict[str, Any],
    layer: int,
    with_tensors: bool,
) -> tuple[list[tuple[str, float]], dict[str, _Floats]]: ...
def gradients(parts: list[tuple[int, str, int, _Floats, _Floats]]) -> list[tuple[str, float]]: ...
def attend(
    q: _Floats,
    k: _Floats,
    v: _Floats,
    d_out: _Floats,
    rule: str,
    options: dict[str, Any],
    multiple: float,
    causal: bool,
    visible: _Floats | None,
) -> tuple[_Floats, _Floats, _Floats, _Floats]: ...
def rules() -> list[str]: ...
def metrics(directory: str) -> tuple[NDArray[np.int64], dict[str, _Doubles]]: ...
def events(directory: str) -> list[str]: ...
def summary(directory: str) -> str | None: ...
def meta(directory: str) -> str: ...
def checkpoints(directory: str) -> list[int]: ...
def tensors(directory: str, step: int) -> dict[str, _Floats]: ...
def config(directory: str) -> str: ...
def edit_run(
    run: str,
    from_step: int,
    step: int,
    out: str,
    model: dict[str, _Floats],
    optimizer: dict[str, _Floats],
    by: str,
) -> None: ...
def predictions(directory: str, step: int, samples: int) -> tuple[Any, _Floats]: ...
def study(directory: str) -> str: ...

class WatchedRun:
    def __init__(
        self,
        path: str,
        program: str,
        model: str,
        attention: str,
        device: str,
        parameters: int,
        seed: int,
        threads: int,
        plateau_level: float | None,
    ) -> None: ...
    def describe(self, more: dict[str, str]) -> None: ...
    def log(self, step: int, numbers: list[tuple[str, float]]) -> None: ...
    def findings(self) -> dict[str, Any]: ...
    def end(self, status: str, steps: int) -> None: ...
