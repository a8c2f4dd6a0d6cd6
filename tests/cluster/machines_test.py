"""Two machines with one file system: namespaces with a name, a boot, a network and a kernel's lock of their own, and
clocks that are minutes apart."""
import pathlib
import shutil
import signal
import subprocess
import tempfile
import unittest

from support import Here, run, wait_for

# Put before the program itself, since `faketime` would be a process between us and it.
FAKE_CLOCK = next(pathlib.Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), "")
CLOCKS = {"n1": "+300s", "n2": "-420s"}


class Machines(unittest.TestCase):
    def setUp(self):
        if run("unshare", "--mount", "--uts", "--net", "true", check=False).returncode != 0:
            self.skipTest("no right to make namespaces")
        self.place = pathlib.Path(tempfile.mkdtemp(prefix="eureka-machines-"))
        self.addCleanup(shutil.rmtree, self.place, ignore_errors=True)

    def start(self, machine):
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
        # Longer than the test: it is the test that ends it. Time that passes is not shifted, as on a real machine.
        train = ["train", "two-step", "--out", self.place / "run", "--resume", "--quiet", "--set", "train.steps=10000000"]
        clock = ["env", f"LD_PRELOAD={FAKE_CLOCK}", "FAKETIME_DONT_FAKE_MONOTONIC=1", f"FAKETIME={CLOCKS[machine]}"]
        words = ["unshare", "--mount", "--uts", "--net", "sh", "-c", script, "sh", *clock, Here.program, *train]
        process = subprocess.Popen([str(word) for word in words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        return process

    def holder(self):
        claim = self.place / "run" / ".lock-owner"
        return claim.read_text() if claim.exists() else ""

    def test_only_one_uses_a_run_and_a_dead_one_is_followed(self):
        first = self.start("n1")
        wait_for(lambda: "host n1" in self.holder(), "the claim of the first")
        second = self.start("n2")
        _, said = second.communicate(timeout=120)
        self.assertEqual(second.returncode, 2, said)
        self.assertIn("on n1", said)
        self.assertIsNone(first.poll())
        first.kill()
        first.communicate()
        self.assertIn("host n1", self.holder())
        third = self.start("n2")
        wait_for(lambda: "host n2" in self.holder(), "the claim of the one that follows", 180)
        third.send_signal(signal.SIGTERM)
        _, said = third.communicate(timeout=120)
        self.assertEqual(third.returncode, 4, said)
        self.assertEqual(self.holder(), "")
