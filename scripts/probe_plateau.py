#!/usr/bin/env python3
"""What linear probes read on the plateau and behind it, over the runs of one arm: `probe_plateau.py EUREKA STUDY ARM`.

EUREKA is the program. Of every run that had a moment two checkpoints are probed with `eureka look`: the last one before the
rise began, and the last one of all; of a run without a moment the last one. Medians over the runs, for every latent of the
task: the cls token (or first token), the mean over tokens and the best single token of the residual stream entering each
block and behind the last one (the best is chosen on the samples it is scored on, so it flatters), and the best head's output.
"""
import csv
import json
import pathlib
import statistics
import subprocess
import sys

SAMPLES = 1000


def checkpoints(run):
    return sorted(int(path.name.split("-")[1]) for path in (run / "checkpoints").glob("step-*"))


def probes(program, run, step):
    """{(latent, point, position, layer): accuracy, the best over heads} and {latent: chance}."""
    out = subprocess.run([program, "look", f"{run}@{step}", "--diagnostic", "probes", "--samples", str(SAMPLES), "--json"],
                         check=True, capture_output=True, text=True).stdout
    accuracy, chance = {}, {}
    for row in json.loads(out)["rows"]:
        if row["number"] == "chance":
            chance[row["part"]] = row["value"]
            continue
        latent, point, position = row["part"].split("/")
        key = (latent, point, position, row["layer"])
        accuracy[key] = max(accuracy.get(key, 0.0), row["value"])
    return accuracy, chance


def cells(accuracy, latent):
    layers = sorted({key[3] for key in accuracy if key[1] == "residual"})
    found = {}
    for layer in layers:
        tokens = {key[2]: value for key, value in accuracy.items() if key[:2] == (latent, "residual") and key[3] == layer}
        found[f"cls {layer}"] = tokens["token0"]
        found[f"mean {layer}"] = tokens["mean"]
        found[f"best {layer}"] = max(value for token, value in tokens.items() if token != "mean")
    for layer in layers[:-1]:
        found[f"head out {layer}"] = max(value for key, value in accuracy.items()
                                         if key[:2] == (latent, "head_output") and key[3] == layer and key[2] != "mean")
    return found


def print_table(title, probed):
    if not probed:
        return
    print(f"\n{title}: {len(probed)} runs")
    names = list(cells(probed[0][0], next(iter(probed[0][1]))))
    print(f" {'latent':<12} {'chance':>7}" + "".join(f" {name:>10}" for name in names))
    for latent in probed[0][1]:
        rows = [cells(accuracy, latent) for accuracy, _ in probed]
        chance = statistics.median(chance[latent] for _, chance in probed)
        print(f" {latent:<12} {chance:>7.3f}" + "".join(f" {statistics.median(row[name] for row in rows):>10.3f}" for name in names))


def main():
    if len(sys.argv) != 4 or not (pathlib.Path(sys.argv[2]) / "trials.csv").exists():
        sys.exit(__doc__)
    program, study, arm = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    plateau, after, stuck = [], [], []
    for trial in csv.DictReader(open(study / "trials.csv")):
        if trial["arm"] != arm:
            continue
        run = study / trial["directory"]
        moment = json.load(open(run / "summary.json"))["moment"]
        steps = checkpoints(run)
        if not moment["found"]:
            stuck.append(probes(program, run, steps[-1]))
            continue
        before = [step for step in steps if step <= moment["rise_start"]]
        if before:
            plateau.append(probes(program, run, before[-1]))
        after.append(probes(program, run, steps[-1]))
    print_table("on the plateau, the last checkpoint before the rise", plateau)
    print_table("behind the moment, the last checkpoint", after)
    print_table("without a moment, the last checkpoint", stuck)


if __name__ == "__main__":
    main()
