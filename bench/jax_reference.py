"""The training step of `eureka bench` in JAX: the model of pytorch_reference.py, with its weights and its batch, and AdamW,
as one compiled function. `eureka bench` puts this text before that of pytorch_reference.py."""
import os


def start_jax():
    """JAX with one thread for its work: it makes as many as there are processors to run on when it starts."""
    os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_cpu_multi_thread_eigen=false"
    os.environ["JAX_PLATFORMS"] = "cpu"
    everywhere = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(everywhere)})
    import jax

    jax.devices()
    for thread in os.listdir("/proc/self/task"):
        os.sched_setaffinity(int(thread), everywhere)
    return jax


def jax_arrays(module):
    """Parameters of a torch module by name, each once, in its own memory."""
    import jax.numpy as jnp

    return {name: jnp.array(p.detach().numpy(), copy=True) for name, p in module.named_parameters()}


class JaxModel:
    """The stock model on a dictionary of its parameters. Of the last block only the tokens that answer go on behind keys
    and values."""

    def __init__(self, jax, size):
        self.jax, self.np, self.size = jax, jax.numpy, size
        self.everywhere = bool(size.get("everywhere"))
        self.tokens = size["tokens"] + (0 if self.everywhere else 1)
        self.answers = size["asked"] if self.everywhere else 1
        self.first_answer = self.tokens - self.answers if self.everywhere else 0
        self.heads, self.head_width = size["heads"], size["width"] // size["heads"]
        self.norm_kind = size.get("norm", "layer")
        self.causal = bool(size.get("causal"))
        self.rotary = size.get("positions") == "rotary"

    def linear(self, p, name, x):
        y = x @ p[name + ".weight"].T
        return y + p[name + ".bias"] if name + ".bias" in p else y

    def norm(self, p, name, x):
        if self.norm_kind == "none":
            return x
        if self.norm_kind == "layer":
            x = x - x.mean(-1, keepdims=True)
        x = x * self.jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6) * p[name + ".weight"]
        return x + p[name + ".bias"] if self.norm_kind == "layer" else x

    def activation(self, x):
        if self.size.get("activation", "gelu") == "relu":
            return self.jax.nn.relu(x)
        return self.jax.nn.gelu(x, approximate=False)

    def turned(self, x, first):
        """Rotary positions, of samples x tokens x heads x head width."""
        np, pairs = self.np, self.head_width // 2
        tokens = np.arange(first, first + x.shape[1], dtype=np.float32)
        angles = tokens[:, None] * 10000.0 ** (-np.arange(pairs) / pairs)
        cosines, sines = np.cos(angles)[:, None], np.sin(angles)[:, None]
        left, right = np.split(x, 2, -1)
        return np.concatenate([left * cosines - right * sines, right * cosines + left * sines], -1)

    def attention(self, q, k, v, first):
        """Of samples x tokens x heads x head width; the queries begin at token `first`."""
        np = self.np
        if self.rotary:
            q, k = self.turned(q, first), self.turned(k, 0)
        logits = np.einsum("bqhd,bkhd->bhqk", q, k) * self.head_width**-0.5
        if self.causal:
            seen = np.arange(k.shape[1])[None] <= np.arange(first, first + q.shape[1])[:, None]
            logits = np.where(seen, logits, -np.inf)
        return np.einsum("bhqk,bkhd->bqhd", self.jax.nn.softmax(logits, -1), v)

    def block(self, p, name, x, is_last):
        first, count = (self.first_answer, self.answers) if is_last else (0, self.tokens)
        batch, _, width = x.shape
        normed = self.norm(p, name + "norm1", x)
        x, asking = x[:, first : first + count], normed[:, first : first + count]
        weight = p[name + "qkv.weight"]
        split = lambda y: y.reshape(batch, y.shape[1], -1, self.heads, self.head_width)  # noqa: E731
        if is_last:
            q, others = split(asking @ weight[:width].T)[:, :, 0], split(normed @ weight[width:].T)
            k, v = others[:, :, 0], others[:, :, 1]
        else:
            qkv = split(normed @ weight.T)
            q, k, v = qkv[:, :, 0], qkv[:, :, 1], qkv[:, :, 2]
        x = x + self.linear(p, name + "proj", self.attention(q, k, v, first).reshape(batch, count, width))
        if self.size["hidden"] == 0:
            return x
        hidden = self.activation(self.linear(p, name + "fc1", self.norm(p, name + "norm2", x)))
        return x + self.linear(p, name + "fc2", hidden)

    def embedded(self, p, x):
        image = self.size.get("image")
        if image:
            patch, batch = image["patch"], x.shape[0]
            rows, columns = image["height"] // patch, image["width"] // patch
            x = x.reshape(batch, image["channels"], rows, patch, columns, patch).transpose(0, 2, 4, 1, 3, 5)
            x = x.reshape(batch, rows * columns, -1) @ p["embed.weight"].reshape(self.size["width"], -1).T + p["embed.bias"]
        elif self.size.get("vocabulary"):
            x = p["embed.weight"][x]
        else:
            x = self.linear(p, "embed", x)
        if not self.everywhere:
            x = self.np.concatenate([self.np.broadcast_to(p["cls"], (x.shape[0], 1, x.shape[2])), x], 1)
        return x + p["positions"] if "positions" in p else x

    def predictions(self, p, x):
        x = self.embedded(p, x)
        for layer in range(self.size["depth"]):
            x = self.block(p, f"blocks.{layer}.", x, layer == self.size["depth"] - 1)
        x = self.norm(p, "norm", x)
        head = p["embed.weight"] if self.size.get("tied") else p["head.weight"]
        return x @ head.T + p["head.bias"]

    def loss(self, p, x, wanted):
        predictions = self.predictions(p, x).reshape(-1, self.size["classes"])
        if self.size.get("squared"):
            return ((predictions - wanted.reshape(predictions.shape)) ** 2).mean()
        log_p = self.jax.nn.log_softmax(predictions, -1)
        own = -self.np.take_along_axis(log_p, wanted[:, None], 1).mean()
        return own if self.everywhere else 0.9 * own - 0.1 * log_p.mean()


class JaxStep:
    """Loss, gradients and AdamW in one compiled function that writes over the state it is given."""

    def __init__(self, model, size, inputs, loss, adamw):
        self.jax = jax = start_jax()
        self.version = f"jax {jax.__version__}"
        array = lambda tensor: jax.numpy.array(tensor.numpy(), copy=True)  # noqa: E731
        self.inputs, self.wanted = array(inputs), array(loss.wanted)
        parameters = jax_arrays(model)
        zeros = jax.tree.map(jax.numpy.zeros_like, parameters)
        self.state = (parameters, zeros, jax.tree.map(jax.numpy.zeros_like, parameters), jax.numpy.zeros(()))
        self.update = jax.jit(self.updating(JaxModel(jax, size), adamw), donate_argnums=0)

    def updating(self, model, adamw):
        jax, np, rate, decay = self.jax, self.jax.numpy, adamw["lr"], adamw["weight_decay"]

        def update(state, inputs, wanted):
            parameters, first, second, step = state
            loss, gradients = jax.value_and_grad(model.loss)(parameters, inputs, wanted)
            step = step + 1
            first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradients)
            second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, second, gradients)
            by_first, by_second = rate / (1 - 0.9**step), 1 / np.sqrt(1 - 0.999**step)
            moved = lambda p, m, v: p * (1 - rate * decay) - by_first * m / (np.sqrt(v) * by_second + 1e-8)  # noqa: E731
            return (jax.tree.map(moved, parameters, first, second), first, second, step), loss

        return update

    def __call__(self):
        self.state, loss = self.update(self.state, self.inputs, self.wanted)
        return loss.block_until_ready()
