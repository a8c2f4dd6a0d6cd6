#!/usr/bin/env python3
"""early_signs.py STUDY STEP: which diagnostics at one step, on the plateau of every run, go with a late moment?

For each point of the study's axes: the rank correlation over all runs (all arms) of each number with the step of the
moment, a run without one counting as the latest; the strongest first, with the median of each arm. Runs whose moment
came by that step are left out. Needs nothing but Python.
"""
import csv
import json
import pathlib
import statistics
import sys


def ranks(values):
    order = sorted(range(len(values)), key=values.__getitem__)
    result = [0.0] * len(values)
    first = 0
    while first < len(order):
        last = first
        while last + 1 < len(order) and values[order[last + 1]] == values[order[first]]:
            last += 1
        for i in range(first, last + 1):
            result[order[i]] = (first + last) / 2
        first = last + 1
    return result


def correlation(a, b):
    a, b = ranks(a), ranks(b)
    mean_a, mean_b = statistics.fmean(a), statistics.fmean(b)
    top = sum((x - mean_a) * (y - mean_b) for x, y in zip(a, b))
    bottom = (sum((x - mean_a) ** 2 for x in a) * sum((y - mean_b) ** 2 for y in b)) ** 0.5
    return top / bottom if bottom else 0.0


def numbers_at(run, step):
    with open(run / "metrics.jsonl") as rows:
        for line in rows:
            row = json.loads(line)
            if row["step"] == step:
                return {name: value for name, value in row.items() if "/" in name and "/head" not in name}
    return {}


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    study, step = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    points = {}
    with open(study / "trials.csv") as file:
        for trial in csv.DictReader(file):
            moment = float(trial["moment"]) if trial["moment"] else float("inf")
            numbers = numbers_at(study / trial["directory"], step)
            if moment > step and numbers:
                points.setdefault(trial["point"], []).append((trial["arm"], moment, numbers))
    for point, runs in points.items():
        arms = list(dict.fromkeys(arm for arm, _, _ in runs))
        shared = set.intersection(*(set(numbers) for _, _, numbers in runs))
        moments = [moment for _, moment, _ in runs]
        found = sorted(((correlation([numbers[name] for _, _, numbers in runs], moments), name) for name in shared),
                       key=lambda one: -abs(one[0]))
        print(f"{point or study.name}: {len(runs)} runs, step {step}")
        print(f"  {'with lateness':>13}  {'number':<48}" + "".join(f"{arm:>16}" for arm in arms))
        for strength, name in found[:10]:
            medians = [statistics.median(n[name] for a, _, n in runs if a == arm) for arm in arms]
            print(f"  {strength:>13.2f}  {name:<48}" + "".join(f"{value:>16.4g}" for value in medians))


if __name__ == "__main__":
    main()
