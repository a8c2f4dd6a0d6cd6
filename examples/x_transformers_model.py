"""A model of x-transformers, whose attention is not nn.MultiheadAttention: watched and cured all the same.

python examples/x_transformers_model.py      some ten seconds of processor time
"""

import sys
import tempfile
from pathlib import Path

import eureka
import torch
from x_transformers import Decoder, TransformerWrapper

torch.set_num_threads(1)


def trained(cure, steps, **options):
    torch.manual_seed(1)
    model = TransformerWrapper(
        num_tokens=32, max_seq_len=32, attn_layers=Decoder(dim=64, depth=2, heads=4, attn_dim_head=16, **options)
    )
    in_force = eureka.cure(model, cure) if cure else None
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    generator = torch.Generator().manual_seed(1)
    with eureka.watch(model, every=25, out=Path(tempfile.mkdtemp()) / "run") as w:
        for _ in range(steps):
            first = torch.randint(0, 32, (32, 16), generator=generator)
            ids = torch.cat([first, first], 1)  # the second half repeats the first
            logits = model(ids[:, :-1])[:, 15:]
            loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, 16:].flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            w.step(loss=loss)
    if in_force is not None:
        in_force.remove()
    return w


def main(steps=150):
    for name, cure, options in (
        ("as it is", None, {}),
        ("flash attention", None, {"attn_flash": True}),
        ("norm_softmax", "norm_softmax", {"attn_flash": True}),
    ):
        w = trained(cure, steps, **options)
        through = [w.numbers[f"attenuation/through_softmax/layer{i}"] for i in range(len(w.layers))]
        print(
            f"{name}: loss {w.run.curve('train_loss').values[-1]:.3f}, the softmax lets through "
            f"{', '.join(f'{x:.3f}' for x in through)} in {', '.join(w.layers)}"
        )


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
