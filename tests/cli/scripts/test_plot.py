"""scripts/plot draws the results of gpuaes-bench, scripts/bench and --trace, as PNG and as SVG with text in it, and
writes tables into documents. Input that it cannot draw is an error with a reason."""

import csv
import json
import os
import pathlib
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest

from programs import SANITIZED, files_here, raw, some_bytes

PLOT = pathlib.Path(__file__).parents[3] / "scripts/plot"
SVG = "{http://www.w3.org/2000/svg}"
HEAD = "variant,cipher,mode,bytes,copies,gb_per_s\n"

pytestmark = pytest.mark.skipif(SANITIZED, reason="no code of the project runs here")


def plot(*words, status=0, **environment):
    environment = {**os.environ, **environment}
    done = subprocess.run([sys.executable, PLOT, *words], capture_output=True, text=True, env=environment)
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


def write_json(name, rows):
    pathlib.Path(name).write_text(json.dumps(rows))


def texts_of(name):
    root = ElementTree.parse(f"{name}.svg").getroot()
    assert root.tag == f"{SVG}svg"
    return ["".join(each.itertext()).strip() for each in root.iter(f"{SVG}text")]


def expect_pictures(pictures, *words):
    """Makes exactly these pictures in a folder, each with these words in it, and prints their names."""
    printed = plot("-o", "drawn", *words).stdout.split()
    names = sorted(f"drawn/{name}.{kind}" for name in pictures for kind in ("png", "svg"))
    assert sorted(printed) == names == sorted(f"drawn/{name}" for name in os.listdir("drawn"))
    for name, expected in pictures.items():
        png = pathlib.Path(f"drawn/{name}.png").read_bytes()
        assert png.startswith(b"\x89PNG\r\n\x1a\n") and png.endswith(b"IEND\xaeB`\x82")
        texts = texts_of(f"drawn/{name}")
        assert [word for word in expected if not any(word in text for text in texts)] == [], (name, texts)


KERNELS = [{"variant": variant, "cipher": cipher, "mode": "ctr", "bytes": 1 << power, "copies": copies,
            "gb_per_s": rate * power, "share_of_limit": "", "limit": "lds", "other": "ignored"}
           for variant, rate in {"bitslice": 14.5, "tables, $4$ & <shared>": 19}.items()
           for cipher in ("aes-128", "kuznyechik") for copies in ("no", "yes") for power in range(10, 31)]


def test_kernels(matplotlib):
    write_csv("table.csv", KERNELS)
    write_json("one.json", KERNELS[:200])
    bars = ["bitslice (gpuaes-stream)", "tables, $4$ & <shared>", "GB/s", "435"]
    lines = [*bars[1:3], "1 KiB", "1 GiB", "device memory", "copies"]
    expect_pictures({
        "table-aes-128": [*bars, "AES-128"], "table-aes-128-by-size": [*lines, "AES-128"],
        "table-kuznyechik": [*bars[:3], "Kuznyechik"], "table-kuznyechik-by-size": [*lines, "Kuznyechik"],
        "one-aes-128": bars, "one-aes-128-by-size": lines,
        "one-kuznyechik": bars[:3], "one-kuznyechik-by-size": lines}, "table.csv", "one.json")


def test_sweeps(matplotlib):
    # 0 leaves a number to the kernel. Streams are None if the data stays on the device.
    sweep = [{"variant": "bitslice", "cipher": "aes-192", "mode": "ctr", "bytes": 4 << 20, "threads": threads,
              "blocks_per_thread": blocks, "streams": None, "gb_per_s": threads / 10 + blocks + 1}
             for threads in (0, 32, 256, 1024) for blocks in (0, 2, 4)]
    copied = [{**sweep[5], "streams": streams, "gb_per_s": 777} for streams in (1, 2, 64)]
    # The better of two rates of one shape counts, and a row without a rate is ignored.
    write_csv("sweep.csv", [*sweep, {**sweep[-1], "gb_per_s": 55}, *copied, {**sweep[0], "threads": 512, "gb_per_s": ""}])
    expect_pictures({"sweep-bitslice-aes-192-map": ["bitslice", "AES-192", "1024", "107", "own", "threads"],
                     "sweep-aes-192-streams": ["64", "bitslice", "streams"]}, "sweep.csv")
    assert not {"55", "777"} & set(texts_of("drawn/sweep-bitslice-aes-192-map"))


def test_timelines(key, matplotlib):
    raw(key, "-l", "cpu:2", "--trace", "trace.json", input=some_bytes(3000000))
    write_json("window.json", {"traceEvents": [
        {"ph": "M", "name": "thread_name", "tid": 1, "args": {"name": "lane 1"}},
        {"ph": "M", "name": "thread_name", "tid": 2, "args": {"name": "lane 2"}},
        {"ph": "X", "name": "early", "tid": 1, "ts": 5000, "dur": 1000},
        {"ph": "X", "name": "late", "tid": 2, "ts": 15000, "dur": 2000}]})
    expect_pictures({"trace-timeline": ["lane 1, cpu", "read", "cipher", "write", "milliseconds"]}, "trace.json")
    os.rename("drawn", "whole")
    expect_pictures({"window-timeline": ["late", "lane 2"]}, "-w", "11", "13", "window.json")
    assert not {"early", "lane 1"} & set(texts_of("drawn/window-timeline"))
    assert "the window ends before it begins" in plot("--window", "2", "1", "trace.json", status=2).stderr


ROW = {"part": "pipe", "case": "4 GiB", "program": "gpuaes-stream", "cipher": "aes-256", "format": "sealed",
       "action": "encrypt", "lanes": "auto", "bytes": 4 << 30, "runs": 5, "seconds": 1.5, "min_seconds": 1.45,
       "max_seconds": 1.55, "cpu_seconds": 1, "lanes_seconds": "", "command": "gpuaes-stream -l auto --stats file"}


def documents(text):
    """Writes the text to all documents, in a new folder."""
    os.makedirs("documents/cuda")
    for name in ("PERFORMANCE.md", "cuda/PERFORMANCE.md", "README.md"):
        pathlib.Path("documents", name).write_text(text)


def tables(*words, status=0):
    plot("--documents", "documents", *words, status=status)
    return pathlib.Path("documents/PERFORMANCE.md").read_text()


def of(row, seconds, **values):
    """The row with other values, and with runs that differ little from this median."""
    return {**row, **values, "seconds": seconds, "min_seconds": seconds * 0.97, "max_seconds": seconds * 1.03}


def other(row, program, seconds, **values):
    return of(row, seconds, program=program, cipher="", format="", lanes="", command=program, **values)


AGE = {"cipher": "chacha20-poly1305", "format": "age"}
FACTS = [{"name": "CPU", "value": "Some CPU"}, {"name": "CPUs", "value": "2"}, {"name": "rage", "value": "rage 0.12.1"}]


def test_results_of_bench(matplotlib):
    os.mkdir("results")
    write_csv("results/programs.csv", [
        ROW, other(ROW, "openssl", 3), other(ROW, "cat", 1.2, action="copy"), of(ROW, 2, **AGE),
        {**other(ROW, "age", 7.7), "runs": 4},
        *(of(ROW, 1.5, part="cpus", case=f"{n} CPUs, aes-256 sealed", lanes=f"cpu:{n}") for n in (1, 2))])
    write_csv("results/run.csv", FACTS)
    bars = ["gpuaes-stream, sealed", "gpuaes-stream, age", "openssl", "cat", "2.86", "1.43", "GB/s", "copy only", "other programs"]
    expect_pictures({"programs-rivals": bars, "programs-cpus": ["CPU lanes", "CPUs", "GB/s"]}, "results")
    assert "age" not in texts_of("drawn/programs-rivals")
    before, after = "# Text\n\n<!-- begin: pipe -->\n", "<!-- end: pipe -->\n\nMore text.\n"
    documents(f"{before}old\n{after}")
    tables("--check", "results", status=1)
    text = tables("--tables", "results")
    assert text.startswith(before) and text.endswith(after) and "| `openssl` | 1.43 |" in text and "`age`" not in text
    tables("--check", "results")
    write_csv("results/programs.csv", [of(ROW, 1.4)])
    tables("--check", "results", status=1)
    pathlib.Path("documents/README.md").write_text("<!-- begin: unknown -->\n<!-- end: unknown -->\n")
    tables("--tables", "results", status=1)
    tables("--check", "results/run.csv", status=2)


def test_results_of_a_quick_run_are_refused():
    os.mkdir("results")
    write_csv("results/programs.csv", [ROW])
    write_csv("results/run.csv", [*FACTS, {"name": "quick", "value": "one run"}])
    documents("")
    expect_error("plot: results ", "--quick", "--documents", "documents", "--tables", "results")


BAD = {
    "an empty file": ("", "no rows"),
    "truncated JSON": (json.dumps(KERNELS)[:-10], "not complete CSV or JSON"),
    "JSON of another kind": ("[1, 2]", "neither an array of rows nor a trace"),
    "a trace of another kind": ('{"traceEvents": [{"ph": "X", "name": "a"}]}', "gpuaes-stream does not write"),
    "other columns": ("lanes,format,gb_per_s\ncpu,raw,3\n", "columns"),
    "a word for a number": (HEAD + "a,aes-128,ctr,1024,no,fast\n", "has 'fast' where a number is expected"),
    "nothing measured": (HEAD + "a,aes-128,ctr,1024,no,\n", "nothing to draw"),
    "a binary file": (bytes(range(256)).decode("latin-1"), "not complete CSV or JSON"),
}


@pytest.mark.parametrize("what", BAD)
def test_a_file_that_cannot_be_drawn(matplotlib, what):
    content, reason = BAD[what]
    pathlib.Path("bad").write_text(content, encoding="latin-1")
    expect_error("plot: bad ", reason, "-o", "drawn", "bad")
    assert not os.path.exists("drawn") or os.listdir("drawn") == []


def expect_error(begin, reason, *words, **environment):
    message = plot(*words, status=1, **environment).stderr
    assert message.startswith(begin) and reason in message and "Traceback" not in message


def test_paths_that_cannot_be_used(matplotlib):
    os.mkdir("empty")
    write_csv("table.csv", KERNELS)
    expect_error("plot: empty ", "no results", "-o", "drawn", "empty")
    expect_error("plot: missing: ", "No such file", "-o", "drawn", "missing")
    expect_error("plot: ", "same name", "-o", "drawn", "table.csv", os.path.abspath("table.csv"))
    expect_error("plot: table.csv: ", "File exists", "-o", "table.csv", "table.csv")
    plot(status=2)
    assert sorted(set(files_here()) - {"drawn"}) == ["empty", "table.csv"] and os.listdir("drawn") == []


def test_without_matplotlib_it_says_what_to_install():
    os.mkdir("without")
    pathlib.Path("without/matplotlib.py").write_text('raise ImportError("no")')
    write_csv("table.csv", KERNELS)
    expect_error("plot: ", "python3-matplotlib", "table.csv", PYTHONPATH="without")
    assert "usage:" in plot("-h", PYTHONPATH="without").stdout
