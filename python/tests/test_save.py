"""The way back: what was loaded, changed and saved is a run that the program goes on with."""

import json
import subprocess

import eureka
import numpy as np
import pytest
from eureka import _program

torch = pytest.importorskip("torch")
import torch_models as models  # noqa: E402
from test_load import RUNS, difference  # noqa: E402

pytestmark = pytest.mark.skipif(not models.HAS_SDPA, reason="needs PyTorch 2")


def program(*words):
    return subprocess.run([str(_program.program()), *map(str, words)], capture_output=True, text=True)


def trained(tmp_path, name="two-step", **more):
    preset, settings = RUNS[name]
    settings = {**settings, "train.steps": 60, "run.checkpoint_every": 20, **more}
    return eureka.train(preset, out=tmp_path / "run", seed=1, settings=settings)


def changed(run, step, updates=10):
    """Loaded, and trained on in PyTorch."""
    model = eureka.torch.load(run, step)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
    inputs = torch.from_numpy(run.predictions(step, samples=32)[0])
    for _ in range(updates):
        optimizer.zero_grad()
        model(inputs).square().mean().backward()
        optimizer.step()
    return model, optimizer


@pytest.mark.parametrize("name", RUNS)
def test_the_engine_says_of_a_saved_module_what_the_module_says(name, tmp_path):
    run = trained(tmp_path, name)
    model, _ = changed(run, 40)
    saved = eureka.torch.save(model, tmp_path / "saved")
    inputs, of_engine = saved.predictions(samples=64)
    assert saved.checkpoints == [40]
    assert difference(model, inputs, of_engine) <= 1e-6
    assert difference(eureka.torch.load(run, 40), inputs, of_engine) > 1e-3
    for key, tensor in eureka.torch.load(saved).state_dict().items():
        assert torch.equal(tensor, model.state_dict()[key]), key


def test_unchanged_it_goes_on_to_the_same_bytes(tmp_path):
    run = trained(tmp_path)
    saved = eureka.torch.save(eureka.torch.load(run, 40), tmp_path / "saved")
    eureka.train(saved.path / "config.toml", out=saved.path, resume=True)
    for name in ("metrics.jsonl", "events.jsonl", "summary.json", "checkpoints/step-60/model.safetensors"):
        assert (saved.path / name).read_bytes() == (run.path / name).read_bytes(), name


def test_the_program_goes_on_branches_and_looks(tmp_path):
    run = trained(tmp_path)
    model, optimizer = changed(run, 40)
    saved = eureka.torch.save(model, tmp_path / "saved", step=50, optimizer=optimizer)
    assert saved.checkpoints == [50]
    origin = json.loads((saved.path / "origin.json").read_text())
    assert origin["parameters_by"] == f"PyTorch {torch.__version__}"
    look = program("look", f"{saved.path}@50", "--out", tmp_path / "look")
    assert look.returncode == 0, look.stderr
    branch = program("branch", f"{saved.path}@50", "--set", "attention.rule=norm_softmax", "--out", tmp_path / "branch")
    assert branch.returncode == 0, branch.stderr
    resumed = program("train", "--out", saved.path, "--resume", "--quiet")
    assert resumed.returncode == 0, resumed.stderr
    saved.reload()
    assert saved.status == "finished"
    assert saved.summary["steps"] == 60
    assert np.array_equal(saved.steps[: len(run.steps[run.steps <= 40])], run.steps[run.steps <= 40])
    assert program("train", "--out", saved.path, "--resume", "--step", 20).returncode == 2


def test_moments_of_the_optimizer_go_along(tmp_path):
    run = trained(tmp_path)
    model, optimizer = changed(run, 40)
    with_them = eureka.torch.save(model, tmp_path / "with", optimizer=optimizer)
    without = eureka.torch.save(model, tmp_path / "without")
    of = lambda one: (one.path / "checkpoints/step-40/optimizer.safetensors").read_bytes()  # noqa: E731
    assert of(without) == of(run)
    weight = model.blocks[0].attn.q.weight
    assert optimizer.state[weight]["exp_avg"].numpy().tobytes() in of(with_them)
    assert optimizer.state[weight]["exp_avg_sq"].numpy().tobytes() in of(with_them)


def test_a_state_dict_of_any_model_goes_back(tmp_path):
    run = eureka.train(
        "two-step", out=tmp_path / "run", settings={"train.steps": 20, "attention.rule": "qk_norm", "run.seed": 3}
    )
    state = {name: torch.from_numpy(values) for name, values in run.tensors().items()}
    state["head.bias"] = state["head.bias"] + 1
    saved = eureka.torch.save(state, tmp_path / "saved", run=run)
    before, after = run.predictions()[1], saved.predictions()[1]
    assert np.abs(after - before - 1).max() < 1e-5


def test_what_does_not_fit_is_named_and_nothing_is_left_behind(tmp_path):
    run = trained(tmp_path)
    model = eureka.torch.load(run, 40)
    out = tmp_path / "saved"
    with pytest.raises(eureka.Error, match="not known which run"):
        eureka.torch.save(torch.nn.Linear(2, 2), out)
    with pytest.raises(eureka.Error, match=r"has no tensor 'bias' in its checkpoints$"):
        eureka.torch.save(torch.nn.Linear(2, 2), out, run=run)
    with pytest.raises(eureka.Error, match="from step 40 cannot be at step 30"):
        eureka.torch.save(model, out, step=30)
    with pytest.raises(eureka.Error, match="step 70 is beyond the end of this run at 60"):
        eureka.torch.save(model, out, step=70)
    with pytest.raises(eureka.Error, match="no moments of"):
        eureka.torch.save(model, out, optimizer=torch.optim.AdamW(model.parameters()))
    state = dict(model.state_dict())
    head = state.pop("head.weight")
    with pytest.raises(eureka.Error, match=r"'head.weight' of its checkpoints was not given"):
        eureka.torch.save(state, out, run=run)
    with pytest.raises(eureka.Error, match=r"'head.weight' is 10 x \d+ in this run, not \d+ x 10"):
        eureka.torch.save({**state, "head.weight": head.T}, out, run=run)
    with pytest.raises(eureka.Error, match=r"'head.weight' holds numbers that are not finite"):
        eureka.torch.save({**state, "head.weight": head / 0}, out, run=run)
    assert not out.exists()
    with pytest.raises(eureka.Error, match="already holds a run"):
        eureka.torch.save(model, run.path)
