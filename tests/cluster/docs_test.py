"""docs/cluster.md, walked through as written: every command, on a smaller study than `cures`."""
import pathlib
import re
import shutil

from support import Here, StudyTest, eureka, run

DOCUMENT = pathlib.Path(__file__).resolve().parent.parent.parent / "docs" / "cluster.md"

SMALL = """[study]
base = "two-step"
seeds = 13
set.train.steps = 40
set.train.eval_every = 20
set.train.validation_samples = 100
[[arm]]
name = "softmax"
"""

# The array of another scheduler: counts from 1, tells each task its number as PBS and as Grid Engine do.
QSUB = """#!/bin/bash
range=$2; shift 2
case $1 in --) shift ;; -cwd) shift 3 ;; esac
for i in $(seq ${range%-*} ${range#*-}); do PBS_O_WORKDIR=$PWD PBS_ARRAY_INDEX=$i SGE_TASK_ID=$i "$@" || exit 1; done
"""


class Documented(StudyTest):
    def setUp(self):
        super().setUp()
        (self.place / "bin").mkdir()
        (self.place / "build").mkdir()
        for folder in ("bin", "build"):
            (self.place / folder / "eureka").symlink_to(Here.program)
        (self.place / "bin" / "qsub").write_text(QSUB)
        (self.place / "bin" / "qsub").chmod(0o755)
        # This machine, without ssh.
        (self.place / "hosts").write_text(":\n")
        study = self.write(SMALL)
        self.expected = (self.local(study) / "study.json").read_bytes()
        self.study = self.place / "studies" / "cures"

    def follow(self, command, code=0):
        tasks = self.place / "tasks.jsonl"
        if tasks.exists():
            command = command.replace("1-65", f"1-{len(tasks.read_text().splitlines())}")
        command = command.replace("study cures", "study small.toml")
        words = ["bash", "-c", f"PATH={self.place}/bin:$PATH; {command}"]
        done = run(*words, cwd=self.place, check=False)
        self.assertEqual(done.returncode, code, f"{command}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def assert_complete(self):
        eureka("study", "--out", self.study, "--collect")
        self.assertEqual((self.study / "study.json").read_bytes(), self.expected)

    def begin_anew(self, plan):
        shutil.rmtree(self.study)
        self.follow(plan)

    def test_every_command_does_what_it_says(self):
        blocks = [text.splitlines() for text in re.findall(r"```sh cluster\n(.*?)```", DOCUMENT.read_text(), re.S)]
        slurm, by_hand, parallel, others = blocks
        for command in slurm:
            self.follow(command)
        self.assert_complete()

        plan, trial, status, collect = by_hand
        self.begin_anew(plan)
        self.follow(trial)
        self.assertIn("4 of 13 trials have ended", self.follow(status))
        self.follow(collect, code=1)  # nine are missing, and it says so
        self.follow(parallel[0])
        self.assert_complete()
        for command in others:
            self.begin_anew(plan)
            self.follow(command)
            self.assert_complete()
