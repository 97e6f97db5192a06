"""From which size on a GPU is done earlier than so many CPUs: what bytes_until_cuda_pays() in src/lane/plan.cpp says."""

import os
import statistics

from contender import take_turns, times_as_fast, fastest
from report import number, print_table
from settings import GI, runs_of, setting, size_of, words_of


def fit(points):
    """Start and seconds a byte of the line through (bytes, seconds), by least squares; None for a single point."""
    if len(points) < 2:
        return None
    slope, start = statistics.linear_regression(*zip(*points))
    return start, slope


def crossing(cpu, cuda):
    """Bytes at which both lines meet, None where they do not."""
    if not cpu or not cuda or cuda[1] >= cpu[1]:
        return None
    return max((cuda[0] - cpu[0]) / (cpu[1] - cuda[1]), 0)


def pinned(contender, cpus):
    contender.command = ["taskset", "-c", ",".join(map(str, cpus)), *contender.command]
    return contender


def run(fixture, report, file_size):
    runs = runs_of("BENCH_CROSSING_RUNS", 3)
    sizes = [size for size in map(size_of, setting("BENCH_CROSSING_SIZES", "1G 4G 16G").split()) if size <= file_size]
    report.heading(f"crossing points: whole runs from page-cached files, on the first N CPUs (taskset), median of {runs}")
    if not fixture.gpus:
        report.skip("no GPU")
        return
    usable = sorted(os.sched_getaffinity(0))
    times, lines = [], []
    for count in [n for n in (1, 2, 4, 8, 16) if n <= fixture.cpus]:
        for form in ("raw", "sealed"):
            points = {"cpu": [], "cuda:0": []}
            for size in sizes:
                times.append(measure(fixture, report, points, usable[:count], form, size, runs))
            cpu, cuda = fit(points["cpu"]), fit(points["cuda:0"])
            meet = crossing(cpu, cuda)
            lines.append([form, count, *(number(each) for line in (cpu, cuda) for each in rate_and_start(line)),
                          "never" if meet is None else f"{meet / GI:.2f} GiB"])
    print_table(["seconds", "CPUs", "size", "cpu", "cuda:0", "auto", "auto x better"], times)
    print()
    print_table(["lines through them", "CPUs", "cpu GB/s", "start s", "cuda:0 GB/s", "start s", "crossing"], lines)
    report.keep("crossing", "times", times)
    report.keep("crossing", "lines", lines)


def measure(fixture, report, points, cpus, form, size, runs):
    path = fixture.file_of(size)
    lanes = [f"cpu:{len(cpus)}", "cuda:0", "auto"]
    contenders = [pinned(fixture.ours(form, each, path), cpus) for each in lanes]
    take_turns(contenders, runs)
    for c in contenders:
        if c.failed:
            report.failure(f"{c.name}: {c.failed}")
    for name, c in zip(points, contenders):
        if c.has_run():
            points[name].append((size, c.wall))
    better = fastest(contenders[:2])
    return [form, len(cpus), words_of(size), *(number(c.wall, 3) for c in contenders),
            number(times_as_fast(contenders[2], better))]


def rate_and_start(line):
    return (1 / line[1] / 1e9, line[0]) if line and line[1] > 0 else (None, None)
