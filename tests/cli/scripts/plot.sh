#!/usr/bin/env bash
# scripts/plot draws the results of gpuaes-bench and the traces of --trace, as PNG and as SVG with text. If it cannot
# draw a file, it reports an error with a reason.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

! sanitized || skip "the test of a Python script does not need sanitizers"
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
        fail(f"{svg}: expected SVG, got {root.tag}")
    return ["".join(each.itertext()).strip() for each in root.iter("{http://www.w3.org/2000/svg}text")]


def expect_pictures(file, folder, pictures, *options):
    """Draws exactly these pictures, each with these words."""
    done = plot("-o", folder, *options, file)
    if done.returncode != 0:
        fail(f"{file}: {done.stderr}")
    want = sorted(f"{name}.{kind}" for name in pictures for kind in ("png", "svg"))
    if sorted(os.listdir(folder)) != want:
        fail(f"{file}: expected {want}, got {sorted(os.listdir(folder))}")
    if sorted(done.stdout.split()) != [os.path.join(folder, name) for name in want]:
        fail(f"{file}: expected the names of the pictures, got {done.stdout}")
    for name, words in pictures.items():
        png = open(os.path.join(folder, f"{name}.png"), "rb").read()
        if not png.startswith(b"\x89PNG\r\n\x1a\n") or not png.endswith(b"IEND\xaeB`\x82"):
            fail(f"{name}.png: expected PNG")
        texts = texts_of(os.path.join(folder, f"{name}.svg"))
        for word in words:
            if not any(word in text for text in texts):
                fail(f"{name}.svg: expected '{word}' in it, got {texts}")


kernels = [{"variant": variant, "cipher": cipher, "mode": "ctr", "bytes": 1 << power, "copies": copies,
            "gb_per_s": rate * power, "share_of_limit": "", "limit": "lds", "other": "ignored"}
           for variant, rate in (("bitsliced", 14.5), ("tables, $4$ & <shared>", 19), ("s_box", 3))
           for cipher in ("aes-128", "kuznyechik") for copies in ("no", "yes") for power in range(10, 31)]
names = ["bitsliced", "tables, $4$ & <shared>", "s_box", "1 KiB", "1 MiB", "1 GiB", "GB/s", "resident", "copies"]
write_csv("kernels.csv", kernels)
write_json("kernels.json", kernels)
for name in ("kernels.csv", "kernels.json"):
    expect_pictures(name, name + ".d", {"kernels-aes-128": [*names, "AES-128"],
                                        "kernels-kuznyechik": [*names, "Kuznyechik"]})

# 0 leaves a number to the kernel. Streams are None if the data stays on the device.
sweep = [{"variant": "bitsliced", "cipher": "aes-192", "mode": "ctr", "bytes": 4 << 20, "threads": threads, "blocks_per_thread": blocks,
          "streams": None, "gb_per_s": threads / 10 + blocks + 1} for threads in (32, 256, 1024) for blocks in (0, 2, 4)]
sweep.insert(0, {**sweep[0], "threads": 0, "gb_per_s": 555})
write_json("map.json", sweep)
expect_pictures("map.json", "map", {"map-bitsliced-aes-192-ctr-map": ["bitsliced", "AES-192", "1024", "103", "107", "555",
                                                                  "own", "threads"]})
copied = [{**row, "streams": streams, "gb_per_s": 777} for row in (sweep[5], {**sweep[0], "variant": "tables"})
          for streams in (1, 2, 64)]
# Measured twice, the better one first: the better one counts.
sweep.append({**sweep[9], "gb_per_s": 55})
# A row without a rate was not measured.
write_csv("sweep.csv", [*sweep, *copied, {**sweep[0], "threads": 512, "gb_per_s": ""}])
expect_pictures("sweep.csv", "sweep", {"sweep-bitsliced-aes-192-ctr-map": ["107"],
                                       "sweep-aes-192-streams": ["64", "bitsliced, 256 threads, 2 blocks",
                                                                 "tables, own threads, own blocks", "streams"]})
if "55" in texts_of("sweep/sweep-bitsliced-aes-192-ctr-map.svg"):
    fail("the lower of two rates of one shape is in the map")
if "777" in texts_of("sweep/sweep-bitsliced-aes-192-ctr-map.svg"):
    fail("a rate with copies is in the map, which shows only data that stays on the device")
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
        fail(f"{word} is drawn, but ended before the window")


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
if done.returncode != 2 or "one name" not in done.stderr or os.path.exists("bad.d"):
    fail(f"two files with the same name: expected exit status 2 and nothing drawn, got {done.returncode}: {done.stderr}")
expect_error("no file", None, "No such file", "missing")
expect_error("an empty file", "", "no rows")
expect_error("a header line alone", head, "no rows")
expect_error("JSON without rows", "[\n]\n", "no rows")
expect_error("JSON cut short", json.dumps(kernels)[:-10], "no whole JSON")
expect_error("JSON of another kind", "[1, 2]", "neither an array of rows nor a trace")
expect_error("an object of another kind", '{"a": 1}', "neither an array of rows nor a trace")
expect_error("a trace without events", '{"traceEvents": []}', "nothing that took time")
expect_error("a trace of another kind", '{"traceEvents": [{"ph": "X", "name": "a"}]}', "none of gpuaes-stream's")
for field, value in (("tid", "a"), ("tid", []), ("ts", "now"), ("ts", 1e999), ("dur", -1), ("dur", float("nan"))):
    event = {"ph": "X", "name": "a", "tid": 1, "ts": 1, "dur": 1, field: value}
    expect_error(f"a trace whose {field} is {value}", json.dumps({"traceEvents": [event]}), "none of gpuaes-stream's")
expect_error("JSON without an end", "[" * 100000, "no whole JSON")
expect_error("a huge number", json.dumps([{**kernels[0], "bytes": 10 ** 400}]), "and no number")
expect_error("other columns", "lanes,format,gb_per_s\ncpu,raw,3\n", "columns")
expect_error("a short row", head + "a,aes-128,ctr,1024,no\n", "line 2")
expect_error("a long row", head + "a,aes-128,ctr,1024,no,3\na,aes-128,ctr,1024,no,3,4\n", "line 3")
expect_error("an open quote", head + '"a,aes-128,ctr,1024,no,3\n', "no CSV")
expect_error("a word instead of a number", head + "a,aes-128,ctr,1024,no,fast\n", "gb_per_s is 'fast'")
expect_error("a negative size", head + "a,aes-128,ctr,-1024,no,3\n", "bytes is -1024")
expect_error("a size of zero", head + "a,aes-128,ctr,0,no,3\n", "bytes is 0")
expect_error("a rate that is not a number", head + "a,aes-128,ctr,1024,no,nan\n", "gb_per_s is nan")
expect_error("nothing measured", head + "a,aes-128,ctr,1024,no,\n", "nothing to draw")
open("binary", "wb").write(bytes(range(256)))
expect_error("a binary file", None, "no text", "binary")
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
