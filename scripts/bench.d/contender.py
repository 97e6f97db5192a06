"""A program to measure, and the turns that compared programs take."""

import json
import os
import re
import statistics
import subprocess
import time

MIN_RUNS = 5  # a result of fewer runs is not kept


class Deadline:
    """The end of the time that a run, or a part of it, may take."""

    def __init__(self, seconds):
        self.start, self.seconds = time.monotonic(), seconds

    def now(self):
        """Seconds since the start."""
        return time.monotonic() - self.start

    def left(self):
        return self.seconds - self.now()


class Contender:
    """Times of its runs, in seconds: `wall` from the start of the first program of the pipeline to the end of the last,
    `cpu` its own CPU time, and `lanes` while its lanes had work, which excludes the startup of CUDA."""

    def __init__(self, name, command, source=os.devnull, stats=None, **facts):
        self.name, self.command, self.source, self.stats = name, command, source, stats
        self.facts = {"program": name, **facts}  # for the row in the results
        self.before, self.after = [], []  # programs joined to it by pipes
        self.prepare = None  # called before each run, outside the measured time
        self.count_cached = None  # called after each run: bytes of its files in the page cache
        self.good_status = 0
        self.times = {"wall": [], "cpu": [], "lanes": []}
        self.cached = []
        self.messages, self.failed = "", ""

    def between(self, before, after):
        self.before, self.after = [before], [after]
        return self

    def run(self):
        if self.failed:
            return
        if self.prepare:
            self.prepare()
        seconds, cpu, status = self.run_pipeline()
        if status != self.good_status:
            self.failed = self.messages.partition("\n")[0] or f"exit status {status}"
            return
        self.times["wall"].append(seconds)
        self.times["cpu"].append(cpu)
        if self.stats:
            with open(self.stats, encoding="utf-8") as file:
                self.times["lanes"].append(max(lane["busy_seconds"] for lane in json.load(file)["lanes"]))
        if self.count_cached:
            self.cached.append(self.count_cached())

    def run_pipeline(self):
        pipeline = [*self.before, self.command, *self.after]
        running = []
        with open(self.source, "rb") as source, open(os.devnull, "wb") as output:
            start = time.perf_counter()
            for command in pipeline:
                last = command is pipeline[-1]
                stdin = running[-1].stdout if running else source
                running.append(subprocess.Popen(
                    command, stdin=stdin, stdout=output if last else subprocess.PIPE,
                    stderr=subprocess.PIPE if command is self.command else subprocess.DEVNULL))
                if stdin is not source:
                    stdin.close()  # otherwise the writer would not notice that its reader has ended
            own = running[len(self.before)]
            self.messages = own.stderr.read().decode(errors="replace").strip()
            own.stderr.close()
            _, status, usage = os.wait4(own.pid, 0)
            own.returncode = os.waitstatus_to_exitcode(status)
            for process in running:
                process.wait()
            seconds = time.perf_counter() - start
        return seconds, usage.ru_utime + usage.ru_stime, own.returncode

    def has_run(self):
        return not self.failed and bool(self.times["wall"])

    def median(self, clock):
        return statistics.median(self.times[clock]) if self.times[clock] else None

    def row(self):
        wall, lanes = self.times["wall"], self.median("lanes")
        return {**self.facts, "runs": len(wall), "seconds": f"{self.median('wall'):.6f}", "min_seconds": f"{min(wall):.6f}",
                "max_seconds": f"{max(wall):.6f}", "cpu_seconds": f"{self.median('cpu'):.6f}",
                "lanes_seconds": f"{lanes:.6f}" if lanes else "",
                "cached_bytes": f"{statistics.median(self.cached):.0f}" if self.cached else "", "command": self.words()}

    def words(self):
        """The command without folders and without secrets, on one line."""
        words = " ".join(" ".join(self.command).split())
        for pattern, name in ((r"(?<![\w.])/\S*/", ""), (r"\b[0-9a-f]{16,}\b", "HEX"), (r"\bage1\w+", "RECIPIENT")):
            words = re.sub(pattern, name, words)
        return words


def take_turns(contenders, runs, deadline):
    """Runs each contender once in each of `runs` turns. Returns whether there was time for enough of them."""
    for turn in range(runs):
        if deadline.left() <= 0:
            return turn >= MIN_RUNS
        for contender in contenders:
            contender.run()
    return True
