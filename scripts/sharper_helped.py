#!/usr/bin/env python3
"""Was a reading of eureka diagnose right? `sharper_helped.py EUREKA STUDY[@FIRST-LAST]...`, seeds of studies like sharpness.

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
CHANGES = {"scale x 4": SHARPER, "scale / 4": {sharper: arm for arm, sharper in SHARPER.items()},
           "NormSoftmax": {"softmax": "norm_softmax"}}


def helped(run, other):
    """1 where the other run was better, -1 where it was worse, 0 for no difference; None where neither had a moment."""
    ours, theirs = (one["curve"]["step"] if one["curve"]["state"] == "moment" else float("inf") for one in (run, other))
    if ours == theirs == float("inf"):
        return None
    return 1 if theirs < 0.9 * ours else -1 if ours < 0.9 * theirs else 0


def counts_of(runs):
    counts = {(reading, change): collections.Counter() for reading in READINGS for change in CHANGES}
    for change, changed in CHANGES.items():
        for arm, other in changed.items():
            for seed, run in runs.get(arm, {}).items():
                if seed in runs.get(other, {}):
                    counts[run["reading"], change][helped(run, runs[other][seed])] += 1
    return counts


def print_counts(counts):
    print(f" {'read as':<14} {'change':<12} {'sooner':>7} {'later':>7} {'same':>7} {'neither':>8}")
    for (reading, change), one in counts.items():
        if sum(one.values()):
            print(f" {reading:<14} {change:<12} {one[1]:>7} {one[-1]:>7} {one[0]:>7} {one[None]:>8}")


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
    arguments = parser.parse_args()
    places, seeds = zip(*(study.partition("@")[::2] for study in arguments.studies))
    totals = collections.defaultdict(collections.Counter)
    said = subprocess.run([arguments.program, "diagnose", *places, "--json"], check=True, capture_output=True)
    for study, range_text in zip(json.loads(said.stdout), seeds):
        first, last = map(int, (range_text or "0-1000000").split("-"))
        runs = {arm["arm"]: {run["seed"]: run for run in arm["runs"] if first <= run["seed"] <= last}
                for arm in study["points"][0]["arms"]}
        print(f"\n{study['study']}{range_text and ', seeds ' + range_text}")
        print_numbers(runs)
        counts = counts_of(runs)
        print_counts(counts)
        for key, one in counts.items():
            totals[key].update(one)
    print("\nall of them")
    print_counts(totals)


main()
