"""scripts/plot draws the results of gpuaes-bench, scripts/bench and --trace, as PNG and as SVG with text in it, and
writes tables into documents. Input that it cannot draw is an error with a reason."""

import csv
import json
import os
import pathlib
import re
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


VARIANTS = {"bitslice": 14.5, "tables, $4$ & <shared>": 19, "sbox-constant": 3}
KERNELS = [{"variant": variant, "cipher": cipher, "mode": "ctr", "bytes": 1 << power, "copies": copies,
            "gb_per_s": rate * power, "share_of_limit": "", "limit": "lds", "other": "ignored"}
           for variant, rate in VARIANTS.items() for cipher in ("aes-128", "kuznyechik")
           for copies in ("no", "yes") for power in range(10, 31)]


def test_kernels(matplotlib):
    write_csv("table.csv", KERNELS)
    # More than eight lines: a panel for each place of the tables. A cipher that was measured with fewer sizes, or with a
    # single kernel, is left out. The link is that of the same results.
    many = [{**KERNELS[0], "cipher": "aes-256", "copies": "no", "variant": f"{tables}-{place}", "bytes": size}
            for tables in ("sbox", "ttable1", "ttable4") for place in ("global", "shared", "shared-banks-4threads")
            for size in (1024, 4096, 16384)]
    write_json("many.json", [*many, {**many[0], "cipher": "aes-192"}])
    write_csv("links.csv", [{"device": "cuda:0", "what": "both at once, each way", "bytes": size, "value": rate}
                            for size, rate in ((1 << 20, 43.5), (4 << 20, 48))])
    rows = f"{HEAD}one,aes-128,ctr,1024,no,5\ntwo,aes-128,ctr,1024,no,6\nalone,aes-192,ctr,1024,no,6\n"
    pathlib.Path("marked.csv").write_text(rows, encoding="utf-8-sig")
    bars = ["bitslice (gpuaes-stream)", "the link, each way: 48.0 GB/s", "tables, $4$ & <shared>", "GB/s", "constant memory", "1 GiB", "435"]
    lines = [*bars[:4], "sbox-constant", "1 KiB", "1 GiB", "device memory", "copies"]
    expect_pictures({
        "table-aes-128": [*bars, "AES-128"], "table-aes-128-by-size": [*lines, "AES-128"],
        "table-kuznyechik": [*bars, "Kuznyechik"], "table-kuznyechik-by-size": [*lines, "Kuznyechik"],
        "many-aes-256": ["global memory", "shared memory, a copy per bank, 4 threads per cipher block", "S-box",
                         "four T-tables"],
        "many-aes-256-by-size": ["global memory", "ttable1-shared", "sbox-shared-banks-4threads"],
        "marked-aes-128": ["one", "AES-128"],
    }, "table.csv", "many.json", "marked.csv")


def test_sweeps(matplotlib):
    # 0 leaves a number to the kernel. Streams are None if the data stays on the device.
    sweep = [{"variant": "bitslice", "cipher": "aes-192", "mode": "ctr", "bytes": 4 << 20, "threads": threads,
              "blocks_per_thread": blocks, "streams": None, "gb_per_s": threads / 10 + blocks + 1}
             for threads in (32, 256, 1024) for blocks in (0, 2, 4)]
    sweep.insert(0, {**sweep[0], "threads": 0, "gb_per_s": 555})
    write_json("map.json", sweep)
    copied = [{**row, "streams": streams, "gb_per_s": 777} for row in (sweep[5], {**sweep[0], "variant": "tables"})
              for streams in (1, 2, 64)]
    write_json("streams.json", copied)
    # The better of two rates of one shape counts, and a row without a rate is ignored.
    write_csv("sweep.csv", [*sweep, {**sweep[9], "gb_per_s": 55}, {**sweep[0], "mode": "seal", "gb_per_s": 333},
                            *copied, {**sweep[0], "threads": 512, "gb_per_s": ""}])
    expect_pictures({
        "map-bitslice-aes-192-map": ["bitslice", "AES-192", "1024", "103", "107", "555", "own", "threads"],
        "sweep-bitslice-aes-192-map": ["107", "ctr", "seal", "333"],
        "sweep-aes-192-streams": ["64", "bitslice, 256 threads, 2 blocks", "tables", "streams"],
        "streams-aes-192-streams": ["64"],
    }, "map.json", "sweep.csv", "streams.json")
    # The map of data that stays on the device has no rates with copies.
    assert not {"55", "777"} & set(texts_of("drawn/sweep-bitslice-aes-192-map"))


def test_timelines(key, matplotlib):
    raw(key, "-l", "cpu:2", "--trace", "trace.json", input=some_bytes(3000000))
    write_json("window.json", {"traceEvents": [
        {"ph": "M", "name": "thread_name", "tid": 1, "args": {"name": "lane 1"}},
        {"ph": "M", "name": "thread_name", "tid": 2, "args": {"name": "lane 2"}},
        {"ph": "X", "name": "early", "tid": 1, "ts": 5000, "dur": 1000},
        {"ph": "X", "name": "late", "tid": 2, "ts": 15000, "dur": 2000}]})
    write_csv("spans.csv", [{"track": f"lane {lane}, cuda:0", "what": "kernel", "start_us": 10, "length_us": 5}
                            for lane in range(1, 13)])
    pictures = {"trace-timeline": ["lane 1, cpu", "read", "cipher", "write", "milliseconds"],
                "window-timeline": ["early", "late", "lane 1", "lane 2"],
                "spans-timeline": ["lane 1, cuda:0", "lane 3, cuda:0", "kernel"]}
    expect_pictures(pictures, "trace.json", "window.json", "spans.csv")
    assert "lane 12, cuda:0" not in texts_of("drawn/spans-timeline")
    os.rename("drawn", "whole")
    expect_pictures({"window-timeline": ["late", "lane 2"]}, "-w", "11", "13", "window.json")
    assert not {"early", "lane 1"} & set(texts_of("drawn/window-timeline"))
    assert "the window ends before it begins" in plot("--window", "2", "1", "trace.json", status=2).stderr
    result = plot("--window", "3600000", "3600001", "trace.json", status=1)
    assert result.stderr == "plot: trace.json has nothing that took time in this window\n"


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


def test_tables():
    """Rows of fewer than five runs are left out, and only programs that ran have columns. A range is shown if it is more
    than a tenth of the median."""
    os.mkdir("results")
    one = {**ROW, "part": "rivals", "case": "1 GiB, 1 CPU", "lanes": "cpu:1"}
    costs = {**ROW, "part": "costs", "bytes": 1024}
    part = {**ROW, "part": "processes", "case": "seal, 4 GiB"}
    operation = {**ROW, "part": "operations", "lanes": "cpu"}
    write_csv("results/programs.csv", [
        one, of(one, 2, **AGE), of(one, 3, **AGE, action="decrypt"), other(one, "openssl", 3), other(one, "age", 4),
        {**other(one, "rage", 2), "min_seconds": 1.5}, {**other(one, "gpg", 2), "runs": 4},
        of(ROW, 0.2, part="file", case="4 GiB, AES-256", lanes="cpu"),
        {**of(ROW, 0.4, part="file", case="4 GiB, AES-256", lanes="cuda:0"), "lanes_seconds": 0.1},
        of(ROW, 2, part="output", case="disk, 4 GiB"), other(ROW, "cp, sync", 4, part="output", case="disk, 4 GiB", action="copy"),
        {**of(ROW, 2, part="cpus", case="2 CPUs, 4 GiB, age", lanes="cpu:2", **AGE), "lanes_seconds": 2},
        {**of(ROW, 4, part="cpus", case="2 CPUs, 4 GiB, age", lanes="cuda:0", **AGE), "lanes_seconds": 1},
        of(ROW, 2.5, part="cpus", case="2 CPUs, 4 GiB, age", lanes="auto", **AGE),
        of(costs, 0.004, case="1 KiB", lanes="cpu"), of(costs, 0.4, case="1 KiB, passphrase", lanes=""),
        of(costs, 0.8, case="1 GiB, rekey", action="rekey", lanes="", bytes=1 << 30),
        of(operation, 0.5, action="test"), of(operation, 0.75, action="test", lanes="cuda:0"), of(operation, 0.25, action="test", **AGE),
        of(part, 2), of(part, 1, program="parts, 2 processes"), of(part, 3, program="gpuaes-stream -d -o", case="decrypt, 4 GiB"),
        of(part, 5, program="--into, 2 processes", case="decrypt, 4 GiB")])
    write_csv("results/run.csv", FACTS)
    names = ("run", "commands", "auto", "pays", "rivals", "summary", "file", "output", "age", "operations", "costs", "processes")
    documents("".join(f"<!-- begin: {name} -->\n<!-- end: {name} -->\n" for name in names))
    lines = tables("--tables", "results").splitlines()
    for line in ("| other programs | rage 0.12.1 |", "| `openssl` | `openssl` |",
                 "| GB/s | sealed | age format | `openssl` | `age` | `rage` |",
                 "| 1 GiB, 1 CPU | 2.86 | 2.15 | 1.43 | 1.07 | 2.15 (2.08 to 2.86) |",
                 "| 4 GiB, 1 CPU | 2.86 | 2.15 | 1.43 | 1.07 | 2.15 |",
                 "| 4 GiB, one GPU | 10.7 |  |  |  |  |",
                 "| 4 GiB, GB/s | CPU lanes | `-l cuda:0` | without CUDA startup and exit |", "| sealed | 21.5 | 10.7 | 42.9 |",
                 "| file to file | disk, 4 GiB: GB/s | CPU s/GB |", "| sealed, `-l auto` | 2.15 | 0.23 |", "| `cp, sync` | 1.07 | 0.23 |",
                 "| GB/s | CPU lanes | `-l cuda:0` | `-l auto` | CPU s/GB: CPU lanes | `-l cuda:0` |",
                 "| age, 4 GiB, 2 CPUs | 2.15 | 1.07 | 1.72 | 0.23 | 0.23 |",
                 "In this table and in that of [age files](#age-files), `-l auto` reaches 80% to 80% of the rate of the faster of CPU lanes and `-l cuda:0`.",
                 "| a GPU is faster from | 2 CPUs |", "| age | 13 GB |",
                 "| sealed 4 GiB file | CPU lanes | `-l cuda:0` |", "| `--test` | 500 ms | 750 ms |",
                 "| age 4 GiB file | CPU lanes |", "| `--test` | 250 ms |",
                 "| 1 KiB: sealed, `-l cpu` | 4.00 ms |", "| 1 KiB: encryption with a passphrase | 400 ms |",
                 "| 1 GiB: `--rekey` in place | 800 ms |",
                 "| 4 GiB in memory | `gpuaes-parts seal` and `join` | `-d --part I/N`, N files | `-d --part I/N --into` |",
                 "| 1 process: `gpuaes-stream -o` | 2.00 s | 3.00 s |  |", "| 2 processes | 1.00 s |  | 5.00 s |"):
        assert line in lines, (line, lines)


def test_conclusions():
    """Each needs all of its rows."""
    os.mkdir("results")
    one, file, cold = {**ROW, "part": "rivals", "case": "4 GiB, 1 CPU", "lanes": "cpu:1"}, {**ROW, "part": "file"}, {**ROW, "part": "cold"}
    both = {**one, "case": "4 GiB, 2 CPUs", "lanes": "auto"}
    rows = [one, other(one, "openssl", 3), of(one, 2, **AGE), other(one, "age", 8), of(both, 0.5, **AGE), other(both, "age", 8),
            of(file, 0.1, lanes="cpu"),
            of(file, 0.2, lanes="cuda:0"), of(file, 0.2, lanes="cuda:0", cipher="kuznyechik"), of(file, 0.8, lanes="cpu", cipher="kuznyechik"),
            of(file, 0.4, lanes="cpu", **AGE), ROW, cold, {**other(cold, "openssl", 3), "cpu_seconds": 2}]

    def sentences(*more):
        write_csv("results/programs.csv", [*rows, *more])
        return re.sub("<!--.*-->\n", "", tables("--tables", "results"))

    write_csv("results/run.csv", FACTS)
    documents("<!-- begin: conclusions -->\n<!-- end: conclusions -->\n")
    text = sentences()
    for part in ("one CPU seals 2.00 times as fast as `openssl` encrypts (2.86 GB/s). 2 CPUs reach 42.9 GB/s with a 4 GiB file",
                 "encrypts a 4 GiB file at 21.5 GB/s with AES (2 CPUs: 42.9), 21.5 GB/s with Kuznyechik (2 CPUs: 5.37), including",
                 "one CPU encrypts 4.00 times as fast as `age`, and 2 CPUs 16.0 times as fast, with a 4 GiB file",
                 "sealed at 2.86 GB/s, with 0.23 CPU seconds per GB instead of 0.47 for `openssl`"):
        assert part in text, (part, text)
    assert "Between two pipes" not in text
    assert "sealing is 1.33 times as fast as `cat`" in sentences(other(ROW, "cat", 2, action="copy"))


def event(**fields):
    name = {"ph": "M", "name": "thread_name", "tid": 1, "args": {"name": "lane 1"}}
    return json.dumps({"traceEvents": [name, {"ph": "X", "name": "a", "tid": 1, "ts": 1, "dur": 1, **fields}]})


BAD = {
    "an empty file": ("", "no rows"),
    "only a heading": (HEAD, "no rows"),
    "JSON without rows": ("[\n]\n", "no rows"),
    "truncated JSON": (json.dumps(KERNELS)[:-10], "not complete CSV or JSON"),
    "JSON of another kind": ("[1, 2]", "neither an array of rows nor a trace"),
    "an object of another kind": ('{"a": 1}', "neither an array of rows nor a trace"),
    "a trace without events": ('{"traceEvents": []}', "nothing that took time"),
    "a trace of another kind": ('{"traceEvents": [{"ph": "X", "name": "a"}]}', "gpuaes-stream does not write"),
    "a trace whose times are words": (event(ts="now"), "has 'now' where a number is expected"),
    "a trace whose times are infinite": (event(dur=1e999), "where a number is expected"),
    "endless JSON": ("[" * 100000, "not complete CSV or JSON"),
    "a huge number": (json.dumps([{**KERNELS[0], "bytes": 10 ** 400}]), "where a number is expected"),
    "other columns": ("lanes,format,gb_per_s\ncpu,raw,3\n", "columns"),
    "a short row": (HEAD + "a,aes-128,ctr,1024,no\n", "nothing to draw"),
    "an open quote": (HEAD + '"a,aes-128,ctr,1024,no,3\n', "not complete CSV or JSON"),
    "a word for a number": (HEAD + "a,aes-128,ctr,1024,no,fast\n", "has 'fast' where a number is expected"),
    "a rate that is NaN": (HEAD + "a,aes-128,ctr,1024,no,nan\n", "has 'nan' where a number is expected"),
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
