#!/usr/bin/env python3
"""How fast `eureka serve` answers with many runs, and what fifty viewers cost a run that trains: the figures of docs/serve.md.

    scripts/serve_load.py runs/demo/cures            copies of its runs are served; loopback only

Needs build/eureka and a study that has ended."""
import argparse
import http.client
import json
import os
import pathlib
import random
import resource
import selectors
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

FILES = ["config.toml", "meta.json", "summary.json", "events.jsonl", "metrics.jsonl"]


def copy_runs(study, into, count):
    """`count` runs in studies of 100, as copies of the trials of a study."""
    trials = sorted(path.parent for path in study.rglob("summary.json"))
    for i in range(count):
        trial = trials[i % len(trials)]
        place = into / f"study-{i // 100}" / trial.parent.name / f"seed-{i}"
        place.mkdir(parents=True)
        for name in FILES:
            if (trial / name).exists():
                shutil.copyfile(trial / name, place / name)
    for part in into.iterdir():
        shutil.copyfile(study / "study.toml", part / "study.toml")


class Server:
    def __init__(self, program, directory):
        self.process = subprocess.Popen([program, "serve", directory, "--port", "0"], stdout=subprocess.PIPE, text=True)
        self.port = urllib.parse.urlparse(self.process.stdout.readline().strip()).port

    def set_nice(self, nice):
        """Of all its threads; it gives way to everything else by itself."""
        for task in os.listdir(f"/proc/{self.process.pid}/task"):
            os.setpriority(os.PRIO_PROCESS, int(task), nice)

    def get(self, target):
        """Seconds and bytes of one answer, over a connection of its own."""
        begin = time.perf_counter()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("GET", target)
        reply = connection.getresponse()
        body = reply.read()
        connection.close()
        assert reply.status == 200, (target, reply.status, body[:200])
        return time.perf_counter() - begin, body

    def cpu_seconds(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def megabytes(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) / 1024

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        assert self.process.wait(30) == 0


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def line(name, seconds):
    print(f"{name:<44} median {statistics.median(seconds) * 1e3:7.1f} ms   95% {percentile(seconds, 0.95) * 1e3:7.1f} ms"
          f"   most {max(seconds) * 1e3:7.1f} ms   ({len(seconds)} requests)")


def ask(server, targets, at_a_time):
    """Every target once, so many at a time."""
    left, seconds, lock = list(targets), [], threading.Lock()

    def worker():
        while True:
            with lock:
                if not left:
                    return
                target = left.pop()
            took, _ = server.get(target)
            with lock:
                seconds.append(took)

    threads = [threading.Thread(target=worker) for _ in range(at_a_time)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return seconds


def measure_answers(program, study, count, nice):
    with tempfile.TemporaryDirectory() as place:
        root = pathlib.Path(place)
        copy_runs(study, root, count)
        server = Server(program, place)
        if nice is not None:
            server.set_nice(nice)
            os.setpriority(os.PRIO_PROCESS, 0, nice)
        first, body = server.get("/api/index")
        entries = json.loads(body)["entries"]
        runs = [entry["id"] for entry in entries if entry["kind"] == "run"]
        studies = [entry["id"] for entry in entries if entry["kind"] == "study"]
        print(f"{len(runs)} runs in {len(studies)} studies")
        print(f"index, nothing known: {first * 1e3:.0f} ms, {server.cpu_seconds() * 1e3:.0f} ms of them on a processor, {len(body) / 1e6:.2f} MB")
        line("index again", [server.get("/api/index")[0] for _ in range(50)])
        stale = []
        for i in range(10):
            time.sleep(1)
            with open(root / runs[i] / "metrics.jsonl", "a") as metrics:
                metrics.write('{"step":999999,"val_accuracy":0.5}\n')
            stale.append(server.get("/api/index")[0])
        line("index after a run has changed", stale)
        quote = urllib.parse.quote
        chance = random.Random(1)
        some = [chance.choice(runs) for _ in range(400)]
        line("curve of a run, 4 at a time",
             ask(server, [f"/api/series?id={quote(run, '')}&column=val_accuracy&points={400 + i}" for i, run in enumerate(some)], 4))
        line("a run in full, 4 at a time", ask(server, [f"/api/run?id={quote(run, '')}" for run in dict.fromkeys(some)], 4))
        line("figure of a run, 4 at a time", ask(server, [f"/api/figure?id={quote(run, '')}&name=curve" for run in dict.fromkeys(some)], 4))
        line("arms of a study, 100 runs",
             ask(server, [f"/api/group?id={part}&column={column}" for part in studies for column in ["val_accuracy", "val_loss", "train_loss"]], 2))
        line("the page without script", [server.get("/plain")[0] for _ in range(10)])
        print(f"memory of the server at its most: {server.megabytes():.0f} MB; processor time: {server.cpu_seconds():.1f} s")
        server.stop()


def watch(port, count):
    """Viewers of the run, in a process of their own that gives way to everything: prints the rows that each has seen."""
    os.setpriority(os.PRIO_PROCESS, 0, 19)
    viewers = selectors.DefaultSelector()
    rows = {}
    for i in range(count):
        viewer = socket.create_connection(("127.0.0.1", port))
        viewer.sendall(b"GET /api/stream?id=run HTTP/1.1\r\nHost: localhost\r\n\r\n")
        viewers.register(viewer, selectors.EVENT_READ, i)
        rows[i] = 0
        while b"event: status" not in viewer.recv(1 << 16):
            pass
    print("there", flush=True)
    while viewers.get_map():
        for key, _ in viewers.select():
            got = key.fileobj.recv(1 << 16)
            rows[key.data] += got.count(b"event: row")
            if not got:
                viewers.unregister(key.fileobj)
    print(min(rows.values()))


def train(program, place, steps):
    """One run; its wall seconds and processor seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.perf_counter()
    subprocess.run([program, "train", "two-step", "--seed", "1", "--set", f"train.steps={steps}", "--out", str(place)],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wall = time.perf_counter() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure_viewers(program, steps, rounds, count, nice):
    if nice is not None:
        os.setpriority(os.PRIO_PROCESS, 0, nice)
    alone, watched, server_cpu, seen = [], [], [], []
    for _ in range(rounds):
        for has_viewers in [False, True]:
            with tempfile.TemporaryDirectory() as place:
                root = pathlib.Path(place)
                if not has_viewers:
                    alone.append(train(program, root / "run", steps))
                    continue
                # There before it is trained, so that all of it is watched.
                (root / "run").mkdir()
                (root / "run" / "metrics.jsonl").touch()
                server = Server(program, place)
                viewers = subprocess.Popen([sys.executable, __file__, "--watch", str(server.port), str(count)],
                                           stdout=subprocess.PIPE, text=True)
                viewers.stdout.readline()
                time.sleep(1)
                if nice is not None:
                    server.set_nice(nice + 10)
                (root / "run" / "metrics.jsonl").unlink()
                (root / "run").rmdir()
                begin = server.cpu_seconds()
                watched.append(train(program, root / "run", steps))
                server_cpu.append(server.cpu_seconds() - begin)
                time.sleep(1)
                server.stop()
                seen.append(int(viewers.communicate()[0]))
    print(f"a run of {steps} steps, {rounds} times alone and {rounds} times with {count} viewers, in turn")
    for name, column in [("seconds", 0), ("processor seconds", 1)]:
        a, w = [one[column] for one in alone], [one[column] for one in watched]
        ratios = [y / x for x, y in zip(a, w)]
        print(f"{name + ' of training':<30} alone {statistics.median(a):.3f} (least {min(a):.3f})   watched "
              f"{statistics.median(w):.3f} (least {min(w):.3f})   ratio of the pairs: median {statistics.median(ratios):.3f}, "
              f"{min(ratios):.3f} to {max(ratios):.3f}")
    print(f"rows that every viewer saw: {min(seen)} to {max(seen)}; processor seconds of the server meanwhile: {statistics.median(server_cpu):.2f}")


def main():
    if sys.argv[1:2] == ["--watch"]:
        return watch(int(sys.argv[2]), int(sys.argv[3]))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", type=pathlib.Path)
    parser.add_argument("--program", default="build/eureka")
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=20000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--viewers", type=int, default=50)
    parser.add_argument("--nice", type=int, help="of what is measured, where the machine is busy with other things; viewers then leave the server 10 above it")
    parser.add_argument("--only", choices=["answers", "viewers"])
    arguments = parser.parse_args()
    program = str(pathlib.Path(arguments.program).resolve())
    if arguments.only != "viewers":
        measure_answers(program, arguments.study, arguments.runs, arguments.nice)
    if arguments.only != "answers":
        measure_viewers(program, arguments.steps, arguments.rounds, arguments.viewers, arguments.nice)


if __name__ == "__main__":
    main()
