"""docs/pytorch.md walked through as it is written: its Python runs on a model as small as can be, and its commands on
what that left behind."""

import os
import re
import subprocess

import eureka
import numpy as np
import pytest
from conftest import ROOT
from eureka import _program

torch = pytest.importorskip("torch")
import torch_models as models  # noqa: E402

PAGE = (ROOT / "docs/pytorch.md").read_text()
BLOCKS = re.findall(r"```(python|sh files)\n(.*?)```", PAGE, re.DOTALL)
NEEDS = {"AutoModelForCausalLM": "transformers", "eureka.transformers": "transformers", "eureka.lightning": "lightning"}


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


def run_in_python(block, given):
    if "AutoModelForCausalLM" in block:
        from transformers import AutoModelForCausalLM, GPT2Config

        config = GPT2Config(n_embd=32, n_layer=1, n_head=2, vocab_size=11, bos_token_id=None, eos_token_id=None)
        given.update(AutoModelForCausalLM=AutoModelForCausalLM, config=config)
    block = block.replace('eureka.Study("studies/cures")', "None")
    exec(compile(block, "docs/pytorch.md", "exec"), given)


def run_in_shell(block):
    path = f"{_program.program().parent}{os.pathsep}{os.environ['PATH']}"
    said = subprocess.run(["sh", "-e"], input=block, capture_output=True, text=True, env={**os.environ, "PATH": path})
    assert said.returncode == 0, (block, said.stderr)


@pytest.mark.skipif(not models.HAS_SDPA, reason="needs PyTorch 2")
def test_every_block_runs(monkeypatch, tmp_path):
    given = surroundings(monkeypatch, tmp_path)
    real_rescue = eureka.rescue
    monkeypatch.setattr(
        eureka, "rescue", lambda make_run, cure, seeds: real_rescue(shown(make_run), cure, seeds=[1, 2])
    )
    monkeypatch.setattr(eureka, "study", lambda *_, **__: None)  # half an hour of it: tests/test_numpy_only.py
    eureka.train("two-step", out="runs/a", settings={"train.steps": 600, "run.checkpoint_every": 500})
    ran = {"python": 0, "sh files": 0}
    for kind, block in BLOCKS:
        if any(word in block and not models.has(package) for word, package in NEEDS.items()):
            continue
        if kind == "python":
            run_in_python(block, given)
        else:
            run_in_shell(block)
        ran[kind] += 1
    assert ran["python"] >= 7
    assert ran["sh files"] == 2
    # The first block has watched a run, and the second has read it.
    assert list(eureka.Run("runs/mine").steps) == [1, 25]
    assert given["w"].layers == ["blocks.0.self_attn", "blocks.1.self_attn"]
    assert (tmp_path / "mine.html").exists()
    assert eureka.Run("runs/changed").status == "finished"


def shown(make_run):
    """The page's make_run trains nothing; the model is at least used."""

    def used(seed, cured):
        def noted(model):
            cure = cured(model)
            model(models.batch(seed))
            return cure

        return make_run(seed, noted)

    return used


def test_every_rule_of_the_page_is_there_and_no_other():
    named = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", PAGE, re.MULTILINE)
    rules = {rule for row in named for rule in re.findall(r"`(\w+)`", row)}
    model = models.made("encoder")
    for rule in rules:
        eureka.cure(model, rule, **({"steps": 100} if rule == "heat_treatment" else {})).remove()
    with pytest.raises(eureka.Error) as refused:
        eureka.cure(model, "softmaxx")
    assert all(rule in str(refused.value) for rule in rules)


def test_wrong_input_along_the_way_is_said_in_a_sentence(monkeypatch, tmp_path):
    """Each step of the page with a slip in it."""
    monkeypatch.chdir(tmp_path)
    model = models.made("encoder")
    slips = {
        "every and samples are at least 1": lambda: eureka.watch(model, every=0),
        "no module 'encoder.layers.9'": lambda: eureka.cure(model, "norm_softmax", layers=["encoder.layers.9"]),
        "needs the option 'steps'": lambda: eureka.cure(model, "heat_treatment"),
        "norm_softmax has no option 'deviatio'": lambda: eureka.cure(model, "norm_softmax", deviatio="std"),
        "deviation": lambda: eureka.cure(model, "norm_softmax", deviation="sdt"),
        "takes a seed and a function": lambda: eureka.rescue(lambda seed: None, "norm_softmax"),
        "there are no seeds": lambda: eureka.rescue(lambda seed, cured: [0.0], "norm_softmax", seeds=[]),
        "never called cured": lambda: eureka.rescue(lambda seed, cured: [0.0], "norm_softmax", seeds=[1]),
        "holds no run": lambda: eureka.torch.load("runs/nowhere"),
        "not known which run": lambda: eureka.torch.save(model, "runs/changed"),
        "two-stap": lambda: eureka.train("two-stap"),
    }
    for said, slip in slips.items():
        with pytest.raises(eureka.Error, match=re.escape(said)):
            slip()
    with eureka.watch(model) as w:
        pass
    with pytest.raises(eureka.Error, match="this watch is closed"):
        w.step()
    with pytest.raises(eureka.Error, match="no run directory before the first step"):
        _ = w.run
