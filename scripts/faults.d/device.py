"""The campaign on a CUDA device: which driver functions fail, at which calls, and with which errors."""

import itertools
import random
import re

from campaign import Campaign, Case, calls_to_hit, interleaved

# Every run on a device calls these functions. The campaign fails if it sees no calls of one of the groups, or if a run
# never survives a failure in one of them.
ESSENTIAL = {"launches": r"cuLaunch", "copies": r"cuMemcpy", "events": r"cuEvent(Record|Query|Synchronize)"}
FREQUENT = re.compile(r"cu(Launch|Memcpy|Memset|Event|Stream|MemAlloc|MemFree|MemHost)")

# Errors after which every call fails: launch failure, illegal address, uncorrectable memory error.
DEATHS = itertools.cycle(("719", "700", "214"))

# Errors of a single call, by function: too few resources for a launch, out of memory, unknown error.
ERRORS = ((r"cuLaunch", "701"), (r"cuMem(Alloc|Host)|cuStreamCreate|cuEventCreate", "2"), (r"", "999"))


def error_of(name):
    return next(error for pattern, error in ERRORS if re.match(pattern, name))


def device_cases(campaign, runs):
    """Failures of a single call, and of all calls from one on, at many calls of frequent functions and a few calls of
    others. The order is random but always the same, so both early and late calls are tried if time runs out."""
    lists, shuffle = [], random.Random(0).shuffle
    for run in runs:
        calls = campaign.count_calls(run)
        missing = [what for what, pattern in ESSENTIAL.items() if not any(re.match(pattern, name) for name in calls)]
        if missing:
            campaign.fail(run, "", f"saw no calls for {', '.join(missing)}, only {', '.join(calls)}")
            return []
        for name, count in sorted(calls.items()):
            if not re.match(r"cu[A-Z]", name) or name == "cuGetProcAddress":
                continue
            deaths, failures = (40, 12) if FREQUENT.match(name) else (3, 2)
            lists.append([Case(run, f"{name}:{n}+", {"FAULTS_CUDA_ERROR": next(DEATHS)})
                          for n in calls_to_hit(count, deaths)])
            lists.append([Case(run, f"{name}:{n}", {"FAULTS_CUDA_ERROR": error_of(name)})
                          for n in calls_to_hit(count, failures)])
    for cases in lists:
        shuffle(cases)
    return interleaved(lists)


def run(fixture, runs, jobs):
    """The exit status."""
    lanes = fixture.call("{stream} --list-lanes") or b""
    if not re.search(rb"^cuda:0", lanes, re.M):
        print("faults: skipped: no CUDA device, or the program was built without CUDA")
        return 77
    campaign = Campaign(fixture, jobs, attempts=1, seconds=200)
    cases = device_cases(campaign, runs)
    if cases:
        campaign.execute(cases)
        for run, (what, pattern) in itertools.product(runs, ESSENTIAL.items()):
            if not any(run.name == name and re.match(pattern, function) for name, function in campaign.succeeded):
                campaign.fail(run, "", f"survived no failure of {what}")
    return 0 if campaign.finish() else 1
