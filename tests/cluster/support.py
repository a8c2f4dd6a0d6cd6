"""What the tests on a cluster share: commands, processes that are held, the queue, and studies compared byte by byte."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

CLUSTER = pathlib.Path(__file__).resolve().parent.parent.parent / "scripts" / "local-slurm"


class Here:
    """Set once, before the first test."""

    program = ""
    slurm = ""  # directory of the cluster


def run(*words, check=True, **options):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, **options)
    if check and done.returncode != 0:
        raise AssertionError(f"{words} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return done


def eureka(*words, **options):
    return run(Here.program, *words, **options)


def cluster(*words):
    return run(CLUSTER, *words, Here.slurm)


def wait_for(condition, what, seconds=120):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.1)
    raise AssertionError(f"waited {seconds} s in vain for {what}\n" + run("squeue", check=False).stdout)


def tasks_of(*jobs):
    """Index, state and node of the tasks of arrays that are in the queue."""
    lines = run("squeue", "--noheader", "--array", "--format=%i|%t|%N", f"--user={os.getuid()}").stdout.split()
    rows = [line.split("|") for line in lines if line.split("_")[0] in jobs and "_" in line]
    return [(int(i.split("_")[1]), state, node) for i, state, node in rows]


def trials_below(directory):
    """Processes that train a run there, and the run of each."""
    found = {}
    for process in pathlib.Path("/proc").iterdir():
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        runs = [word for word in words if word.startswith(bytes(directory))]
        if b"--heartbeat" in words and runs:
            found[int(process.name)] = pathlib.Path(os.fsdecode(runs[0]))
    return found


def tell(process, signal_number):
    try:
        os.kill(process, signal_number)
    except ProcessLookupError:
        pass


def tell_trials(directory, signal_number):
    for process in trials_below(directory):
        tell(process, signal_number)


def hold(directory):
    """Trials stand still, so that they last until the test has done what it wants to do, however fast the machine is."""
    tell_trials(directory, signal.SIGSTOP)


def hold_when_begun(directory, enough):
    """Each as soon as it has a checkpoint, until `enough(runs that were held)`; then all."""
    held = set()

    def look():
        for process, place in trials_below(directory).items():
            if place not in held and any(place.glob("checkpoints/step-*/DONE")):
                tell(process, signal.SIGSTOP)
                held.add(place)
        return enough(held)

    wait_for(look, "checkpoints")
    hold(directory)


def release(directory):
    tell_trials(directory, signal.SIGCONT)


def repeatable_files(directory):
    """By path; left out is what names times, hosts and processes, and what only one of two ways to run leaves."""
    files = {}
    for path in sorted(directory.rglob("*")):
        place = path.relative_to(directory)
        aside = path.name in ("meta.json", ".lock", ".lock-owner", "trial.log", "study.toml", "report.html")
        if path.is_file() and not aside and "tb" not in place.parts and place.parts[0] not in ("slurm", "events.jsonl"):
            files[str(place)] = path.read_bytes()
    return files


class StudyTest(unittest.TestCase):
    def setUp(self):
        self.place = pathlib.Path(tempfile.mkdtemp(prefix="eureka-cluster-"))
        self.addCleanup(shutil.rmtree, self.place, ignore_errors=True)

    def write(self, text, **values):
        path = self.place / "small.toml"
        path.write_text(text.format(**values) if values else text)
        return path

    def local(self, study):
        eureka("study", study, "--out", self.place / "local", "--progress", "none")
        return self.place / "local"

    def submit(self, study, *options, out=None):
        out = out or self.place / "slurm"
        words = [study] if study else []
        done = eureka("study", *words, "--out", out, "--slurm", "--json", *options)
        return out, json.loads(done.stdout)

    def resume(self, out, *options):
        return self.submit(None, "--resume", *options, out=out)[1]

    def wait(self, out):
        return eureka("study", "--out", out, "--wait", check=False)

    def wait_well(self, out):
        done = self.wait(out)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def assert_same(self, out, other):
        self.assertEqual((out / "study.json").read_bytes(), (other / "study.json").read_bytes())
        files, others = repeatable_files(out), repeatable_files(other)
        self.assertEqual(sorted(files), sorted(others))
        self.assertEqual([name for name in files if files[name] != others[name]], [])
