"""The training step of `eureka bench` in stock PyTorch, one thread: reads one JSON request per line, answers one per line.

{"make": {"tokens": 16, "dimension": 588, "classes": 10, "width": 64, "hidden": 128, "heads": 4, "depth": 4, "batch": 128,
          "image": {"height": 56, "width": 56, "channels": 3, "patch": 14}}}       image left out: tokens are given
{"steps": 3}       -> {"ms": [wall, wall, wall], "cpu_ms": of all three, "peak_mb": beyond what torch itself needs}
"""
import json
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    def __init__(self, width, hidden, heads):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(width, eps=1e-6)
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.proj = nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width, eps=1e-6)
        self.fc1 = nn.Linear(width, hidden)
        self.fc2 = nn.Linear(hidden, width)

    def attention(self, x):
        batch, tokens, width = x.shape
        q, k, v = self.qkv(x).view(batch, tokens, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        weights = ((q @ k.transpose(-2, -1)) * (width // self.heads) ** -0.5).softmax(-1)
        return self.proj((weights @ v).transpose(1, 2).reshape(batch, tokens, width))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.fc2(F.gelu(self.fc1(self.norm2(x))))


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


def random_inputs(size):
    image = size.get("image")
    if image:
        return torch.randn(size["batch"], image["channels"], image["height"], image["width"])
    return torch.randn(size["batch"], size["tokens"], size["dimension"])


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
            model = Encoder(**size)
            optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=0.05)
            inputs = random_inputs(size)
            labels = torch.randint(size["classes"], (size["batch"],))
        times = []
        cpu = time.process_time()
        for _ in range(request.get("steps", 0)):
            start = time.perf_counter()
            optimizer.zero_grad(set_to_none=True)
            F.cross_entropy(model(inputs), labels, label_smoothing=0.1).backward()
            optimizer.step()
            times.append((time.perf_counter() - start) * 1e3)
        answer = {"ms": times, "cpu_ms": (time.process_time() - cpu) * 1e3, "peak_mb": peak_mb() - before}
        print(json.dumps(answer), flush=True)


main()
