"""eureka.watch: sees every attention, says what the slow reference says, and changes nothing."""

import math
import subprocess
import sys

import eureka
import numpy as np
import pytest
from conftest import ROOT
from eureka import _program

torch = pytest.importorskip("torch")
import torch_models as models  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

sys.path.insert(0, str(ROOT / "tests/diagnostics"))
import reference  # noqa: E402


@pytest.mark.parametrize("name", models.MODELS)
def test_every_attention_of_a_model_is_seen_and_no_number_of_it_changes(name, tmp_path):
    layers = models.MODELS[name][1]
    alone, watched = models.made(name), models.made(name)
    expected = models.train(alone, 4)
    with eureka.watch(watched, every=2, out=tmp_path / "run") as w:
        losses = models.train(watched, 4, w)
    assert losses == expected
    for (key, value), other in zip(alone.state_dict().items(), watched.state_dict().values()):
        assert torch.equal(value, other), key
    assert len(w.layers) == layers, w.layers
    assert w.notes == []
    run = w.run
    assert list(run.steps) == [1, 2, 4]
    for layer in range(layers):
        for number in ("attention/entropy", "jacobian/trace", "attenuation/qk_to_v", "gradients/qk_to_v"):
            values = run.columns[f"{number}/layer{layer}"]
            assert np.isfinite(values).all(), number
        assert f"attenuation/d_q/layer{layer}/head{models.HEADS - 1}" in run.columns


@pytest.mark.parametrize("style", models.STYLES)
def test_numbers_are_those_of_the_slow_reference(style, tmp_path):
    model = models.made(f"by hand, {style}")
    model.keeps = True
    with eureka.watch(model, samples=3, out=tmp_path / "run") as w:
        loss = models.loss_of(model, models.batch(0))
        loss.backward()
        kept = {name: tensor.detach().double().numpy()[:3] for name, tensor in model.kept.items()}
        d_out = model.kept["out"].grad.double().numpy()[:3]
        w_q_gradient = model.to_q.weight.grad.abs().mean().item()
        w.step(loss=loss)
    scale = np.full(models.HEADS, 8**-0.5)
    heads, _ = reference.look(kept["q"], kept["k"], kept["v"], d_out, scale, causal=True)
    for head, expected in enumerate(heads):
        for diagnostic, numbers in expected.items():
            for name, value in numbers.items():
                got = w.numbers[f"{diagnostic}/{name}/layer0/head{head}"]
                # Equal tokens make equal queries, but for the rounding of some matrix products: a question of rank.
                close = 1e-2 if name == "reachable" else 2e-5
                assert got == pytest.approx(value, rel=close, abs=1e-7), (diagnostic, name)
    assert w.numbers["gradients/mean_abs/q/layer0"] == pytest.approx(w_q_gradient, rel=1e-5)
    assert w.gradients_of == {w.layers[0]: "to_q, to_k, to_v"}


def test_all_ways_of_writing_it_say_the_same():
    numbers = []
    for style in models.STYLES:
        model = models.made(f"by hand, {style}")
        with eureka.watch(model) as w:
            models.train(model, 1, w)
        numbers.append(w.numbers)
    for other in numbers[1:]:
        assert other.keys() == numbers[0].keys()
        for name, value in other.items():
            assert value == pytest.approx(numbers[0][name], rel=1e-4), name


@pytest.mark.parametrize("kind", ["bool", "additive", "padding"])
def test_masks(kind, tmp_path):
    model = models.made("encoder")
    hidden = torch.ones(models.TOKENS, models.TOKENS, dtype=torch.bool).triu(1)
    padding = torch.zeros(6, models.TOKENS, dtype=torch.bool)
    padding[:, 5:] = True
    more = {
        "bool": {"mask": hidden},
        "additive": {"mask": torch.zeros_like(hidden, dtype=torch.float32).masked_fill(hidden, float("-inf"))},
        "padding": {"padding": padding},
    }[kind]
    with eureka.watch(model) as w:
        models.train(model, 1, w, **more)
    keys = np.arange(1, models.TOKENS + 1) if kind != "padding" else np.full(models.TOKENS, 5)
    uniform = 1 - 1 / keys[keys > 1].astype(float)
    # Attention at the start is nearly uniform over what may be seen.
    assert w.numbers["jacobian/trace/layer0"] == pytest.approx(uniform.mean(), rel=0.1)
    assert w.numbers["jacobian/trace/layer0"] <= uniform.mean() + 1e-6
    assert w.notes == []


@pytest.mark.parametrize("kind", ["reentrant", "plain"])
def test_a_layer_that_runs_twice_is_counted_once(kind):
    numbers = {}
    for checkpoint in (None, kind):
        torch.manual_seed(0)
        model = models.Encoder(checkpoint=checkpoint)
        model.embed.weight.requires_grad_(True)
        with eureka.watch(model) as w:
            models.train(model, 1, w)
        assert w.layers == ["blocks.0.self_attn", "blocks.1.self_attn"]
        numbers[checkpoint] = w.numbers
    assert numbers[None] == pytest.approx(numbers[kind], rel=1e-5)


def test_gradient_accumulation_looks_at_the_first_microbatch(tmp_path):
    model = models.made("encoder")
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with eureka.watch(model, every=1, samples=100, out=tmp_path / "run") as w:
        for step in range(2):
            optimizer.zero_grad()
            for part in range(3):
                (models.loss_of(model, models.batch(10 * step + part)) / 3).backward()
            summed = model.blocks[0].self_attn.in_proj_weight.grad[: models.WIDTH].abs().mean().item()
            optimizer.step()
            w.step()
            assert w.numbers["gradients/mean_abs/q/layer0"] == pytest.approx(summed, rel=1e-5)
    first = models.made("encoder")
    with eureka.watch(first, samples=100) as alone:
        (models.loss_of(first, models.batch(0)) / 3).backward()
        alone.step()
    assert w.run.columns["attenuation/d_q/layer0"][0] == pytest.approx(
        alone.numbers["attenuation/d_q/layer0"], rel=1e-6
    )


def test_mixed_precision(tmp_path):
    plain, mixed = models.made("encoder"), models.made("encoder")
    with eureka.watch(plain) as a:
        models.train(plain, 1, a)
    with eureka.watch(mixed) as b, torch.autocast("cpu", torch.bfloat16):
        models.loss_of(mixed, models.batch(0)).backward()
        b.step()
    for name in ("attention/entropy/layer1", "attenuation/d_q/layer0", "gradients/norm/v/layer1"):
        assert b.numbers[name] == pytest.approx(a.numbers[name], rel=0.1), name


def test_a_scaled_loss_is_told_without_its_factor():
    class Scaler:
        def get_scale(self):
            return 1024.0

    numbers = []
    for scaler in (None, Scaler()):
        model = models.made("encoder")
        with eureka.watch(model, scaler=scaler) as w:
            (models.loss_of(model, models.batch(0)) * (1024.0 if scaler else 1.0)).backward()
            w.step()
        numbers.append(w.numbers)
    assert numbers[1] == pytest.approx(numbers[0], rel=1e-4)


@pytest.mark.skipif(
    not hasattr(torch, "compiler") or not hasattr(torch.compiler, "set_stance"), reason="needs PyTorch 2.6"
)
@pytest.mark.parametrize("which", ["the model", "what was compiled"])
@pytest.mark.filterwarnings("error:Using:UserWarning")
def test_compiled_models_are_compiled_once(which):
    torch._dynamo.reset()
    compilations = []

    def backend(graph, inputs):
        compilations.append(graph)
        return graph.forward

    model = models.made("encoder")
    compiled = torch.compile(model, backend=backend)
    models.train(compiled, 2)
    before = len(compilations)
    assert before > 0
    with eureka.watch(model if which == "the model" else compiled, every=3) as w:
        models.train(compiled, 7, w)
    assert len(w.layers) == 2
    assert w.notes == []
    assert len(compilations) == before


def test_a_moment_is_found_and_the_program_reads_the_directory(tmp_path):
    model = models.made("encoder")
    with eureka.watch(model, every=50, out=tmp_path / "run") as w:
        optimizer = torch.optim.SGD(model.parameters(), 0.01)
        for step in range(1, 401):
            models.loss_of(model, models.batch(step)).backward()
            optimizer.step()
            optimizer.zero_grad()
            more = {"val_accuracy": 0.5 + 0.5 / (1 + math.exp(-(step - 200) / 5))} if step % 5 == 0 else {}
            w.step(loss=1.0, **more)
        assert w.findings.moments
    run = w.run
    assert run.status == "finished"
    assert run.moment == pytest.approx(200, abs=5)
    assert any(event["event"] == "moment" for event in run.events)
    program = str(_program.program())
    said = subprocess.run([program, "detect", str(run.path)], capture_output=True, text=True, check=True).stdout
    assert "moment   200" in said or "moment   199" in said or "moment   201" in said
    page = tmp_path / "run.html"
    subprocess.run([program, "report", str(run.path), "-o", str(page)], check=True, capture_output=True)
    text = page.read_text()
    assert "By the program that trained it" in text
    assert "through_softmax" in text
    assert "cannot be read" not in text
    refused = subprocess.run([program, "look", str(run.path)], capture_output=True, text=True)
    assert refused.returncode == 2
    assert "was watched in another program" in refused.stderr


# Wrong use


class NoAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.line = nn.Embedding(models.VOCABULARY, models.VOCABULARY)

    def forward(self, ids):
        return self.line(ids)


def test_a_model_without_attention_is_told_at_the_first_step():
    model = NoAttention()
    with pytest.raises(eureka.Error, match="no attention was seen"), eureka.watch(model) as w:
        models.train(model, 3, w)
    assert models.hooks_of(model) == 0


class HiddenAttention(nn.Module):
    """A kernel of somebody's own."""

    def forward(self, x):
        return torch.exp(x) * 0.1 + x


def test_attention_that_cannot_be_seen_is_named():
    model = models.made("encoder")
    model.extra = HiddenAttention()
    plain = model.forward
    model.forward = lambda ids: plain(ids) + model.extra(torch.zeros(1))
    with eureka.watch(model) as w:
        models.train(model, 1, w)
    assert w.notes == ["extra (HiddenAttention): it was computed, but no attention was seen in it"]


def test_a_softmax_whose_logits_come_from_elsewhere_is_named():
    class Strange(models.ByHand):
        def forward(self, ids):
            x = super().forward(ids)
            return x + torch.softmax(x[:, None] - x[:, :, None], -1).sum(2) * 0

    torch.manual_seed(0)
    model = Strange("matmul")
    with eureka.watch(model) as w:
        models.train(model, 1, w)
    assert len(w.layers) == 1
    assert len(w.notes) == 1
    assert "queries and keys were not found" in w.notes[0]


def test_evaluation_in_between_is_not_looked_at():
    seen = {}
    for evaluates in (False, True):
        model = models.made("encoder")
        with eureka.watch(model, samples=4) as w:
            if evaluates:
                model.eval()
                with torch.no_grad():
                    models.loss_of(model, models.batch(99))
                model.train()
            models.train(model, 1, w)
        seen[evaluates] = w.numbers
    assert seen[True] == seen[False]


def test_two_watches_of_one_model_are_refused():
    model = models.made("encoder")
    with eureka.watch(model):
        with pytest.raises(eureka.Error, match="watched already"), eureka.watch(model):
            pass
        with pytest.raises(eureka.Error, match="watched already"), eureka.watch(nn.Sequential(model)):
            pass
        with pytest.raises(eureka.Error, match="watched already"), eureka.watch(next(model.children())):
            pass
    with eureka.watch(model) as w:
        models.train(model, 1, w)


def test_a_model_on_meta_is_refused():
    with pytest.raises(eureka.Error, match="on the device meta"):
        eureka.watch(nn.Linear(2, 2, device="meta"))


class Broken(models.Encoder):
    fails = False

    def forward(self, ids):
        x = super().forward(ids)
        if self.fails:
            raise ValueError("mine")
        return x


def test_an_exception_inside_the_block_leaves_the_model_as_it_was(tmp_path):
    model = Broken()
    model.fails = False
    before = {name: dict(module.__dict__) for name, module in model.named_modules()}
    with pytest.raises(ValueError, match="mine"), eureka.watch(model, every=2, out=tmp_path / "run") as w:
        models.train(model, 1, w)
        model.fails = True
        models.train(model, 1, w)
    model.fails = False
    assert models.hooks_of(model) == 0
    if hasattr(torch.overrides, "_get_current_function_mode_stack"):
        assert len(torch.overrides._get_current_function_mode_stack()) == 0
    for name, module in model.named_modules():
        assert module.__dict__.keys() == before[name].keys()
    assert F.has_torch_function is not None
    assert eureka.Run(tmp_path / "run").status == "failed"


def test_an_interrupt_is_told_as_one(tmp_path):
    model = models.made("encoder")
    with pytest.raises(KeyboardInterrupt), eureka.watch(model, out=tmp_path / "run") as w:
        models.train(model, 1, w)
        raise KeyboardInterrupt
    assert eureka.Run(tmp_path / "run").status == "interrupted"
    assert models.hooks_of(model) == 0


def test_a_step_in_eval_mode_is_not_looked_at_and_no_error(tmp_path):
    model = models.made("encoder").eval()
    with eureka.watch(model, every=1, out=tmp_path / "run") as w:
        models.train(model, 2, w)
        assert w.layers == []
        model.train()
        models.train(model, 1, w)
    assert len(w.layers) == 2
    assert "attention/entropy/layer0" in w.run.columns


def test_a_directory_that_holds_a_run_is_refused_before_training(tmp_path):
    model = models.made("encoder")
    with eureka.watch(model, out=tmp_path / "run") as w:
        models.train(model, 1, w)
    with pytest.raises(eureka.Error, match="already holds a run"):
        eureka.watch(model, out=tmp_path / "run")


def test_nothing_is_printed(capfd):
    model = models.made("encoder")
    with eureka.watch(model) as w:
        models.train(model, 2, w)
    assert capfd.readouterr() == ("", "")
