#!/usr/bin/env python3
"""Which of two builds takes less processor time per training step?

usage: compare_builds.py OLD NEW [--cases tiny,lab] [--seconds 10] [--rounds 4] [--core 1] [-- options of eureka bench]

OLD and NEW are two eureka programs. Both run at once on one core and take turns every few milliseconds, so what
neighbours do to one they do to the other: differences of 0.5% show, where runs after each other differ by 5%.
"""

import argparse
import json
import statistics
import subprocess
import sys


def milliseconds_per_step(programs, case, seconds, core, options):
    """Processor time per step of each program, all running at once on one core."""
    command = ["bench", case, "--json", "--seconds", str(seconds), *options]
    runs = [
        subprocess.Popen(["taskset", "-c", str(core), program, *command], stdout=subprocess.PIPE, text=True)
        for program in programs
    ]
    texts = [run.communicate()[0] for run in runs]
    for program, run in zip(programs, runs):
        if run.returncode != 0:
            sys.exit(f"compare_builds: {program} bench {case} ended with code {run.returncode}; what it said is above")
    return [json.loads(text)["cases"][0]["cpu_ms"] for text in texts]


def main():
    own, options = sys.argv[1:], []
    if "--" in own:
        cut = own.index("--")
        own, options = own[:cut], own[cut + 1 :]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--cases", default="tiny,lab,mid,paper")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--core", type=int, default=1)
    given = parser.parse_args(own)
    if given.rounds < 2:
        parser.error("--rounds: at least 2, or the spread is unknown")
    for case in given.cases.split(","):
        rounds = [
            milliseconds_per_step([given.old, given.new], case, given.seconds, given.core, options)
            for _ in range(given.rounds)
        ]
        ratios = [old / new for old, new in rounds]
        error = statistics.stdev(ratios) / given.rounds**0.5
        old, new = (statistics.mean(column) for column in zip(*rounds))
        print(f"{case}: {old:.2f} ms before, {new:.2f} ms after: {statistics.mean(ratios):.3f} +- {error:.3f} times as fast",
              flush=True)


if __name__ == "__main__":
    main()
