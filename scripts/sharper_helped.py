#!/usr/bin/env python3
"""Was a reading of eureka diagnose right? `sharper_helped.py EUREKA STUDY... [--seeds FIRST-LAST]`, STUDY as in presets/sharpness.toml.

Each run is one whose scale another arm of the same seed quadruples or quarters. Helped: the moment came in less than 0.9 of the
steps, or came at all. Counts by study, arm and reading; numbers: the range of the thresholds' numbers over the runs of an arm.
"""
import argparse
import collections
import json
import subprocess

READINGS = ["starved-even", "starved", "narrow", "not-starved", "not-known"]
SHARPER = {"softmax": "scale-4", "scale-4": "scale-16", "scale-16": "scale-64", "scale-64": "scale-256",
           "norm_softmax": "norm_softmax-4", "qk_norm": "qk_norm-4"}
SOFTER = {sharper: arm for arm, sharper in SHARPER.items()}


def helped(run, other):
    """1 where the other run was better, -1 where it was worse, 0 for no difference; None where neither had a moment."""
    ours, theirs = (one["curve"]["step"] if one["curve"]["state"] == "moment" else float("inf") for one in (run, other))
    if ours == theirs == float("inf"):
        return None
    return 1 if theirs < 0.9 * ours else -1 if ours < 0.9 * theirs else 0


def tally(runs, change, reading, counts):
    for arm, by_seed in runs.items():
        for seed, run in by_seed.items():
            if run["reading"] == reading and seed in runs.get(change.get(arm), {}):
                counts[helped(run, runs[change[arm]][seed])] += 1


def row_text(counts):
    return f"{counts[1]:>8} {counts[-1]:>6} {counts[0]:>6} {counts[None]:>8}"


def span(values):
    ordered = sorted(value for value in values if value is not None)
    return f"{ordered[0]:.3g} to {ordered[-1]:.3g}" if ordered else "-"


def print_numbers(runs):
    print(f" {'arm':<16} {'first qk_to_v':>18} {'first entropy':>18} {'plateau entropy':>18}  read as")
    for arm, by_seed in runs.items():
        layers = [layer for run in by_seed.values() for layer in run["layers"]]
        read = collections.Counter(run["reading"] for run in by_seed.values())
        cells = [span([layer[phase][number] for layer in layers])
                 for phase, number in (("first_look", "qk_to_v"), ("first_look", "entropy"), ("plateau", "entropy"))]
        print(f" {arm:<16}" + "".join(f" {cell:>18}" for cell in cells) + "  "
              + ", ".join(f"{reading} {read[reading]}" for reading in READINGS if read[reading]))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("studies", nargs="+")
    parser.add_argument("--seeds", default="1-1000000")
    arguments = parser.parse_args()
    first, last = map(int, arguments.seeds.split("-"))
    totals = collections.defaultdict(collections.Counter)
    said = subprocess.run([arguments.program, "diagnose", *arguments.studies, "--json"], check=True, capture_output=True)
    for study in json.loads(said.stdout):
        runs = {arm["arm"]: {run["seed"]: run for run in arm["runs"] if first <= run["seed"] <= last}
                for arm in study["points"][0]["arms"]}
        print(f"\n{study['study']}")
        print_numbers(runs)
        for reading in READINGS:
            for name, change in (("sharper", SHARPER), ("softer", SOFTER)):
                counts = collections.Counter()
                tally(runs, change, reading, counts)
                totals[reading, name].update(counts)
    print(f"\n {'read as':<14} {'four times':<10} {'sooner':>8} {'later':>6} {'same':>6} {'neither':>8}")
    for (reading, name), counts in totals.items():
        if sum(counts.values()):
            print(f" {reading:<14} {name:<10} {row_text(counts)}")


main()
