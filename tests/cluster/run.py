"""Starts a Slurm of three nodes on this machine and runs the tests of this folder on it, side by side: most of their
time they wait for Slurm.

    python3 tests/cluster/run.py PROGRAM [PART-OF-A-NAME...]
"""
import concurrent.futures
import io
import os
import pathlib
import shutil
import sys
import tempfile
import time
import unittest

from support import Here, CLUSTER, run

SKIPPED = 77
NEEDED = ("slurmctld", "slurmd", "sbatch", "munge", "faketime", "parallel", "unshare")
# As few as Slurm takes, so that a test has several arrays.
LARGEST_ARRAY = "9"


def tests_in(suite):
    for part in suite:
        if isinstance(part, unittest.TestSuite):
            yield from tests_in(part)
        else:
            yield part


def result_of(test):
    begin = time.monotonic()
    said = io.StringIO()
    result = unittest.TextTestRunner(stream=said, verbosity=0).run(unittest.TestSuite([test]))
    word = "skipped" if result.skipped else "ok" if result.wasSuccessful() else "FAILED"
    lines = f"{word:8}{time.monotonic() - begin:6.0f} s  {test.id().split('.')[-1]}\n"
    if word != "ok":
        lines += said.getvalue()
    print(lines, end="", flush=True)
    return result.wasSuccessful()


def main():
    Here.program = str(pathlib.Path(sys.argv[1]).resolve())
    missing = [name for name in NEEDED if shutil.which(name) is None]
    if os.geteuid() != 0 or missing:
        print(f"skipped: needs root, and {' '.join(NEEDED)} (make test-cluster installs them)")
        return SKIPPED
    Here.slurm = tempfile.mkdtemp(prefix="eureka-slurm-")
    os.environ["SLURM_CONF"] = Here.slurm + "/slurm.conf"
    started = run(CLUSTER, "start", Here.slurm, env={**os.environ, "MAX_ARRAY_SIZE": LARGEST_ARRAY}, check=False)
    if started.returncode != 0:
        print(f"skipped: Slurm cannot run here: {started.stderr}")
        shutil.rmtree(Here.slurm, ignore_errors=True)
        return SKIPPED
    try:
        suite = unittest.defaultTestLoader.discover(pathlib.Path(__file__).parent, "*_test.py")
        wanted = [test for test in tests_in(suite) if any(word in test.id() for word in sys.argv[2:] or [""])]
        with concurrent.futures.ThreadPoolExecutor(len(wanted)) as threads:
            good = list(threads.map(result_of, wanted))
        return 0 if good and all(good) else 1
    finally:
        run(CLUSTER, "stop", Here.slurm, check=False)
        shutil.rmtree(Here.slurm, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
