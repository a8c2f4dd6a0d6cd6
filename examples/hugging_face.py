"""Hugging Face's Trainer with a stock GPT-2 on recall: watched by a callback, cured by name.

    python examples/hugging_face.py              half a minute of processor time

Recall: pairs of a key and a value, then keys again, whose values are asked for.
"""

import sys
import tempfile
from pathlib import Path

import eureka
import eureka.torch
import torch
import transformers
from eureka.transformers import EurekaCallback

torch.set_num_threads(1)
PAIRS, KEYS, VALUES = 6, 8, 8


class Recall(torch.utils.data.Dataset):
    def __init__(self, samples, seed):
        generator = torch.Generator().manual_seed(seed)
        keys = torch.stack([torch.randperm(KEYS, generator=generator)[:PAIRS] for _ in range(samples)])
        values = torch.randint(0, VALUES, (samples, PAIRS), generator=generator)
        order = torch.stack([torch.randperm(PAIRS, generator=generator) for _ in range(samples)])
        pairs = torch.stack([keys, KEYS + values], -1)
        asked = pairs.gather(1, order.unsqueeze(-1).expand(-1, -1, 2))
        self.ids = torch.cat([pairs, asked], 1).flatten(1)
        self.labels = self.ids.clone()
        self.labels[:, : 2 * PAIRS] = -100
        self.labels[:, 2 * PAIRS :: 2] = -100

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, i):
        return {"input_ids": self.ids[i], "labels": self.labels[i]}


def accuracy(prediction):
    right = prediction.predictions[:, :-1].argmax(-1) == prediction.label_ids[:, 1:]
    return {"accuracy": right[prediction.label_ids[:, 1:] != -100].mean()}


def trained(attention, out, steps, seed=1):
    transformers.set_seed(seed)
    config = transformers.GPT2Config(
        vocab_size=KEYS + VALUES,
        n_positions=4 * PAIRS,
        n_embd=64,
        n_layer=2,
        n_head=2,
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        bos_token_id=None,
        eos_token_id=None,
        attn_implementation=attention,
    )
    callback = EurekaCallback(out / "run", every=50)
    trainer = transformers.Trainer(
        model=transformers.GPT2LMHeadModel(config),
        args=transformers.TrainingArguments(
            output_dir=str(out / "trainer"),
            max_steps=steps,
            per_device_train_batch_size=64,
            per_device_eval_batch_size=256,
            learning_rate=1e-3,
            logging_steps=50,
            eval_strategy="steps",
            eval_steps=25,
            save_strategy="no",
            report_to=[],
            use_cpu=True,
            disable_tqdm=True,
            dataloader_pin_memory=False,
            seed=seed,
        ),
        train_dataset=Recall(64 * steps, seed),
        eval_dataset=Recall(256, 10_000),
        compute_metrics=accuracy,
        callbacks=[callback],
    )
    trainer.remove_callback(transformers.PrinterCallback)
    trainer.train()
    return callback.watch


def main(steps=400):
    eureka.torch.register_with_transformers()
    for attention in ("sdpa", "eureka_qk_norm"):
        watch = trained(attention, Path(tempfile.mkdtemp()), steps)
        run = watch.run
        curve = run.curve("val_accuracy")
        print(
            f"{attention}: accuracy {curve.values[-1]:.3f} after {run.steps[-1]} steps, "
            f"{'no moment' if run.moment is None else f'moment at {run.moment:.0f}'}; "
            f"layers {', '.join(watch.layers)}; entropy at the end {run.columns['attention/entropy/layer1'][-1]:.2f}"
        )


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
