#!/usr/bin/env bash
# -v reports the lanes and the size of the ring, and ends with a summary. -vv also reports the version of libcrypto and
# the work of each lane.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

make_input 1000000 plain
reference <plain >expected
expect_exit 0 "$program" -v -f raw --iv "$iv" -k "$key" -l cpu:2 -b 64K <plain
same expected "$work/stdout"
expect_stderr '^gpuaes-stream: lanes cpu:2$'
expect_stderr '^gpuaes-stream: ring of [0-9]+ chunks of 64 KiB, [0-9]+ KiB in total$'
if grep -Ev '^gpuaes-stream: ' "$work/stderr"; then fail "expected every line to begin with the program's name"; fi
tail -n 1 "$work/stderr" | grep -Eqx \
  'gpuaes-stream: 1000000 bytes in, 1000000 bytes out, [0-9]+\.[0-9]{3} s, [0-9.]+[KMG]iB/s; cpu:2 did 16 chunks, 1000000 bytes' ||
  fail "expected a summary, got: $(tail -n 1 "$work/stderr")"

expect_no_stderr 'OpenSSL|busy'
for options in -vv "-v -v" "-vvv"; do
  # shellcheck disable=SC2086 # two words
  expect_exit 0 "$program" $options -f raw --iv "$iv" -k "$key" -l cpu:2 -b 64K <plain
  expect_stderr '^gpuaes-stream: lanes cpu:2$'
  expect_stderr '^gpuaes-stream: OpenSSL [0-9]'
  lane='gpuaes-stream: cpu: [0-9]+ chunks?, [0-9]+ bytes; busy S, reading S, writing S, waiting S'
  [ "$(grep -Ecx "${lane//S/[0-9]+\.[0-9]{3\} s}" "$work/stderr")" = 2 ] ||
    fail "$options: expected the work of two lanes, got: $(<"$work/stderr")"
  tail -n 1 "$work/stderr" | grep -q 'cpu:2 did 16 chunks' || fail "$options: expected a summary at the end"
done

# A file that is too small to divide is not said to be something else.
make_input 1000 small
expect_exit 0 "$program" -v -f raw --iv "$iv" -k "$key" -i small -o out
expect_stderr 'lanes .* \(auto: (lanes take turns reading the input[;,] |there is no CUDA device\)$)'
