"""data_parallel.py RANK PLACE WATCHED: one of two processes of a DistributedDataParallel training."""

import sys
from pathlib import Path

import eureka
import torch
import torch_models as models
from torch import distributed
from torch.nn.parallel import DistributedDataParallel


def main(rank, place, watched):
    torch.set_num_threads(1)
    distributed.init_process_group("gloo", init_method=f"file://{place}/meeting-{watched}", rank=rank, world_size=2)
    model = models.made("encoder")
    parallel = DistributedDataParallel(model)
    optimizer = torch.optim.AdamW(parallel.parameters(), 1e-3)
    w = eureka.watch(parallel, every=2, out=place / "run") if watched else None
    if w is not None:
        w.__enter__()
    losses = []
    for step in range(4):
        optimizer.zero_grad()
        loss = models.loss_of(parallel, models.batch(10 * step + rank))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if w is not None:
            w.step(loss=loss)
    told = {} if w is None else {"layers": w.layers, "notes": w.notes, "numbers": w.numbers, "path": str(w.path)}
    if w is not None:
        w.close()
        told["gradient"] = model.blocks[0].self_attn.in_proj_weight.grad[: models.WIDTH].abs().mean().item()
    torch.save({"losses": losses, "state": model.state_dict(), **told}, place / f"rank{rank}-{watched}.pt")
    distributed.destroy_process_group()


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
