#!/usr/bin/env bash
# Results are text, CSV or JSON, with the same columns and rows; output that cannot be written is an error.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need python3

[ -x "$bench" ] || fail "gpuaes-bench is not in the folder of $program"
for source in file pipe; do
  words=(pipeline -l "none:2,cpu:1,cpu:3" -b "64K,100000" -f "raw,sealed" --bytes 1015808 --source "$source")
  "$bench" "${words[@]}" >text
  "$bench" "${words[@]}" --csv >csv
  "$bench" "${words[@]}" --json >json
  SOURCE=$source python <<'PYTHON'
import csv
import json
import os

source = os.environ["SOURCE"]
text = [line.split() for line in open("text")]
with open("csv", newline="") as file:
    table = list(csv.reader(file))
with open("json") as file:
    objects = json.load(file)
assert text[0] == table[0], (text[0], table[0])
columns = table[0]
assert len(set(map(len, open("text")))) == 1, "lines of text are not aligned"
assert all(list(row) == columns for row in objects), objects

# In this order; sealed chunks are whole segments of 16 KiB, and raw ones whole blocks.
expected = []
for form in ("raw", "sealed"):
    for size in (65536, 100000):
        for lanes in ("none:2", "cpu:1", "cpu:3"):
            whole = -(-size // 16384) * 16384 if form == "sealed" else size
            expected.append([lanes, form, source, whole, -(-1015808 // whole)])
names = ("lanes", "format", "source", "chunk_bytes", "chunks")
for rows in (text[1:], table[1:]):
    got = [dict(zip(columns, row)) for row in rows]
    got = [[row[name] for name in names] for row in got]
    assert got == [list(map(str, row)) for row in expected], got
assert [[row[name] for name in names] for row in objects] == expected, objects

# The measured values are consistent.
for row in objects:
    lanes = int(row["lanes"].rpartition(":")[2])
    assert row["seconds"] > 0 and row["ring_chunks"] > 0, row
    assert abs(row["gb_per_s"] * row["seconds"] * 1e9 - 1015808) < 100, row
    assert abs(row["lane_us"] - lanes * row["seconds"] * 1e6 / row["chunks"]) < 1e-3 * row["lane_us"], row
    parts = row["cipher_us"] + row["wait_us"] + row["rest_us"]
    assert abs(row["lane_us"] - parts) < 1e-3 * row["lane_us"], row
PYTHON
done

for form in --csv --json --source=file; do
  got=0
  "$bench" pipeline -l none:1 -b 64K --bytes 64K "$form" >/dev/full 2>"$work/stderr" || got=$?
  [ "$got" = 1 ] || fail "$form to a full disk: expected exit status 1, got $got"
  expect_stderr '^gpuaes-bench: error: cannot write standard output'
  [ "$(grep -vc '^gpuaes-bench: hint: ' "$work/stderr")" = 1 ] ||
    fail "$form to a full disk: expected one message and a hint, got: $(<"$work/stderr")"
done
got=0
"$bench" pipeline -l none:1 -b 64K --bytes 64K >&- 2>"$work/stderr" || got=$?
[ "$got" = 1 ] || fail "to a closed descriptor: expected exit status 1, got $got"

# Every cipher that a format supports. With Kuznyechik, the sealed format is measured with Kuznyechik, not AES.
"$bench" pipeline -l cpu:2,none:1 -b 64K -f raw --ciphers aes-128,aes-192,kuznyechik --bytes 1M --csv >raw.csv
"$bench" pipeline -l cpu:2,none:1 -b 64K -f sealed --ciphers kuznyechik,aes-256 --bytes 1M --csv >sealed.csv
head -n 1 raw.csv | grep -q '^lanes,format,cipher,source,' || fail "expected the cipher as a column, got: $(head -n 1 raw.csv)"
for expected in "raw aes-128 aes-192 kuznyechik" "sealed kuznyechik aes-256"; do
  read -r form list <<<"$expected"
  got=$(tail -n +2 "$form.csv" | cut -d , -f 1-4)
  want=$(for cipher in $list; do printf '%s\n' "cpu:2,$form,$cipher,file" "none:1,$form,$cipher,file"; done)
  [ "$got" = "$want" ] || fail "$form: expected rows of $list, got: $got"
done

# Measurements that do not fit in memory are skipped with a message.
! sanitized || skip "the rest, as sanitizers reserve address space"
got=0
(ulimit -v 1000000 && "$bench" pipeline -l cpu:1 -b 64K,1G,1M --bytes 64K --csv) >"$work/stdout" 2>"$work/stderr" || got=$?
[ "$got" = 0 ] || fail "little memory: expected exit status 0, got $got: $(<"$work/stderr")"
[ "$(cut -d, -f1,5 "$work/stdout" | tail -n +2 | tr '\n' ' ')" = "cpu:1,65536 cpu:1,1048576 " ] ||
  fail "little memory: expected two rows, got $(<"$work/stdout")"
expect_stderr '^gpuaes-bench: warning: skipped: cpu:1, chunks of 1073741824 bytes: .*memory'
