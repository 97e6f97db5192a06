"""The campaign on a CUDA device: which driver functions fail, at which calls, with which errors."""

import itertools
import os
import random
import re
import subprocess

from campaign import Campaign, Case, calls_to_hit, interleaved

# What a run on a device cannot do without. The campaign fails if it sees no calls of one of these, or if there is a run
# in which no failure of one of these was survived.
ESSENTIAL = {"launches": r"cuLaunch", "copies": r"cuMemcpy", "events": r"cuEvent(Record|Query|Synchronize)"}
FREQUENT = re.compile(r"cu(Launch|Memcpy|Memset|Event|Stream|MemAlloc|MemFree|MemHost)")

# What the device dies of: a failed launch, an illegal address, uncorrectable memory. From then on every call fails.
DEATHS = itertools.cycle(("719", "700", "214"))

# What fails once, by function: too few resources for a launch, out of memory, unknown.
ERRORS = ((r"cuLaunch", "701"), (r"cuMem(Alloc|Host)|cuStreamCreate|cuEventCreate", "2"), (r"", "999"))


def error_of(name):
    return next(error for pattern, error in ERRORS if re.match(pattern, name))


def show_nothing_seen(fixture, calls):
    """Why there may be nothing to inject."""
    print(f"faults: of a run on the device the library saw {calls['dlsym']} driver functions asked for by dlsym() and "
          f"{calls['cuGetProcAddress']} by cuGetProcAddress(), and calls of these:")
    for name, count in sorted(calls.items()):
        if re.match(r"cu[A-Z]", name):
            print(f"  {name}  {count}")
    symbols = subprocess.run(["nm", "-D", "--undefined-only", fixture.programs["gpuaes-stream"]], stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, text=True, check=False).stdout
    print("faults: the program imports " + " ".join(re.findall(r"\bdl\w+@\S+", symbols)))


def device_cases(campaign, runs):
    """Frequent functions fail once and for all at each call, or at many of them; others at a few. In a random order,
    the same each time: where time runs out, early and late calls have had their share."""
    lists, shuffle = [], random.Random(0).shuffle
    for run in runs:
        calls = campaign.count_calls(run)
        missing = [what for what, pattern in ESSENTIAL.items() if not any(re.match(pattern, name) for name in calls)]
        if missing:
            campaign.fail(run, "", f"no calls seen of {', '.join(missing)}")
            show_nothing_seen(campaign.fixture, calls)
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


def check_survived(campaign, runs):
    for run in runs:
        for what, pattern in ESSENTIAL.items():
            if not any(run.name == name and re.match(pattern, function) for name, function in campaign.succeeded):
                campaign.fail(run, "", f"no failure of {what} came out right")


def show_functions(campaign):
    print("faults injected, by function: right output and status 0, true error")
    for function in sorted({function for _, function in campaign.succeeded + campaign.failed}):
        right, failed = (sum(count for (_, name), count in counter.items() if name == function)
                         for counter in (campaign.succeeded, campaign.failed))
        print(f"  {function:40} {right:5} {failed:5}")


def run(fixture, runs, jobs):
    """The exit status."""
    lanes = fixture.call("{stream} --list-lanes") or b""
    if not re.search(rb"^cuda:0", lanes, re.M):
        print("skipped: there is no CUDA device here, or the program was built without CUDA")
        return 77
    campaign = Campaign(fixture, jobs, attempts=1, seconds=float(os.environ.get("FAULTS_SECONDS") or 200))
    cases = device_cases(campaign, runs)
    if cases:
        campaign.execute(cases)
        show_functions(campaign)
        check_survived(campaign, runs)
    return 0 if campaign.finish() else 1
