"""A run's checkpoint as a torch module says what the run's own engine says."""

import eureka
import numpy as np
import pytest

torch = pytest.importorskip("torch")

RUNS = {
    "two-step": ("two-step", {}),
    "norm_softmax, rms, relu": (
        "two-step",
        {"attention.rule": "norm_softmax", "model.norm": "rms", "model.activation": "relu", "model.positions": "none"},
    ),
    "variance, biases, no mlp": (
        "two-step",
        {
            "attention.rule": "norm_softmax",
            "attention.deviation": "variance",
            "model.qkv_bias": True,
            "model.mlp_ratio": 0,
        },
    ),
    "entmax, sharp": ("two-step", {"attention.rule": "entmax15", "attention.scale.multiple": 4.0}),
    "decoder": ("copy", {}),
}


def difference(model, inputs, expected):
    """Largest, by the largest number."""
    with torch.no_grad():
        got = model(torch.from_numpy(inputs)).flatten(1).numpy()
    assert got.shape == expected.shape
    return np.abs(got - expected).max() / max(1, np.abs(expected).max())


@pytest.mark.skipif(not hasattr(torch.nn.functional, "scaled_dot_product_attention"), reason="needs PyTorch 2")
@pytest.mark.parametrize("name", RUNS)
def test_outputs_are_those_of_the_engine(name, tmp_path):
    preset, settings = RUNS[name]
    run = eureka.train(preset, out=tmp_path / "run", seed=1, settings={**settings, "train.steps": 60})
    model = eureka.torch.load(run)
    inputs, expected = run.predictions(samples=64)
    assert difference(model, inputs, expected) <= 1e-6
    assert sum(p.numel() for p in model.parameters()) == run.summary["parameters"]
    # And it is an ordinary model: it can be watched.
    with eureka.watch(model) as w:
        model(torch.from_numpy(inputs)).square().mean().backward()
        w.step()
    assert len(w.layers) == run.config["model.depth"]


def test_what_cannot_be_loaded_is_named(tmp_path):
    run = eureka.train("two-step", out=tmp_path / "run", settings={"train.steps": 10, "attention.rule": "qk_norm"})
    with pytest.raises(eureka.Error, match=r"attention.rule = qk_norm"):
        eureka.torch.load(run.path)
