"""A stock encoder that is stuck: watched, diagnosed, and rescued over paired seeds.

python examples/stuck_encoder.py              a minute and a half on one core
"""

import sys
import tempfile
from pathlib import Path

import eureka
import torch
from two_step import PLATEAU, Classifier, train

torch.set_num_threads(1)


def main(steps=600, seeds=10):
    out = Path(tempfile.mkdtemp()) / "stuck"

    # 1. Watch it: a `with`, and a line after the optimizer's step.
    torch.manual_seed(1)
    model = Classifier()
    with eureka.watch(model, every=50, out=out, plateau_level=PLATEAU) as w:

        def after_step(step, loss, accuracy):
            w.step(loss=loss, **({} if accuracy is None else {"val_accuracy": accuracy}))

        train(model, seed=1, steps=steps, after_step=after_step)
    run = w.run
    print(f"watched: {run.status}, final accuracy {run.curve('val_accuracy').values[-1]:.3f}, moment {run.moment}")

    # 2. Look: what the softmax lets through of the gradient, and how flat it is, layer by layer.
    for layer, name in enumerate(w.layers):
        at = lambda number, layer=layer: run.columns[f"{number}/layer{layer}"][0]  # noqa: E731
        print(
            f"{name}: at the start entropy {at('attention/entropy'):.3f} of 1, the softmax lets through"
            f" {at('attenuation/through_softmax'):.3f} of at most 0.5, queries and keys get"
            f" {at('gradients/qk_to_v'):.3f} of the values' gradient"
        )

    # 3. Try the cure on the same training, with and without, seed by seed.
    def make_run(seed, cured):
        torch.manual_seed(seed)
        model = Classifier()
        cured(model)
        return train(model, seed, steps)

    print(eureka.rescue(make_run, "norm_softmax", seeds=range(1, seeds + 1), plateau_level=PLATEAU))


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
