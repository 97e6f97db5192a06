"""Peak memory, from the shortest input to the longest. The input is zeros: only memory is measured."""

import json
import os
import subprocess

from outputs import tmpfs_folder
from report import print_table
from settings import GI, MI, words_of


def run(fixture, report, most):
    sizes = [size for size in (MI, 64 * MI, GI) if size < most] + [most]
    report.heading("peak RSS in MiB, sealed; the input is zeros, from a pipe or a sparse file, for only memory is measured")
    rows = []
    folder, reason = tmpfs_folder()
    with fixture.folder_in(folder or fixture.work) as work:
        for lanes in ["cpu", *(["cuda:0"] if fixture.gpus else [])]:
            for way, peak in (("pipe", from_pipe), ("file", from_sparse_file)):
                peaks = [peak(fixture, report, lanes, size, work) for size in sizes]
                rows.append([f"-l {lanes}, {way}", *("-" if each is None else f"{each / MI:.1f}" for each in peaks)])
                report.keep("memory", f"{lanes}, {way}", dict(zip(sizes, peaks)))
                add_figures(report, f"peak RSS, -l {lanes}, {way}", dict(zip(sizes, peaks)))
    print_table(["", *map(words_of, sizes)], rows)
    if not folder:
        print(f"  sparse files on {fixture.work}, through the page cache: {reason}")


def add_figures(report, name, peaks):
    """Flat: within a tenth. An input that does not fill the ring takes less, so both ends are shown."""
    most = max(peaks)
    for base in (MI, 64 * MI):
        if base < most:
            measured = peaks[most] / peaks[base] if peaks[most] and peaks[base] else None
            report.figure(f"{name}: {words_of(most)}, of that for {words_of(base)}", measured, 1.1, at_least=False)


def peak_of(fixture, report, lanes, stdin):
    ours = fixture.ours("sealed", lanes)
    done = subprocess.run(ours.command, stdin=stdin, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        report.failure(f"memory, {ours.name}: {done.stderr.strip()}")
        return None
    with open(ours.stats, encoding="utf-8") as file:
        return json.load(file)["peak_rss_bytes"]


def from_pipe(fixture, report, lanes, size, _):
    zeros = ["dd", "if=/dev/zero", "bs=1M", f"count={size // MI}", "status=none"]
    with subprocess.Popen(zeros, stdout=subprocess.PIPE) as generator:
        peak = peak_of(fixture, report, lanes, generator.stdout)
        generator.stdout.close()
    return peak


def from_sparse_file(fixture, report, lanes, size, work):
    path = os.path.join(work, "sparse")
    try:
        with open(path, "wb") as file:
            file.truncate(size)
        with open(path, "rb") as file:
            return peak_of(fixture, report, lanes, file)
    except OSError as error:
        report.skip(f"sparse file of {words_of(size)}: {error.strerror}")
        return None
    finally:
        fixture.forget(path)
