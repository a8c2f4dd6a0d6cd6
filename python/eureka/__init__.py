"""Eureka: watch attention in your own model, find out why it is stuck, try the cure.

Without torch, on NumPy alone: :func:`detect`, :class:`Detector`, :class:`Run`, :class:`Study`, :func:`compare`,
:func:`look`, :func:`train`, :func:`study`. With PyTorch: :func:`watch`, :func:`cure`, :func:`rescue`, and the module
``eureka.torch``.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._compare import Arm, Comparison, compare
from ._core import version as __version__
from ._detect import Detector, Findings, FirstRise, Moment, Plateau, UnderWay, detect
from ._error import Error
from ._look import Look, look
from ._program import study, train
from ._records import Curve, Run, Study

if TYPE_CHECKING:
    from .torch import AttentionCure, Rescue, Watch, cure, rescue, watch

_TORCH = ("watch", "cure", "rescue", "Watch", "AttentionCure", "Rescue")

__all__ = [
    "Arm",
    "AttentionCure",
    "Comparison",
    "Curve",
    "Detector",
    "Error",
    "Findings",
    "FirstRise",
    "Look",
    "Moment",
    "Plateau",
    "Rescue",
    "Run",
    "Study",
    "UnderWay",
    "Watch",
    "__version__",
    "compare",
    "cure",
    "detect",
    "look",
    "rescue",
    "study",
    "train",
    "watch",
]


def __getattr__(name: str) -> Any:
    # PyTorch takes a second to import: only who asks for it waits.
    if name == "torch" or name in _TORCH:
        torch = importlib.import_module("eureka.torch")
        return torch if name == "torch" else getattr(torch, name)
    raise AttributeError(f"module 'eureka' has no attribute '{name}'")


def __dir__() -> list[str]:
    return __all__
