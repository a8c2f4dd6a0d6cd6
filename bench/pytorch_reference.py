"""The training step of `eureka bench` in stock PyTorch, one thread: reads one JSON request per line, answers one per line.

{"make": {"tokens": 16, "dimension": 588, "classes": 10, "width": 64, "hidden": 128, "heads": 4, "depth": 4, "batch": 128,
          "image": {"height": 56, "width": 56, "channels": 3, "patch": 14}}}       image left out: tokens are given
A sequence model has "everywhere" (an answer at every position), "causal", "vocabulary" (0: tokens are vectors), "squared",
"asked" (answers of a sample that the loss counts), "norm", "activation", "positions", "tied".
{"steps": 3}       -> {"ms": [wall, wall, wall], "cpu_ms": of all three, "peak_mb": beyond what torch itself needs}
"""
import json
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F


class RMSNorm(nn.Module):
    """nn.RMSNorm, which Debian's PyTorch does not have yet."""

    def __init__(self, width, eps):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.eps = eps

    def forward(self, x):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.eps) * self.weight


NORMS = {"layer": nn.LayerNorm, "rms": RMSNorm, "none": lambda width, eps: nn.Identity()}


def rotary(tokens, width):
    pairs = width // 2
    angles = torch.arange(tokens)[:, None] * 10000.0 ** (-torch.arange(pairs) / pairs)
    return angles.cos(), angles.sin()


def turned(x, angles):
    first, second = x.chunk(2, -1)
    cosines, sines = angles
    return torch.cat([first * cosines - second * sines, second * cosines + first * sines], -1)


class Block(nn.Module):
    def __init__(self, width, hidden, heads, norm="layer", activation="gelu", mask=None, angles=None):
        super().__init__()
        self.heads = heads
        self.mask = mask
        self.angles = angles
        self.activation = getattr(F, activation)
        self.norm1 = NORMS[norm](width, eps=1e-6)
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.proj = nn.Linear(width, width)
        self.mlp = hidden > 0
        if self.mlp:
            self.norm2 = NORMS[norm](width, eps=1e-6)
            self.fc1 = nn.Linear(width, hidden)
            self.fc2 = nn.Linear(hidden, width)

    def attention(self, x):
        batch, tokens, width = x.shape
        q, k, v = self.qkv(x).view(batch, tokens, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        if self.angles is not None:
            q, k = turned(q, self.angles), turned(k, self.angles)
        logits = (q @ k.transpose(-2, -1)) * (width // self.heads) ** -0.5
        if self.mask is not None:
            logits = logits.masked_fill(self.mask, float("-inf"))
        weights = logits.softmax(-1)
        return self.proj((weights @ v).transpose(1, 2).reshape(batch, tokens, width))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.fc2(self.activation(self.fc1(self.norm2(x)))) if self.mlp else x


class PatchEmbedding(nn.Conv2d):
    """As every ViT does it: a convolution whose stride is its kernel."""

    def __init__(self, channels, width, patch):
        super().__init__(channels, width, kernel_size=patch, stride=patch)

    def forward(self, images):
        return super().forward(images).flatten(2).transpose(1, 2)


class Encoder(nn.Module):
    def __init__(self, tokens, dimension, classes, width, hidden, heads, depth, image=None, **_):
        super().__init__()
        self.embed = PatchEmbedding(image["channels"], width, image["patch"]) if image else nn.Linear(dimension, width)
        self.cls = nn.Parameter(torch.randn(1, 1, width) * 0.02)
        self.positions = nn.Parameter(torch.randn(1, tokens + 1, width) * 0.02)
        self.blocks = nn.Sequential(*[Block(width, hidden, heads) for _ in range(depth)])
        self.norm = nn.LayerNorm(width, eps=1e-6)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        x = torch.cat([self.cls.expand(x.shape[0], -1, -1), self.embed(x)], 1) + self.positions
        return self.head(self.norm(self.blocks(x)[:, 0]))


class SequenceModel(nn.Module):
    """A decoder, or a bidirectional encoder: an answer at every position."""

    def __init__(self, size):
        super().__init__()
        tokens, width, heads = size["tokens"], size["width"], size["heads"]
        vocabulary, positions = size["vocabulary"], size["positions"]
        self.embed = nn.Embedding(vocabulary, width) if vocabulary else nn.Linear(size["dimension"], width)
        self.positions = nn.Parameter(torch.randn(1, tokens, width) * 0.02) if positions == "learned" else 0
        mask = torch.ones(tokens, tokens, dtype=torch.bool).triu(1) if size["causal"] else None
        angles = rotary(tokens, width // heads) if positions == "rotary" else None
        kind = {"norm": size["norm"], "activation": size["activation"], "mask": mask, "angles": angles}
        self.blocks = nn.Sequential(*[Block(width, size["hidden"], heads, **kind) for _ in range(size["depth"])])
        self.norm = NORMS[size["norm"]](width, eps=1e-6)
        self.head = nn.Linear(width, size["classes"])
        if size["tied"]:
            self.head.weight = self.embed.weight

    def forward(self, x):
        return self.head(self.norm(self.blocks(self.embed(x) + self.positions)))


def random_inputs(size):
    if size.get("vocabulary"):
        return torch.randint(size["vocabulary"], (size["batch"], size["tokens"]))
    image = size.get("image")
    if image:
        return torch.randn(size["batch"], image["channels"], image["height"], image["width"])
    return torch.randn(size["batch"], size["tokens"], size["dimension"])


def make_loss(size):
    """A function of the predictions: of all of them, or of those at the last `asked` positions."""
    if not size.get("everywhere"):
        labels = torch.randint(size["classes"], (size["batch"],))
        return lambda predictions: F.cross_entropy(predictions, labels, label_smoothing=0.1)
    asked = size["asked"]
    if size["squared"]:
        targets = torch.randn(size["batch"], asked, size["classes"])
        return lambda predictions: F.mse_loss(predictions[:, -asked:], targets)
    labels = torch.randint(size["classes"], (size["batch"] * asked,))
    return lambda predictions: F.cross_entropy(predictions[:, -asked:].reshape(labels.shape[0], -1), labels)


def peak_mb():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:")) / 1e3


def main():
    torch.set_num_threads(1)
    before = peak_mb()
    for line in sys.stdin:
        request = json.loads(line)
        if "make" in request:
            size = request["make"]
            model = SequenceModel(size) if size.get("everywhere") else Encoder(**size)
            optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=0.05)
            inputs = random_inputs(size)
            loss = make_loss(size)
        times = []
        cpu = time.process_time()
        for _ in range(request.get("steps", 0)):
            start = time.perf_counter()
            optimizer.zero_grad(set_to_none=True)
            loss(model(inputs)).backward()
            optimizer.step()
            times.append((time.perf_counter() - start) * 1e3)
        answer = {"ms": times, "cpu_ms": (time.process_time() - cpu) * 1e3, "peak_mb": peak_mb() - before}
        print(json.dumps(answer), flush=True)


main()
