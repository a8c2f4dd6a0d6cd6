"""A callback for Lightning: ``Trainer(callbacks=[eureka.lightning.EurekaCallback("runs/mine")])``."""

from __future__ import annotations

from typing import Any

from lightning.pytorch.callbacks import Callback

from ._records import Place
from .torch import Watch, watch


class EurekaCallback(Callback):  # type: ignore[misc]
    """Watches a LightningModule while it is fitted; numbers that it logs as ``val_...`` go into the same rows.

    ``options`` are those of :func:`eureka.watch`.
    """

    def __init__(self, out: Place | None = None, **options: Any) -> None:
        self.out, self.options = out, options
        self.watch: Watch | None = None
        self._step = 0
        self._numbers: dict[str, float] = {}

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        """The module itself, whatever strategy is around it."""
        if trainer.is_global_zero:
            self._step = trainer.global_step
            self.watch = watch(pl_module, out=self.out, **self.options)
            self.watch.__enter__()

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        """An update may take several batches."""
        if self.watch is None or trainer.global_step == self._step:
            return
        self._step = trainer.global_step
        loss = outputs.get("loss") if isinstance(outputs, dict) else outputs
        numbers, self._numbers = self._numbers, {}
        self.watch.step(loss=loss, **numbers)

    def on_validation_end(self, trainer: Any, pl_module: Any) -> None:
        """What was logged goes into the row of the next step."""
        if self.watch is not None and not trainer.sanity_checking:
            for name, value in trainer.callback_metrics.items():
                if name.startswith("val"):
                    self._numbers["val_" + name[3:].lstrip("_/").replace("/", "_")] = float(value)

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        """The fit is over."""
        if self.watch is not None:
            self.watch.close()

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        """The model is left as it was."""
        if self.watch is not None:
            self.watch.close("interrupted" if isinstance(exception, KeyboardInterrupt) else "failed")


__all__ = ["EurekaCallback"]
