#!/usr/bin/env bash
# scripts/plot draws the results of gpuaes-bench, scripts/bench and --trace, as PNG and as SVG with text in it. Input
# that it cannot draw is an error with a reason.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

! sanitized || skip "no code of the project runs here"
for python3 in python3 /usr/bin/python3 ""; do
  if [ -n "$python3" ] && "$python3" -c 'import matplotlib' 2>/dev/null; then break; fi
done
[ -n "$python3" ] || skip "python3-matplotlib is not installed"
export MPLCONFIGDIR=$work/matplotlib
plot() { "$python3" "$top/scripts/plot" "$@"; }

make_input 3000000 plain
gs -i plain -o output -l cpu:2 --trace trace.json
PLOT=$top/scripts/plot python <<'PYTHON'
import csv
import json
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
import os


def fail(text):
    sys.exit("FAIL: " + text)


def plot(*words):
    return subprocess.run([sys.executable, os.environ["PLOT"], *words], capture_output=True, text=True)


def write_csv(name, rows):
    with open(name, "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def write_json(name, rows):
    with open(name, "w") as file:
        json.dump(rows, file)


def texts_of(svg):
    root = ElementTree.parse(svg).getroot()
    if root.tag != "{http://www.w3.org/2000/svg}svg":
        fail(f"{svg} is not SVG but {root.tag}")
    return ["".join(each.itertext()).strip() for each in root.iter("{http://www.w3.org/2000/svg}text")]


def expect_pictures(path, folder, pictures, *options):
    """Exactly these pictures, each with these words in it."""
    done = plot("-o", folder, *options, path)
    if done.returncode != 0:
        fail(f"{path}: {done.stderr}")
    want = sorted(f"{name}.{kind}" for name in pictures for kind in ("png", "svg"))
    if sorted(os.listdir(folder)) != want:
        fail(f"{path}: expected {want}, got {sorted(os.listdir(folder))}")
    if sorted(done.stdout.split()) != [os.path.join(folder, name) for name in want]:
        fail(f"{path}: expected the names of the pictures, got {done.stdout}")
    for name, words in pictures.items():
        png = open(os.path.join(folder, f"{name}.png"), "rb").read()
        if not png.startswith(b"\x89PNG\r\n\x1a\n") or not png.endswith(b"IEND\xaeB`\x82"):
            fail(f"{name}.png is not a PNG file")
        texts = texts_of(os.path.join(folder, f"{name}.svg"))
        for word in words:
            if not any(word in text for text in texts):
                fail(f"{name}.svg: expected '{word}' in it, got {texts}")


kernels = [{"variant": variant, "cipher": cipher, "mode": "ctr", "bytes": 1 << power, "copies": copies,
            "gb_per_s": rate * power, "share_of_limit": "", "limit": "lds", "other": "ignored"}
           for variant, rate in (("bitslice", 14.5), ("tables, $4$ & <shared>", 19), ("sbox-constant", 3))
           for cipher in ("aes-128", "kuznyechik") for copies in ("no", "yes") for power in range(10, 31)]
names = ["bitslice", "tables, $4$ & <shared>", "GB/s"]
bars, lines = [*names, "constant memory", "1 GiB", "435"], [*names, "sbox-constant", "1 KiB", "1 GiB", "device memory", "copies"]
write_csv("kernels.csv", kernels)
write_json("kernels.json", kernels)
for name in ("kernels.csv", "kernels.json"):
    expect_pictures(name, name + ".d", {
        "kernels-aes-128": [*bars, "AES-128"], "kernels-aes-128-by-size": [*lines, "AES-128"],
        "kernels-kuznyechik": [*bars, "Kuznyechik"], "kernels-kuznyechik-by-size": [*lines, "Kuznyechik"]})
# More than eight lines: a panel for each place of the tables. A cipher measured with fewer sizes is left out.
many = [{**kernels[0], "cipher": "aes-256", "copies": "no", "variant": f"{tables}-{place}", "bytes": size, "gb_per_s": 7}
        for tables in ("sbox", "ttable1", "ttable4") for place in ("global", "shared", "shared-banks-4threads")
        for size in (1024, 4096, 16384)]
write_json("many.json", [*many, {**many[0], "cipher": "aes-192"}])
expect_pictures("many.json", "many", {
    "many-aes-256": ["global memory", "shared memory, a copy per bank, 4 threads per block", "S-box", "four T-tables"],
    "many-aes-256-by-size": ["global memory", "ttable1-shared", "sbox-shared-banks-4threads"]})

# 0 leaves a number to the kernel. Streams are None if the data stays on the device.
sweep = [{"variant": "bitslice", "cipher": "aes-192", "mode": "ctr", "bytes": 4 << 20, "threads": threads, "blocks_per_thread": blocks,
          "streams": None, "gb_per_s": threads / 10 + blocks + 1} for threads in (32, 256, 1024) for blocks in (0, 2, 4)]
sweep.insert(0, {**sweep[0], "threads": 0, "gb_per_s": 555})
write_json("map.json", sweep)
expect_pictures("map.json", "map", {"map-bitslice-aes-192-map": ["bitslice", "AES-192", "1024", "103", "107", "555", "own", "threads"]})
copied = [{**row, "streams": streams, "gb_per_s": 777} for row in (sweep[5], {**sweep[0], "variant": "tables"})
          for streams in (1, 2, 64)]
# The better of two rates of one shape counts.
sweep.append({**sweep[9], "gb_per_s": 55})
# A row without a rate is ignored.
write_csv("sweep.csv", [*sweep, {**sweep[0], "mode": "seal", "gb_per_s": 333}, *copied, {**sweep[0], "threads": 512, "gb_per_s": ""}])
expect_pictures("sweep.csv", "sweep", {"sweep-bitslice-aes-192-map": ["107", "ctr", "seal", "333"],
                                       "sweep-aes-192-streams": ["64", "bitslice, 256 threads, 2 blocks", "tables", "streams"]})
if "55" in texts_of("sweep/sweep-bitslice-aes-192-map.svg"):
    fail("the map has the worse of two rates of one shape")
if "777" in texts_of("sweep/sweep-bitslice-aes-192-map.svg"):
    fail("the map of data that stays on the device has a rate with copies")
write_json("streams.json", copied)
expect_pictures("streams.json", "streams", {"streams-aes-192-streams": ["64"]})

expect_pictures("trace.json", "trace", {"trace-timeline": ["lane 1, cpu", "read", "cipher", "write", "milliseconds"]})

write_json("window.json", {"traceEvents": [
    {"ph": "M", "name": "thread_name", "tid": 1, "args": {"name": "lane 1"}},
    {"ph": "M", "name": "thread_name", "tid": 2, "args": {"name": "lane 2"}},
    {"ph": "X", "name": "early", "tid": 1, "ts": 5000, "dur": 1000},
    {"ph": "X", "name": "late", "tid": 2, "ts": 15000, "dur": 2000}]})
expect_pictures("window.json", "whole", {"window-timeline": ["early", "late", "lane 1", "lane 2"]})
expect_pictures("window.json", "part", {"window-timeline": ["late", "lane 2"]}, "-w", "11", "13")
for word in ("early", "lane 1"):
    if word in texts_of("part/window-timeline.svg"):
        fail(f"{word} is drawn, although it ended before the window begins")
write_csv("spans.csv", [{"track": f"lane {lane}, cuda:0", "what": "kernel", "start_us": 10, "length_us": 5} for lane in range(1, 13)])
expect_pictures("spans.csv", "spans", {"spans-timeline": ["lane 1, cuda:0", "lane 3, cuda:0", "kernel"]})
if "lane 12, cuda:0" in texts_of("spans/spans-timeline.svg"):
    fail("the timeline has more than the first lanes")

# A folder of scripts/bench.
os.mkdir("results")
row = {"part": "pipe", "case": "4 GiB", "program": "gpuaes-stream", "cipher": "aes-256", "format": "sealed", "action": "encrypt",
       "lanes": "auto", "bytes": 4 << 30, "runs": 3, "seconds": 1.5, "min_seconds": 1, "cpu_seconds": 1, "lanes_seconds": ""}
write_csv("results/programs.csv", [row, {**row, "program": "openssl", "lanes": "", "format": "", "seconds": 3},
                                   *({**row, "part": "cpus", "case": f"{count} CPUs, aes-256 sealed", "lanes": f"cpu:{count}"}
                                     for count in (1, 2))])
write_csv("results/run.csv", [{"name": "CPU", "value": "Some CPU"}, {"name": "CPUs", "value": "2"}])
expect_pictures("results", "drawn", {"programs-rivals": ["sealed", "openssl", "2.86", "1.43"], "programs-cpus": ["-l cpu", "CPUs"]})

# One and two GPUs next to a program that only copies.
os.mkdir("gpus")
def on_gpus(count, case, seconds, **values):
    return {**row, "part": "gpus", "case": case, "lanes": "+".join(f"cuda:{device}" for device in range(count)),
            "seconds": seconds, "lanes_seconds": seconds / 2, **values}
write_csv("gpus/programs.csv", [
    on_gpus(1, "1 KiB", 0.25, bytes=1 << 10), on_gpus(1, "4 GiB", 1), on_gpus(2, "4 GiB", 0.5),
    on_gpus(2, "4 GiB", 0.4, action="decrypt"), on_gpus(1, "4 GiB, chunks of 2 MiB", 2), {**on_gpus(1, "4 GiB", 2), "lanes": "cpu"}])
write_csv("gpus/transfer.csv", [
    {"steps": steps, "devices": count, "streams": streams, "bytes": 1 << 20, "buffers": 2, "ring_mib": 16, "gb_per_s": rate,
     "cpu_s_per_gb": 0.1} for steps, count, streams, rate in (("in+out", 1, 8, 10), ("in+out", 1, 16, 8.7), ("in+out", 2, 8, 20))])
write_csv("gpus/run.csv", [{"name": "date", "value": "2026-01-02"}, {"name": "CPU", "value": "Some CPU"}, {"name": "CPUs", "value": "2"},
                           *[{"name": "GPU", "value": "Some GPU"}] * 2])
expect_pictures("gpus", "drawn-gpus", {"programs-gpus": ["GPUs", "sealed", "decryption", "copies alone"]})
os.mkdir("gpus-document")
for name in ("PERFORMANCE.md", "README.md"):
    open(os.path.join("gpus-document", name), "w").write("<!-- begin: gpus -->\n<!-- end: gpus -->\n")
plot("--documents", "gpus-document", "--tables", "gpus")
text = open("gpus-document/PERFORMANCE.md").read()
for line in ("| GB/s, 4 GiB | `-l cpu` | 1 GPU | 2 GPUs |", "| copies alone |  | 10.0 | 20.0 |",
             "| sealed | 2.15 | 4.29 (8.59) | 8.59 (17.2) |", "| decryption |  |  | 10.7 (21.5) |",
             "| sealed, chunks of 2 MiB |  | 2.15 (4.29) |  |", "| sealed, % of copies alone |  | 86% | 86% |",
             "| sealed, CPU s/GB | 0.23 | 0.23 | 0.23 |", "| sealed, 1 KiB |  | 250 ms |  |",
             "Measured on 2026-01-02: 2 CPUs (Some CPU), 2 × Some GPU."):
    if line not in text.splitlines():
        fail(f"expected '{line}' in the table of GPUs: {text}")

# Its tables in documents.
os.mkdir("documents")
before, after = "# Text\n\n<!-- begin: pipe -->\n", "<!-- end: pipe -->\n\nMore text.\n"
for name in ("PERFORMANCE.md", "README.md"):
    open(os.path.join("documents", name), "w").write(before + "old\n" + after)
expect_status = lambda want, *words: plot("--documents", "documents", *words).returncode == want or fail(f"{words}: expected exit status {want}")
expect_status(1, "--check", "results")
expect_status(0, "--tables", "results")
expect_status(0, "--check", "results")
text = open("documents/PERFORMANCE.md").read()
if not (text.startswith(before) and text.endswith(after)):
    fail(f"the text around the table changed: {text}")
if "| `openssl` | 1.43 |" not in text:
    fail(f"expected the table of pipes: {text}")
write_csv("results/programs.csv", [{**row, "seconds": 1.4}])
expect_status(1, "--check", "results")
open("documents/README.md", "w").write("<!-- begin: unknown -->\n<!-- end: unknown -->\n")
expect_status(1, "--tables", "results")
expect_status(2, "--check", "kernels.csv")


def expect_error(what, text, reason, name="bad"):
    if text is not None:
        with open(name, "w") as file:
            file.write(text)
    done = plot("-o", "bad.d", name)
    if done.returncode != 1 or "Traceback" in done.stderr or not done.stderr.startswith(f"plot: {name} "):
        fail(f"{what}: expected exit status 1 and a message, got {done.returncode}: {done.stderr}")
    if reason not in done.stderr:
        fail(f"{what}: expected '{reason}' in the message, got {done.stderr}")
    if os.path.exists("bad.d") and os.listdir("bad.d"):
        fail(f"{what}: expected no pictures, got {os.listdir('bad.d')}")


head = "variant,cipher,mode,bytes,copies,gb_per_s\n"

with open("marked.csv", "w", encoding="utf-8-sig") as file:
    file.write(head + "one,aes-128,ctr,1024,no,5\none,aes-128,ctr,4096,no,6\n")
expect_pictures("marked.csv", "marked", {"marked-aes-128": ["one", "AES-128"]})
done = plot("-o", "bad.d", "marked.csv", os.path.abspath("marked.csv"))
if done.returncode != 1 or "same name" not in done.stderr or os.path.exists("bad.d"):
    fail(f"two files with the same name: expected exit status 1 and nothing drawn, got {done.returncode}: {done.stderr}")
os.mkdir("empty")
expect_error("an empty folder", None, "no results", "empty")
expect_error("a missing file", None, "No such file", "missing")
expect_error("an empty file", "", "no rows")
expect_error("only a heading", head, "no rows")
expect_error("JSON without rows", "[\n]\n", "no rows")
expect_error("truncated JSON", json.dumps(kernels)[:-10], "not complete JSON")
expect_error("JSON of another kind", "[1, 2]", "neither an array of rows nor a trace")
expect_error("an object of another kind", '{"a": 1}', "neither an array of rows nor a trace")
expect_error("a trace without events", '{"traceEvents": []}', "nothing that took time")
expect_error("a trace of another kind", '{"traceEvents": [{"ph": "X", "name": "a"}]}', "gpuaes-stream does not write")
for field, value in (("tid", "a"), ("tid", []), ("ts", "now"), ("ts", 1e999), ("dur", -1), ("dur", float("nan"))):
    event = {"ph": "X", "name": "a", "tid": 1, "ts": 1, "dur": 1, field: value}
    expect_error(f"a trace whose {field} is {value}", json.dumps({"traceEvents": [event]}), "gpuaes-stream does not write")
expect_error("endless JSON", "[" * 100000, "not complete JSON")
expect_error("a huge number", json.dumps([{**kernels[0], "bytes": 10 ** 400}]), "not a number")
expect_error("other columns", "lanes,format,gb_per_s\ncpu,raw,3\n", "columns")
expect_error("a short row", head + "a,aes-128,ctr,1024,no\n", "line 2")
expect_error("a long row", head + "a,aes-128,ctr,1024,no,3\na,aes-128,ctr,1024,no,3,4\n", "line 3")
expect_error("an open quote", head + '"a,aes-128,ctr,1024,no,3\n', "not valid CSV")
expect_error("a word for a number", head + "a,aes-128,ctr,1024,no,fast\n", "gb_per_s is 'fast'")
expect_error("a negative size", head + "a,aes-128,ctr,-1024,no,3\n", "bytes is -1024")
expect_error("a size of zero", head + "a,aes-128,ctr,0,no,3\n", "bytes is 0")
expect_error("a rate that is NaN", head + "a,aes-128,ctr,1024,no,nan\n", "gb_per_s is nan")
expect_error("nothing measured", head + "a,aes-128,ctr,1024,no,\n", "nothing to draw")
open("binary", "wb").write(bytes(range(256)))
expect_error("a binary file", None, "not a text file", "binary")
PYTHON

got=0
plot >"$work/stdout" 2>"$work/stderr" || got=$?
[ "$got" = 2 ] || fail "without a file: expected exit status 2, got $got"
got=0
plot --window 2 1 trace.json >"$work/stdout" 2>"$work/stderr" || got=$?
[ "$got" = 2 ] || fail "a window that ends before it begins: expected exit status 2, got $got"
got=0
plot --window 3600000 3600001 trace.json >"$work/stdout" 2>"$work/stderr" || got=$?
[ "$got" = 1 ] || fail "a window after the end: expected exit status 1, got $got"
expect_stderr '^plot: trace.json has nothing'
got=0
plot -o plain kernels.csv >"$work/stdout" 2>"$work/stderr" || got=$?
[ "$got" = 1 ] || fail "into a file: expected exit status 1, got $got"
expect_stderr '^plot: plain: '

# Without matplotlib it reports what to install, but still prints its help.
mkdir "$work/without"
echo 'raise ImportError("no")' >"$work/without/matplotlib.py"
got=0
PYTHONPATH=$work/without plot kernels.csv >"$work/stdout" 2>"$work/stderr" || got=$?
[ "$got" = 1 ] || fail "without matplotlib: expected exit status 1, got $got"
expect_stderr '^plot: .*python3-matplotlib'
PYTHONPATH=$work/without plot -h | grep -q "usage:" || fail "-h without matplotlib: expected help"
