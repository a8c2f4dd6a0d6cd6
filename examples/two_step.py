"""The two-step task and a stock encoder, for the examples: nothing here knows Eureka.

Four tokens: indicator, target, target, indicator. If the indicators are of the same class the label is the first
target's, else the second's. Who does not look at the indicators guesses between two labels and is right in 55 of 100.
"""

import torch
import torch.nn.functional as F
from torch import nn

CLASSES, DIMENSION, NOISE = 10, 16, 0.3
PLATEAU = 0.55
# The optimizer in one call, where PyTorch has that on a CPU: a third of the step.
FUSED = {"fused": True} if hasattr(getattr(torch, "compiler", None), "set_stance") else {}


class TwoStep:
    def __init__(self) -> None:
        generator = torch.Generator().manual_seed(20240721)
        self.indicators = F.normalize(torch.randn(2, DIMENSION, generator=generator), dim=-1) * DIMENSION**0.5
        self.targets = F.normalize(torch.randn(CLASSES, DIMENSION, generator=generator), dim=-1) * DIMENSION**0.5

    def batch(self, samples: int, generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
        which = torch.randint(0, 2, (samples, 2), generator=generator)
        target = torch.randint(0, CLASSES, (samples, 2), generator=generator)
        first, second = self.indicators[which].unbind(1)
        one, other = self.targets[target].unbind(1)
        tokens = torch.stack([first, one, other, second], 1)
        tokens = tokens + NOISE * torch.randn(tokens.shape, generator=generator)
        return tokens, torch.where(which[:, 0] == which[:, 1], target[:, 0], target[:, 1])


class Classifier(nn.Module):
    """nn.TransformerEncoder as it comes, and a token that answers."""

    def __init__(self, width: int = 32, depth: int = 2, heads: int = 2) -> None:
        super().__init__()
        self.embed = nn.Linear(DIMENSION, width)
        self.cls = nn.Parameter(0.02 * torch.randn(width))
        self.positions = nn.Parameter(0.02 * torch.randn(5, width))
        layer = nn.TransformerEncoderLayer(
            width, heads, 2 * width, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, depth, norm=nn.LayerNorm(width), enable_nested_tensor=False)
        self.head = nn.Linear(width, CLASSES)
        for name, parameter in self.named_parameters():
            if parameter.dim() == 2 and name != "positions":
                nn.init.normal_(parameter, std=0.05)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = torch.cat([self.cls.expand(len(tokens), 1, -1), self.embed(tokens)], 1) + self.positions
        return self.head(self.encoder(x)[:, 0])


def train(
    model,
    seed,
    steps,
    after_step=lambda step, loss, accuracy: None,
    enough=lambda step, accuracy: False,
    every=25,
    batch=64,
    lr=1e-3,
):
    """Trains until the steps are done or it is enough; gives the steps and the validation accuracy at each."""
    task = TwoStep()
    generator = torch.Generator().manual_seed(seed)
    validation = task.batch(500, torch.Generator().manual_seed(1_000_000))
    optimizer = torch.optim.AdamW(model.parameters(), lr, weight_decay=0.05, **FUSED)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, lr, total_steps=steps, pct_start=0.05)
    at, curve = [], []
    for step in range(1, steps + 1):
        tokens, labels = task.batch(batch, generator)
        loss = F.cross_entropy(model(tokens), labels, label_smoothing=0.1)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        accuracy = None
        if step % every == 0:
            model.eval()
            with torch.no_grad():
                accuracy = (model(validation[0]).argmax(-1) == validation[1]).float().mean().item()
            model.train()
            at.append(step)
            curve.append(accuracy)
        after_step(step, loss, accuracy)
        if accuracy is not None and enough(step, accuracy):
            break
    return at, curve
