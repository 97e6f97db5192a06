"""Peak memory for short and long inputs. The input is zeros, from a pipe or a sparse file: only memory is measured."""

import json
import os
import subprocess

from outputs import memory_folder
from units import GI, MI, words_of


def run(fixture):
    sizes = [size for size in (MI, 64 * MI, GI) if size < fixture.file_size] + [fixture.file_size]
    fixture.results.heading("peak memory, sealed")
    with fixture.folder_in(memory_folder() or fixture.work) as work:
        for lanes in ["cpu", *(["cuda:0"] if fixture.gpus else [])]:
            for source, peak in (("pipe", from_pipe), ("file", from_sparse_file)):
                for size in sizes:
                    if fixture.deadline.left() > 0:
                        keep(fixture, lanes, source, size, peak(fixture, lanes, size, work))


def keep(fixture, lanes, source, size, peak):
    if not peak:
        fixture.results.failed(f"memory, -l {lanes}, {source}, {words_of(size)}")
        return
    fixture.results.add("memory", [{"lanes": lanes, "source": source, "bytes": size, "peak_rss_bytes": peak}])
    print(f"  -l {lanes}, {source}, {words_of(size)}: {peak / MI:.1f} MiB", flush=True)


def peak_of(fixture, lanes, stdin):
    ours = fixture.ours("sealed", lanes)
    done = subprocess.run(ours.command, stdin=stdin, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        return None
    with open(ours.stats, encoding="utf-8") as file:
        return json.load(file)["peak_rss_bytes"]


def from_pipe(fixture, lanes, size, _):
    zeros = ["dd", "if=/dev/zero", "bs=1M", f"count={size // MI}", "status=none"]
    with subprocess.Popen(zeros, stdout=subprocess.PIPE) as generator:
        peak = peak_of(fixture, lanes, generator.stdout)
        generator.stdout.close()
    return peak


def from_sparse_file(fixture, lanes, size, work):
    path = os.path.join(work, "sparse")
    try:
        with open(path, "wb") as file:
            file.truncate(size)
        with open(path, "rb") as file:
            return peak_of(fixture, lanes, file)
    except OSError:
        return None
    finally:
        os.remove(path)
