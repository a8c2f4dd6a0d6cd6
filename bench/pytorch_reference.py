"""The training step of `eureka bench` in PyTorch, one thread: reads one JSON request per line, answers one per line.

{"make": {"tokens": 16, "dimension": 588, "classes": 10, "width": 64, "hidden": 128, "heads": 4, "depth": 4, "batch": 128,
          "image": {"height": 56, "width": 56, "channels": 3, "patch": 14}}}       image left out: tokens are given
A sequence model has "everywhere" (an answer at every position), "causal", "vocabulary" (0: tokens are vectors), "squared",
"asked" (answers of a sample that the loss counts), "norm", "activation", "positions", "tied".
"way": "stock" is the model as people write it, "tuned" what somebody does who knows where PyTorch's time goes, in a
TorchScript graph or, from torch 2 on, "compile"; "bfloat16" is that under autocast, "jax" jax_reference.py, which stands
before this text. All have the same weights and, in float32, the same numbers but for rounding.
                   -> {"version": what computes, "way": "compile" where tuned is compiled}, or {"cannot": why}
{"steps": 3}       -> {"ms": [wall, wall, wall], "cpu_ms": of all three, "losses": [...], "peak_mb": beyond what torch
                       itself needs}
"""
import importlib.util
import json
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

TORCH = tuple(map(int, torch.__version__.split(".")[:2]))


class Cannot(Exception):
    """This Python cannot do it in the way that is asked for."""


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


class Tuned(nn.Module):
    """The same parameters, computed with less: rows of tokens in two dimensions, patches by reshape, and behind the
    keys and values of the last block only the tokens that answer: the cls token, or the last `asked` ones."""

    def __init__(self, stock, size, flash):
        super().__init__()
        self.stock = stock
        self.flash = flash
        self.image = size.get("image")
        self.everywhere = bool(size.get("everywhere"))
        self.batch, self.width, self.heads = size["batch"], size["width"], size["heads"]
        self.tokens = size["tokens"] + (0 if self.everywhere else 1)
        self.answers = size["asked"] if self.everywhere else 1
        self.first_answer = self.tokens - self.answers if self.everywhere else 0

    def embedded(self, x):
        embed = self.stock.embed
        if self.image:
            patch = self.image["patch"]
            rows, columns = self.image["height"] // patch, self.image["width"] // patch
            x = x.view(self.batch, self.image["channels"], rows, patch, columns, patch).permute(0, 2, 4, 1, 3, 5)
            x = F.linear(x.reshape(self.batch * rows * columns, -1), embed.weight.view(self.width, -1), embed.bias)
        elif isinstance(embed, nn.Linear):
            x = embed(x.view(-1, embed.in_features))
        else:
            x = embed(x)
        x = x.view(self.batch, -1, self.width)
        if not self.everywhere:
            x = torch.cat([self.stock.cls.expand(self.batch, -1, -1), x], 1)
        return (x + self.stock.positions).view(-1, self.width)

    def answering(self, x):
        """Of the rows of all tokens those of the tokens that answer."""
        last = self.first_answer + self.answers
        return x.view(self.batch, self.tokens, self.width)[:, self.first_answer : last].reshape(-1, self.width)

    def split(self, x, count):
        """Samples x tokens x heads x head width, `count` times."""
        return x.view(self.batch, -1, count, self.heads, self.width // self.heads).unbind(2)

    def attention(self, block, q, k, v, is_last):
        head_width = self.width // self.heads
        first, queries = (self.first_answer, self.answers) if is_last else (0, self.tokens)
        q = q * head_width**-0.5
        # torch.bmm calls the BLAS once for each small matrix: below some size that is most of its time.
        plain = block.mask is None and block.angles is None
        if plain and queries * self.tokens * head_width <= 600:
            weights = (q[:, :, None] * k[:, None]).sum(-1).softmax(2)
            return (weights.unsqueeze(-1) * v[:, None]).sum(2).view(-1, self.width)
        q, k, v = q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)
        if block.angles is not None:
            q = turned(q, [part[first : first + queries] for part in block.angles])
            k = turned(k, block.angles)
        if self.flash and block.mask is None:
            return F.scaled_dot_product_attention(q, k, v, scale=1.0).transpose(1, 2).reshape(-1, self.width)
        logits = q @ k.transpose(-2, -1)
        if block.mask is not None:
            logits = logits.masked_fill(block.mask[first : first + queries], float("-inf"))
        return (logits.softmax(-1) @ v).transpose(1, 2).reshape(-1, self.width)

    def block(self, block, x, is_last):
        normed = block.norm1(x)
        if is_last:
            queries, others = block.qkv.weight.split([self.width, 2 * self.width])
            (q,) = self.split(F.linear(self.answering(normed), queries), 1)
            k, v = self.split(F.linear(normed, others), 2)
            x = self.answering(x)
        else:
            q, k, v = self.split(block.qkv(normed), 3)
        x = x + block.proj(self.attention(block, q, k, v, is_last))
        return x + block.fc2(block.activation(block.fc1(block.norm2(x)))) if block.mlp else x

    def forward(self, x):
        x = self.embedded(x)
        blocks = list(self.stock.blocks)
        for block in blocks:
            x = self.block(block, x, block is blocks[-1])
        predictions = self.stock.head(self.stock.norm(x))
        return predictions.view(self.batch, self.answers, -1) if self.everywhere else predictions


def random_inputs(size):
    if size.get("vocabulary"):
        return torch.randint(size["vocabulary"], (size["batch"], size["tokens"]))
    image = size.get("image")
    if image:
        return torch.randn(size["batch"], image["channels"], image["height"], image["width"])
    return torch.randn(size["batch"], size["tokens"], size["dimension"])


class Loss:
    """A function of the predictions: of all of them, or of those at the last `asked` positions."""

    def __init__(self, wanted, asked, smoothing):
        self.wanted, self.asked, self.smoothing = wanted, asked, smoothing

    def __call__(self, predictions):
        if predictions.dim() == 3:
            predictions = predictions[:, -self.asked :]
        if self.wanted.dtype != torch.int64:
            return F.mse_loss(predictions, self.wanted)
        rows = predictions.reshape(self.wanted.shape[0], -1)
        return F.cross_entropy(rows, self.wanted, label_smoothing=self.smoothing)


def make_loss(size):
    if not size.get("everywhere"):
        return Loss(torch.randint(size["classes"], (size["batch"],)), 1, 0.1)
    asked = size["asked"]
    if size["squared"]:
        return Loss(torch.randn(size["batch"], asked, size["classes"]), asked, 0)
    return Loss(torch.randint(size["classes"], (size["batch"] * asked,)), asked, 0)


def peak_mb():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:")) / 1e3


class StockStep:
    def __init__(self, model, size):
        self.model = model
        self.inputs = random_inputs(size)
        self.loss = make_loss(size)
        self.optimizer = torch.optim.AdamW(model.parameters(), **ADAMW)

    def __call__(self):
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.loss(self.model(self.inputs))
        loss.backward()
        self.optimizer.step()
        return loss.detach()


class LossOfInputs(nn.Module):
    def __init__(self, model, loss):
        super().__init__()
        self.model = model
        self.loss = loss

    def forward(self, inputs):
        return self.loss(self.model(inputs))


class TunedStep:
    """The model compiled; parameters, gradients and moments flat, so that AdamW is a few long operations."""

    way = "compile" if TORCH >= (2, 0) else "tuned"
    flash = TORCH >= (2, 1)

    def __init__(self, model, size):
        self.parameters = list(model.parameters())
        self.flat = nn.Parameter(torch.cat([p.detach().reshape(-1) for p in self.parameters]))
        start = 0
        for p in self.parameters:
            p.data = self.flat.data[start : start + p.numel()].view_as(p)
            start += p.numel()
        self.flat.grad = torch.zeros_like(self.flat)
        fused = {"fused": True} if TORCH >= (2, 4) else {}
        self.optimizer = torch.optim.AdamW([self.flat], **ADAMW, **fused)
        self.inputs = random_inputs(size)
        graph = LossOfInputs(Tuned(model, size, self.flash), make_loss(size))
        self.loss = torch.compile(graph) if TORCH >= (2, 0) else torch.jit.trace(graph, self.inputs, check_trace=False)

    def __call__(self):
        loss = self.loss(self.inputs)
        gradients = torch.autograd.grad(loss, self.parameters)
        torch.cat([g.reshape(-1) for g in gradients], out=self.flat.grad)
        self.optimizer.step()
        return loss.detach()


class CompiledStep(TunedStep):
    def __init__(self, model, size):
        if TORCH < (2, 0):
            raise Cannot(f"torch {torch.__version__} has no torch.compile")
        super().__init__(model, size)


class Bfloat16Step(CompiledStep):
    """Products in bfloat16; parameters, their updates and what autocast leaves alone in float32."""

    way = "bfloat16"
    flash = False  # on the CPU it is slower there than the products that it stands for

    def __init__(self, model, size):
        super().__init__(model, size)
        compiled = self.loss

        def loss(inputs):
            with torch.autocast("cpu", torch.bfloat16):
                return compiled(inputs)

        self.loss = loss


def jax_step(model, size):
    if importlib.util.find_spec("jax") is None:
        raise Cannot(f"{sys.executable} has no JAX")
    return JaxStep(model, size, random_inputs(size), make_loss(size), ADAMW)  # noqa: F821


ADAMW = {"lr": 1e-4, "weight_decay": 0.05}
WAYS = {"stock": StockStep, "tuned": TunedStep, "compile": CompiledStep, "bfloat16": Bfloat16Step, "jax": jax_step}


def main():
    torch.set_num_threads(1)
    before = peak_mb()
    for line in sys.stdin:
        request = json.loads(line)
        if "make" in request:
            size = request["make"]
            torch.manual_seed(0)
            model = SequenceModel(size) if size.get("everywhere") else Encoder(**size)
            try:
                step = WAYS[request["way"]](model, size)
            except Cannot as reason:
                print(json.dumps({"cannot": str(reason)}), flush=True)
                continue
            version = getattr(step, "version", f"torch {torch.__version__}")
            print(json.dumps({"version": version, "way": getattr(step, "way", request["way"])}), flush=True)
            continue
        times, losses = [], []
        cpu = time.process_time()
        for _ in range(request["steps"]):
            start = time.perf_counter()
            losses.append(step())
            times.append((time.perf_counter() - start) * 1e3)
        cpu = time.process_time() - cpu
        losses = [loss.item() for loss in losses]
        print(json.dumps({"ms": times, "cpu_ms": cpu * 1e3, "losses": losses, "peak_mb": peak_mb() - before}), flush=True)


main()
