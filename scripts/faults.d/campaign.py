"""Injects each fault at each call of each run, several runs at a time, and counts the outcomes."""

import collections
import concurrent.futures
import itertools
import time

from execution import execute

Case = collections.namedtuple("Case", "run fault environment")


class Campaign:
    def __init__(self, fixture, jobs, attempts=3, seconds=None):
        self.fixture, self.jobs, self.attempts, self.seconds = fixture, jobs, attempts, seconds
        self.start = time.monotonic()
        self.wrong = 0
        self.counts = collections.Counter()
        self.succeeded = collections.Counter()  # by run and name of the fault: status 0
        self.failed = collections.Counter()  # the same: true status
        self.groups = set()  # the same: where the first call was tried

    # Which cases ----------------------------------------------------------------------------------

    def count_calls(self, run):
        """How many calls each fault could hit, in two runs without a fault. Threads make the numbers vary."""
        calls = collections.Counter()
        for _ in range(2):
            outcome = execute(self.fixture, run, "")
            if outcome.wrong:
                self.fail(run, "", f"wrong without any fault: {outcome.wrong}", outcome)
            for name, entry in outcome.record.items():
                calls[name] = max(calls[name], entry.calls)
        if calls["fsync=EIO"] + calls["fdatasync=EIO"] < run.syncs:
            self.fail(run, "", "the output and its folder are not synced")
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
            self.counts["left out for lack of time"] += 1
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
        """Prints the summary. True if all is right. A call of `essential` that met no fault is wrong."""
        injected = self.succeeded + self.failed
        for call in essential:
            if not any(name.startswith(call + "=") for _, name in injected):
                self.wrong += 1
                print(f"WRONG {call}: met no fault in any run")
        if not self.wrong:
            for run, name in sorted(group for group in self.groups if not injected[group]):
                self.wrong += 1
                print(f"WRONG {run} {name}: calls were counted, and the fault was never injected")
        if not injected:
            self.wrong += 1
            print("faults: nothing was injected: the library is not at work")
        rest = "".join(f", {count} {what}" for what, count in sorted(self.counts.items()))
        print(f"faults: {self.wrong} wrong; {sum(injected.values())} faults injected: the output right and the status "
              f"0 {sum(self.succeeded.values())} times, a true error {sum(self.failed.values())} times{rest}; "
              f"{time.monotonic() - self.start:.0f} s")
        return self.wrong == 0


# Calls that the runs cannot do without: if one of these meets no fault, the library has lost sight of it.
ESSENTIAL = ("read", "pread", "write", "fsync", "close", "openat", "linkat", "renameat", "mmap", "mlock",
             "pthread_create", "getentropy", "malloc")


def calls_to_hit(count, limit):
    """All calls from 1 to `count`, or `limit` of them, spread evenly with both ends."""
    if count <= limit:
        return list(range(1, count + 1))
    return sorted({1 + round(i * (count - 1) / (limit - 1)) for i in range(limit)})


def interleaved(lists):
    """First one of each list, then the next of each: where time runs out, every list has had its share."""
    return [item for items in itertools.zip_longest(*lists) for item in items if item is not None]


def system_cases(campaign, runs, quick):
    """Every fault at every call, and from that call on; for --quick at some of them."""
    lists = []
    for run in runs:
        for name, count in sorted(campaign.count_calls(run).items()):
            hits = calls_to_hit(count, 12 if quick else count)
            lists.append([Case(run, f"{name}:{n}", {}) for n in hits])
            if not name.endswith("=EINTR"):  # a call that is always interrupted never ends
                lists.append([Case(run, f"{name}:{n}+", {}) for n in (hits[:1] if quick else hits)])
    return interleaved(lists)
