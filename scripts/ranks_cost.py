#!/usr/bin/env python3
"""What a training step costs one process and two that share it: the figures of docs/ranks.md.

    scripts/ranks_cost.py build/eureka [ROUNDS]

A run of a few steps less one of fewer; one thread to a process, the ways in turn. Needs two cores of its own."""
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

CASES = {
    "the shape of image-paper, batch 32": ["image-paper", "task.data=glyphs", "run.device=cpu", "run.precision=float32", "train.batch=32", "train.warmup=1"],
    "two-step": ["two-step"],
}
STEPS = {"image-paper": (2, 8), "two-step": (50, 550)}


def seconds(program, words, steps, ranks):
    """On the clock, and of processors, of a run of so many steps."""
    settings = words[1:] + [f"train.steps={steps}", f"train.eval_every={steps}", "train.validation_samples=32", f"run.checkpoint_every={steps}",
                            "diagnose.names=", "run.engine=reference", "run.threads=1"]
    with tempfile.TemporaryDirectory() as place:
        command = [program, "train", words[0], "--out", f"{place}/run", "--ranks", str(ranks), "--quiet"]
        for setting in settings:
            command += ["--set", setting]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        begun = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True)
        clock = time.perf_counter() - begun
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}: {done.stderr}")
    return clock, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def of_a_step(program, words, ranks):
    few, many = STEPS[words[0]]
    long, short = seconds(program, words, many, ranks), seconds(program, words, few, ranks)
    return [(a - b) / (many - few) for a, b in zip(long, short)]


def text(seconds_of_rounds):
    median, least, most = (1000 * value for value in (statistics.median(seconds_of_rounds), min(seconds_of_rounds), max(seconds_of_rounds)))
    digits = 0 if median >= 100 else 2
    return f"{median:.{digits}f} ms ({least:.{digits}f} to {most:.{digits}f})"


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    print("| | processes | a step on the clock | processor time of it, all together | times as fast |\n|---|---|---|---|---|")
    for name, words in CASES.items():
        measured = {1: [], 2: []}
        for _ in range(rounds):
            for ranks in measured:
                measured[ranks].append(of_a_step(program, words, ranks))
        alone = statistics.median(clock for clock, _ in measured[1])
        for ranks, values in measured.items():
            clocks, processors = zip(*values)
            print(f"| {name} | {ranks} | {text(clocks)} | {text(processors)} | {alone / statistics.median(clocks):.2f} |")


if __name__ == "__main__":
    main()
