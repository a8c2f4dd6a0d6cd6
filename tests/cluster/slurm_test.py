"""Studies through a real Slurm, with faults: they must end as if nothing had happened."""
import json

from support import StudyTest, cluster, eureka, hold_when_begun, release, run, tasks_of, wait_for

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


class WhatIsSubmitted(StudyTest):
    def test_ends_on_the_bytes_of_the_same_study_here(self):
        study = self.write(STUDY, seeds=3, steps=300)
        out, said = self.submit(study, "--trials-per-task", "2", "--max-running", "2")
        self.assertEqual((said["tasks"], said["trials"], len(said["jobs"])), (3, 6, 1))
        self.wait_well(out)
        self.assert_same(out, self.local(study))
        self.assertTrue((out / "report.html").exists())
        script = (out / "slurm" / "trials-1-0.sh").read_text()
        self.assertIn("#SBATCH --array=0-2%2", script)
        nothing = self.resume(out)
        self.assertEqual((nothing["jobs"], nothing["ended"]), ([], 6))

    def test_short_trials_are_packed_by_their_time(self):
        study = self.write(STUDY, seeds=40, steps=60)
        out, said = self.submit(study)
        self.assertEqual(said["tasks"], 8)
        self.wait_well(out)
        self.assert_same(out, self.local(study))

    def test_more_tasks_than_an_array_may_have_are_split(self):
        study = self.write(STUDY, seeds=5, steps=40)
        out, said = self.submit(study, "--trials-per-task", "1")
        self.assertEqual((said["tasks"], len(said["jobs"])), (10, 2))
        self.wait_well(out)
        self.assert_same(out, self.local(study))

    def test_branches_follow_when_the_runs_they_continue_have_ended(self):
        study = self.write(BRANCHES)
        out, said = self.submit(study, "--trials-per-task", "1")
        self.assertEqual(said["trials"], 2)
        wait_for(lambda: (out / "study.json").exists(), "the second array's end", 240)
        self.wait_well(out)
        local = self.local(study)
        self.assertEqual((out / "study.json").read_bytes(), (local / "study.json").read_bytes())


class Faults(StudyTest):
    def test_a_lost_node_a_requeue_and_a_new_controller_change_nothing(self):
        study = self.write(STUDY, seeds=3, steps=4000)
        # Not on the node that other tests want to keep.
        out, said = self.submit(study, "--trials-per-task", "1", "--sbatch=--exclude=n1")
        job = said["jobs"][0]
        hold_when_begun(out, lambda runs: len(runs) >= 2)
        running = [task for task in tasks_of(job) if task[1] == "R"]
        requeued, node = running[0][0], running[-1][2]
        run("scontrol", "requeue", f"{job}_{requeued}")
        cluster("node", "kill", node.removeprefix("n"))
        cluster("controller", "restart")
        cluster("node", "start", node.removeprefix("n"))
        release(out)
        self.wait_well(out)
        self.assert_same(out, self.local(study))
        log = (out / "slurm" / "logs" / f"{job}_{requeued}.log").read_text()
        self.assertGreaterEqual(log.count('"trial-started"'), 2, log)

    def test_preempted_trials_go_on_when_there_is_room_again(self):
        study = self.write(STUDY, seeds=1, steps=4000)
        out, said = self.submit(study, "--trials-per-task", "1", "--sbatch=--nodelist=n3")
        hold_when_begun(out, lambda runs: len(runs) == 2)
        run("sbatch", "--partition=urgent", "--nodelist=n3", "--exclusive", "--output=/dev/null", "--wrap=sleep 1")
        logs = [out / "slurm" / "logs" / f"{said['jobs'][0]}_{index}.log" for index in (0, 1)]
        wait_for(lambda: all("DUE TO PREEMPTION" in log.read_text() for log in logs), "preemption")
        release(out)
        self.wait_well(out)
        self.assert_same(out, self.local(study))
        for log in logs:
            self.assertGreaterEqual(log.read_text().count('"trial-started"'), 2, log.read_text())

    def test_what_was_cancelled_is_submitted_again_alone(self):
        study = self.write(STUDY, seeds=2, steps=4000)
        out, said = self.submit(study, "--trials-per-task", "1", "--sbatch=--exclude=n3")
        job = said["jobs"][0]
        hold_when_begun(out, lambda runs: out / "softmax" / "seed-1" in runs)
        again = self.resume(out)
        self.assertEqual(again["jobs"], [])
        self.assertGreater(again["queued_before"], 0)
        run("scancel", f"{job}_0")
        wait_for(lambda: all(task[0] != 0 for task in tasks_of(job)), "the cancelled task")
        status = json.loads(eureka("study", "--out", out, "--status", "--json").stdout)
        self.assertEqual(status["trials"], 4)
        again = self.resume(out, "--trials-per-task", "1", "--sbatch=--hold")
        self.assertEqual(again["trials"], 1)
        self.assertIn("jobs were told to stop", eureka("study", "--out", out, "--cancel").stdout)
        release(out)
        wait_for(lambda: not tasks_of(job, *again["jobs"]), "an empty queue")
        again = self.resume(out, "--trials-per-task", "2", "--sbatch=--exclude=n3")
        self.assertGreater(again["trials"], 0)
        self.wait_well(out)
        self.assert_same(out, self.local(study))

    def test_a_task_out_of_time_queues_itself_again(self):
        study = self.write(STUDY, seeds=1, steps=4000)
        # Slurm counts in minutes, and looks every thirty seconds whom to warn.
        options = ("--time", "1", "--grace", "30", "--sbatch=--nodelist=n1")
        out, said = self.submit(study, "--trials-per-task", "1", *options)
        job = said["jobs"][0]
        logs = [out / "slurm" / "logs" / f"{job}_{index}.log" for index in (0, 1)]

        def warned():
            return all(log.exists() and "finishes its step first" in log.read_text() for log in logs)

        hold_when_begun(out, lambda runs: len(runs) == 2)
        wait_for(warned, "the signal")
        release(out)
        self.wait_well(out)
        self.assert_same(out, self.local(study))
        for log in logs:
            self.assertEqual(log.read_text().count('"trial-started"'), 2, log.read_text())

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
        self.assertIn("No space left", done.stderr)
        run("mount", "-o", "remount,size=100M", disk)
        self.resume(out, "--trials-per-task", "1")
        self.wait_well(out)
        self.assert_same(out, self.local(study))

    def test_a_trial_that_fails_twice_is_named_with_its_last_words(self):
        study = self.write(STUDY, seeds=2, steps=300)
        out = self.place / "slurm"
        # Where its checkpoints belong there is something else.
        broken = out / "softmax" / "seed-1" / "checkpoints"
        broken.parent.mkdir(parents=True)
        broken.write_text("")
        _, said = self.submit(study, "--trials-per-task", "2", out=out)
        done = self.wait(out)
        self.assertEqual(done.returncode, 1)
        self.assertIn("softmax/seed-1", done.stderr)
        self.assertIn("checkpoints: ", done.stderr)
        status = json.loads(eureka("study", "--out", out, "--status", "--json").stdout)
        self.assertEqual([trial["trial"] for trial in status["stopped"]], ["softmax/seed-1"])
        self.assertIn("checkpoints: ", status["stopped"][0]["reason"])
        self.assertEqual(status["ended"], 3)
        log = (out / "slurm" / "logs" / f"{said['jobs'][0]}_0.log").read_text()
        self.assertIn("failed twice", log)
        broken.unlink()
        self.assertEqual(self.resume(out)["trials"], 1)
        self.wait_well(out)
        self.assert_same(out, self.local(study))
