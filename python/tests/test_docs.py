"""docs/pytorch.md as it is written: every block of Python in it runs, on a model as small as can be."""

import re

import eureka
import numpy as np
import pytest
from conftest import ROOT

torch = pytest.importorskip("torch")
import torch_models as models  # noqa: E402

BLOCKS = re.findall(r"```python\n(.*?)```", (ROOT / "docs/pytorch.md").read_text(), re.DOTALL)
NEEDS = {"AutoModelForCausalLM": "transformers", "eureka.lightning": "lightning"}


def surroundings(monkeypatch, tmp_path):
    """What the page leaves to its reader."""
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(0)
    model = models.made("encoder")
    given = {
        "eureka": eureka,
        "torch": torch,
        "model": model,
        "Model": lambda: models.made("encoder"),
        "optimizer": torch.optim.AdamW(model.parameters()),
        "loss_of": lambda logits, _: logits.square().mean(),
        "batches": [(models.batch(i), None) for i in range(30)],
        "train": lambda model: model(models.batch(0)),
        "values": np.linspace(0, 1, 50),
        "steps": np.arange(50),
        "accuracies": np.linspace(0, 1, 50),
    }
    given["q"] = given["k"] = given["v"] = given["d_out"] = np.ones((1, 1, 3, 2))
    return given


def run_at(place, **settings):
    return eureka.train("two-step", out=place, settings={"train.steps": 500, "run.checkpoint_every": 500, **settings})


@pytest.mark.skipif(not models.HAS_SDPA, reason="needs PyTorch 2")
def test_every_block_runs(monkeypatch, tmp_path):
    given = surroundings(monkeypatch, tmp_path)
    real_rescue = eureka.rescue
    monkeypatch.setattr(
        eureka, "rescue", lambda make_run, cure, seeds: real_rescue(shown(make_run), cure, seeds=[1, 2])
    )
    monkeypatch.setattr(eureka, "study", lambda *_, **__: None)  # half an hour of it: tests/test_numpy_only.py
    run_at("runs/a")
    ran = 0
    for block in BLOCKS:
        missing = [package for word, package in NEEDS.items() if word in block and not models.has(package)]
        if missing:
            continue
        if "AutoModelForCausalLM" in block:
            from transformers import AutoModelForCausalLM, GPT2Config

            config = GPT2Config(n_embd=32, n_layer=1, n_head=2, vocab_size=11, bos_token_id=None, eos_token_id=None)
            given.update(AutoModelForCausalLM=AutoModelForCausalLM, config=config)
        block = block.replace('eureka.Study("studies/cures")', "None")
        exec(compile(block, "docs/pytorch.md", "exec"), given)
        ran += 1
    assert ran >= 6
    # The first block has watched a run, and the second has read it.
    assert list(eureka.Run("runs/mine").steps) == [1, 25]
    assert given["w"].layers == ["blocks.0.self_attn", "blocks.1.self_attn"]


def shown(make_run):
    """The page's make_run trains nothing; the model is at least used."""

    def used(seed, cured):
        def noted(model):
            cure = cured(model)
            model(models.batch(seed))
            return cure

        return make_run(seed, noted)

    return used
