"""scripts/plot draws the results of scripts/bench as SVG with text in it, and writes tables into documents."""

import csv
import os
import pathlib
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest

from programs import SANITIZED

PLOT = pathlib.Path(__file__).parents[3] / "scripts/plot"
SVG = "{http://www.w3.org/2000/svg}"

pytestmark = pytest.mark.skipif(SANITIZED, reason="no code of the project runs here")


def plot(*words, status=0):
    done = subprocess.run([sys.executable, PLOT, *words], capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    return done


@pytest.fixture
def matplotlib(work, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setenv("MPLCONFIGDIR", str(work.parent / "matplotlib"))


def write_csv(name, rows):
    with open(name, "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def texts_of(name):
    root = ElementTree.parse(f"{name}.svg").getroot()
    assert root.tag == f"{SVG}svg"
    assert root.find(f"{SVG}title").text in ["".join(each.itertext()) for each in root.iter(f"{SVG}text")]
    return ["".join(each.itertext()).strip() for each in root.iter(f"{SVG}text")]


def expect_pictures(pictures):
    """Makes exactly these pictures, each with these words in it, and prints their names."""
    printed = plot("results").stdout.split()
    assert sorted(printed) == sorted(f"results/{name}.svg" for name in pictures) == sorted(map(str, pathlib.Path("results").glob("*.svg")))
    for name, expected in pictures.items():
        texts = texts_of(f"results/{name}")
        assert [word for word in expected if not any(word in text for text in texts)] == [], (name, texts)


ROW = {"part": "pipe", "case": "4 GiB", "program": "gpuaes-stream", "cipher": "aes-256", "format": "sealed",
       "action": "encrypt", "lanes": "auto", "bytes": 4 << 30, "runs": 5, "seconds": 1.5, "min_seconds": 1.45,
       "max_seconds": 1.55, "cpu_seconds": 1, "lanes_seconds": "", "command": "gpuaes-stream -l auto --stats file"}


def documents(text):
    """Writes the text to all documents."""
    os.mkdir("cuda")
    for name in ("PERFORMANCE.md", "cuda/PERFORMANCE.md", "README.md"):
        pathlib.Path(name).write_text(text)


def tables(*words, status=0):
    plot(*words, status=status)
    return pathlib.Path("PERFORMANCE.md").read_text()


def of(row, seconds, **values):
    """The row with other values, and with runs that differ little from this median."""
    return {**row, **values, "seconds": seconds, "min_seconds": seconds * 0.97, "max_seconds": seconds * 1.03}


def other(row, program, seconds, **values):
    return of(row, seconds, program=program, cipher="", format="", lanes="", command=program, **values)


AGE = {"cipher": "chacha20-poly1305", "format": "age"}
FACTS = [{"name": "CPU", "value": "Some CPU"}, {"name": "CPUs", "value": "2"}, {"name": "rage", "value": "rage 0.12.1"}]


KERNELS = [{"variant": variant, "cipher": cipher, "mode": "ctr", "bytes": 1 << power, "gb_per_s": rate * power}
           for variant, rate in {"bitslice": 14.5, "ttable": 19}.items() for cipher in ("aes-256", "kuznyechik")
           for power in range(10, 31, 2)]


def test_kernels(matplotlib):
    os.mkdir("results")
    write_csv("results/run.csv", FACTS)
    write_csv("results/kernels.csv", KERNELS)
    write_csv("results/links.csv", [{"device": "cuda:0", "what": "both at once, each way", "bytes": 4 << 20, "value": 47}])
    bars, lines = ["bitslice (gpuaes-stream)", "ttable", "GB/s", "406", "the link, each way: 47.0 GB/s"], ["bitslice (gpuaes-stream)", "ttable", "1 KiB", "device memory"]
    expect_pictures({"kernels-aes-256": [*bars, "AES-256"], "kernels-aes-256-by-size": [*lines, "AES-256"],
                     "kernels-kuznyechik": [*bars, "Kuznyechik"], "kernels-kuznyechik-by-size": [*lines, "Kuznyechik"]})


def test_a_timeline_names_only_what_is_long_enough_to_see(matplotlib):
    os.mkdir("results")
    write_csv("results/run.csv", FACTS)
    write_csv("results/trace.csv", [{"track": "worker 1, cpu", "what": what, "start_us": start, "length_us": length}
                                    for what, start, length in (("read", 0, 998), ("write", 998, 2))])
    expect_pictures({"trace-timeline": ["worker 1, cpu", "milliseconds", "read", "'read'"]})
    assert "write" not in texts_of("results/trace-timeline")


def test_results_of_bench(matplotlib):
    os.mkdir("results")
    write_csv("results/programs.csv", [
        ROW, other(ROW, "openssl", 3), other(ROW, "cat", 1.2, action="copy"), of(ROW, 2, **AGE),
        {**other(ROW, "rage", 7.7), "runs": 4}, other(ROW, "age", 4, part="rivals", case="1 GiB, 2 CPUs"),
        of(ROW, 2, part="rivals", case="1 GiB, 2 CPUs", **AGE),
        *(of(ROW, 1.5, part="cpus", case=f"{n} CPUs, aes-256 sealed", lanes=lanes) for n in (1, 2) for lanes in (f"cpu:{n}", "cuda:0", "auto"))])
    write_csv("results/run.csv", FACTS)
    bars = ["gpuaes-stream, sealed", "gpuaes-stream, age", "openssl", "cat", "2.86", "1.43", "GB/s", "copy only", "other programs", "2 to 2 times"]
    expect_pictures({"programs-rivals": bars, "programs-cpus": ["CPU threads", "CPUs", "GB/s", "at least 100%"]})
    assert "rage" not in texts_of("results/programs-rivals")
    before, after = "# Text\n\n<!-- begin: pipe -->\n", "<!-- end: pipe -->\n\nMore text.\n"
    documents(f"{before}old\n{after}")
    tables("--check", "results", status=1)
    text = tables("--tables", "results")
    assert text.startswith(before) and text.endswith(after) and "| `openssl` | 1.43 |" in text and "`rage`" not in text
    tables("--check", "results")
    write_csv("results/programs.csv", [of(ROW, 1.4)])
    tables("--check", "results", status=1)
    tables("--check", "no-such-folder", status=1)


def test_results_of_a_quick_run_are_refused():
    os.mkdir("results")
    write_csv("results/programs.csv", [ROW])
    write_csv("results/run.csv", [*FACTS, {"name": "quick", "value": "one run"}])
    documents("")
    message = plot("--tables", "results", status=1).stderr
    assert message.startswith("plot: results ") and "--quick" in message
