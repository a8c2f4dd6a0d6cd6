"""Eureka inside PyTorch: :func:`watch`, :func:`cure`, :func:`rescue`.

One package serves every torch from 1.13 on: nothing here is compiled against it.
"""

from __future__ import annotations

from ._covariance import norm_softmax_attention
from ._cure import AttentionCure, attention_function, cure, register_with_transformers
from ._load import Transformer, load
from ._rescue import Rescue, rescue
from ._rules import Rule
from ._save import save
from ._watch import Watch, watch

__all__ = [
    "AttentionCure",
    "Rescue",
    "Rule",
    "Transformer",
    "Watch",
    "attention_function",
    "cure",
    "load",
    "norm_softmax_attention",
    "register_with_transformers",
    "rescue",
    "save",
    "watch",
]
