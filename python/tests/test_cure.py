"""eureka.cure: every rule is that of Eureka's engines, in any model, and leaves when it is told to."""

import copy
import io

import eureka
import numpy as np
import pytest
from eureka import _core

torch = pytest.importorskip("torch")
import torch_models as models  # noqa: E402
from eureka.torch._call import Call  # noqa: E402
from eureka.torch._cure import cure_of  # noqa: E402
from eureka.torch._intercept import SDPA  # noqa: E402
from eureka.torch._rules import RULES, HeatTreatment, explicit, rule_of  # noqa: E402
from torch import nn  # noqa: E402

CASES = [
    ("softmax", {}),
    ("norm_softmax", {"long": 10**9}),
    ("norm_softmax", {"long": 1}),
    ("norm_softmax", {"deviation": "variance", "long": 10**9}),
    ("norm_softmax", {"deviation": "variance", "long": 1}),
    ("qk_norm", {}),
    ("qk_norm", {"norm": "rms"}),
    ("qk_norm", {"norm": "l2"}),
    ("sigmoid", {}),
    ("sigmoid", {"bias": "none"}),
    ("softmax_one", {}),
    ("scalable_softmax", {}),
    ("entmax15", {}),
    ("scale", {"multiple": 3.0}),
]
MASKS = ["none", "causal", "keys", "bool", "additive", "by head", "sliding", "grouped", "cross"]


def mask_of(kind, samples, heads, queries, keys, dtype):
    """A mask as PyTorch takes it, and whether it is causal."""
    generator = torch.Generator().manual_seed(5)
    seen = torch.rand(samples, 1, queries, keys, generator=generator) < 0.7
    seen[..., 0] = True
    if kind == "keys":
        seen = torch.ones(samples, 1, 1, keys, dtype=torch.bool)
        seen[0, ..., 3:] = False
    if kind == "sliding":
        near = torch.ones(queries, keys, dtype=torch.bool)
        return near.tril() & ~near.tril(-3), False
    if kind == "additive":
        bias = torch.randn(1, heads, queries, keys, generator=generator).to(dtype)
        return bias.masked_fill(~seen, torch.finfo(dtype).min), False
    if kind == "by head":
        seen = torch.rand(samples, heads, queries, keys, generator=generator) < 0.7
        seen[..., 1] = True
    return (None if kind in ("none", "causal", "grouped") else seen), kind == "causal"


def arrays(dtype=torch.float32, samples=2, heads=3, tokens=7, width=4, mask="none"):
    """Queries, keys, values and the gradient of what comes out."""
    generator = torch.Generator().manual_seed(2)
    of_queries = (heads, tokens)
    of_keys = (1 if mask == "grouped" else heads, tokens - 2 if mask == "cross" else tokens)
    shapes = [(samples, *size, width) for size in (of_queries, of_keys, of_keys, of_queries)]
    return [torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype) for shape in shapes]


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize(("name", "options"), CASES, ids=str)
def test_rules_are_those_of_the_engines(name, options, mask):
    rule = rule_of(name, options)
    q, k, v, d_out = arrays(mask=mask)
    attention_mask, causal = mask_of(mask, 2, 3, 7, k.shape[2], torch.float32)
    scale = 0.6
    for x in (q, k, v):
        x.requires_grad_(True)
    out = rule.attend(Call(q, k, v, attention_mask, 0.0, causal, scale, mask == "grouped"), SDPA)
    gradients = torch.autograd.grad(out, (q, k, v), d_out)
    arguments = [x.detach().numpy() for x in (q, k, v, d_out)]
    multiple = scale * 2 * (options.get("multiple", 1.0) if name == "scale" else 1.0)
    if mask in ("none", "causal", "keys"):
        # The kernels of the fused engine.
        visible = None
        if mask == "keys":
            visible = np.ascontiguousarray(attention_mask[:, 0, 0].numpy().astype(np.float32))
        expected = _core.attend(*arguments, rule.name, rule.options(), multiple, causal, visible)
    else:
        more = {}
        if attention_mask is None:
            pass
        elif attention_mask.dtype == torch.bool:
            # Two dimensions would be samples x keys there.
            more["visible"] = attention_mask.numpy() if attention_mask.dim() > 2 else attention_mask[None].numpy()
        else:
            more["logit_bias"] = attention_mask.numpy() * (options["multiple"] if name == "scale" else 1)
        if name == "scale" and mask == "additive":
            pytest.skip("a scale multiplies q.k alone")
        look = eureka.look(*arguments, scale=multiple / 2, rule=rule.name, **rule.options(), **more)
        expected = [look.tensors[one] for one in ("out", "d_q", "d_k", "d_v")]
        if mask == "grouped":
            # It tells what each head of queries does to the keys that they share.
            expected[2:] = [gradient.sum(1, keepdims=True) for gradient in expected[2:]]
    for what, got, want in zip(("out", "dq", "dk", "dv"), (out, *gradients), expected):
        largest = max(1.0, np.abs(want).max())
        assert np.abs(got.detach().numpy() - want).max() < 5e-5 * largest, what


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize(("name", "options"), CASES, ids=str)
def test_gradients_are_those_of_differences(name, options, mask):
    rule = rule_of(name, options)
    q, k, v, _ = arrays(torch.float64, samples=1, heads=2, tokens=5, mask=mask)
    attention_mask, causal = mask_of(mask, 1, 2, 5, k.shape[2], torch.float64)

    def attend(q, k, v):
        return rule.attend(Call(q, k, v, attention_mask, 0.0, causal, 0.6, mask == "grouped"), SDPA)

    inputs = tuple(x.requires_grad_(True) for x in (q, k, v))
    assert torch.autograd.gradcheck(attend, inputs, eps=1e-6, atol=1e-6, rtol=1e-4)


@pytest.mark.parametrize("name", [name for name in RULES if name != "heat_treatment"])
def test_a_row_that_sees_nothing_gives_nothing_and_no_gradient(name):
    q, k, v, d_out = arrays()
    seen = torch.ones(2, 1, 7, 7, dtype=torch.bool)
    seen[:, :, 2] = False
    rule = rule_of(name, {})
    q.requires_grad_(True)
    out = explicit(rule, rule.prepare(Call(q, k, v, seen, 0.0, False, 0.5, False)))
    assert torch.equal(out[:, :, 2], torch.zeros_like(out[:, :, 2]))
    (gradient,) = torch.autograd.grad(out, q, d_out)
    assert torch.isfinite(gradient).all()
    assert torch.equal(gradient[:, :, 2], torch.zeros_like(gradient[:, :, 2]))


def test_heat_treatment_cools_down_as_in_the_engines():
    rule = HeatTreatment(steps=100)
    for step, multiple in ((0, 24.0), (25, 12.5), (50, 1.0), (99, 1.0)):
        rule.go_to(step)
        assert rule.multiple == pytest.approx(multiple)
    model = models.made("encoder")
    with eureka.cure(model, "heat_treatment", steps=4) as cure:
        hot = model(models.batch(0))
        for _ in range(4):
            cure.step()
        cold = model(models.batch(0))
    assert torch.equal(cold, model(models.batch(0)))
    assert not torch.allclose(hot, cold, atol=1e-4)


LOGITS_ONLY = [name for name in RULES if name not in ("heat_treatment", "qk_norm", "scale")]


@pytest.mark.skipif(not models.HAS_SDPA, reason="needs PyTorch 2")
@pytest.mark.parametrize("style", ["matmul", "einsum", "operators"])
@pytest.mark.parametrize("name", LOGITS_ONLY)
def test_hand_written_attention_is_cured_like_that_of_pytorch(name, style):
    outputs = []
    for which in (style, "sdpa"):
        model = models.made(f"by hand, {which}")
        with eureka.cure(model, name) as cure:
            loss = models.loss_of(model, models.batch(0))
            loss.backward()
        assert cure.calls == 1
        outputs.append((loss.item(), model.to_q.weight.grad))
    assert outputs[0][0] == pytest.approx(outputs[1][0], rel=1e-6)
    assert torch.allclose(outputs[0][1], outputs[1][1], atol=1e-7, rtol=1e-4)


def test_qk_norm_of_hand_written_attention_is_refused_in_words():
    model = models.made("by hand, matmul")
    with eureka.cure(model, "qk_norm"), pytest.raises(eureka.Error, match="computes its logits by itself"):
        model(models.batch(0))


@pytest.mark.parametrize("name", models.MODELS)
def test_every_model_is_cured_and_is_itself_again_afterwards(name):
    model, layers = models.made(name), models.MODELS[name][1]
    model.eval()
    ids = models.batch(0)
    before, keys, kind = model(ids), list(model.state_dict()), type(model)
    with eureka.cure(model, "norm_softmax") as cure:
        during = model(ids)
        assert cure.calls == layers
        assert list(model.state_dict()) == keys
        assert isinstance(model, kind)
    assert type(model) is kind
    assert torch.equal(model(ids), before)
    assert not torch.equal(during, before)
    with eureka.cure(model, "softmax"):
        same = model(ids)
    assert torch.allclose(same, before, atol=1e-5)


def test_chosen_layers_and_no_others():
    model = models.made("encoder")
    with eureka.cure(model, "sigmoid", layers=["blocks.1"]) as cure:
        model(models.batch(0))
        assert cure.calls == 1
    with pytest.raises(eureka.Error, match=r"no module 'block.1'"):
        eureka.cure(model, "sigmoid", layers="block.1")
    with pytest.raises(eureka.Error, match="no cure 'sigmod'"):
        eureka.cure(model, "sigmod")
    with pytest.raises(eureka.Error, match="no deviation 'mean'"):
        eureka.cure(model, "norm_softmax", deviation="mean")
    with pytest.raises(eureka.Error, match="has no option"):
        eureka.cure(model, "norm_softmax", devation="std")
    with eureka.cure(model, "sigmoid"), pytest.raises(eureka.Error, match="in force"):
        eureka.cure(model.blocks[0], "entmax15")
    # A layer that is named twice would be scaled twice.
    for layers in (["blocks.1", "blocks.1"], ["blocks.1", "blocks.1.self_attn"]):
        with pytest.raises(eureka.Error, match="twice"):
            eureka.cure(model, "scale", layers=layers)
    with pytest.raises(eureka.Error, match="names no module"):
        eureka.cure(model, "sigmoid", layers=[])
    with pytest.raises(eureka.Error, match=r"is no torch\.nn\.Module"):
        eureka.cure(None, "sigmoid")
    slips = {"multiple is no number": "x", "multiple must be finite": float("nan"), "multiple must be above 0": -1}
    for said, multiple in slips.items():
        with pytest.raises(eureka.Error, match=said):
            eureka.cure(model, "scale", multiple=multiple)
    assert type(model) is models.Encoder


def test_a_copy_of_a_cured_model_runs_its_own_layers():
    model = models.made("encoder")
    with eureka.cure(model, "norm_softmax"):
        twin = copy.deepcopy(model)
        with torch.no_grad():
            for parameter in twin.parameters():
                parameter.mul_(2)
        assert not torch.equal(twin(models.batch(0)), model(models.batch(0)))


@pytest.mark.parametrize("layers", [None, ["blocks.0", "blocks.1"]])
def test_a_cured_model_is_saved_and_loaded_with_its_cure(layers):
    model, place = models.made("encoder"), io.BytesIO()
    plain = model(models.batch(0))
    with eureka.cure(model, "norm_softmax", layers=layers):
        expected = model(models.batch(0))
        torch.save(model, place)
    place.seek(0)
    loaded = torch.load(place, **({} if torch.__version__ < "2" else {"weights_only": False}))
    assert torch.equal(loaded(models.batch(0)), expected)
    cures = {cure for module in loaded.modules() if (cure := cure_of(module)) is not None}
    assert len(cures) == 1
    cures.pop().remove()
    assert type(loaded) is models.Encoder
    assert torch.equal(loaded(models.batch(0)), plain)


def test_a_cured_model_is_watched_with_the_numbers_of_its_rule(tmp_path):
    for name in ["by hand, matmul"] + ["by hand, sdpa"] * models.HAS_SDPA:
        model = models.made(name)
        with eureka.cure(model, "norm_softmax"), eureka.watch(model, out=tmp_path / name) as w:
            models.train(model, 1, w)
        # NormSoftmax brings the deviation of a row to 1, unless all its keys are the same token.
        assert w.numbers["attention/logit_deviation/layer0"] < 0.5
        assert 0.95 < w.numbers["attention/logit_deviation_after/layer0"] <= 1
        assert w.run.summary["attention"] == "norm_softmax"
        assert len(w.layers) == 1
        assert w.notes == []


@pytest.mark.skipif(not hasattr(torch, "compiler"), reason="needs PyTorch 2")
@pytest.mark.parametrize("compiled_first", [False, True])
@pytest.mark.parametrize("name", ["by hand, sdpa", "by hand, matmul", "encoder"])
def test_compiled_models(name, compiled_first):
    torch._dynamo.reset()
    model = models.made(name)
    with eureka.cure(model, "norm_softmax"):
        expected = model(models.batch(0))
    compiled = torch.compile(model, backend="eager", fullgraph=name != "encoder")
    if compiled_first:
        compiled(models.batch(0))
    with eureka.cure(compiled, "norm_softmax") as cure:
        assert torch.allclose(compiled(models.batch(0)), expected, atol=1e-6)
    assert cure.calls >= 1
    assert torch.allclose(compiled(models.batch(0)), model(models.batch(0)), atol=1e-6)


@pytest.mark.skipif(not models.has("transformers"), reason="needs transformers")
@pytest.mark.parametrize("kind", ["gpt2", "llama", "mistral", "roberta"])
def test_names_for_hugging_face(kind):
    names = eureka.torch.register_with_transformers()
    # One with a schedule needs to know how long.
    assert names == [f"eureka_{name}" for name in RULES if name not in ("softmax", "heat_treatment")]
    torch.manual_seed(0)
    named = models.hugging_face(kind, "eureka_norm_softmax").eval()
    torch.manual_seed(0)
    plain = models.hugging_face(kind, "sdpa").eval()
    ids = models.batch(0)
    with eureka.cure(plain, "norm_softmax"):
        assert torch.allclose(named(ids), plain(ids), atol=1e-5)
    assert not torch.allclose(named(ids), plain(ids), atol=1e-4)


def test_dropout_is_that_of_the_weights():
    q, k, v, _ = arrays()
    rule = rule_of("sigmoid", {})
    torch.manual_seed(0)
    out = rule.attend(Call(q, k, torch.ones_like(v), None, 0.5, False, 0.5, False), SDPA)
    whole = rule.attend(Call(q, k, torch.ones_like(v), None, 0.0, False, 0.5, False), SDPA)
    assert not torch.allclose(out, whole)
    many = torch.stack(
        [rule.attend(Call(q, k, torch.ones_like(v), None, 0.5, False, 0.5, False), SDPA) for _ in range(400)]
    )
    assert torch.allclose(many.mean(0), whole, atol=0.12)


def synthetic(jumps_at):
    x = np.arange(100)
    return x * 10, 0.5 + 0.5 / (1 + np.exp(-(x - jumps_at) / 1.5))


@pytest.mark.parametrize("by_forward", [True, False])
def test_a_module_that_is_trained_by_its_steps_is_cured_once(by_forward):
    """Lightning calls `training_step`, which may pass by `forward`."""

    class Stepping(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = models.made("encoder")

        def forward(self, ids):
            return self.inner(ids)

        def training_step(self, ids):
            return self(ids) if by_forward else self.inner(ids)

    expected = models.made("encoder")
    module = Stepping()
    with eureka.cure(expected, "sigmoid"), eureka.cure(module, "sigmoid") as cure:
        assert torch.equal(module.training_step(models.batch(0)), expected(models.batch(0)))
        assert cure.calls == 2
        assert torch.equal(module(models.batch(0)), expected(models.batch(0)))
        assert cure.calls == 4
    assert type(module) is Stepping


def test_rescue_counts_pairs():
    def make_run(seed, cured):
        model = models.made("encoder")
        cure = cured(model)
        model(models.batch(seed))
        return synthetic(40 + seed if cure else 70 + seed)

    found = eureka.rescue(make_run, "norm_softmax", seeds=range(8))
    arm = found.comparison["norm_softmax"]
    assert arm.events == 8
    assert arm.paired.sooner == 8
    assert arm.verdict_kind == "sooner"
    assert "norm_softmax" in found.verdict
    assert "moments 8/8" in str(found)


def test_rescue_says_when_it_compared_nothing():
    with pytest.raises(eureka.Error, match="never called cured"):
        eureka.rescue(lambda seed, cured: synthetic(50), "norm_softmax", seeds=[1])

    def without_attention(seed, cured):
        cured(nn.Linear(2, 2))
        return synthetic(50)

    with pytest.raises(eureka.Error, match="no attention of the model"):
        eureka.rescue(without_attention, "norm_softmax", seeds=[1])
