"""Injects each fault at each call of each run, with several runs in parallel, and counts the outcomes."""

import collections
import concurrent.futures
import itertools
import re
import time

from execution import execute

Case = collections.namedtuple("Case", "run fault environment")


class Campaign:
    def __init__(self, fixture, jobs, attempts=3, seconds=None):
        self.fixture, self.jobs, self.attempts, self.seconds = fixture, jobs, attempts, seconds
        self.start = time.monotonic()
        self.wrong = 0
        self.counts = collections.Counter()
        self.succeeded = collections.Counter()  # runs with status 0, by run and name of the fault
        self.failed = collections.Counter()  # runs that reported an error, by run and name of the fault
        self.groups = set()  # (run, fault) pairs whose first call was tried

    # Cases ----------------------------------------------------------------------------------------

    def count_calls(self, run):
        """The number of calls that each fault could hit: the larger count of two runs, because threads make it vary."""
        calls = collections.Counter()
        for _ in range(2):
            outcome = execute(self.fixture, run, "")
            if outcome.wrong:
                self.fail(run, "", f"wrong without a fault: {outcome.wrong}", outcome)
            for name, entry in outcome.record.items():
                calls[name] = max(calls[name], entry.calls)
        if run.uncached and self.fixture.has_direct_reads and not calls["preadv=EIO"]:
            self.fail(run, "", "a file that is not in the page cache is not read directly")
        return calls

    def fail(self, run, fault, wrong, outcome=None):
        self.wrong += 1
        where = f" ({outcome.where})" if outcome and outcome.where else ""
        print(f"WRONG {run.name} {fault}{where}: {wrong}", flush=True)
        for line in outcome.stderr.splitlines() if outcome else []:
            print(f"      {line}")

    # Outcomes -------------------------------------------------------------------------------------

    def try_case(self, case):
        if self.seconds and time.monotonic() - self.start > self.seconds:
            return None
        for _ in range(self.attempts):
            outcome = execute(self.fixture, case.run, case.fault, case.environment)
            if outcome.where or outcome.wrong:
                break
        return outcome

    def count(self, case, outcome):
        name, _, call = case.fault.rpartition(":")
        group = (case.run.name, name)
        if not outcome:
            self.counts["not tried for lack of time"] += 1
            return
        if call.rstrip("+") == "1":
            self.groups.add(group)
        if outcome.wrong:
            settings = "".join(f" with {variable}={value}" for variable, value in case.environment.items())
            self.fail(case.run, case.fault + settings, outcome.wrong, outcome)
        elif not outcome.where:
            self.counts["never reached"] += 1
        elif outcome.status == 0:
            self.succeeded[group] += 1
        else:
            self.failed[group] += 1

    def execute(self, cases):
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            try:
                for case, outcome in zip(cases, pool.map(self.try_case, cases)):
                    self.count(case, outcome)
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise

    def finish(self, essential=()):
        """Prints the summary. Returns whether every run behaved, and a fault was injected in each essential function."""
        injected = self.succeeded + self.failed
        for call in essential:
            if not any(name.startswith(call + "=") for _, name in injected):
                self.wrong += 1
                print(f"WRONG {call}: no fault was injected in any run")
        if not self.wrong:
            for run, name in sorted(group for group in self.groups if not injected[group]):
                self.wrong += 1
                print(f"WRONG {run} {name}: calls were counted, but the fault was never injected")
        if not injected:
            self.wrong += 1
            print("faults: nothing was injected: the library does not work")
        rest = "".join(f", {count} {what}" for what, count in sorted(self.counts.items()))
        print(f"faults: {self.wrong} wrong; {sum(injected.values())} faults injected: "
              f"{sum(self.succeeded.values())} runs succeeded, {sum(self.failed.values())} reported an error{rest}; "
              f"{time.monotonic() - self.start:.0f} s")
        return self.wrong == 0


# Functions that every program calls: if no fault is injected at one of these, the library no longer intercepts it.
ESSENTIAL = ("read", "pread", "write", "fsync", "close", "openat", "linkat", "renameat", "renameat2", "unlinkat",
             "fchmod", "F_OFD_SETLK", "mmap", "mlock", "pthread_create", "getentropy", "malloc")


def calls_to_hit(count, limit):
    """All calls from 1 to `count`, or `limit` of them, spread evenly and including both ends."""
    if count <= limit:
        return list(range(1, count + 1))
    return sorted({1 + round(i * (count - 1) / (limit - 1)) for i in range(limit)})


def interleaved(lists):
    """The first item of each list, then the second of each, and so on: if time runs out, each list has had its share."""
    return [item for items in itertools.zip_longest(*lists) for item in items if item is not None]


def system_cases(campaign, runs, quick):
    """Every fault at every call, both once and from that call on; with --quick, only at some calls."""
    lists = []
    for run in runs:
        always_fail = tuple(fault.partition("=")[0] + "=" for fault in run.without)
        for name, count in sorted(campaign.count_calls(run).items()):
            if name.startswith(always_fail) or not re.match(run.only, name):
                continue
            hits = calls_to_hit(count, 6 if quick else count)
            lists.append([Case(run, f"{name}:{n}", {}) for n in hits])
            if not name.endswith("=EINTR"):  # a call that is always interrupted is retried forever
                lists.append([Case(run, f"{name}:{n}+", {}) for n in (hits[:1] if quick else hits)])
    return interleaved(lists)
