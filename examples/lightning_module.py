"""A LightningModule, watched by a callback; and the same with a cure in it.

python examples/lightning_module.py          some ten seconds of processor time
"""

import logging
import sys
import tempfile
import warnings
from pathlib import Path

import eureka
import lightning
import torch
import torch.nn.functional as F
from eureka.lightning import EurekaCallback
from two_step import Classifier, TwoStep

torch.set_num_threads(1)


class Module(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.model = Classifier()

    def training_step(self, batch, _):
        return F.cross_entropy(self.model(batch[0]), batch[1], label_smoothing=0.1)

    def validation_step(self, batch, _):
        self.log("val_accuracy", (self.model(batch[0]).argmax(-1) == batch[1]).float().mean())

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), 3e-3, weight_decay=0.05)


def loader(samples, seed, size):
    task = TwoStep()
    return torch.utils.data.DataLoader(
        torch.utils.data.TensorDataset(*task.batch(samples, torch.Generator().manual_seed(seed))), batch_size=size
    )


def fitted(cure, steps):
    lightning.seed_everything(1, verbose=False)
    module = Module()
    if cure is not None:
        eureka.cure(module, cure)
    callback = EurekaCallback(Path(tempfile.mkdtemp()) / "run", every=50, plateau_level=0.55)
    trainer = lightning.Trainer(
        max_steps=steps,
        accelerator="cpu",
        val_check_interval=25,
        callbacks=[callback],
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(module, loader(steps * 64, 1, 64), loader(500, 2, 500))
    return callback.watch.run


def main(steps=500):
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore")
    runs = [fitted(cure, steps) for cure in (None, "norm_softmax")]
    for name, run in zip(("as it is", "norm_softmax"), runs):
        moment = "no moment" if run.moment is None else f"moment at {run.moment:.0f}"
        print(f"{name}: accuracy {run.curve('val_accuracy').values[-1]:.3f} after {run.steps[-1]} steps, {moment}")
    print(f"eureka compare {runs[0].path} {runs[1].path}")


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
