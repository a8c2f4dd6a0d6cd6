#!/usr/bin/env python3
"""Labels dense curves of training runs and writes the logs a detector is measured on (src/stats/real_curves has the format).

    scripts/label_curves.py RUNS... > logs.tsv        RUNS: directories of run directories (metrics.jsonl)

The label comes from the dense curve alone, smoothed by a running median: docs/detector.md tells the rule. A log is what a
sparser evaluation, an earlier stop, few validation samples or a minibatch would have left of it.
"""
import json
import os
import random
import sys

import numpy as np

SMOOTH = 5  # evaluations of the running median


class Rule:
    """What it takes: `MOMENT` has what everybody calls one, `DOUBT` what somebody might; less than that is none."""

    def __init__(self, height, plateau, start, band, slower, new_ground, cut_short):
        self.height = height          # of the curve's range
        self.plateau = plateau        # length of the stretch before it, in 10-90% widths
        self.start = start            # the same of the run, if it begins with the stretch
        self.band = band              # of the rise: the stretch stays within it
        self.slower = slower          # speed after it, of its own
        self.new_ground = new_ground  # of the rise: better than all before
        self.cut_short = cut_short    # whether it counts if the end comes before its speed after can be seen


MOMENT = Rule(height=0.16, plateau=1.6, start=0.05, band=0.15, slower=0.25, new_ground=0.6, cut_short=False)
DOUBT = Rule(height=0.11, plateau=0.8, start=0.03, band=0.2, slower=0.4, new_ground=0.45, cut_short=True)
MOST_SCATTER = 0.125  # of the rise, on plateau and level
MOST_SCATTER_SEEN = 0.15  # the same of what a log shows of it
LEAST_ACCURACY = 0.1
LEAST_ON_PLATEAU = 5  # evaluations: a log with fewer shows no plateau
MINIBATCH = 64
FEW_SAMPLES = 100
KINDS = {"cnn": "cnn", "grokking": "grokking", "modular": "grokking", "recurrent": "lstm", "linear": "linear"}
KINDS |= dict.fromkeys(["mlp", "parity", "autoencoder", "overfit", "diverging", "stuck"], "mlp")


def running_median(values, width=SMOOTH):
    half = width // 2
    padded = np.concatenate([values[:1].repeat(half), values, values[-1:].repeat(half)])
    return np.median(np.lib.stride_tricks.sliding_window_view(padded, width), axis=1)


def range_of(smooth):
    best = int(np.argmax(smooth))
    return smooth[best] - np.quantile(smooth[: best + 1], 0.05)


class Rise:
    def __init__(self, t, s, seen, first, leaves, arrives):
        self.first = first
        self.level = np.median(s[first : leaves + 1])
        self.to = np.median(s[arrives : arrives + SMOOTH])
        self.height = self.to - self.level
        self.leaves, self.arrives = leaves, arrives
        self.start = t[first]
        if self.height <= 0:
            return
        self.x10 = self.crossing(t, s, 0.1, last=True)
        self.x50 = self.crossing(t, s, 0.5)
        self.x90 = self.crossing(t, s, 0.9)
        self.width = max(self.x90 - self.x10, t[1] - t[0])
        self.plateau = self.x10 - t[first]
        far = self.x90 + max(self.width, 4 * (t[1] - t[0]))
        self.is_cut_short = far > t[-1]
        after = min(len(t) - 1, int(np.searchsorted(t, far)))
        at = int(np.searchsorted(t, self.x90))
        self.seen_after = len(t) - at
        self.speed_after = 0.0
        if after > at:
            self.speed_after = (s[after] - s[at]) / (t[after] - t[at]) / (0.8 * self.height / self.width)
        self.new_ground = (self.to - s[: leaves + 1].max()) / self.height
        below = s[arrives:] < self.level + 0.5 * self.height
        self.collapses = bool(below.sum() > 3)
        self.scatter = max(self.spread(seen[first : leaves + 1]), self.spread(seen[arrives : arrives + leaves - first + 1]))

    def crossing(self, t, s, way, last=False):
        goal = self.level + way * self.height
        inside = s[self.first : self.arrives + SMOOTH]
        above = np.nonzero(inside >= goal)[0]
        if last:
            lower = np.nonzero(inside[: self.arrives - self.first + 1] < goal)[0]
            k = self.first + (int(lower[-1]) + 1 if len(lower) else 0)
        else:
            k = self.first + (int(above[0]) if len(above) else len(inside) - 1)
        if k == 0 or k >= len(s) or s[k] == s[k - 1]:
            return t[min(k, len(t) - 1)]
        part = np.clip((goal - s[k - 1]) / (s[k] - s[k - 1]), 0, 1)
        return t[k - 1] + part * (t[k] - t[k - 1])

    def spread(self, values):
        return 1.4826 * np.median(np.abs(values - np.median(values))) / self.height

    def fits(self, rule, span, reach):
        has_slowed = self.seen_after >= 3 and self.speed_after <= rule.slower
        return (self.height >= rule.height * reach and self.plateau >= rule.plateau * self.width
                and (self.first > 0 or self.plateau >= rule.start * span)
                and (has_slowed or rule.cut_short and self.is_cut_short) and self.new_ground >= rule.new_ground)

    def overlaps(self, other):
        return self.x10 < other.x90 and other.x10 < self.x90

    def merit(self):
        return self.height * self.plateau / (self.plateau + self.width)


def rises_of(t, s, seen, rule):
    reach, span = range_of(s), t[-1] - t[0]
    if reach <= 0:
        return
    for leaves in range(3, len(s) - 3, 2):
        back = s[leaves::-1]
        spread = np.maximum.accumulate(back) - np.minimum.accumulate(back)
        arrivals = np.arange(leaves + 1, len(s) - 2, 2 if len(s) > 100 else 1)
        heights = s[arrivals] - s[leaves]
        firsts = np.maximum(0, leaves - np.searchsorted(spread, rule.band * heights, side="right") + 1)
        likely = (heights >= 0.9 * rule.height * reach) & (t[leaves] - t[firsts] >= 0.4 * rule.plateau * (t[arrivals] - t[leaves]))
        for first, arrives in zip(firsts[likely], arrivals[likely]):
            rise = Rise(t, s, seen, first, leaves, arrives)
            if rise.height > 0 and rise.fits(rule, span, reach):
                yield rise


def label(t, raw, seen, is_accuracy):
    """("moment", Rise), ("none", None), ("stuck", None) or ("doubt", None); better is up in `raw`.

    `seen` is the same with noise added, if any: it hides moments and makes none.
    """
    s = running_median(raw)
    noise = 1.4826 * np.median(np.abs(np.diff(raw) - np.median(np.diff(raw)))) / np.sqrt(2)
    if range_of(s) < 4 * noise / np.sqrt(SMOOTH) * 1.25 + 1e-12:
        return "stuck", None
    if is_accuracy and range_of(s) < LEAST_ACCURACY:
        return "doubt", None
    if next(rises_of(t, s, seen, DOUBT), None) is None:
        return "none", None
    best = max(rises_of(t, s, seen, MOMENT), key=Rise.merit, default=None)
    if best is None or best.collapses or best.scatter > MOST_SCATTER or any(not r.overlaps(best) for r in rises_of(t, s, seen, DOUBT)):
        return "doubt", None
    return "moment", best


def read_run(directory):
    columns = {}
    with open(os.path.join(directory, "metrics.jsonl")) as lines:
        for line in lines:
            row = json.loads(line)
            for name, value in row.items():
                if name.startswith(("val_", "train_")) and "/" not in name and value is not None:
                    columns.setdefault(name, []).append((row["step"], value))
    return columns


def even(points):
    """The evenly spaced part: a last evaluation off the grid goes."""
    t = np.array([p[0] for p in points], float)
    v = np.array([p[1] for p in points], float)
    if len(t) > 2 and t[-1] - t[-2] != t[1] - t[0]:
        t, v = t[:-1], v[:-1]
    return t, v


class Log:
    def __init__(self, kind, source, up, truth, rise, t, v):
        self.kind, self.source, self.up, self.truth, self.rise, self.t, self.v = kind, source, up, truth, rise, t, v

    def line(self):
        step, width = (self.rise.x50, self.rise.width) if self.truth in ("moment", "either") else (0, 0)
        values = " ".join(f"{x:.4g}" for x in self.v)
        spacing = self.t[1] - self.t[0]
        return "\t".join([self.kind, self.source, "up" if self.up else "down", "-", self.truth, f"{step:.6g}",
                          f"{width:.6g}", f"{self.t[0]:g}", f"{spacing:g}", values])


def with_noise(r, v, is_accuracy, samples):
    """As so many samples would have shown it."""
    generator = np.random.default_rng(r.randrange(2**32))
    if is_accuracy:
        return generator.binomial(samples, np.clip(v, 0, 1)) / samples
    return v + generator.normal(size=len(v)) * 0.4 * np.abs(v) / np.sqrt(samples)


def on_plateau(t, rise):
    """Evaluations on the plateau that a rise leaves."""
    return int(((t >= rise.start) & (t <= rise.x10)).sum())


def spaced(r, t, low, high, rise):
    """A stride that leaves `low` to `high` evaluations, enough of them on the plateau; nothing if there is none."""
    strides = [k for k in range(1, len(t)) if low <= (len(t) - 1) // k + 1 <= high
               and (rise is None or on_plateau(t[::k], rise) >= LEAST_ON_PLATEAU)]
    return r.choice(strides) if strides else None


def cut_logs(r, kind, source, up, truth, rise, t, v, end, past=None):
    """A log of 12 to 20 evaluations that ends at index `end` of the dense curve."""
    strides = [k for k in range(1, end) if 12 <= end // k + 1 <= 20]
    if not strides:
        return []
    stride = r.choice(strides)
    indices = np.arange(end % stride, end + 1, stride)
    times = t[indices]
    if rise is not None and on_plateau(times, rise) < LEAST_ON_PLATEAU or (past is not None and not past(times, v[indices])):
        return []
    return [Log(kind, source, up, truth, rise, times, v[indices])]


def logs_of(r, family, source, up, t, clean, v, is_accuracy):
    is_noisy = clean is not v
    sign = 1 if up else -1

    def label_until(end, whole):
        return label(t[:end], sign * clean[:end], sign * v[:end], is_accuracy and whole)

    name, rise = label_until(len(t), True)
    logs = []

    def add(kind, truth, times, values):
        logs.append(Log(kind, source, up, truth, rise, times, values))

    if name == "doubt":
        return logs
    stride = spaced(r, t, 60, 150, rise)
    truth = "moment" if name == "moment" else "none"
    what = {"moment": family + (", noisy" if is_noisy else ""), "stuck": "stuck",
            "none": "smooth, noisy" if is_noisy else family + ", no moment"}[name]
    if stride:
        add(what, truth, t[::stride], v[::stride])
    if name != "moment":
        for _ in range(3):
            end = r.randrange(len(t) // 4, len(t))
            there, _ = label_until(end + 1, False)
            if there in ("none", "stuck"):
                logs += cut_logs(r, "short, no moment", source, up, "none", None, t, v, end)
        return logs
    stride = spaced(r, t, 20, 40, rise)
    if stride:
        add("sparse", "moment", t[::stride], v[::stride])
    s = running_median(sign * clean)
    way = (s - rise.level) / rise.height

    def arrived(times, _):
        past_half = (times > rise.x50).sum()
        high = (way[np.searchsorted(t, times)] > 0.8) & (times > rise.x50)
        return 2 <= past_half <= 4 and high.sum() >= 2

    def shows(end, times):
        """Whether somebody might call a rise what is seen of it up to there, by these evaluations."""
        seen = rises_of(t[: end + 1], s[: end + 1], sign * v[: end + 1], DOUBT)
        return any(x.overlaps(rise) and x.scatter <= MOST_SCATTER_SEEN and on_plateau(times, x) >= LEAST_ON_PLATEAU for x in seen)

    def first_log(kind, ends, truth_there, past=None):
        r.shuffle(ends)
        for end in ends:
            made = cut_logs(r, kind, source, up, truth_there, rise, t, v, end, past=past)
            if made:
                logs.extend(log for log in made if truth_there == "under_way" or shows(end, log.t))
                return

    half = int(np.searchsorted(t, rise.x50))
    later = list(range(half + 1, min(len(t), half + 60)))
    first_log(("noisy short" if is_noisy else "short") + ", cut soon after", later, "moment", arrived)
    inside = [i for i in range(len(t)) if rise.x10 < t[i] < rise.x90]
    first_log("just past half-way", [i for i in inside if t[i] > rise.x50 and way[i] < 0.9], "either")
    first_log("under way", [i for i in inside if 0.2 <= way[i] <= 0.42 and t[i] < rise.x50], "under_way")
    before = int(np.searchsorted(t, rise.x10)) - 2
    if before > 14:
        end = r.randrange(before // 2, before)
        there, _ = label_until(end + 1, False)
        if there in ("none", "stuck"):
            logs += cut_logs(r, "plateau so far", source, up, "none", None, t, v, end)
    return logs


def kind_of(directory):
    family = os.path.basename(directory).rsplit("-", 1)[0]
    if family.endswith("-drop"):
        return "lr drop"
    return KINDS.get(family, "transformer")


def curves_of(r, columns):
    """Name, steps, values before noise, values: each column as it was logged, validation by few samples too."""
    for column, points in columns.items():
        t, v = even(points)
        if len(t) < 60 or not np.isfinite(v).all():
            continue
        is_accuracy = column.endswith("accuracy")
        if column.startswith("train_"):  # the mean since the last evaluation; a minibatch is what others log
            yield column, t, v, with_noise(r, v, is_accuracy, MINIBATCH)
            continue
        yield column, t, v, v
        if is_accuracy:
            yield f"{column}_{FEW_SAMPLES}", t, v, with_noise(r, v, is_accuracy, FEW_SAMPLES)


def main():
    doubted = labeled = 0
    for place in sys.argv[1:]:
        for run in sorted(os.listdir(place)):
            directory = os.path.join(place, run)
            if not os.path.exists(os.path.join(directory, "done")):
                continue
            with open(os.path.join(directory, "done")) as f:
                program = json.load(f).get("program", "eureka")
            r = random.Random(run)
            for column, t, clean, v in curves_of(r, read_run(directory)):
                up = "loss" not in column and "bits" not in column
                logs = logs_of(r, kind_of(directory), f"{program}/{run}/{column}", up, t, clean, v, "accuracy" in column)
                labeled += bool(logs)
                doubted += not logs
                for log in logs:
                    print(log.line())
    print(f"{labeled} curves labeled, {doubted} left out", file=sys.stderr)


if __name__ == "__main__":
    main()
