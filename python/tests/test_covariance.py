"""NormSoftmax without a matrix of queries by keys is NormSoftmax: docs/flash-norm-softmax.md."""

import math

import pytest

torch = pytest.importorskip("torch")
from eureka.torch import norm_softmax_attention  # noqa: E402
from eureka.torch._covariance import CHUNK, causal_variance  # noqa: E402


def explicit(q, k, v, causal, deviation, epsilon=1e-6, multiple=1.0):
    """As the definition has it, a row at a time."""
    rows = []
    for i in range(q.shape[-2]):
        keys = k[..., : i + 1, :] if causal else k
        logits = (keys @ q[..., i, :, None]).squeeze(-1)
        variance = logits.var(-1, unbiased=False, keepdim=True) + epsilon
        divisor = variance if deviation == "variance" else variance.sqrt()
        weights = torch.softmax(multiple * logits / divisor.clamp(max=math.sqrt(q.shape[-1])), -1)
        rows.append((weights.unsqueeze(-2) @ v[..., : keys.shape[-2], :]).squeeze(-2))
    return torch.stack(rows, -2)


def arrays(dtype, tokens, width=16, size=1.0, offset=0.0):
    generator = torch.Generator().manual_seed(3)
    make = lambda: torch.randn(1, 2, tokens, width, generator=generator, dtype=torch.float64)  # noqa: E731
    q, k, v, d_out = make() * size, make() + offset, make(), make()
    return [x.to(dtype) for x in (q, k, v, d_out)]


def both(dtype, tokens, causal, deviation, **more):
    q, k, v, d_out = arrays(dtype, tokens, **more)
    results = []
    for function in (norm_softmax_attention, explicit):
        inputs = [x.clone().requires_grad_(True) for x in (q, k, v)]
        out = function(*inputs, causal=causal, deviation=deviation)
        results.append((out, *torch.autograd.grad(out, inputs, d_out)))
    return results


@pytest.mark.parametrize("deviation", ["std", "variance"])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("tokens", [1, 2, 5, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK + 37])
def test_equal_to_the_definition_in_float64(tokens, causal, deviation):
    for size in (0.3, 4.0):  # the deviation, and sqrt(d) where that is smaller
        got, expected = both(torch.float64, tokens, causal, deviation, size=size)
        for name, a, b in zip(("out", "dq", "dk", "dv"), got, expected):
            assert (a - b).abs().max() <= 2e-11 * max(1.0, b.abs().max().item()), (name, size)


@pytest.mark.parametrize("causal", [False, True])
def test_gradcheck(causal):
    q, k, v, _ = arrays(torch.float64, 6, width=4)
    inputs = tuple(x.requires_grad_(True) for x in (q, k, v))
    assert torch.autograd.gradcheck(lambda *x: norm_softmax_attention(*x, causal=causal), inputs, atol=1e-6)


@pytest.mark.parametrize("offset", [0.0, 10.0])
@pytest.mark.parametrize("causal", [False, True])
def test_in_float32_it_is_as_exact_as_the_explicit_form(causal, offset):
    """Also where keys share a large mean, which a second moment less the square of the mean would not survive."""
    exact = both(torch.float64, 3 * CHUNK, causal, "std", offset=offset)[1]
    got, explicit_form = both(torch.float32, 3 * CHUNK, causal, "std", offset=offset)
    for name, a, b, true in zip(("out", "dq", "dk", "dv"), got, explicit_form, exact):
        largest = true.abs().max()
        ours, theirs = ((x.double() - true).abs().max() / largest for x in (a, b))
        assert ours <= 3 * theirs + 1e-6, (name, ours.item(), theirs.item())


def test_memory_is_linear_in_tokens():
    """What autograd keeps for a causal variance: no matrix of tokens by tokens."""
    kept = {}
    for tokens in (8 * CHUNK, 16 * CHUNK):
        q, k, _, _ = arrays(torch.float32, tokens)
        sizes = []

        def pack(x, sizes=sizes):
            sizes.append(x.numel())
            return x

        with torch.autograd.graph.saved_tensors_hooks(pack, lambda x: x):
            causal_variance(q.requires_grad_(True), k.requires_grad_(True))
        kept[tokens] = sum(sizes)
    assert kept[16 * CHUNK] < 2.1 * kept[8 * CHUNK]


def test_dropout_and_half_precision_run():
    q, k, v, _ = arrays(torch.bfloat16, 40)
    out = norm_softmax_attention(q, k, v, causal=True, dropout=0.5)
    assert out.dtype == torch.bfloat16
    assert torch.isfinite(out.float()).all()
