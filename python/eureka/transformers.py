"""A callback for Hugging Face's Trainer.

``Trainer(..., callbacks=[eureka.transformers.EurekaCallback("runs/mine")])``
"""

from __future__ import annotations

from typing import Any

from transformers import TrainerCallback

from ._records import Place
from .torch import Watch, watch


class EurekaCallback(TrainerCallback):  # type: ignore[misc]
    """Watches the model of a Trainer; what the Trainer logs and evaluates goes into the same rows.

    ``options`` are those of :func:`eureka.watch`. The losses are those that the Trainer logs (``logging_steps``).
    """

    def __init__(self, out: Place | None = None, **options: Any) -> None:
        self.out, self.options = out, options
        self.watch: Watch | None = None
        self._numbers: dict[str, float] = {}

    def on_train_begin(self, args: Any, state: Any, control: Any, model: Any = None, **_: Any) -> None:
        """The model is what is trained, wrapped or not."""
        if state.is_world_process_zero:
            self.watch = watch(model, out=self.out, **self.options)
            self.watch.__enter__()

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """After each update, whatever the accumulation."""
        if self.watch is not None:
            numbers, self._numbers = self._numbers, {}
            self.watch.step(**numbers)

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, float] | None = None, **_: Any) -> None:
        """What is logged after a step goes into the row of the next."""
        for name, value in (logs or {}).items():
            if name == "loss":
                self._numbers["train_loss"] = float(value)
            elif name.startswith("eval_") and not name.endswith(("_runtime", "_per_second")):
                self._numbers[f"val_{name[len('eval_') :]}"] = float(value)

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """The run has ended as far as the Trainer is concerned."""
        if self.watch is not None:
            self.watch.close()


__all__ = ["EurekaCallback"]
