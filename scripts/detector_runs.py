#!/usr/bin/env python3
"""Training runs of our own program that the detector is measured on (docs/detector.md): families of settings, drawn by seeds.

    scripts/detector_runs.py SET FIRST_SEED COUNT JOBS OUT      OUT/<family>-<seed>/metrics.jsonl; those there are kept

SET: development, or fourth to seventh (the families of the fourth, drawn anew). scripts/label_curves.py makes labelled logs of them.
"""
import json
import os
import random
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "build", "eureka")
RULES = ["softmax"] * 4 + ["norm_softmax", "qk_norm", "scalable_softmax", "softmax_one", "sigmoid"]


def rate(r, typical, spread=2.5):
    return float(f"{typical * spread ** r.uniform(-1, 1):.3g}")


def common(r, options, steps, lr, spread=2.5):
    options["train.steps"] = steps
    options["train.eval_every"] = max(1, round(steps / r.choice([150, 200, 250])))
    options["train.lr"] = rate(r, lr, spread)
    options["train.validation_samples"] = r.choice([200, 300, 500])
    options["train.schedule"] = r.choice(["constant", "cosine"])
    options["train.warmup"] = r.choice([0, 0.05, 0.1])
    if r.random() < 0.3:
        options["train.batch"] = r.choice([32, 64])
    return options


def rule(r, options):
    options["attention.rule"] = r.choice(RULES)
    if options["attention.rule"] == "softmax" and r.random() < 0.4:
        options["attention.scale.multiple"] = r.choice([0.5, 2.0, 4.0, 8.0])
    return options


def two_step(r):
    o = common(r, {}, r.choice([1200, 1600, 2000]), 3e-3)
    o["task.classes"] = r.choice([4, 10, 10, 20])
    o["task.distractors"] = r.choice([0, 0, 0, 2, 4])
    o["task.noise"] = r.choice([0.1, 0.3, 0.5])
    o["model.width"] = r.choice([32, 32, 48])
    return "two-step", rule(r, o)


def tile(r):
    o = common(r, {}, r.choice([1500, 2500]), 3e-3)
    o.update({"task.data": "glyphs"})
    return "image-tile", rule(r, o)


def patch(r):
    o = common(r, {}, r.choice([700, 1000]), 3e-3)
    o["train.batch"] = 64
    o.update({"task.data": "glyphs"})
    return "image-patch", rule(r, o)


def copy(r):
    o = common(r, {}, r.choice([150, 300, 500]), 3e-3)
    o["task.length"] = r.choice([6, 8, 12])
    return "copy", rule(r, o)


def recall(r):
    o = common(r, {}, r.choice([400, 600, 900]), 7e-4)
    o["task.pairs"] = r.choice([4, 6, 8])
    o["model.mlp_ratio"] = r.choice([0, 0, 2, 4])
    o["model.positions"] = r.choice(["learned", "learned", "rotary", "sinusoidal"])
    o["model.width"] = r.choice([32, 48, 64])
    return "recall", rule(r, o)


def prefix(r):
    o = common(r, {}, r.choice([300, 400, 700]), 1.5e-3)
    o["task.length"] = r.choice([8, 12, 16])
    o["task.modulus"] = r.choice([7, 11, 17])
    o["model.width"] = r.choice([32, 48, 64])
    return "prefix-sum", rule(r, o)


def window(r):
    o = common(r, {}, r.choice([600, 1000, 1300]), 1.5e-3)
    o["task.length"] = r.choice([8, 12, 16])
    o["task.modulus"] = r.choice([7, 11, 17])
    o["model.heads"] = r.choice([1, 2, 4])
    o["model.width"] = r.choice([32, 64])
    return "window-sum", rule(r, o)


def grokking(r):
    o = common(r, {}, r.choice([1000, 1500, 2000]), 3e-3, 1.8)
    o["train.batch"] = r.choice([128, 256])
    o["train.weight_decay"] = r.choice([0.0, 0.3, 1.0, 1.0, 2.0])
    o["task.modulus"] = r.choice([23, 31, 53])
    o["task.train_share"] = r.choice([0.4, 0.5, 0.6, 0.7, 0.8])
    o["task.split_seed"] = r.randrange(1000)
    o["model.norm"] = r.choice(["layer", "none"])
    return "grokking", rule(r, o)


def mlp(r):
    o = common(r, {}, r.choice([800, 2000]), 2e-3)
    o["model.name"] = "mlp"
    if r.random() < 0.5:
        return "two-step", o
    o["task.data"] = "glyphs"
    return "image-tile", o


def cnn(r):
    o = common(r, {}, r.choice([150, 200]), 2e-3)
    o["task.data"] = "glyphs"
    o["model.name"] = "resnet9"
    o["model.width"] = 4
    o["train.lr_multiplier.embedding"] = 1.0
    o["train.batch"] = 32
    o["train.validation_samples"] = 150
    return "image-tile", o


def language(r):
    o = common(r, {}, r.choice([300, 500]), 1e-3)
    o["task.context"] = 32
    o["model.width"] = 32
    o["train.batch"] = 32
    o["train.validation_samples"] = 100
    return "language", rule(r, o)


def masked(r):
    o = common(r, {}, r.choice([400, 600]), 2e-3)
    o["task.context"] = 32
    o["model.width"] = 32
    o["train.batch"] = 32
    o["train.validation_samples"] = 100
    return "masked-language", rule(r, o)


def icl_class(r):
    o = common(r, {}, r.choice([700, 1200]), 1.5e-3)
    o["task.classes"] = r.choice([64, 256, 1024])
    o["task.labels"] = r.choice([8, 16, 32])
    o["task.dimension"] = 31
    o["model.width"] = 48
    o["train.batch"] = 64
    return "icl-classification", rule(r, o)


def icl_regression(r):
    o = common(r, {}, r.choice([500, 900]), 1.5e-3)
    o["task.dimension"] = r.choice([1, 2, 3])
    o["task.points"] = r.choice([5, 8])
    o["model.width"] = 32
    o["model.depth"] = 2
    return "icl-regression", rule(r, o)


def algorithm(name, steps, **choices):
    def draw(r):
        o = common(r, {}, r.choice(steps), 1.5e-3)
        o["task.name"] = name
        for key, values in choices.items():
            o["task." + key] = r.choice(values)
        o["model.heads"] = r.choice([1, 2, 4])
        o["model.depth"] = r.choice([1, 2])
        o["model.width"] = 48 if o["model.heads"] != 4 else 64
        return "prefix-sum", rule(r, o)
    return draw


def image(name):
    def draw(r):
        o = common(r, {}, r.choice([1000, 1500]), 3e-3)
        o["train.batch"] = 64
        o["task.name"] = name
        o["task.pool"] = 2
        o["task.data"] = "glyphs"
        o["model.patch"] = 14
        return "image-tile", rule(r, o)
    return draw


FAMILIES = {
    "two-step": two_step, "tile": tile, "patch": patch, "copy": copy, "recall": recall, "prefix": prefix,
    "window": window, "grokking": grokking, "mlp": mlp, "cnn": cnn, "language": language, "masked": masked,
    "icl-class": icl_class, "icl-regression": icl_regression,
    "histogram": algorithm("histogram", [500, 800], length=[8, 12], values=[6, 12]),
    "permutation": algorithm("permutation", [150, 300], length=[8, 16]),
    "addition": algorithm("reversed-addition", [600, 1000], digits=[2, 3, 4]),
    "position": image("position"), "group": image("digit-group"), "anywhere": image("digit-pair-anywhere"),
}
SETS = {
    "development": ["two-step"] * 4 + ["tile", "patch", "copy", "recall", "recall", "prefix", "prefix", "grokking", "grokking",
                                       "mlp", "cnn", "language", "icl-class", "two-step-drop"],
    "fourth": ["two-step", "two-step", "two-step", "tile", "patch", "recall", "recall", "recall", "prefix", "prefix", "window", "window", "window", "grokking",
               "grokking", "mlp", "cnn", "language", "masked", "icl-class", "icl-regression", "icl-regression", "histogram",
               "addition", "permutation", "position", "group", "anywhere", "two-step-drop"],
}
SETS["fifth"] = SETS["sixth"] = SETS["seventh"] = SETS["fourth"]


def eureka(arguments):
    result = subprocess.run([PROGRAM] + arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if result.returncode != 0:
        print(" ".join(arguments), "\n", result.stderr.strip()[-300:], flush=True)
    return result.returncode == 0


def settings(options):
    arguments = []
    for key, value in options.items():
        if isinstance(value, str):
            value = f'"{value}"'
        arguments += ["--set", f"{key}={value}"]
    return arguments


def train(set_name, family, seed, place):
    r = random.Random(f"{set_name} {family} {seed}")
    drop = family.endswith("-drop")
    preset, options = FAMILIES[family.removesuffix("-drop")](r)
    out = os.path.join(place, f"{family}-{seed}")
    if os.path.exists(os.path.join(out, "done")):
        return
    shutil.rmtree(out, ignore_errors=True)
    options["diagnose.names"] = ""
    options["run.checkpoint_every"] = 0
    cut_at = 0
    if drop:
        options["train.schedule"] = "constant"
        options["train.lr"] = options["train.lr"] * 2
        cut_at = int(options["train.steps"] * r.uniform(0.35, 0.65))
        options["run.checkpoint_every"] = cut_at
    where = out + ".parent" if drop else out
    shutil.rmtree(where, ignore_errors=True)
    ok = eureka(["train", preset, "--out", where, "--seed", str(seed), "--quiet"] + settings(options))
    if ok and drop:
        ok = eureka(["branch", f"{where}@{cut_at}", "--out", out, "--set", f"train.lr={options['train.lr'] / 10}", "--quiet"])
        shutil.rmtree(where, ignore_errors=True)
    if ok:
        for name in ("checkpoints", "looks", "tb"):
            shutil.rmtree(os.path.join(out, name), ignore_errors=True)
        with open(os.path.join(out, "done"), "w") as f:
            json.dump({"family": family, "preset": preset, "options": options}, f)


def main():
    set_name, (first, count, jobs), place = sys.argv[1], map(int, sys.argv[2:5]), sys.argv[5]
    families = SETS[set_name]
    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(lambda i: train(set_name, families[i % len(families)], first + i, place), range(count)))


if __name__ == "__main__":
    main()
