"""eureka.watch in the ways people train: several processes, less precision, accumulation, compilers; and with the kinds
of attention they use. Its numbers are right, and those of the training are what they were, to the last bit."""

import os
import subprocess
import sys

import eureka
import numpy as np
import pytest
from conftest import ROOT

torch = pytest.importorskip("torch")
import torch_models as models  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402


def least_spread(keys):
    """The trace of the Jacobian of uniform weights over so many keys, of rows with more than one."""
    keys = np.asarray([k for k in keys if k > 1], dtype=float)
    return (1 - 1 / keys).mean()


def accumulate(model, optimizer, step):
    for part in range(3):
        (models.loss_of(model, models.batch(10 * step + part)) / 3).backward()


def in_bfloat16(model, optimizer, step):
    with torch.autocast("cpu", torch.bfloat16):
        loss = models.loss_of(model, models.batch(step))
    loss.backward()


def with_a_mask(model, optimizer, step):
    mask = torch.ones(models.TOKENS, models.TOKENS, dtype=torch.bool).triu(1)
    models.loss_of(model, models.batch(step), mask=mask).backward()


def plainly(model, optimizer, step):
    models.loss_of(model, models.batch(step)).backward()


WAYS = {
    "accumulation": (accumulate, {}),
    "bfloat16": (in_bfloat16, {}),
    "mask": (with_a_mask, {}),
    "dropout": (plainly, {"dropout": 0.1}),
    "checkpointing": (plainly, {"checkpoint": "plain"}),
    "reentrant checkpointing": (plainly, {"checkpoint": "reentrant"}),
}


@pytest.mark.parametrize("way", WAYS)
def test_no_bit_of_the_training_changes(way):
    update, options = WAYS[way]
    states = []
    for watched in (False, True):
        torch.manual_seed(0)
        model = models.Encoder(**options)
        optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
        torch.manual_seed(1)
        w = eureka.watch(model, every=2) if watched else None
        if w is not None:
            w.__enter__()
        for step in range(5):
            optimizer.zero_grad()
            update(model, optimizer, step)
            optimizer.step()
            if w is not None:
                w.step()
        if w is not None:
            assert w.layers == ["blocks.0.self_attn", "blocks.1.self_attn"]
            w.close()
        states.append(model.state_dict())
    for name, tensor in states[0].items():
        assert torch.equal(tensor, states[1][name]), name


def test_distributed_data_parallel(tmp_path):
    def both(watched):
        words = [sys.executable, str(ROOT / "python/tests/data_parallel.py")]
        ranks = [
            subprocess.Popen([*words, str(rank), str(tmp_path), str(watched)], stderr=subprocess.PIPE, text=True)
            for rank in (0, 1)
        ]
        for rank in ranks:
            _, complaint = rank.communicate()
            assert rank.returncode == 0, complaint[-2000:]
        return [torch.load(tmp_path / f"rank{rank}-{watched}.pt") for rank in (0, 1)]

    alone, seen = both(0), both(1)
    for before, after in zip(alone, seen):
        assert before["losses"] == after["losses"]
        assert all(torch.equal(before["state"][name], after["state"][name]) for name in before["state"])
    assert seen[0]["layers"] == ["blocks.0.self_attn", "blocks.1.self_attn"]
    assert seen[0]["notes"] == []
    # The gradients of the parameters are those of all processes; the first process writes.
    assert seen[0]["numbers"]["gradients/mean_abs/q/layer0"] == pytest.approx(seen[0]["gradient"], rel=1e-5)
    run = eureka.Run(tmp_path / "run")
    assert run.status == "finished"
    assert list(run.steps) == [1, 2, 4]
    assert run.columns["attention/entropy/layer0"][-1] == seen[0]["numbers"]["attention/entropy/layer0"]
    assert seen[1]["numbers"]["attention/entropy/layer0"] != seen[0]["numbers"]["attention/entropy/layer0"]


@pytest.mark.skipif(not models.has("transformers"), reason="needs transformers")
@pytest.mark.parametrize("attention", ["sdpa", "eager"])
def test_a_sliding_window_is_seen(attention):
    traces = {}
    for kind in ("mistral", "llama"):
        model = models.made(f"{kind} {attention}")
        with eureka.watch(model) as w:
            models.train(model, 1, w)
        traces[kind] = w.numbers["jacobian/trace/layer0"]
    # Attention at the start is nearly uniform over what is seen: four tokens, or all up to one's own.
    window = least_spread(min(i, 4) for i in range(1, models.TOKENS + 1))
    assert traces["mistral"] == pytest.approx(window, rel=0.01)
    assert traces["llama"] == pytest.approx(least_spread(range(1, models.TOKENS + 1)), rel=0.01)


class Grouped(models.ByHand):
    """Four heads of queries share two of keys and values: `how` they are told so."""

    def __init__(self, how):
        super().__init__()
        self.to_k, self.to_v = (nn.Linear(models.WIDTH, models.WIDTH // 2) for _ in range(2))
        self.how = how

    def forward(self, ids):
        x = self.embed(ids)
        split = lambda y, heads: y.unflatten(-1, (heads, -1)).transpose(1, 2)  # noqa: E731
        q, k, v = split(self.to_q(x), 4), split(self.to_k(x), 2), split(self.to_v(x), 2)
        if self.how == "grouped":
            out = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        else:
            k, v = k.repeat_interleave(2, 1), v.repeat_interleave(2, 1)
            out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.head(out.transpose(1, 2).flatten(2))


@pytest.mark.skipif(
    not models.HAS_SDPA or "enable_gqa" not in (F.scaled_dot_product_attention.__doc__ or ""),
    reason="needs PyTorch 2.5",
)
def test_grouped_keys_are_those_of_their_heads():
    numbers = {}
    for how in ("grouped", "repeated"):
        torch.manual_seed(0)
        model = Grouped(how)
        with eureka.watch(model) as w:
            models.train(model, 1, w)
        assert w.gradients_of == {w.layers[0]: "to_q, to_k, to_v"}
        numbers[how] = w.numbers
    heads = {name: value for name, value in numbers["grouped"].items() if "/head" in name and "d_k" not in name}
    assert len(heads) > 40
    for name, value in heads.items():
        if not name.startswith("gradients") and "d_v" not in name:
            assert numbers["repeated"][name] == pytest.approx(value, rel=1e-4, abs=1e-9), name
    assert numbers["repeated"]["gradients/mean_abs/k/layer0"] == pytest.approx(
        numbers["grouped"]["gradients/mean_abs/k/layer0"], rel=1e-5
    )


def test_cross_attention_looks_at_the_other_sequence():
    model = models.made("translator")
    with eureka.watch(model) as w:
        models.train(model, 1, w)
    named = dict(zip(w.layers, range(3)))
    trace = {name: w.numbers[f"jacobian/trace/layer{i}"] for name, i in named.items()}
    of_decoder = "core.decoder.layers.0."
    assert trace[of_decoder + "multihead_attn"] == pytest.approx(1 - 1 / models.TOKENS, rel=0.08)
    assert trace[of_decoder + "self_attn"] == pytest.approx(least_spread(range(1, 6)), rel=0.08)


@pytest.mark.parametrize("name", ["with weights", "encoder"])
def test_heads_of_a_cured_layer_are_told_apart(name):
    """Where nn.MultiheadAttention computes weights by itself it folds them into the samples."""
    model = models.made(name)
    with eureka.cure(model, "norm_softmax"), eureka.watch(model) as w:
        models.train(model, 1, w)
    assert set(w.gradients_of.values()) == {"in_proj_weight"}
    for head in range(models.HEADS):
        assert f"attention/entropy/layer0/head{head}" in w.numbers
        assert f"gradients/qk_to_v/layer0/head{head}" in w.numbers


flex = pytest.importorskip("torch.nn.attention.flex_attention", reason="needs PyTorch 2.5") if models.HAS_SDPA else None


class Flex(models.ByHand):
    """PyTorch has no backward pass of it on CPU: its queries, keys and values are cut off."""

    def forward(self, ids):
        x = self.embed(ids).detach()
        split = lambda y: y.unflatten(-1, (models.HEADS, -1)).transpose(1, 2).detach()  # noqa: E731
        out = flex.flex_attention(split(self.to_q(x)), split(self.to_k(x)), split(self.to_v(x)))
        return self.head(out.transpose(1, 2).flatten(2))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.skipif(flex is None, reason="needs PyTorch 2.5")
def test_flex_attention_is_named_and_not_passed_over():
    class Both(nn.Module):
        def __init__(self):
            super().__init__()
            self.mixer, self.encoder = Flex(), models.Encoder()

        def forward(self, ids):
            return self.mixer(ids) + self.encoder(ids)

    torch.manual_seed(0)
    model = Both()
    with eureka.watch(model) as w:
        models.train(model, 1, w)
    assert len(w.layers) == 2
    assert w.notes == ["mixer: attention by flex_attention is not seen"]
    alone = Flex()
    with (
        pytest.raises(eureka.Error, match=r"no attention was seen.*the model \(flex_attention\)"),
        eureka.watch(alone) as w,
    ):
        models.train(alone, 1, w)


HAS_STANCE = hasattr(torch, "compiler") and hasattr(torch.compiler, "set_stance")


@pytest.mark.skipif(not HAS_STANCE, reason="needs PyTorch 2.6")
@pytest.mark.parametrize("compiled_first", [True, False])
@pytest.mark.parametrize("cured", [False, True])
def test_a_watch_costs_no_compilation(compiled_first, cured):
    """By the compiler's own count, over a training with looks at steps 1, 3, 6, 9, ..."""
    from torch._dynamo.utils import counters

    def compilations(watched):
        torch._dynamo.reset()
        counters.clear()
        model = models.made("encoder")
        compiled = torch.compile(model, backend="aot_eager")
        if compiled_first:
            models.train(compiled, 2)
        cure = eureka.cure(model, "norm_softmax") if cured else None
        if watched:
            with eureka.watch(compiled, every=3) as w:
                models.train(compiled, 12, w)
            assert len(w.layers) == 2
        else:
            models.train(compiled, 12)
        if cure is not None:
            cure.remove()
        return counters["stats"]["unique_graphs"]

    before = compilations(watched=False)
    assert before > 0
    assert compilations(watched=True) == before


COMPILED_INSIDE = """
import eureka, torch, torch_models as models
model, programs = models.made("encoder"), []
def backend(graph, inputs):
    programs.append(graph)
    return graph.forward
with eureka.watch(model, every=3) as w:
    compiled = torch.compile(model, backend=backend)
    for step in range(4):
        models.loss_of(compiled, models.batch(step)).backward()
        w.step()
        print(len(programs), len(w.layers))
"""


@pytest.mark.skipif(
    not hasattr(torch, "compiler") or not hasattr(torch.compiler, "set_stance"), reason="needs PyTorch 2.6"
)
def test_what_is_compiled_inside_the_block_is_compiled_once_and_without_a_warning():
    # In a process of its own, where nothing has loaded the compiler yet.
    ran = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", "-c", COMPILED_INSIDE],
        capture_output=True,
        text=True,
        cwd=ROOT / "python/tests",
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    said = [[int(number) for number in line.split()] for line in ran.stdout.splitlines()]
    assert [layers for _, layers in said] == [2, 2, 2, 2]
    # The first step and the third run as they are written; the second is compiled, and the fourth is what it was.
    assert said[0][0] == 0
    assert said[1][0] == said[2][0] == said[3][0] > 0
