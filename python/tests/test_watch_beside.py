"""What else is done to a model while it is watched: it is evaluated, copied, saved; and slips of those who watch it."""

import copy
import io

import eureka
import numpy as np
import pytest

torch = pytest.importorskip("torch")
import torch_models as models  # noqa: E402
from torch import nn  # noqa: E402


def test_evaluation_in_a_step_that_is_looked_at_keeps_its_last_bits():
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(models.WIDTH, models.HEADS, 32, batch_first=True)
    model = nn.TransformerEncoder(layer, 2)
    x = torch.randn(4, 6, models.WIDTH)

    def evaluated():
        with torch.no_grad():
            return model.eval()(x)

    # PyTorch has a way of its own for layers in evaluation, whose sums come in another order.
    expected = evaluated()
    with eureka.watch(model, every=1) as w:
        model.train()(x).sum().backward()
        assert torch.equal(evaluated(), expected)
        w.step()
    assert len(w.layers) == 2


@pytest.mark.parametrize("steps", [0, 1, 2])
def test_a_model_is_copied_and_saved_while_it_is_watched(steps):
    model = models.made("encoder")
    with eureka.watch(model, every=2) as w:
        models.train(model, steps, w)
        copied, place = copy.deepcopy(model), io.BytesIO()
        torch.save(model, place)
        seen = len(w.numbers)
        models.train(copied, 1)
        assert len(w.numbers) == seen
    assert models.hooks_of(copied) == 0
    with eureka.watch(copied) as other:
        models.train(copied, 1, other)
    assert len(other.layers) == 2


def test_what_is_told_of_a_step_is_one_number_under_a_name_of_its_own():
    model = models.made("encoder")
    slips = {
        "loss has 3 numbers": {"loss": torch.ones(3)},
        "loss is no number": {"loss": "low"},
        "val_accuracy is no number": {"val_accuracy": [1.0]},
        "a 'step' and a 'train_loss' of their own": {"step": 3},
    }
    with eureka.watch(model) as w:
        models.loss_of(model, models.batch(0)).backward()
        for said, numbers in slips.items():
            with pytest.raises(eureka.Error, match=said):
                w.step(**numbers)
        w.step(loss=torch.ones(1), val_accuracy=np.float32(0.5))
    assert w.run.columns["val_accuracy"] == [0.5]


def test_what_cannot_be_watched_is_said():
    with pytest.raises(eureka.Error, match=r"is no torch\.nn\.Module"):
        eureka.watch(lambda x: x)
    for every in (0, 2.5, "often"):
        with pytest.raises(eureka.Error, match="at least 1, and whole"):
            eureka.watch(nn.Linear(2, 2), every=every)


def test_gradients_that_are_zeroed_before_the_step_are_not_told_as_zero():
    model = models.made("encoder")
    with eureka.watch(model, every=1) as w:
        models.loss_of(model, models.batch(0)).backward()
        for parameter in model.parameters():
            if parameter.grad is not None:
                parameter.grad.zero_()
        w.step()
    assert not any(name.startswith("gradients/") for name in w.numbers)
    assert w.numbers["attenuation/d_v/layer0"] > 0
    assert any("zeroed before w.step()" in note for note in w.notes)
