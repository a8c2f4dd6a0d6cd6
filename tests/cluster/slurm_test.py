"""Studies through a real Slurm of three nodes on this machine, with faults: they must end as if nothing had happened.

    python3 tests/cluster/slurm_test.py PROGRAM [NAME...]
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
CLUSTER = HERE.parent.parent / "scripts" / "local-slurm"
PROGRAM = ""
SKIPPED = 77

STUDY = """[study]
base = "two-step"
seeds = {seeds}
set.train.steps = {steps}
set.train.eval_every = 20
set.train.validation_samples = 200
set.run.checkpoint_every = 100
[[arm]]
name = "softmax"
[[arm]]
name = "qk_norm"
set.attention.rule = "qk_norm"
"""

BRANCHES = """[study]
base = "two-step-hard"
seeds = 2
budget = 300
set.run.checkpoint_every = 100
set.train.validation_samples = 400
[branch]
at = 200
[[arm]]
name = "unchanged"
[[arm]]
name = "qk_norm"
set.attention.rule = "qk_norm"
"""


def run(*words, check=True, **options):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, **options)
    if check and done.returncode != 0:
        raise AssertionError(f"{words} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return done


def eureka(*words, **options):
    return run(PROGRAM, *words, **options)


def repeatable_files(directory):
    """By path; left out is what names times, hosts and processes, and what only one of two ways to run leaves."""
    files = {}
    for path in sorted(directory.rglob("*")):
        place = path.relative_to(directory)
        aside = path.name in ("meta.json", ".lock", ".lock-owner", "trial.log", "study.toml", "report.html")
        if path.is_file() and not aside and "tb" not in place.parts and place.parts[0] not in ("slurm", "events.jsonl"):
            files[str(place)] = path.read_bytes()
    return files


def wait_for(condition, what, seconds=120):
    for _ in range(seconds * 10):
        if condition():
            return
        time.sleep(0.1)
    raise AssertionError(f"waited {seconds} s in vain for {what}\n" + run("squeue").stdout)


def tasks_of(job):
    """Index, state and node of the tasks of an array that are in the queue."""
    lines = run("squeue", "--noheader", "--array", "--format=%i|%t|%N", "--user=root").stdout.split()
    rows = [line.split("|") for line in lines if line.startswith(f"{job}_")]
    return [(int(i.split("_")[1]), state, node) for i, state, node in rows]


class Studies(unittest.TestCase):
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

    def wait(self, out):
        return eureka("study", "--out", out, "--wait", check=False)

    def assert_same(self, out, other):
        self.assertEqual((out / "study.json").read_bytes(), (other / "study.json").read_bytes())
        files, others = repeatable_files(out), repeatable_files(other)
        self.assertEqual(sorted(files), sorted(others))
        self.assertEqual([name for name in files if files[name] != others[name]], [])

    def begun(self, out):
        return len(list(out.rglob("checkpoints/step-*/DONE")))

    def test_ends_on_the_bytes_of_the_same_study_here(self):
        study = self.write(STUDY, seeds=3, steps=300)
        out, said = self.submit(study, "--trials-per-task", "2", "--max-running", "2")
        self.assertEqual((said["tasks"], said["trials"], len(said["jobs"])), (3, 6, 1))
        done = self.wait(out)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_same(out, self.local(study))
        self.assertTrue((out / "report.html").exists())
        script = (out / "slurm" / "trials-1-0.sh").read_text()
        self.assertIn("#SBATCH --array=0-2%2", script)
        nothing = json.loads(eureka("study", "--out", out, "--slurm", "--resume", "--json").stdout)
        self.assertEqual((nothing["jobs"], nothing["ended"]), ([], 6))

    def test_short_trials_are_packed_by_their_time(self):
        study = self.write(STUDY, seeds=40, steps=60)
        out, said = self.submit(study)
        self.assertEqual(said["tasks"], 8)
        self.assertEqual(self.wait(out).returncode, 0)
        self.assert_same(out, self.local(study))

    def test_more_tasks_than_an_array_may_have_are_split(self):
        study = self.write(STUDY, seeds=5, steps=40)
        out, said = self.submit(study, "--trials-per-task", "1")
        self.assertEqual((said["tasks"], len(said["jobs"])), (10, 2))
        self.assertEqual(self.wait(out).returncode, 0)
        self.assert_same(out, self.local(study))

    def test_a_lost_node_a_requeue_and_a_new_controller_change_nothing(self):
        study = self.write(STUDY, seeds=3, steps=4000)
        out, said = self.submit(study, "--trials-per-task", "1")
        job = said["jobs"][0]
        wait_for(lambda: self.begun(out) >= 3, "checkpoints")
        running = [task for task in tasks_of(job) if task[1] == "R"]
        requeued, node = running[0][0], running[-1][2]
        run("scontrol", "requeue", f"{job}_{requeued}")
        run(CLUSTER, "node", "kill", node.removeprefix("n"), DIRECTORY)
        run(CLUSTER, "controller", "restart", DIRECTORY)
        time.sleep(3)
        run(CLUSTER, "node", "start", node.removeprefix("n"), DIRECTORY)
        done = self.wait(out)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_same(out, self.local(study))

    def test_what_was_cancelled_is_submitted_again_alone(self):
        study = self.write(STUDY, seeds=2, steps=4000)
        out, said = self.submit(study, "--trials-per-task", "1")
        wait_for(lambda: self.begun(out) >= 2, "checkpoints")
        again = json.loads(eureka("study", "--out", out, "--slurm", "--resume", "--json").stdout)
        self.assertEqual(again["jobs"], [])
        self.assertGreater(again["queued_before"], 0)
        run("scancel", f"{said['jobs'][0]}_0")
        wait_for(lambda: all(task[0] != 0 for task in tasks_of(said["jobs"][0])), "the cancelled task")
        status = json.loads(eureka("study", "--out", out, "--status", "--json").stdout)
        self.assertEqual(status["trials"], 4)
        again = json.loads(eureka("study", "--out", out, "--slurm", "--resume", "--json", "--trials-per-task", "1").stdout)
        self.assertEqual(again["trials"], 1)
        self.assertIn("jobs were told to stop", eureka("study", "--out", out, "--cancel").stdout)
        wait_for(lambda: not run("squeue", "--noheader").stdout.strip(), "an empty queue")
        _, again = self.submit(None, "--resume", "--trials-per-task", "2", out=out)
        self.assertGreater(again["trials"], 0)
        self.assertEqual(self.wait(out).returncode, 0)
        self.assert_same(out, self.local(study))

    def test_a_task_out_of_time_queues_itself_again(self):
        study = self.write(STUDY, seeds=1, steps=40000)
        # Slurm counts in minutes: its signal comes within the first half of this one.
        out, said = self.submit(study, "--trials-per-task", "1", "--time", "1", "--grace", "30")
        log = out / "slurm" / "logs" / f"{said['jobs'][0]}_0.log"
        wait_for(lambda: log.exists() and "finishes its step first" in log.read_text(), "the signal")
        wait_for(lambda: any(state in ("PD", "R") for _, state, _ in tasks_of(said["jobs"][0])), "the requeue")
        run("scontrol", "update", f"JobId={said['jobs'][0]}", "TimeLimit=30", check=False)
        done = self.wait(out)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_same(out, self.local(study))

    def test_a_full_disk_costs_no_bytes(self):
        study = self.write(STUDY, seeds=2, steps=2000)
        disk = self.place / "disk"
        disk.mkdir()
        if run("mount", "-t", "tmpfs", "-o", "size=1M", "tmpfs", disk, check=False).returncode != 0:
            self.skipTest("no right to mount")
        self.addCleanup(run, "umount", "-l", disk, check=False)
        out, _ = self.submit(study, "--trials-per-task", "1", out=disk / "slurm")
        done = self.wait(out)
        self.assertEqual(done.returncode, 1)
        self.assertIn("has not ended", done.stderr)
        run("mount", "-o", "remount,size=100M", disk)
        self.submit(None, "--resume", "--trials-per-task", "1", out=out)
        self.assertEqual(self.wait(out).returncode, 0)
        self.assert_same(out, self.local(study))

    def test_branches_are_submitted_when_the_runs_they_continue_have_ended(self):
        study = self.write(BRANCHES)
        out, said = self.submit(study, "--trials-per-task", "1")
        self.assertEqual(said["trials"], 2)
        wait_for(lambda: (out / "study.json").exists(), "the second array's end", 180)
        self.assertEqual(self.wait(out).returncode, 0)
        local = self.local(study)
        self.assertEqual((out / "study.json").read_bytes(), (local / "study.json").read_bytes())


class Machines(unittest.TestCase):
    """Two machines with one file system: namespaces with a name, a boot and a kernel's lock of their own."""

    def setUp(self):
        self.place = pathlib.Path(tempfile.mkdtemp(prefix="eureka-machines-"))
        self.addCleanup(shutil.rmtree, self.place, ignore_errors=True)

    def command(self, machine, *words):
        own = self.place / machine
        own.mkdir(exist_ok=True)
        (own / "boot").write_text(f"boot-of-{machine}\n")
        (own / "lock").touch()
        (self.place / "run").mkdir(exist_ok=True)
        (self.place / "run" / ".lock").touch()
        script = (
            f"hostname {machine} && mount --bind {own}/boot /proc/sys/kernel/random/boot_id && "
            f"mount --bind {own}/lock {self.place}/run/.lock && exec \"$@\""
        )
        return ["unshare", "--mount", "--uts", "sh", "-c", script, "sh", PROGRAM, *words]

    def train(self, machine):
        words = ["train", "two-step", "--out", str(self.place / "run"), "--resume", "--quiet", "--set", "train.steps=6000"]
        return self.command(machine, *words)

    def test_only_one_uses_a_run_and_a_dead_one_is_followed(self):
        if run("unshare", "--mount", "--uts", "true", check=False).returncode != 0:
            self.skipTest("no right to make namespaces")
        first = subprocess.Popen(self.train("n1"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        claim = self.place / "run" / ".lock-owner"
        wait_for(claim.exists, "the claim of the first")
        self.assertIn("host n1", claim.read_text())
        first.send_signal(19)
        # It lives, but does not say so: whoever looks waits for a minute before he believes it.
        time.sleep(1)
        first.send_signal(18)
        second = run(*self.train("n2"), check=False)
        if first.poll() is None or "in use" in second.stderr:
            self.assertEqual(second.returncode, 2, second.stderr)
            self.assertIn("on n1", second.stderr)
        first.kill()
        first.wait()
        third = run(*self.train("n2"), check=False)
        self.assertEqual(third.returncode, 0, third.stderr)
        self.assertTrue((self.place / "run" / "summary.json").exists())
        self.assertFalse(claim.exists())


def main():
    global PROGRAM, DIRECTORY
    PROGRAM = str(pathlib.Path(sys.argv[1]).resolve())
    if os.geteuid() != 0 or not all(shutil.which(name) for name in ("slurmctld", "slurmd", "sbatch", "munge")):
        print("skipped: needs root, and Debian's slurmctld slurmd slurm-client munge (make test-cluster installs them)")
        return SKIPPED
    DIRECTORY = tempfile.mkdtemp(prefix="eureka-slurm-")
    os.environ["SLURM_CONF"] = DIRECTORY + "/slurm.conf"
    run(CLUSTER, "start", DIRECTORY, env={**os.environ, "MAX_ARRAY_SIZE": "9"})
    try:
        program = unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2, exit=False)
        return 0 if program.result.wasSuccessful() else 1
    finally:
        run(CLUSTER, "stop", DIRECTORY, check=False)
        shutil.rmtree(DIRECTORY, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
