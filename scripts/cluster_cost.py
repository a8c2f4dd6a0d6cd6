#!/usr/bin/env python3
"""What a trial of a study costs a cluster, for docs/cluster.md.

    scripts/cluster_cost.py calls PROGRAM                 calls that a network file system must answer, by strace
    scripts/cluster_cost.py speed PROGRAM [ROUNDS]        trials per minute here and through scripts/local-slurm (root)
"""
import collections
import json
import os
import pathlib
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
TRIALS = 12
STUDY = '[study]\nbase = "two-step"\nseeds = {seeds}\n{more}\n[[arm]]\nname = "softmax"\n'
NAMES_A_PATH = {
    "look": ("stat", "lstat", "newfstatat", "statx", "access", "faccessat", "faccessat2", "readlink", "readlinkat"),
    "open": ("open", "openat", "creat"),
    "change": ("mkdir", "mkdirat", "rename", "renameat", "renameat2", "unlink", "unlinkat", "rmdir", "link", "linkat"),
    "sync": ("fsync", "fdatasync"),
    "list": ("getdents64",),
    "write": ("write", "pwrite64"),
}


def run(*words, **options):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{words} ended with {done.returncode}: {done.stderr}")
    return done.stdout


def planned(program, place, seeds, more="", trials_per_task=1):
    study = place / "study.toml"
    study.write_text(STUDY.format(seeds=seeds, more=more))
    shutil.rmtree(place / "study", ignore_errors=True)
    tasks = run(program, "study", study, "--out", place / "study", "--plan", "--trials-per-task", trials_per_task)
    (place / "tasks.jsonl").write_text(tasks)
    return study, place / "tasks.jsonl"


def calls(program, place):
    kinds = {name: kind for kind, names in NAMES_A_PATH.items() for name in names}
    header = list(NAMES_A_PATH)
    print("| a trial of two-step | " + " | ".join(header) + " | files left |\n|---|" + "---|" * (len(header) + 1))
    for keep in ('keep = "all"', 'keep = "summary"'):
        _, tasks = planned(program, place, 1, f"set.run.{keep}")
        trace = place / "trace"
        words = ["strace", "-f", "-y", "-o", trace, "-e", "trace=" + ",".join("?" + name for name in kinds)]
        run(*words, program, "trial", tasks, 0)
        counts = collections.Counter()
        for line in trace.read_text().splitlines():
            call = re.match(r"\d+ +(\w+)\((.*)", line)
            # A look at what is open already, AT_EMPTY_PATH, names no path.
            if call and str(place / "study") in line and '""' not in call[2]:
                counts[kinds.get(call[1], "")] += 1
        files = sum(1 for path in (place / "study" / "softmax").rglob("*") if path.is_file())
        cells = " | ".join(str(counts[kind]) for kind in header)
        print(f"| `{keep}` | {cells} | {files} |")


def seconds_of_children():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class Speed:
    def __init__(self, program, place):
        self.program, self.place = program, place
        self.study, _ = planned(program, place, TRIALS)
        shutil.rmtree(place / "study")

    def here(self, jobs):
        run(self.program, "study", self.study, "--out", self.place / "study", "--jobs", jobs, "--progress", "none")

    def slurm(self, trials_per_task):
        options = ("--slurm", "--json", "--max-running", 2, "--trials-per-task", trials_per_task)
        said = json.loads(run(self.program, "study", self.study, "--out", self.place / "study", *options))
        self.until_gone(*said["jobs"])
        ended = len(list((self.place / "study").rglob("summary.json")))
        if ended != TRIALS:
            sys.exit(f"{ended} of {TRIALS} trials have ended")

    def by_hand(self, trials_per_task):
        _, tasks = planned(self.program, self.place, TRIALS, "", trials_per_task)
        for index in range(TRIALS // trials_per_task):
            run(self.program, "trial", tasks, index)

    def nothing(self):
        job = run("sbatch", "--parsable", f"--array=0-{TRIALS - 1}%2", "--output=/dev/null", "--wrap=true").strip()
        self.until_gone(job)

    def until_gone(self, *jobs):
        while set(run("squeue", "--noheader", "--format=%A %F").split()) & set(jobs):
            time.sleep(0.2)

    def arms(self):
        return {
            "here, `--jobs 1`": lambda: self.here(1),
            "here, `--jobs 2`": lambda: self.here(2),
            "`eureka trial`, one trial to a task, one after the other": lambda: self.by_hand(1),
            "`eureka trial`, six trials to a task, one after the other": lambda: self.by_hand(TRIALS // 2),
            "Slurm, one trial to a task": lambda: self.slurm(1),
            "Slurm, six trials to a task": lambda: self.slurm(TRIALS // 2),
            "Slurm, as many tasks that do nothing": self.nothing,
        }


def speed(program, place, rounds):
    cluster = place / "cluster"
    os.environ["SLURM_CONF"] = str(cluster / "slurm.conf")
    # Daemons hold on to what they inherit.
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run([HERE / "local-slurm", "start", cluster], check=True, **quiet)
    try:
        measured = Speed(program, place)
        times = collections.defaultdict(list)
        for _ in range(rounds):
            for name, arm in measured.arms().items():
                shutil.rmtree(place / "study", ignore_errors=True)
                begin, used = time.monotonic(), seconds_of_children()
                arm()
                times[name].append((time.monotonic() - begin, seconds_of_children() - used))
                print(f"{name}: {times[name][-1][0]:.1f} s, {times[name][-1][1]:.1f} s of processors", file=sys.stderr)
    finally:
        subprocess.run([HERE / "local-slurm", "stop", cluster], check=False, **quiet)
    print("| | trials per minute, median (all rounds) | processor seconds per trial |\n|---|---|---|")
    for name, pairs in times.items():
        rates = [TRIALS / seconds * 60 for seconds, _ in pairs]
        every = ", ".join(f"{rate:.0f}" for rate in rates)
        # What Slurm starts is not ours to count.
        used = "" if name.startswith("Slurm") else f"{statistics.median(used for _, used in pairs) / TRIALS:.2f}"
        print(f"| {name} | {statistics.median(rates):.0f} ({every}) | {used} |")


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in ("calls", "speed"):
        sys.exit(__doc__)
    place = pathlib.Path(tempfile.mkdtemp(prefix="eureka-cost-"))
    program = pathlib.Path(sys.argv[2]).resolve()
    try:
        if sys.argv[1] == "calls":
            calls(program, place)
        else:
            speed(program, place, int(sys.argv[3]) if len(sys.argv) > 3 else 3)
    finally:
        shutil.rmtree(place, ignore_errors=True)


if __name__ == "__main__":
    main()
