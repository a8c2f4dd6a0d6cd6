"""A stock encoder that is stuck: watched, diagnosed, and rescued over ten paired seeds.

python examples/stuck_encoder.py              two minutes of processor time

Steps and learning rate were chosen on seeds 101 to 103, for a plateau that lasts and a script that does not; the
seeds that are reported are 1 to 10.
"""

import sys
import tempfile
from pathlib import Path

import eureka
import torch
from two_step import PLATEAU, Classifier, train

torch.set_num_threads(1)


class UntilTheMoment:
    """Says that a run has shown what it is about, as soon as its curve has left the plateau for good."""

    def __init__(self):
        self.detector = eureka.Detector("up", plateau_level=PLATEAU)

    def __call__(self, step, accuracy):
        self.detector.add(step, accuracy)
        return bool(self.detector.moments)


def watched(cure, steps, seed=1):
    """A `with`, and a line after the optimizer's step: nothing else is new to the training."""
    torch.manual_seed(seed)
    model = Classifier()
    if cure is not None:
        eureka.cure(model, cure)
    with eureka.watch(model, every=50, out=Path(tempfile.mkdtemp()) / "run", plateau_level=PLATEAU) as w:

        def after_step(step, loss, accuracy):
            w.step(loss=loss, **({} if accuracy is None else {"val_accuracy": accuracy}))

        train(model, seed, steps, after_step, enough=UntilTheMoment())
    return w


def main(steps=1500, seeds=10):
    # 1. Is it stuck, and where does the gradient die? The same run as it is, and with the cure that is tried.
    for cure in (None, "norm_softmax"):
        w = watched(cure, steps)
        curve = w.run.curve("val_accuracy")
        print(
            f"{cure or 'as it is'}: accuracy {curve.values[-1]:.3f} after {curve.steps[-1]} steps,"
            f" {'no moment' if w.run.moment is None else f'moment at {w.run.moment:.0f}'}"
        )
        for layer, name in enumerate(w.layers):
            number = lambda name, layer=layer: w.run.columns[f"{name}/layer{layer}"][0]  # noqa: B023, E731
            print(
                f"  {name} at the start: weights as even as {number('attention/entropy'):.3f} of 1;"
                f" queries and keys get {number('gradients/qk_to_v'):.3f} of the values' gradient"
            )

    # 2. Does the cure help? The same training with and without, seed by seed.
    def make_run(seed, cured):
        torch.manual_seed(seed)
        model = Classifier()
        cured(model)
        return train(model, seed, steps, enough=UntilTheMoment())

    seeds = range(1, seeds + 1)
    eureka.rescue(make_run, "norm_softmax", seeds, plateau_level=PLATEAU, horizon=steps, show=True)


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
