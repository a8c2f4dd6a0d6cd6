#!/usr/bin/env python3
"""What diagnostics said around the moment, over the seeds of a study: `around_moment.py STUDY [NUMBER...]`.

For each arm and number, medians over the runs that had a moment (quartiles in brackets): at the first look, in the middle
of the plateau, at the last look before the rise, at the look next to the moment, and behind the rise; runs without a moment
in a column of their own, at their last look. `--lead NUMBER...` prints by how many steps each number moves before the
accuracy: half-way between its values on the plateau and behind the rise, as the moment is half-way of the accuracy; and in
how many runs it moves first, with a two-sided sign test. `gone`: the share of its way that a number has gone at the last
look before the rise, when the accuracy has gone a tenth or less, and in how many runs that is more than a tenth.
"""
import argparse
import csv
import json
import math
import pathlib
import statistics

PHASES = ["first look", "plateau", "before", "moment", "after", "no moment"]


def read_run(directory):
    with open(directory / "metrics.jsonl") as file:
        rows = [json.loads(line) for line in file]
    with open(directory / "summary.json") as file:
        return rows, json.load(file)["moment"]


def series(rows, number):
    return [(row["step"], row[number]) for row in rows if row.get(number) is not None]


def nearest(points, step):
    return min(points, key=lambda point: abs(point[0] - step))[1]


def plateau_value(points, moment):
    on = [value for step, value in points if 0.4 * moment["rise_start"] <= step <= 0.8 * moment["rise_start"]]
    return statistics.median(on) if on else None


def value_behind(points, moment):
    later = [value for step, value in points if step >= moment["rise_end"]]
    return statistics.median(later) if later else None


def phases(points, moment):
    if not points:
        return {}
    if not moment["found"]:
        return {"first look": points[0][1], "no moment": points[-1][1]}
    before = [point for point in points if point[0] < moment["rise_start"]]
    found = {"first look": points[0][1], "plateau": plateau_value(points, moment), "moment": nearest(points, moment["step"]),
             "before": before[-1][1] if before else None, "after": value_behind(points, moment)}
    return {phase: value for phase, value in found.items() if value is not None}


def half_way(points, low, high):
    """The step at which a curve passes half-way for good: where calling all before it below is least wrong."""
    level, sign = (low + high) / 2, 1 if high > low else -1
    total, best, place = 0.0, 0.0, None
    for i, (_, value) in enumerate(points):
        total += sign * (value - level)
        if total < best:
            best, place = total, i
    if place is None or place + 1 >= len(points):
        return None
    (x0, y0), (x1, y1) = points[place], points[place + 1]
    return x0 if y1 == y0 else x0 + (x1 - x0) * min(1.0, max(0.0, (level - y0) / (y1 - y0)))


def sign_test(ahead, behind):
    n, k = ahead + behind, max(ahead, behind)
    return min(1.0, 2 * sum(math.comb(n, i) for i in range(k, n + 1)) / 2**n) if n else 1.0


def spread(values):
    if not values:
        return "-"
    ordered = sorted(values)
    quartile = lambda share: ordered[min(len(ordered) - 1, int(share * len(ordered)))]
    return f"{statistics.median(ordered):.3g} [{quartile(0.25):.3g}, {quartile(0.75):.3g}]"


def arms_of(study):
    arms = {}
    with open(study / "trials.csv") as file:
        for trial in csv.DictReader(file):
            arms.setdefault(trial["arm"], []).append(read_run(study / trial["directory"]))
    return arms


def print_phases(arms, numbers):
    for number in numbers:
        print(f"\n{number}")
        print(f" {'arm':<16} {'moments':>7}" + "".join(f" {phase:>26}" for phase in PHASES))
        for arm, runs in arms.items():
            seen = [phases(series(rows, number), moment) for rows, moment in runs]
            cells = [spread([one[phase] for one in seen if phase in one]) for phase in PHASES]
            moments = sum(moment["found"] for _, moment in runs)
            print(f" {arm:<16} {moments:>4}/{len(runs):<2}" + "".join(f" {cell:>26}" for cell in cells))


def print_leads(arms, numbers):
    print(f"\n {'number':<48} {'arm':<16} {'runs':>4} {'steps before the accuracy':>28} {'first':>7} {'p':>9}"
          f" {'gone':>24} {'over a tenth':>13}")
    for number in numbers:
        for arm, runs in arms.items():
            leads, gone = [], []
            for rows, moment in runs:
                if not moment["found"]:
                    continue
                points = series(rows, number)
                low, high = plateau_value(points, moment), value_behind(points, moment)
                step = half_way(points, low, high) if None not in (low, high) and low != high else None
                if step is not None:
                    leads.append(moment["step"] - step)
                    gone.append((phases(points, moment)["before"] - low) / (high - low))
            ahead, behind = sum(lead > 0 for lead in leads), sum(lead < 0 for lead in leads)
            print(f" {number:<48} {arm:<16} {len(leads):>4} {spread(leads):>28} {ahead:>3}/{len(leads):<3}"
                  f" {sign_test(ahead, behind):>9.2g} {spread(gone):>24} {sum(share > 0.1 for share in gone):>8}/{len(gone):<4}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", type=pathlib.Path)
    parser.add_argument("numbers", nargs="*", default=[])
    parser.add_argument("--lead", nargs="+", default=[], metavar="NUMBER")
    arguments = parser.parse_args()
    if not (arguments.study / "trials.csv").exists():
        parser.error(f"{arguments.study} holds no finished study (no trials.csv)")
    arms = arms_of(arguments.study)
    print_phases(arms, arguments.numbers)
    if arguments.lead:
        print_leads(arms, arguments.lead)


if __name__ == "__main__":
    main()
