"""How long NormSoftmax takes with and without a matrix of queries by keys, and how exact it is.

python examples/flash_norm_softmax.py          a minute on one core
"""

import sys
import time

import torch
import torch.nn.functional as F
from eureka.torch import norm_softmax_attention
from eureka.torch._call import Call
from eureka.torch._rules import NormSoftmax, explicit

torch.set_num_threads(1)


def by_definition(q, k, v, causal):
    return explicit(NormSoftmax(), Call(q, k, v, None, 0.0, causal, q.shape[-1] ** -0.5, False))


def plain(q, k, v, causal):
    return F.scaled_dot_product_attention(q, k, v, is_causal=causal)


def by_covariance(q, k, v, causal):
    return norm_softmax_attention(q, k, v, causal=causal)


def arrays(tokens, dtype=torch.float32):
    generator = torch.Generator().manual_seed(1)
    make = lambda: torch.randn(2, 4, tokens, 64, generator=generator, dtype=torch.float64).to(dtype)  # noqa: E731
    return [make() for _ in range(4)]


def step(function, tokens, causal, dtype=torch.float32):
    q, k, v, d_out = arrays(tokens, dtype)
    inputs = [x.requires_grad_(True) for x in (q, k, v)]
    out = function(*inputs, causal)
    return out, torch.autograd.grad(out, inputs, d_out)


def milliseconds(function, tokens, causal, rounds=5):
    """Processor time of a forward and a backward pass, the shortest of some."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        step(function, tokens, causal)
        times.append(time.process_time() - start)
    return 1e3 * min(times)


def kept(function, tokens, causal):
    """Megabytes that the forward pass keeps for the backward pass."""
    sizes = {}

    def pack(x):
        sizes[x.untyped_storage().data_ptr()] = x.untyped_storage().nbytes()
        return x

    q, k, v, _ = arrays(tokens)
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda x: x):
        function(*(x.requires_grad_(True) for x in (q, k, v)), causal)
    return sum(sizes.values()) / 1e6


def main(longest=2048):
    ways = {"plain": plain, "explicit": by_definition, "this": by_covariance}
    print("milliseconds of processor time, forward and backward; batch 2, 4 heads of 64, one core")
    for causal in (False, True):
        for tokens in (t for t in (512, 1024, 2048) if t <= longest):
            row = [f"{name} {milliseconds(way, tokens, causal):7.0f}" for name, way in ways.items()]
            print(f"{'causal' if causal else 'full':>7} {tokens:5}  {'   '.join(row)}", flush=True)
    print("megabytes kept for the backward pass, causal")
    for tokens in (t for t in (512, 1024, 2048, 4096) if t <= 2 * longest):
        row = [
            f"{name} {kept(way, tokens, True):7.1f}"
            for name, way in ways.items()
            if name != "explicit" or tokens < 4096
        ]
        print(f"{'causal':>7} {tokens:5}  {'   '.join(row)}", flush=True)
    size = min(1024, longest)
    print(f"largest error by the largest entry, {size} tokens: output, and the worst of the gradients")
    for causal in (False, True):
        truth = step(by_definition, size, causal, torch.float64)
        for name, way, dtype in (
            ("this, float64", by_covariance, torch.float64),
            ("this, float32", by_covariance, torch.float32),
            ("explicit, float32", by_definition, torch.float32),
        ):
            out, gradients = step(way, size, causal, dtype)
            error = [
                ((a.double() - b).abs().max() / b.abs().max()).item()
                for a, b in zip((out, *gradients), (truth[0], *truth[1]))
            ]
            print(f"{'causal' if causal else 'full':>7}  {name:<18} {error[0]:.1e}  {max(error[1:]):.1e}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 2048)
