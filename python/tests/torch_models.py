"""Small models of others, each with how it is called on a batch and what it says the loss is."""

import importlib.util

import torch
import torch.nn.functional as F
from torch import nn

# PyTorch has it since 2.0.
HAS_SDPA = hasattr(F, "scaled_dot_product_attention")
STYLES = ["matmul", "einsum", "operators"] + ["sdpa"] * HAS_SDPA
TOKENS, WIDTH, HEADS, VOCABULARY = 9, 32, 4, 11


def has(package):
    return importlib.util.find_spec(package) is not None


class Encoder(nn.Module):
    """Stock PyTorch."""

    def __init__(self, dropout=0.0, checkpoint=None):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(WIDTH, HEADS, 48, dropout, batch_first=True) for _ in range(2)
        )
        self.head = nn.Linear(WIDTH, VOCABULARY)
        self.checkpoint = checkpoint

    def forward(self, ids, mask=None, padding=None):
        x = self.embed(ids)
        for block in self.blocks:
            if self.checkpoint is None:
                x = block(x, src_mask=mask, src_key_padding_mask=padding)
            else:
                from torch.utils.checkpoint import checkpoint

                x = checkpoint(block, x, use_reentrant=self.checkpoint == "reentrant")
        return self.head(x)


class WithWeights(nn.Module):
    """nn.MultiheadAttention that is asked for its weights: it computes them by itself."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.attention = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, ids):
        x = self.embed(ids)
        return self.head(self.attention(x, x, x, need_weights=True)[0])


class ByHand(nn.Module):
    """As one writes it: a scale, a mask, a softmax. `style` says with which words."""

    def __init__(self, style="matmul"):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.to_q, self.to_k, self.to_v = (nn.Linear(WIDTH, WIDTH) for _ in range(3))
        self.head = nn.Linear(WIDTH, VOCABULARY)
        self.style = style
        self.keeps, self.kept = False, {}

    def forward(self, ids):
        x = self.embed(ids)
        split = lambda y: y.view(*y.shape[:2], HEADS, -1).transpose(1, 2)  # noqa: E731
        q, k, v = split(self.to_q(x)), split(self.to_k(x)), split(self.to_v(x))
        hidden = torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool, device=ids.device).triu(1)
        scale = (WIDTH // HEADS) ** -0.5
        if self.style == "einsum":
            z = torch.einsum("b h i d, b h j d -> b h i j", q * scale, k).masked_fill(hidden, -torch.finfo(q.dtype).max)
            out = torch.einsum("b h i j, b h j d -> b h i d", F.dropout(z.softmax(dim=-1), 0.0), v)
        elif self.style == "operators":
            z = q @ k.mT / (WIDTH // HEADS) ** 0.5
            z = torch.where(~hidden, z, float("-inf"))
            out = F.softmax(z, dim=-1, dtype=torch.float32).to(q.dtype) @ v
        elif self.style == "sdpa":
            out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            z = torch.matmul(q, k.transpose(2, 3)) * scale
            z = z + torch.zeros_like(z[:1, :1]).masked_fill(hidden, torch.finfo(z.dtype).min)
            out = torch.matmul(torch.softmax(z, -1), v)
        if self.keeps and out.requires_grad:
            out.retain_grad()
            self.kept = {"q": q, "k": k, "v": v, "out": out}
        return self.head(out.transpose(1, 2).flatten(2))


class Translator(nn.Module):
    """Stock encoder and decoder: queries of one sequence meet keys of another."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.core = nn.Transformer(WIDTH, HEADS, 1, 1, 48, dropout=0.0, batch_first=True)
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, ids):
        x = self.embed(ids)
        mask = nn.Transformer.generate_square_subsequent_mask(5)
        return self.head(self.core(x, x[:, :5], tgt_mask=mask))


class HuggingFace(nn.Module):
    """The model proper, its loss by us."""

    def __init__(self, model):
        super().__init__()
        self.inner = model

    def forward(self, ids):
        return self.inner(input_ids=ids).logits


class Seer(nn.Module):
    """A ViT, whose patches are the tokens."""

    def __init__(self, model):
        super().__init__()
        self.inner = model
        self.register_buffer("patches", torch.randn(VOCABULARY, 3, 4, 4, generator=torch.Generator().manual_seed(3)))
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, ids):
        rows = self.patches[ids].view(len(ids), 3, 3, 3, 4, 4)  # sample, row and column of patches, channel, pixels
        images = rows.permute(0, 3, 1, 4, 2, 5).reshape(len(ids), 3, 12, 12)
        return self.head(self.inner(pixel_values=images).last_hidden_state[:, 1:])


def hugging_face(kind, attention):
    import transformers as t

    small = {"hidden_size": WIDTH, "num_hidden_layers": 2, "num_attention_heads": HEADS, "intermediate_size": 48}
    more = {"vocab_size": VOCABULARY, "attn_implementation": attention}
    if kind == "vit":
        config = t.ViTConfig(image_size=12, patch_size=4, attn_implementation=attention, **small)
        return Seer(t.ViTModel(config, add_pooling_layer=False))
    if kind == "gpt2":
        config = t.GPT2Config(
            n_embd=WIDTH,
            n_layer=2,
            n_head=HEADS,
            n_positions=16,
            resid_pdrop=0.0,
            embd_pdrop=0.0,
            attn_pdrop=0.0,
            **more,
        )
        return HuggingFace(t.GPT2LMHeadModel(config))
    if kind == "llama":
        return HuggingFace(t.LlamaForCausalLM(t.LlamaConfig(num_key_value_heads=2, **small, **more)))
    if kind == "mistral":
        # A window of four tokens.
        return HuggingFace(
            t.MistralForCausalLM(t.MistralConfig(num_key_value_heads=2, sliding_window=4, **small, **more))
        )
    config = t.RobertaConfig(
        max_position_embeddings=20, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, **small, **more
    )
    return HuggingFace(t.RobertaForMaskedLM(config))


def x_transformers(**options):
    from x_transformers import Decoder, TransformerWrapper

    return TransformerWrapper(
        num_tokens=VOCABULARY,
        max_seq_len=16,
        attn_layers=Decoder(dim=WIDTH, depth=2, heads=HEADS, attn_dim_head=8, **options),
    )


MODELS = {
    "encoder": (Encoder, 2),
    "with weights": (WithWeights, 1),
    "translator": (Translator, 3),
}
MODELS.update({f"by hand, {style}": (lambda style=style: ByHand(style), 1) for style in STYLES})
if has("transformers"):
    MODELS |= {
        f"{kind} {attention}": (lambda kind=kind, attention=attention: hugging_face(kind, attention), 2)
        for kind in ("gpt2", "llama", "mistral", "roberta", "vit")
        for attention in ("sdpa", "eager")
    }
if has("x_transformers"):
    MODELS |= {
        "x-transformers": (x_transformers, 2),
        "x-transformers flash": (lambda: x_transformers(attn_flash=True), 2),
        "x-transformers qk-norm": (lambda: x_transformers(attn_qk_norm=True), 2),
    }


def made(name, **options):
    torch.manual_seed(0)
    return MODELS[name][0](**options)


def batch(seed, samples=6):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, VOCABULARY, (samples, TOKENS), generator=generator)


def loss_of(model, ids, **more):
    out = model(ids, **more)
    return F.cross_entropy(out.flatten(0, 1).float(), ids[:, : out.shape[1]].flatten())


def train(model, steps, watch=None, optimizer=None, **more):
    """A plain loop; the losses."""
    optimizer = optimizer or torch.optim.AdamW(model.parameters(), 1e-3)
    losses = []
    torch.manual_seed(1)
    for step in range(steps):
        optimizer.zero_grad()
        loss = loss_of(model, batch(step), **more)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if watch is not None:
            watch.step(loss=loss)
    return losses


def hooks_of(model):
    of_all = len(nn.modules.module._global_forward_hooks) + len(nn.modules.module._global_forward_pre_hooks)
    return of_all + sum(len(m._forward_hooks) + len(m._forward_pre_hooks) for m in model.modules())
