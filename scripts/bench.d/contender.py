"""A program that is measured, and the turns that those take which are compared."""

import json
import os
import re
import statistics
import subprocess
import time


class Contender:
    """A program to measure, and what its runs took: `wall` seconds from the first start to the last end, `cpu`
    seconds of its own, and by its own clock `inside`, and `lanes`, where it had work, which leaves out the start
    of CUDA."""

    def __init__(self, name, command, source=os.devnull, stats=None, every=1):
        self.name, self.command, self.source, self.stats = name, command, source, stats
        self.every = every  # runs in each so-manieth turn only: a slow one of which two digits are enough
        self.before, self.after = [], []  # programs that are joined to it with pipes
        self.prepare = None  # called before each run, and not counted
        self.output = os.devnull
        self.times = {"wall": [], "cpu": [], "inside": [], "lanes": []}
        self.said, self.failed = "", ""

    def between(self, *ends):
        self.before, self.after = [list(end) for end in ends]
        return self

    def run(self, counted=True):
        if self.failed:
            return
        if self.prepare:
            self.prepare()
        seconds, cpu, status = self.run_chain()
        if status != 0:
            self.failed = self.said.partition("\n")[0] or f"exit status {status}"
        elif counted:
            self.times["wall"].append(seconds)
            self.times["cpu"].append(cpu)
            self.read_own_clock()

    def run_chain(self):
        chain = [*self.before, self.command, *self.after]
        running = []
        with open(self.source, "rb") as source, open(self.output, "wb") as output:
            start = time.perf_counter()
            for command in chain:
                last = command is chain[-1]
                stdin = running[-1].stdout if running else source
                running.append(subprocess.Popen(
                    command, stdin=stdin, stdout=output if last else subprocess.PIPE,
                    stderr=subprocess.PIPE if command is self.command else subprocess.DEVNULL))
                if stdin is not source:
                    stdin.close()  # or a program would never see that the one after it has gone
            own = running[len(self.before)]
            self.said = own.stderr.read().decode(errors="replace").strip()
            own.stderr.close()
            _, status, usage = os.wait4(own.pid, 0)
            own.returncode = os.waitstatus_to_exitcode(status)
            for process in running:
                process.wait()
            seconds = time.perf_counter() - start
        return seconds, usage.ru_utime + usage.ru_stime, own.returncode

    def read_own_clock(self):
        if self.stats:
            with open(self.stats, encoding="utf-8") as file:
                stats = json.load(file)
            self.times["inside"].append(stats["seconds"])
            self.times["lanes"].append(max(lane["busy_seconds"] for lane in stats["lanes"]))

    def has_run(self):
        return not self.failed and bool(self.times["wall"])

    def median(self, clock):
        """None where there is no such time."""
        return statistics.median(self.times[clock]) if self.times[clock] else None

    @property
    def wall(self):
        return self.median("wall")

    def details(self):
        """What -v said of lanes and memory."""
        lines = [line.partition(": ")[2] for line in self.said.splitlines()]
        return "; ".join(line for line in lines if re.search(r"\b(ring|lanes)\b", line))

    def to_json(self):
        return {"name": self.name, "seconds": self.times, "said": self.details(), "failed": self.failed}


class ReadAlone(Contender):
    """gpuaes-bench read --json."""

    def read_own_clock(self):
        with open(self.output, encoding="ascii") as file:
            self.times["inside"].append(json.load(file)[0]["seconds"])


def take_turns(contenders, runs, seconds=60):
    """Each runs once in each of `runs` turns, or in as many as begin within `seconds`: at least one."""
    start = time.monotonic()
    for turn in range(runs):
        if turn > 0 and time.monotonic() - start > seconds:
            print(f"  {turn} of {runs} runs: {seconds} s are over")
            return
        for contender in contenders:
            if turn % contender.every == 0:
                contender.run()


def fastest(contenders):
    """None where none has run."""
    return min((c for c in contenders if c.has_run()), key=lambda c: c.wall, default=None)


def times_as_fast(contender, base):
    """How much faster a whole run was than one of `base`; None where one of them has not run."""
    if not contender or not base or not contender.has_run() or not base.has_run():
        return None
    return base.wall / contender.wall


def find(contenders, name):
    return next((c for c in contenders if c.name == name), None)
