#!/usr/bin/env python3
"""Training runs of stock PyTorch that the detector is measured on (docs/detector.md): families of programs, drawn by seeds.

    scripts/detector_torch_runs.py SET FIRST_SEED COUNT OUT      OUT/<family>-<seed>/metrics.jsonl; those there are kept

SET is any word; it takes part in the drawing. scripts/label_curves.py makes labelled logs of the runs.
"""
import json
import math
import os
import random
import sys

import torch
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(1)


def rate(r, typical, spread=2.0):
    return float(f"{typical * spread ** r.uniform(-1, 1):.3g}")


class Task:
    """draw(n) gives n samples (x, y); classes: y are labels, else numbers; train: a fixed training set, else fresh samples."""

    def __init__(self, draw, is_classes, train=None, validation=None):
        self.draw, self.is_classes, self.train, self.validation = draw, is_classes, train, validation


class Plan:
    """How a run is trained. drop: where the learning rate is cut to a tenth, as a share of the run."""

    def __init__(self, model, task, steps, lr, batch=32, optimizer="adam", decay=0.0, drop=None, cosine=False):
        self.model, self.task, self.steps, self.lr, self.batch = model, task, steps, lr, batch
        self.optimizer, self.decay, self.drop, self.cosine = optimizer, decay, drop, cosine


def mlp_of(*widths, activation=nn.ReLU):
    layers = []
    for i in range(len(widths) - 1):
        layers.append(nn.Linear(widths[i], widths[i + 1]))
        if activation and i + 2 < len(widths):
            layers.append(activation())
    return nn.Sequential(*layers)


class Attention(nn.Module):
    """nn.TransformerEncoder on tokens; the answer is read at the last place, or at every place."""

    def __init__(self, r, tokens, length, classes, everywhere=False):
        super().__init__()
        width = r.choice([32, 48])
        layer = nn.TransformerEncoderLayer(width, r.choice([1, 2, 4]), 2 * width, dropout=0.0, batch_first=True,
                                           norm_first=r.random() < 0.6)
        self.embed, self.place = nn.Embedding(tokens, width), nn.Parameter(torch.randn(length, width) * 0.5)
        self.body, self.head = nn.TransformerEncoder(layer, r.choice([1, 2, 2])), nn.Linear(width, classes)
        self.everywhere = everywhere
        self.mask = torch.triu(torch.full((length, length), -math.inf), 1) if everywhere else None

    def forward(self, x):
        h = self.body(self.embed(x) + self.place, self.mask)
        return self.head(h) if self.everywhere else self.head(h[:, -1])


class Recurrent(nn.Module):
    def __init__(self, kind, inputs, width, outputs):
        super().__init__()
        self.body, self.head = kind(inputs, width, batch_first=True), nn.Linear(width, outputs)

    def forward(self, x):
        return self.head(self.body(x)[0][:, -1])


def patterns(r, flat, classes, noise, side=10):
    """Smooth random pictures, shifted and noisy."""
    pictures = F.avg_pool2d(F.pad(torch.randn(classes, 1, side, side), (1, 1, 1, 1), mode="circular"), 3, 1) * 3

    def draw(n):
        y = torch.randint(classes, (n,))
        shift = [torch.roll(pictures[c, 0], (random.randint(0, 2), random.randint(0, 2)), (0, 1)) for c in y.tolist()]
        x = torch.stack(shift).unsqueeze(1) + noise * torch.randn(n, 1, side, side)
        return (x.flatten(1) if flat else x), y
    return draw


def cnn(r):
    classes, width = r.choice([4, 8, 10]), r.choice([4, 8])
    activation = r.choice([nn.ReLU, nn.Tanh])
    body = [nn.Conv2d(1, width, 3, stride=2, padding=1), activation(), nn.Conv2d(width, width, 3, stride=2, padding=1), activation(),
            nn.Flatten(), nn.Linear(9 * width, classes)]
    model = nn.Sequential(*body)
    if r.random() < 0.5:  # small weights stall at first
        for p in model.parameters():
            p.data *= r.choice([0.1, 0.3])
    task = Task(patterns(r, False, classes, r.choice([0.5, 1.0, 2.0])), True)
    return Plan(model, task, r.choice([500, 800]), rate(r, 2e-3, 4), optimizer=r.choice(["adam", "sgd"]), cosine=r.random() < 0.4)


def mlp(r):
    classes, width = r.choice([4, 8, 16]), r.choice([16, 64])
    model = mlp_of(100, width, *([width] * r.choice([0, 1, 3])), classes, activation=r.choice([nn.ReLU, nn.Tanh, nn.Sigmoid]))
    task = Task(patterns(r, True, classes, r.choice([0.5, 1.0, 2.0])), True)
    return Plan(model, task, r.choice([500, 1000]), rate(r, 2e-3, 4), optimizer=r.choice(["adam", "sgd"]), cosine=r.random() < 0.4)


def parity(r):
    bits, parts = r.choice([16, 20, 30]), r.choice([2, 3, 3])

    def draw(n):
        x = torch.randint(2, (n, bits)).float() * 2 - 1
        return x, (x[:, :parts].prod(1) > 0).long()
    model = mlp_of(bits, r.choice([64, 128]), 2)
    return Plan(model, Task(draw, True), r.choice([2000, 3000]), rate(r, 5e-3), batch=64, decay=r.choice([0, 0, 1e-3]))


def modular(r):
    p = r.choice([17, 23, 29])
    pairs = torch.cartesian_prod(torch.arange(p), torch.arange(p))
    pairs = pairs[torch.randperm(len(pairs))]
    y = pairs.sum(1) % p
    cut = int(len(pairs) * r.choice([0.4, 0.6, 0.7, 0.8]))
    width = r.choice([64, 128])
    model = nn.Sequential(nn.Embedding(p, 32), nn.Flatten(), mlp_of(64, width, p))
    task = Task(None, True, train=(pairs[:cut], y[:cut]), validation=(pairs[cut:], y[cut:]))
    return Plan(model, task, r.choice([1500, 2500]), rate(r, 5e-3), batch=min(cut, 256), decay=r.choice([0.0, 0.3, 1.0, 1.0, 2.0]))


def recurrent(r):
    kind, length, width = r.choice([nn.LSTM, nn.GRU]), r.choice([6, 8, 12]), r.choice([16, 32])
    if r.random() < 0.5:
        def draw(n):  # the adding problem
            x, marks = torch.rand(n, length), torch.zeros(n, length)
            marks.scatter_(1, torch.rand(n, length).topk(2, 1).indices, 1.0)
            return torch.stack([x, marks], 2), (x * marks).sum(1, keepdim=True)
        return Plan(Recurrent(kind, 2, width, 1), Task(draw, False), r.choice([600, 900]), rate(r, 8e-3))
    symbols = r.choice([4, 8])

    def draw(n):  # the first symbol is to be kept over noise
        x = torch.randint(symbols, (n, length))
        return F.one_hot(x, symbols).float(), x[:, 0]
    return Plan(Recurrent(kind, symbols, width, symbols), Task(draw, True), r.choice([600, 900]), rate(r, 4e-3))


def recall(r):
    pairs, keys, values = r.choice([3, 4, 6]), 8, r.choice([4, 8])

    def draw(n):
        k = torch.rand(n, keys).topk(pairs, 1).indices
        v = torch.randint(values, (n, pairs))
        asked = torch.randint(pairs, (n, 1))
        x = torch.cat([torch.stack([k, v + keys], 2).flatten(1), k.gather(1, asked)], 1)
        return x, v.gather(1, asked)[:, 0]
    return Plan(Attention(r, keys + values, 2 * pairs + 1, values), Task(draw, True), r.choice([700, 1000]), rate(r, 2e-3), cosine=r.random() < 0.3)


def induction(r):
    tokens, half = r.choice([8, 16]), r.choice([5, 7])

    def draw(n):
        x = torch.rand(n, tokens).topk(half, 1).indices
        x = torch.cat([x, x], 1)
        return x[:, :-1], x[:, 1:].clone().index_fill_(1, torch.arange(half - 1), -100)
    return Plan(Attention(r, tokens, 2 * half - 1, tokens, everywhere=True), Task(draw, True), r.choice([600, 900]), rate(r, 2e-3))


def pointer(r):
    places, values = r.choice([4, 6]), r.choice([4, 8])

    def draw(n):  # the last token says which place holds the answer
        v, at = torch.randint(values, (n, places)), torch.randint(places, (n, 1))
        return torch.cat([v, at + values], 1), v.gather(1, at)[:, 0]
    return Plan(Attention(r, places + values, places + 1, values), Task(draw, True), r.choice([600, 900]), rate(r, 2e-3))


def autoencoder(r):
    inputs, rank = r.choice([16, 32]), r.choice([2, 4])
    mix = torch.randn(rank, inputs) * torch.tensor([2.0 ** -(i % 3) for i in range(rank)]).unsqueeze(1)

    def draw(n):
        x = torch.tanh(torch.randn(n, rank) @ mix) + 0.05 * torch.randn(n, inputs)
        return x, x
    model = mlp_of(inputs, 32, rank, 32, inputs, activation=r.choice([nn.Tanh, nn.ReLU]))
    return Plan(model, Task(draw, False), r.choice([800, 1500]), rate(r, 3e-3), optimizer=r.choice(["adam", "sgd"]), cosine=r.random() < 0.3)


def linear(r):
    """A deep linear network learns the directions of its teacher one by one, a shallow one at once."""
    inputs, depth = 12, r.choice([1, 2, 3, 4])
    teacher = torch.linalg.qr(torch.randn(inputs, inputs))[0] * torch.tensor([r.choice([3.0, 2.0]), 0.3] + [0.0] * (inputs - 2))

    def draw(n):
        x = torch.randn(n, inputs)
        return x, x @ teacher + 0.1 * torch.randn(n, inputs)
    model = mlp_of(*([inputs] * (depth + 1)), activation=None)
    for p in model.parameters():
        p.data *= r.choice([0.1, 0.3, 1.0])
    return Plan(model, Task(draw, False), r.choice([1000, 2000]), rate(r, 2e-2, 3), optimizer="sgd")


def overfit(r):
    plan = mlp(r)
    plan.task.train, plan.task.validation = plan.task.draw(r.choice([40, 100])), plan.task.draw(300)
    return plan


def diverging(r):
    plan = r.choice([mlp, autoencoder, linear])(r)
    plan.optimizer, plan.lr = "sgd", r.uniform(0.5, 3)
    return plan


def stuck(r):
    plan = r.choice([parity, pointer, mlp])(r)
    plan.lr *= 1e-4
    plan.steps = min(plan.steps, 600)
    return plan


FAMILIES = {f.__name__: f for f in (cnn, mlp, parity, modular, recurrent, recall, induction, pointer, autoencoder, linear, overfit, diverging, stuck)}
ORDER = ["cnn", "mlp", "parity", "modular", "recurrent", "recall", "induction", "cnn-drop", "pointer", "autoencoder", "linear", "parity",
         "mlp-drop", "overfit", "modular", "recurrent", "cnn", "diverging", "recall", "autoencoder-drop", "stuck", "mlp"]


def loss_of(task, out, y):
    return F.cross_entropy(out.flatten(0, -2), y.flatten()) if task.is_classes else F.mse_loss(out, y)


def accuracy_of(out, y):
    counted = y != -100
    return (out.argmax(-1) == y)[counted].float().mean().item()


def train(r, plan, lines):
    task = plan.task
    optimizers = {"adam": lambda p: torch.optim.AdamW(p, plan.lr, weight_decay=plan.decay),
                  "sgd": lambda p: torch.optim.SGD(p, min(10 * plan.lr, 3.0), momentum=0.9)}
    optimizer = optimizers[plan.optimizer](plan.model.parameters())
    base = optimizer.param_groups[0]["lr"]
    validation = task.validation or task.draw(r.choice([200, 300, 500]))
    every = max(1, round(plan.steps / r.choice([150, 200, 250])))
    seen = []
    for step in range(plan.steps + 1):
        if step % every == 0:
            row = {"step": step}
            with torch.no_grad():
                out = plan.model(validation[0])
                row["val_loss"] = loss_of(task, out, validation[1]).item()
                if task.is_classes:
                    row["val_accuracy"] = accuracy_of(out, validation[1])
            if seen:
                row["train_loss"] = sum(s[0] for s in seen) / len(seen)
                if task.is_classes:
                    row["train_accuracy"] = sum(s[1] for s in seen) / len(seen)
            seen = []
            if not math.isfinite(row["val_loss"]) or row["val_loss"] > 1e6:
                return
            lines.write(json.dumps(row) + "\n")
        way = step / plan.steps
        factor = 0.5 * (1 + math.cos(math.pi * way)) if plan.cosine else 1
        optimizer.param_groups[0]["lr"] = base * factor * (0.1 if plan.drop and way >= plan.drop else 1)
        if task.train:
            chosen = torch.randint(len(task.train[0]), (plan.batch,))
            x, y = task.train[0][chosen], task.train[1][chosen]
        else:
            x, y = task.draw(plan.batch)
        out = plan.model(x)
        loss = loss_of(task, out, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        seen.append((loss.item(), accuracy_of(out, y) if task.is_classes else 0))


def run(set_name, family, seed, place):
    out = os.path.join(place, f"{family}-{seed}")
    if os.path.exists(os.path.join(out, "done")):
        return
    os.makedirs(out, exist_ok=True)
    r = random.Random(f"{set_name} {family} {seed}")
    torch.manual_seed(seed)
    random.seed(seed)
    plan = FAMILIES[family.removesuffix("-drop")](r)
    if family.endswith("-drop"):
        plan.drop, plan.cosine, plan.lr = r.uniform(0.35, 0.65), False, plan.lr * 4
    with open(os.path.join(out, "metrics.jsonl"), "w") as lines:
        train(r, plan, lines)
    with open(os.path.join(out, "done"), "w") as f:
        json.dump({"program": "pytorch", "family": family}, f)


def main():
    set_name, first, count, place = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    for i in range(count):
        run(set_name, ORDER[i % len(ORDER)], first + i, place)


if __name__ == "__main__":
    main()
